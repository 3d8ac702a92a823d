# shellcheck shell=bash
# What judges the exports of `docs`: linters from PyPI in a virtual environment, and Terraform's providers where a
# terraform binary can fetch them. Both are kept in target/linters. Sourced by tests/run, which has `say`.

# Exports DYNAFOLD_TEST_LINTERS: the folder, or `none` where there is no Python or no PyPI.
set_up_linters() {
    local linters=$PWD/target/linters wanted=$PWD/tests/setup/linters.txt
    export DYNAFOLD_TEST_LINTERS=$linters
    mkdir -p "$linters"
    if ! cmp -s "$wanted" "$linters/linters.txt"; then
        rm -rf "$linters/venv"
        if ! command -v python3 >/dev/null; then
            no_linters "there is no python3"
            return
        elif ! python3 -m venv "$linters/venv" >"$linters/pip.log" 2>&1 ||
            ! timeout 600 "$linters/venv/bin/pip" install --quiet --requirement "$wanted" >>"$linters/pip.log" 2>&1; then
            no_linters "pip could not fetch them, see target/linters/pip.log"
            return
        fi
        cp "$wanted" "$linters/linters.txt"
    fi
    fetch_providers "$linters/terraform"
}

no_linters() {
    export DYNAFOLD_TEST_LINTERS=none
    say "linters of exports: NOT TESTED, because $1"
}

# The providers that exports name, for `terraform validate`.
fetch_providers() {
    if ! command -v terraform >/dev/null; then
        say "terraform fmt and validate: NOT TESTED, because there is no terraform"
        return
    fi
    mkdir -p "$1"
    cp tests/exports/providers.tf "$1/providers.tf"
    if [[ ! -f $1/ready ]]; then
        if timeout 600 terraform -chdir="$1" init -backend=false -input=false -no-color >"$1/init.log" 2>&1; then
            touch "$1/ready"
        else
            say "terraform validate: NOT TESTED, because the providers could not be fetched, see target/linters/terraform/init.log"
        fi
    fi
}
