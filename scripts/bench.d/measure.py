"""Runs what is measured, each in a process of its own, and keeps what it took.

A measurement is named by what runs, what it reads and how many of the rows: "flat postgres 100x".
"""

import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

import data
from data import ROOT, WORK

LATENCY_MS = 8
# 50,000 items a second at 8 ms: less than a machine with two processors can load.
IN_FLIGHT = 16
# A load to the endpoint that throttles takes so many seconds; between these shares of its rows it is looked at.
THROTTLED_SECONDS = 50
SETTLED, ENDING = 0.4, 0.95
# Pairs of loads in one measurement, one of each under noise.
PAIRS = 17
CALM = ["--store", "map", "--settings", ROOT / "scripts/bench.d/calm.yaml"]
NOISE = ["--store", "map", "--settings", ROOT / "scripts/bench.d/noise.yaml"]

# Loads: the mapping's shape, the endpoint, and more options.
LOADS = {
    "flat": ("flat", "null", []),
    "unproved": ("unproved", "null", []),
    "one-pass": ("unproved", "null", ["--one-pass"]),
    "joined": ("joined", "null", []),
    "file": ("flat", "file", []),
    "latency": ("flat", "latency", ["--concurrency", str(IN_FLIGHT)]),
    "throttled": ("flat", "throttled", []),
}
# How it is known that no two items have one key, where that is known of PostgreSQL's tables.
KEYS = {"flat": "proved", "joined": "proved", "file": "proved", "unproved": "first", "one-pass": "late"}
# Exports, by how they are compressed.
EXPORTS = {"zstd": "zstd", "gzip": "gzip", "plain": "none"}
TOOL = [*LOADS, *EXPORTS, "noise", "version", "check"]


