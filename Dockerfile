# The command line alone: docker build -t dynafold . && docker run --rm dynafold --help
# Mappings and SQLite files are mounted: docker run --rm -v "$PWD:/work" dynafold check mapping.yaml --source …

FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --profile dist --locked

# glibc, certificates and nothing that a shell could start; runs as user 65532.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /src/target/dist/dynafold /usr/bin/dynafold
WORKDIR /work
ENTRYPOINT ["/usr/bin/dynafold"]
