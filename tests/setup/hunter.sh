# shellcheck shell=bash
# What the hunter drives databases and DynamoDB Local with, from PyPI, in a virtual environment in target/hunter.
# Sourced by tests/hunter/run.

# set_up_hunter ROOT: exports DYNAFOLD_HUNTER_PYTHON, the Python that has it all, or fails.
set_up_hunter() {
    local folder=$1/target/hunter wanted=$1/tests/hunter/requirements.txt
    export DYNAFOLD_HUNTER_PYTHON=$folder/venv/bin/python
    mkdir -p "$folder"
    cmp -s "$wanted" "$folder/requirements.txt" && return
    rm -rf "$folder/venv"
    if ! command -v python3 >/dev/null || ! python3 -m venv "$folder/venv" >"$folder/pip.log" 2>&1 ||
        ! timeout 600 "$folder/venv/bin/pip" install --quiet --requirement "$wanted" >>"$folder/pip.log" 2>&1; then
        echo "tests/hunter: no Python with psycopg, PyMySQL and boto3 could be made, see target/hunter/pip.log" >&2
        return 1
    fi
    cp "$wanted" "$folder/requirements.txt"
}
