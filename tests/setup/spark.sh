# shellcheck shell=bash
# Apache Spark from PyPI, in a virtual environment in target/spark. Sourced after tests/setup/linters.sh, which has from_pypi.

# Exports DYNAFOLD_TEST_SPARK: the Python that has it, or `none` where there is no Java, no Python or no PyPI, with the reason beside it.
set_up_spark() {
    export DYNAFOLD_TEST_SPARK=$PWD/target/spark/venv/bin/python
    if ! command -v java >/dev/null; then
        export DYNAFOLD_TEST_SPARK=none
        export DYNAFOLD_TEST_SPARK_MISSING="there is no Java"
    elif ! from_pypi spark; then
        export DYNAFOLD_TEST_SPARK=none
        export DYNAFOLD_TEST_SPARK_MISSING="there is no python3 with venv, or pip could not fetch it: see target/spark/pip.log"
    fi
}
