# The commands of daily work. Each only calls what also works without just.

_default:
    @just --list

# all that CI runs
check:
    .ci/run

# all tests, or those that the arguments pick
test *ARGS:
    tests/run {{ ARGS }}

# from nothing to a verified table
demo *ARGS:
    cargo run --release --locked -- demo {{ ARGS }}

bench *ARGS:
    scripts/bench {{ ARGS }}

fmt:
    cargo fmt

lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# start, status or stop the servers of the tests
servers VERB="start":
    tests/servers {{ VERB }}