class Measurements:
    def __init__(self, databases, parts, rehearse, options):
        self.databases, self.parts, self.rehearse, self.options = databases, parts, rehearse, options
        self.rows, self.results, self.endpoint = options.rows, {}, None
        self.items, self.catalog, self.twenty = WORK / "items.ndjson", WORK / "catalog.json", WORK / "twenty.yaml"

    def prepare(self, binary):
        """What is made out of the rows, once: a tenth of the items as JSON lines, and a schema as a file."""
        environment = self.databases.of("postgres")
        for file, command in [
            (self.items, ["preview", data.mapping("flat", "10x"), "--format", "dynamodb-json", "--limit", str(self.rows // 10)]),
            (self.catalog, ["inspect", "--table", "events", "--format", "json"]),
        ]:
            with open(file, "w") as out:
                subprocess.run([binary, *command], env=environment, check=True, stdout=out)
        data.twenty(self.twenty)

    def run(self, name, binary):
        """Measures once."""
        what, product, size = name.split()
        rows = data.rows_of(size, self.rows)
        self.stop()
        if what == "noise":
            return self.noise(name, binary, product, size, rows)
        if what in LOADS:
            return self.load(name, binary, what, product, size, rows)
        environment = self.databases.of(product)
        if what in EXPORTS:
            return self.export(name, binary, what, size, rows, environment)
        match what:
            case "version":
                return self.start_up(name, binary, ["--version"], environment)
            case "check":
                return self.start_up(name, binary, ["check", self.twenty, "--catalog", self.catalog], environment)
            case "read":
                result, text = self.measure(name, [self.parts, "read", "events"], environment)
                if int(text) != rows:
                    sys.exit(f"{name}: {text.strip()} rows were read")
            case "psql":
                command = [self.databases.psql_path, "-X", "-q", "-c", r"\copy events to /dev/null (format binary)"]
                result, _ = self.measure(name, command, environment)
            case "client":
                result, text = self.measure(name, [self.parts, "client", self.serve("null"), self.items, str(rows)], environment)
                result["wall"] = float(text)
            case "import":
                result, _ = self.measure(name, [self.parts, "import", self.items, fresh("table.ddb")], environment)
            case "python":
                rows = min(rows, self.options.peer_rows)
                url = self.databases.urls[product].replace("postgres:", "postgresql+psycopg:", 1)
                command = [venv(), ROOT / "benches/peers/sqlalchemy_boto3.py", url, self.serve("null"), str(rows)]
                result, _ = self.measure(name, command, environment)
        self.keep(name, None, {**result, "rows": rows})

    def load(self, name, binary, what, product, size, rows):
        shape, endpoint, more = LOADS[what]
        command = migrate(binary, shape, size) + more
        samples = []
        if endpoint == "file":
            command += ["--target", f"local:{fresh('table.ddb')}"]
        else:
            command += ["--target", "dynamodb", "--endpoint-url", self.serve(endpoint)]
        watch = (lambda: samples.append(self.counts())) if endpoint == "throttled" else None
        result, text = self.measure(name, command, self.databases.of(product), watch)
        report = json.loads(text[text.index("{"):])
        total, keys = report["total"], report["keys"]["check"]
        # A load that lost a row is no measurement.
        books = [claim["verdict"] for claim in report["claims"] if claim["claim"] == "books_balance"]
        if books != ["proved"] or total["written"] != rows or total["orphans"] or total["cut"]:
            sys.exit(f"{name}: the load is not whole: {total}")
        if product == "postgres" and what in KEYS and keys != KEYS[what]:
            sys.exit(f"{name}: the keys were {keys}, not {KEYS[what]}")
        if samples:
            result |= settled(name, samples, self.wcu(), rows)
        self.keep(name, binary, {**result, "rows": rows, "keys": keys})

    def export(self, name, binary, what, size, rows, environment):
        shutil.rmtree(WORK / "export", ignore_errors=True)
        command = [binary, "export", data.mapping("flat", size), "--to", WORK / "export", "--compress", EXPORTS[what], "--format", "json"]
        result, text = self.measure(name, command, environment)
        items = json.loads(text[text.index("{"):])["items"]
        if items != rows:
            sys.exit(f"{name}: the export is not whole: {items} items")
        shutil.rmtree(WORK / "export")
        self.keep(name, binary, {**result, "rows": rows})

    def noise(self, name, binary, product, size, rows):
        """Keeps the pair in which noise cost the most of the rate."""
        for _ in range(PAIRS):
            seed, seconds = len(self.results.get((name, binary), [])), []
            for settings in [CALM, NOISE]:
                self.stop()
                self.spawn([self.rehearse, *settings, "--seed", str(seed)])
                command = [*migrate(binary, "flat", size), "--target", "dynamodb", "--endpoint-url", self.address]
                result, text = self.measure(name, command, self.databases.of(product))
                report = json.loads(text[text.index("{"):])
                if report["total"]["written"] != rows:
                    sys.exit(f"{name}: the load is not whole: {report['total']}")
                seconds.append(report["elapsed_seconds"])
            self.keep(name, binary, {**result, "rows": rows, "kept": seconds[0] / seconds[1]}, quiet=True)

    def start_up(self, name, binary, arguments, environment):
        for _ in range(7):
            result, _ = self.measure(name, [binary, *arguments], environment)
            self.keep(name, binary, {**result, "rows": 1}, quiet=True)

    def wcu(self):
        return max(1, self.rows // THROTTLED_SECONDS)

    def serve(self, what):
        """Starts an endpoint, one for each run."""
        command = {
            "null": [self.parts, "endpoint", "0"],
            "latency": [self.parts, "endpoint", str(LATENCY_MS)],
            "throttled": [self.rehearse, "--store", "map", "--partitions", "64", "--table-wcu", str(self.wcu())],
        }[what]
        return self.spawn(command)

    def spawn(self, command):
        self.endpoint = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address = self.endpoint.stdout.readline().strip()
        return self.address

    def stop(self):
        if self.endpoint:
            self.endpoint.terminate()
            self.endpoint.wait()
            self.endpoint.stdout.close()
            self.endpoint = None

    def counts(self):
        with urllib.request.urlopen(self.address + "/__storm/counts", timeout=10) as answer:
            counts = json.load(answer)
        return counts["seconds"], counts["units"]["total"], counts["items"]["put"], counts["items"]["refused"]

    def measure(self, name, command, environment, watch=None):
        """What a process took, and what it printed."""
        out, err = WORK / "last.out", WORK / "last.err"
        ended = threading.Event()
        with open(out, "w") as stdout, open(err, "w") as stderr:
            begun = time.monotonic()
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
            watcher = threading.Thread(target=lambda: watching(ended, watch)) if watch else None
            if watcher:
                watcher.start()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - begun
            process.returncode = os.waitstatus_to_exitcode(status)
            if watcher:
                ended.set()
                watcher.join()
        if process.returncode != 0:
            sys.exit(f"{name} failed:\n{out.read_text()}{err.read_text()}")
        return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": mebibytes(usage)}, out.read_text()

    def keep(self, name, binary, result, quiet=False):
        self.results.setdefault((name, binary), []).append(result)
        if not quiet:
            print(
                f"{name:22} {result['wall']:7.2f} s  {result['cpu']:6.2f} CPU s  {result['peak']:6.1f} MiB"
                + (f"  {binary.name}" if binary else ""),
                file=sys.stderr,
            )

    def median(self, name, binary):
        """The medians of a measurement; None where it was not made."""
        runs = self.results.get((name, binary)) or self.results.get((name, None))
        if not runs:
            return None
        middle = {key: statistics.median(run[key] for run in runs) for key in runs[0] if key != "keys"}
        if "kept" in middle:
            middle["kept"] = min(run["kept"] for run in runs)
        return {**middle, "rate": middle["rows"] / middle["wall"], "cpu_million": middle["cpu"] / middle["rows"] * 1e6}


def migrate(binary, shape, size):
    """The command of a load, but for its target."""
    files = ["--state", fresh("state"), "--rejects", fresh("rejects.ndjson")]
    return [binary, "migrate", data.mapping(shape, size), "--format", "json", "--yes", *files]


def settled(name, samples, wcu, rows):
    """What an endpoint with a limit did between the two shares of the rows."""
    within = [sample for sample in samples if SETTLED * rows <= sample[2] <= ENDING * rows]
    if len(within) < 2:
        sys.exit(f"{name}: the load was over before it could be looked at")
    seconds, units, put, refused = (last - first for first, last in zip(within[0], within[-1]))
    return {"granted": units / (wcu * seconds), "resent": refused / put}


def watching(ended, watch):
    while not ended.wait(0.5):
        watch()


def fresh(name):
    """The path of a file that is not there."""
    for suffix in ["", "-wal", "-shm", "-journal"]:
        pathlib.Path(f"{WORK / name}{suffix}").unlink(missing_ok=True)
    return WORK / name


def mebibytes(usage):
    """Linux counts the peak in KiB, macOS in bytes."""
    return usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def own_peak():
    """A child's peak begins with that of this script, from which it was forked."""
    return mebibytes(resource.getrusage(resource.RUSAGE_SELF))


def venv():
    """Python with what the peer needs."""
    home = WORK / "venv"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        packages = ["sqlalchemy>=2,<3", "psycopg[binary]>=3,<4", "boto3>=1.35,<2"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (home / "ready").touch()
    return python
