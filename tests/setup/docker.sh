# shellcheck shell=bash
# tests/servers where a Docker engine runs: the four services of docker-compose.yml.

# One project for each state directory, so that two checkouts do not meet.
project=dynafold-test-$(printf '%s' "$state" | cksum | cut -d ' ' -f 1)

compose() {
    DYNAFOLD_TEST_PASSWORD=${password:-} docker compose --file docker-compose.yml --project-name "$project" "$@"
}

# Sets `no_docker` to the reason where it fails.
docker_answers() {
    if [[ ${DYNAFOLD_TEST_DOCKER:-} == no ]]; then
        no_docker="DYNAFOLD_TEST_DOCKER=no"
    elif ! docker info >/dev/null 2>&1; then
        no_docker="no Docker engine answers"
    elif ! docker compose version >/dev/null 2>&1; then
        no_docker="docker has no compose plugin"
    else
        return 0
    fi
    return 1
}

# start_docker NAME...
start_docker() {
    local name port grant="GRANT ALL PRIVILEGES ON *.* TO 'dynafold'@'%' WITH GRANT OPTION"
    say "starting of docker-compose.yml: $*"
    touch "$state/docker"
    if ! compose up --detach --quiet-pull --wait --wait-timeout 300 "$@" >"$state/docker.log" 2>&1 9>&-; then
        tail -n 30 "$state/docker.log" >&2
        compose logs --tail 30 >&2 || true
        die "the containers did not come up; DYNAFOLD_TEST_DOCKER=no uses the system's packages instead"
    fi
    for name in "$@"; do
        case $name in
            postgres) port=$(published postgres 5432) ;;
            mariadb | mysql)
                # The images give their user rights on one database only. MYSQL_PWD keeps the password off the command line.
                compose exec -T "$name" \
                    sh -c "MYSQL_PWD=\${MARIADB_ROOT_PASSWORD:-\$MYSQL_ROOT_PASSWORD} exec $name --user=root --execute=\"$grant\"" \
                    </dev/null
                port=$(published "$name" 3306)
                ;;
            dynamodb)
                port=$(published dynamodb 8000)
                dynamodb_answers "$port" >/dev/null || die "DynamoDB Local does not answer on port $port"
                ;;
        esac
        write_env "$name" "$name from docker-compose.yml" "$(url_line "$name" "$port")"
    done
}

published() { compose port "$1" "$2" | sed 's/.*://'; }
