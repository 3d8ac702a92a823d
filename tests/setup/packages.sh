# shellcheck shell=bash
# tests/servers where no Docker engine runs: the system's PostgreSQL and MariaDB as processes of our own.

PATH=$PATH:/usr/sbin:/sbin # where Debian keeps mariadbd

# start_packages NAME...
start_packages() {
    local name
    [[ $(uname -s) == Linux ]] || die "$no_docker, and only Linux can do without: start a Docker engine"
    install_what_is_missing "$@"
    # Directly in /tmp: root's servers run as other users, who may not see this checkout, and socket paths must be short.
    if [[ ! -d $scratch ]]; then # none yet, or a cleaner of /tmp has taken it
        scratch=$(mktemp -d /tmp/dynafold-test.XXXXXX)
        echo "$scratch" >"$state/scratch"
        chmod 711 "$scratch"
    fi
    for name in "$@"; do "start_$name"; done
}

postgres_bin() {
    local initdb
    initdb=$(command -v initdb || printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)
    [[ -x $initdb ]] && dirname "$initdb"
}

# install_what_is_missing NAME...
install_what_is_missing() {
    local name missing=()
    has ps || missing+=(procps)
    for name in "$@"; do
        case $name in
            postgres)
                postgres_bin >/dev/null || missing+=(postgresql)
                has openssl || missing+=(openssl)
                ;;
            # MySQL is asked by MariaDB's client.
            mariadb | mysql) { has mariadbd && has mariadb-install-db && has mariadb; } || missing+=(mariadb-server) ;;
            dynamodb)
                has curl || missing+=(curl)
                if ((EUID == 0)) && has apt-get; then
                    # Without these two dynalite could still do, so that only here they are missed.
                    has java || missing+=(default-jre-headless)
                    has mvn || missing+=(maven)
                fi
                ;;
        esac
    done
    if ((EUID == 0)) && has apt-get; then
        if ((${#missing[@]})); then apt_install "${missing[@]}"; fi
    elif ((${#missing[@]})); then
        die "missing: ${missing[*]} (Debian's names). Install them, or start a Docker engine ($no_docker)"
    fi
}

apt_install() {
    local policy=/usr/sbin/policy-rc.d
    say "installing with apt-get: $*"
    # Debian starts a server as soon as it is installed unless this policy forbids it; a policy already there comes back.
    if ! (
        trap 'rm -f "$policy"; if [[ -e $policy.kept ]]; then mv "$policy.kept" "$policy"; fi' EXIT
        if [[ -e $policy ]]; then mv -n "$policy" "$policy.kept"; fi
        printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" &&
            apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
    ) </dev/null >"$state/apt.log" 2>&1 9>&-; then
        tail -n 30 "$state/apt.log" >&2
        die "could not install: $*. Install them by hand, or start a Docker engine ($no_docker)"
    fi
}

start_postgres() {
    local postgres_port
    PATH=$(postgres_bin):$PATH # before Debian's wrappers
    make_home postgres postgres
    postgres_port=$(free_port)
    secret "$home/password" <<<"$password"
    prepare postgres initdb --pgdata="$home/data" --username=dynafold --pwfile="$home/password" --auth=scram-sha-256 \
        --encoding=UTF8 --no-locale --no-sync --no-instructions
    rm "$home/password"
    # Its own word for who it is, which nobody else knows.
    prepare postgres openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=elsewhere.test \
        -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:elsewhere.test \
        -keyout "$home/data/server.key" -out "$home/data/server.crt"
    daemon postgres "${as[@]}" postgres -D "$home/data" -p "$postgres_port" -c listen_addresses=127.0.0.1 \
        -c unix_socket_directories="$home" -c shared_preload_libraries=pg_stat_statements -c ssl=on -c fsync=off -c synchronous_commit=off -c full_page_writes=off
    PGPASSWORD=$password wait_for postgres \
        psql -X -h 127.0.0.1 -p "$postgres_port" -U dynafold -d postgres -c 'SELECT 1'
    write_env postgres "$(postgres --version | sed 's/.*(PostgreSQL) \([0-9.]*\).*/PostgreSQL \1/')" \
        "$(url_line postgres "$postgres_port")"
}

start_mariadb() {
    local mariadb_port
    make_home mariadb mysql
    mariadb_port=$(free_port)
    # The server itself runs this. Its root may come by the socket alone, as the user that the server runs as.
    secret "$home/init.sql" <<SQL
CREATE USER 'dynafold'@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON *.* TO 'dynafold'@'%' WITH GRANT OPTION;
SQL
    prepare mariadb mariadb-install-db --no-defaults --datadir="$home/data" --skip-test-db \
        --auth-root-authentication-method=socket --auth-root-socket-user="$owner"
    daemon mariadb "${as[@]}" mariadbd --no-defaults --datadir="$home/data" --socket="$home/mariadb.sock" \
        --pid-file="$home/mariadb.pid" --init-file="$home/init.sql" --bind-address=127.0.0.1 --port="$mariadb_port" \
        --skip-name-resolve --performance-schema=ON --character-set-server=utf8mb4 --max-allowed-packet=64M \
        --innodb-flush-log-at-trx-commit=0
    MYSQL_PWD=$password wait_for mariadb \
        mariadb --no-defaults --protocol=tcp --host=127.0.0.1 --port="$mariadb_port" --user=dynafold --execute='SELECT 1'
    rm "$home/init.sql"
    write_env mariadb "$(mariadbd --version | sed 's/.*Ver \([0-9.]*\).*/MariaDB \1/')" "$(url_line mariadb "$mariadb_port")"
}

# make_home NAME USER: sets `home`, where a server may write, and `as`, the prefix that runs a command as its `owner`.
# PostgreSQL and MariaDB refuse to be root, so root steps down to the package's user.
make_home() {
    home=$scratch/$1 owner=$(id -un) as=()
    mkdir -m 700 "$home"
    if ((EUID == 0)); then
        owner=$(id -un "$2" 2>/dev/null || echo nobody)
        as=(setpriv --reuid "$owner" --regid "$(id -g "$owner")" --init-groups)
        chown "$owner" "$home"
    fi
}

# A file that only the server's user may read, from standard input.
secret() {
    (umask 077 && cat >"$1")
    chown "$owner" "$1"
}

# prepare NAME COMMAND...: a step before the server, as its owner; begins its log.
prepare() {
    local name=$1
    shift
    if ! (cd "$scratch" && "${as[@]}" "$@") >"$state/$name.log" 2>&1; then
        tail -n 30 "$state/$name.log" >&2
        die "$1 failed; above is the end of $state/$name.log"
    fi
}

# Below the range from which Linux takes ports for outgoing connections.
free_port() {
    local port=$((RANDOM % 12000 + 20000))
    while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((RANDOM % 12000 + 20000)); done
    echo "$port"
}

# A session of its own, so that Ctrl-C in tests/run reaches the tests and not the servers.
daemon() {
    local name=$1
    shift
    (cd "$scratch" && exec setsid "$@") </dev/null >>"$state/$name.log" 2>&1 9>&- &
    echo $! >"$state/$name.pid"
}

# wait_for NAME COMMAND...: until the command succeeds, the process ends, or a minute has passed.
wait_for() {
    local name=$1 deadline=$((SECONDS + 60))
    shift
    until "$@" >"$state/$name.probe" 2>&1; do
        if ((SECONDS >= deadline)) || ! kill -0 "$(cat "$state/$name.pid")" 2>/dev/null; then
            tail -n 30 "$state/$name.log" "$state/$name.probe" >&2
            die "$name did not come up; above is the end of $state/$name.log and the last answer"
        fi
        sleep 0.2
    done
    rm "$state/$name.probe"
}

# A process id may be someone else's by now, so the command line must name our scratch directory too.
alive() {
    local pid
    pid=$(cat "$state/$1.pid" 2>/dev/null) && [[ -n $scratch ]] || return 1
    ps -ww -o args= -p "$pid" 2>/dev/null | grep -qF -- "$scratch"
}

stop_process() {
    local name=$1 signal=$2 tries=0
    if alive "$name"; then
        kill -s "$signal" "$(cat "$state/$name.pid")"
        while alive "$name"; do
            if ((++tries == 100)); then
                say "$name did not stop within 20 seconds and is killed"
                kill -s KILL "$(cat "$state/$name.pid")"
            fi
            sleep 0.2
        done
    fi
    rm -f "$state/$name.pid"
}
