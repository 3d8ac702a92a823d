# shellcheck shell=bash
# tests/servers where no Docker engine runs: DynamoDB Local from Maven Central, or dynalite from npm in its place.

start_dynamodb() {
    local lib=$state/dynamodb-local dynamodb_port what why missing=()
    dynamodb_port=$(free_port)
    make_home dynamodb "$(id -un)"
    : >"$state/dynamodb.log"
    if fetch_dynamodb_local; then
        what="DynamoDB Local $(basename "$lib"/DynamoDBLocal-*.jar .jar | cut -d - -f 2)"
        daemon dynamodb java -Dport="$dynamodb_port" -Djava.net.preferIPv4Stack=true -Djava.io.tmpdir="$home" \
            -Djava.library.path="$lib" -cp "$lib/*" org.eclipse.jetty.xml.XmlConfiguration \
            "$PWD/tests/setup/dynamodb-local.xml"
    else
        lib=$state/dynalite
        if [[ ! -d $lib/node_modules/dynalite ]] && ! npm install --prefix "$lib" dynalite@3 >"$state/npm.log" 2>&1; then
            die "no DynamoDB Local ($why) and no dynalite ($state/npm.log): install Java 17 and Maven, or Node with npm"
        fi
        what="dynalite IN PLACE OF DynamoDB Local ($why)"
        missing=("$(missing_line dynamodb "dynalite stands in for it: $why")")
        # Its own command line cannot be told an address. The last argument is there for `alive` to see.
        daemon dynamodb node -e 'require(process.argv[1])().listen(Number(process.argv[2]), "127.0.0.1")' \
            "$lib/node_modules/dynalite" "$dynamodb_port" "$home"
    fi
    wait_for dynamodb dynamodb_answers "$dynamodb_port"
    write_env dynamodb "$what" "$(url_line dynamodb "$dynamodb_port")" "${missing[@]}"
}

# Fills `lib` with what dynamodb-local.pom.xml names, unless it has it. Sets `why` where it fails.
fetch_dynamodb_local() {
    local pom=tests/setup/dynamodb-local.pom.xml java
    java=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' || true)
    if [[ $(uname -m) != x86_64 ]]; then
        why="on Linux it is for x86-64 only"
    elif ((${java:-0} < 17)); then
        why="it needs Java 17 or later, and here is ${java:-none}"
    elif cmp -s "$pom" "$lib/pom.xml"; then
        return 0
    elif rm -rf "$lib" &&
        mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$lib" >"$state/maven.log" 2>&1; then
        cp "$pom" "$lib/pom.xml"
        return 0
    else
        why="Maven could not fetch it, see $state/maven.log"
    fi
    return 1
}

dynamodb_answers() {
    local answer signature='Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0'
    answer=$(curl --silent --show-error --noproxy '*' --max-time 5 "http://127.0.0.1:$1" --data '{}' \
        --header 'X-Amz-Target: DynamoDB_20120810.ListTables' --header 'Content-Type: application/x-amz-json-1.0' \
        --header "Authorization: AWS4-HMAC-SHA256 $signature" --header 'X-Amz-Date: 20260101T000000Z')
    printf '%s\n' "$answer"
    [[ $answer == *'"TableNames"'* ]]
}
