"""Judges the exports in a folder, each by the tools of its format.

    python lint.py FOLDER LINTERS

LINTERS is the folder that tests/setup/linters.sh fills. Prints a line for each fault, and the names of what was
judged; the exit code is 1 where there is a fault. What could not be judged is said as NOT TESTED, and why.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import botocore.session
import botocore.validate
import hcl2
import jsonschema
import kubernetes_validate
import parliament
import yaml

HERE = pathlib.Path(__file__).parent
BIN = pathlib.Path(sys.executable).parent


def run(*command, **options):
    ran = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    return ran.returncode, ran.stdout


def cloudformation(files, _linters):
    """cfn-lint, whose every finding counts, warnings and informational ones too."""
    code, said = run(BIN / "cfn-lint", "--include-checks", "I", "--format", "parseable", *files)
    if code != 0:
        yield said


def terraform(files, linters):
    """A parser of HCL; Terraform itself where it is there; its providers where they are."""
    for file in files:
        try:
            hcl2.loads(file.read_text())
        except Exception as error:  # whatever the parser throws is a fault of the file
            yield f"{file.name}: {error}"
    if not shutil.which("terraform"):
        print("NOT TESTED: exports by terraform fmt and validate, because there is no terraform")
        return
    for file in files:
        code, said = run("terraform", "fmt", "-check", "-diff", "-no-color", file)
        if code != 0:
            yield f"{file.name}: not as terraform fmt writes it\n{said}"
    providers = linters / "terraform"
    if not (providers / "ready").is_file():
        print("NOT TESTED: exports by terraform validate, because its providers could not be fetched, see target/linters/terraform/init.log")
        return
    for file in files:
        with tempfile.TemporaryDirectory() as place:
            place = pathlib.Path(place)
            shutil.copy(file, place / "main.tf")
            shutil.copy(providers / ".terraform.lock.hcl", place)
            (place / ".terraform").symlink_to(providers / ".terraform")
            code, said = run("terraform", "validate", "-no-color", cwd=place)
            if code != 0:
                yield f"{file.name}: {said}"


def workbench(files, _linters):
    """The schema that was made from models in public."""
    schema = json.loads((HERE / "workbench.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for file in files:
        for error in validator.iter_errors(json.loads(file.read_text())):
            yield f"{file.name}: {error.json_path}: {error.message}"


# Actions that are newer than parliament, and others of the same resources that it knows.
NEWER = {
    "dynamodb:StartBulkPutItems": "dynamodb:PutItem",
    "dynamodb:DescribeBulkOperation": "dynamodb:DescribeTable",
    "dynamodb:CancelBulkOperation": "dynamodb:DeleteItem",
}


def iam(files, _linters):
    """parliament with all its auditors, whose every finding counts."""
    for file in files:
        text = file.read_text()
        for action, known in NEWER.items():
            text = text.replace(f'"{action}"', f'"{known}"')
        policy = parliament.analyze_policy_string(text, include_community_auditors=True)
        for finding in policy.findings:
            yield f"{file.name}: {finding}"


def kubernetes(files, _linters):
    """The schemas of Kubernetes' own API; a name that they do not have is a fault."""
    for file in files:
        for document in yaml.safe_load_all(file.read_text()):
            try:
                kubernetes_validate.validate(document, "1.34", strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
                yield f"{file.name}: {str(error).splitlines()[0]}"


def batch(files, _linters):
    """The shape of RegisterJobDefinition in the public model of AWS Batch; a name that it does not have is a fault."""
    model = botocore.session.get_session().get_service_model("batch")
    shape = model.operation_model("RegisterJobDefinition").input_shape
    for file in files:
        report = botocore.validate.ParamValidator().validate(json.loads(file.read_text()), shape)
        if report.has_errors():
            yield f"{file.name}: {report.generate_report()}"


JUDGES = {
    "job.yaml": kubernetes,
    "job-definition.json": batch,
    ".cloudformation.yaml": cloudformation,
    ".tf": terraform,
    ".workbench.json": workbench,
    ".iam-migration.json": iam,
    ".iam-import.json": iam,
    ".iam-bulk.json": iam,
    ".iam-application.json": iam,
}


def main(folder, linters):
    faults = 0
    for ending, judge in JUDGES.items():
        files = sorted(pathlib.Path(folder).glob(f"*{ending}"))
        for fault in judge(files, pathlib.Path(linters)) if files else ():
            print(fault)
            faults += 1
        for file in files:
            print(f"judged {file.name}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
