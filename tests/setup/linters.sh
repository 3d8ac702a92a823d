# shellcheck shell=bash
# Tools from PyPI in virtual environments below target/: in linters/ what judges the exports of `docs`, with Terraform's
# providers where a terraform binary can fetch them; in aws/ servers of S3 and DynamoDB; in tools/ what .ci/run runs. Sourced by both,
# which have `say`.

# Exports DYNAFOLD_TEST_LINTERS: the folder, or `none` where there is no Python or no PyPI, with the reason beside it.
set_up_linters() {
    export DYNAFOLD_TEST_LINTERS=$PWD/target/linters
    if from_pypi linters; then
        fetch_providers "$DYNAFOLD_TEST_LINTERS/terraform"
    else
        export DYNAFOLD_TEST_LINTERS=none
        export DYNAFOLD_TEST_LINTERS_MISSING="there is no python3 with venv, or pip could not fetch them: see target/linters/pip.log"
    fi
}

# Exports DYNAFOLD_TEST_AWS: the folder, or `none`, with the reason beside it.
set_up_aws() {
    export DYNAFOLD_TEST_AWS=$PWD/target/aws
    if ! from_pypi aws; then
        export DYNAFOLD_TEST_AWS=none
        export DYNAFOLD_TEST_AWS_MISSING="there is no python3 with venv, or pip could not fetch them: see target/aws/pip.log"
    fi
}

# from_pypi NAME: what tests/setup/NAME.txt lists, in target/NAME/venv. It is fetched again when the list has changed.
from_pypi() {
    local folder=$PWD/target/$1 wanted=$PWD/tests/setup/$1.txt
    mkdir -p "$folder"
    if cmp -s "$wanted" "$folder/$1.txt"; then return; fi
    rm -rf "$folder/venv"
    python3 -m venv "$folder/venv" >"$folder/pip.log" 2>&1 &&
        timeout 600 "$folder/venv/bin/pip" install --quiet --requirement "$wanted" >>"$folder/pip.log" 2>&1 &&
        cp "$wanted" "$folder/$1.txt"
}

# The providers that exports name, for `terraform validate`.
fetch_providers() {
    if ! command -v terraform >/dev/null; then return; fi
    mkdir -p "$1"
    cp tests/exports/providers.tf "$1/providers.tf"
    if [[ ! -f $1/ready ]]; then
        # Where they cannot be fetched, tests/exports/lint.py says so.
        if timeout 600 terraform -chdir="$1" init -backend=false -input=false -no-color >"$1/init.log" 2>&1; then
            touch "$1/ready"
        fi
    fi
}
