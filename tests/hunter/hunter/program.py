"""The program under test: its command line, and what its JSON claims, in one form for old and new binaries."""
import itertools
import json
import os
import subprocess


class Run:
    def __init__(self, code, out, err, command):
        self.code, self.out, self.err, self.command = code, out, err, command
        try:
            self.report = json.loads(out)
        except ValueError:
            self.report = None

    @property
    def crashed(self):
        return self.code not in (0, 1, 2, 3) or "panicked" in self.err

    @property
    def state(self):
        return ((self.report or {}).get("outcome") or {}).get("state")


class Program:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.log = []

    def run(self, *arguments):
        command = [self.binary, *arguments, "--format", "json"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("DYNAFOLD_", "DATABASE_"))}
        environment |= {"AWS_ACCESS_KEY_ID": "hunter", "AWS_SECRET_ACCESS_KEY": "hunter", "AWS_REGION": "us-east-1"}
        try:
            done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
            run = Run(done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace"), arguments)
        except subprocess.TimeoutExpired:
            run = Run(-1, "", "no end after 120 seconds", arguments)
        self.log.append(run)
        return run


def claims(report):
    """The claims of a report. Reports from before there were `claims` are brought into their form."""
    if report is None:
        return []
    if "claims" in report:
        return report["claims"] + list(by_beginning(report))
    return list(old_claims(report))


def by_beginning(report):
    """Pairs of item types whose keys begin differently are counted, and not listed."""
    made = report["claims"]
    types = [claim["of"]["item_types"][0] for claim in made if claim["claim"] == "keys_differ" and len(claim["of"].get("item_types", [])) == 1]
    proofs = report.get("proofs") or {}
    if not proofs.get("pairs_by_beginning") or proofs.get("pairs_not_compared"):
        return
    named = {frozenset(claim["of"].get("item_types", [])) for claim in made if claim["claim"] == "keys_differ"}
    for first, second in itertools.combinations(types, 2):
        if frozenset((first, second)) not in named:
            yield claim("keys_differ", {"verdict": "proved", "because": "they begin differently"}, item_types=[first, second])


VERDICTS = {"unproved": "not_proved", "refuted": "not_proved", "different": "differs"}


def old_claims(report):
    proofs = report.get("proofs")
    if proofs:
        for key in proofs["keys"]:
            yield claim("keys_differ", key, item_types=[key["item_type"]])
        named = set()
        for other in proofs["item_types"]["others"]:
            pair = other["item_type"].split(" and ")
            named.add(frozenset(pair))
            yield claim("keys_differ", other, item_types=pair)
        types = [key["item_type"] for key in proofs["keys"]]
        for at, first in enumerate(types):
            for second in types[at + 1:]:
                if frozenset((first, second)) not in named:
                    yield claim("keys_differ", {"verdict": "proved", "because": "they begin differently"}, item_types=[first, second])
        for order in proofs["order"]:
            yield claim("text_order", order, item_types=[order["item_type"]], attribute=order["attribute"])
        for index in proofs["indexes"]:
            for item in index["items"]:
                verdict = {"verdict": "proved" if item["membership"] == "always" else "not_proved", "because": item["because"]}
                yield claim("always_in_index", verdict, item_types=[item["item_type"]], index=index["index"])
            if not index["items"]:
                yield claim("index_empty", {"verdict": "proved", "because": ""}, index=index["index"])
        for size in proofs["sizes"]:
            if size["most_bytes"] is not None:
                made = claim("item_size", {"verdict": "proved", "because": ""}, item_types=[size["item_type"]])
                made["most_bytes"] = size["most_bytes"]
                yield made
        for pattern in proofs["patterns"]:
            yield claim("pattern_finds", {"verdict": "proved", "because": ""}, item_types=pattern["finds"], pattern=pattern["pattern"])
    for pattern in report.get("patterns") or []:
        if "state" in pattern:
            yield claim("pattern_answers", {"verdict": pattern["state"], "because": pattern.get("reason", "")}, pattern=pattern["pattern"])
    if "balanced" in report and "doing" in report:
        yield claim("books_balance", {"verdict": "proved" if report["balanced"] else "not_proved", "because": ""})
    if "unexpected" in report and "sample" in report:
        yield claim("table_equal", {"verdict": "proved" if report["outcome"]["state"] == "equal" else "differs", "because": ""})


def claim(kind, said, **of):
    return {"claim": kind, "of": of, "verdict": VERDICTS.get(said["verdict"], said["verdict"]), "because": said.get("because", ""),
            "example": said.get("example")}
