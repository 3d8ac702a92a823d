# shellcheck shell=bash
# tests/servers where no Docker engine runs: MySQL from Debian's unstable suite, the only one that has it. Nothing of it is
# installed: the server and every library that it needs are unpacked into a folder of their own, and run by their own loader.

# Where MySQL cannot be had, what is written of it says why.
start_mysql() {
    local packages=$state/mysql root mysql_port why=""
    if ! fetch_mysql; then
        write_env mysql "MySQL is NOT tested: $why" "unset DYNAFOLD_TEST_MYSQL" "$(missing_line mysql "$why")"
        return
    fi
    make_home mysql mysql
    mysql_port=$(free_port)
    root=$scratch/mysql-root
    mkdir "$root"
    for package in "$packages"/archives/*.deb; do dpkg -x "$package" "$root"; done
    secret "$home/init.sql" <<SQL
CREATE USER 'dynafold'@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON *.* TO 'dynafold'@'%' WITH GRANT OPTION;
SQL
    local mysqld=(
        "$root/usr/lib64/ld-linux-x86-64.so.2"
        --library-path "$root/usr/lib/x86_64-linux-gnu:$root/usr/lib/mysql/private"
        "$root/usr/sbin/mysqld" --no-defaults --basedir="$root/usr" --datadir="$home/data" --secure-file-priv=
        --lc-messages-dir="$root/usr/share/mysql" --character-sets-dir="$root/usr/share/mysql/charsets"
        --plugin-dir="$root/usr/lib/mysql/plugin"
    )
    prepare mysql "${mysqld[@]}" --initialize-insecure
    daemon mysql "${as[@]}" "${mysqld[@]}" --socket="$home/mysql.sock" --pid-file="$home/mysql.pid" \
        --init-file="$home/init.sql" --bind-address=127.0.0.1 --port="$mysql_port" --mysqlx=OFF --skip-name-resolve \
        --skip-log-bin --max-allowed-packet=64M --innodb-flush-log-at-trx-commit=0
    MYSQL_PWD=$password wait_for mysql \
        mariadb --no-defaults --protocol=tcp --host=127.0.0.1 --port="$mysql_port" --user=dynafold --execute='SELECT 1'
    rm "$home/init.sql"
    write_env mysql "$("${mysqld[@]}" --version | sed 's/.*Ver \([0-9.]*\).*/MySQL \1/')" "$(url_line mysql "$mysql_port")"
}

# Fills `packages` with the server's packages, unless it has them. Sets `why` where it fails.
fetch_mysql() {
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg archive apt
    if compgen -G "$packages/archives/mysql-server-core_*.deb" >/dev/null; then return 0; fi
    if [[ $(uname -m) != x86_64 ]]; then
        why="its packages are taken for x86-64 only"
    elif ! has apt-get || ! has dpkg || [[ ! -e $keyring ]]; then
        why="only Docker or Debian's packages bring it, and here is neither"
    else
        rm -rf "$packages"
        mkdir -p "$packages/lists/partial" "$packages/partial/partial"
        : >"$packages/status"
        # The archive from which this machine gets its own packages, a mirror perhaps.
        archive=$(apt-get indextargets --format '$(CREATED_BY) $(REPO_URI)' | sed -n 's#^Packages \(.*/debian/\)$#\1#p' | head -n 1)
        echo "deb [signed-by=$keyring] ${archive:-http://deb.debian.org/debian/} sid main" >"$packages/sources.list"
        # Its own lists, and an empty list of what is installed: the system's apt sees nothing of this, and every library
        # comes with the server.
        apt=(
            apt-get -q -y -o Dir::State="$packages" -o Dir::State::status="$packages/status"
            -o Dir::Cache="$packages" -o Dir::Cache::archives="$packages/partial"
            -o Dir::Etc::SourceList="$packages/sources.list" -o Dir::Etc::SourceParts=/dev/null
            -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
            -o APT::Sandbox::User= -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
        )
        if { "${apt[@]}" update && "${apt[@]}" --no-install-recommends --download-only install mysql-server-core; } \
            </dev/null >"$state/mysql-fetch.log" 2>&1 9>&-; then
            rm -rf "$packages/lists"
            mv "$packages/partial" "$packages/archives" # whole, or not at all
            return 0
        fi
        why="Debian's packages could not be fetched, see $state/mysql-fetch.log"
    fi
    return 1
}
