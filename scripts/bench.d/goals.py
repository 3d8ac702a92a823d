"""The goals: what is measured for each, the ratio, and whether it holds."""

import measure

MIB = "MiB"


class Goal:
    """A ratio, what it is to reach, and what must hold at once. `most`: less is better."""

    def __init__(self, group, text, needs, ratio, goal, must=None, most=False, unit="x"):
        self.group, self.text, self.needs, self.ratio = group, text, needs, ratio
        self.goal, self.must, self.most, self.unit = goal, goal if must is None else must, most, unit

    def holds(self, value):
        def within(limit):
            if isinstance(limit, tuple):
                return limit[0] <= value <= limit[1]
            return value <= limit if self.most else value >= limit

        return "yes" if within(self.goal) else "must only" if within(self.must) else "**no**"

    def limit(self, limit):
        if isinstance(limit, tuple):
            return f"{limit[0]:g} to {limit[1]:g}"
        return f"{'<=' if self.most else '>='} {limit:.3g}{self.unit}"


def faster(group, text, ours, theirs, goal, must=None):
    return Goal(group, text, [ours, theirs], lambda a, b: a["rate"] / b["rate"], goal, must)


def per_row(many, few, one):
    """CPU a row, without what a load takes before its first row."""
    a, b = ((load["cpu"] - one["cpu"]) / load["rows"] for load in (many, few))
    return a / b if b > 0 else float("nan")


PG = "flat postgres 100x"
GOALS = [
    faster("python", "PostgreSQL -> null endpoint, rows/s against SQLAlchemy + boto3", PG, "python postgres 100x", 50, 25),
    Goal("python", "the same, CPU", [PG, "python postgres 100x"], lambda a, b: a["cpu_million"] / b["cpu_million"], 1 / 40, 1 / 18, most=True),
    faster("postgres", "the same, rows/s against the minimal client", PG, "client postgres 100x", 0.40, 0.25),
    faster("postgres", "the same, rows/s against `psql \\copy`", PG, "psql postgres 100x", 0.25, 0.15),
    faster("sqlite", "SQLite -> null endpoint, rows/s against reading alone", "flat sqlite 100x", "read sqlite 100x", 0.4),
    faster("mariadb", "MariaDB -> null endpoint, rows/s against reading alone", "flat mariadb 100x", "read mariadb 100x", 0.4),
    *[
        Goal(product, f"{title} -> null endpoint, CPU per million rows against reading alone + the minimal client",
             [f"flat {product} 100x", f"read {product} 100x", "client postgres 100x"],
             lambda a, b, c: a["cpu_million"] / (b["cpu_million"] + c["cpu_million"]), 1.25, 1.6, most=True)
        for product, title in [("postgres", "PostgreSQL"), ("mariadb", "MariaDB")]
    ],
    *[
        Goal(product, f"one join and one embed, {title}: CPU per million items against flat", [f"joined {product} 100x", f"flat {product} 100x"],
             lambda a, b: a["cpu_million"] / b["cpu_million"], 1.7, most=True)
        for product, title in [("postgres", "PostgreSQL"), ("sqlite", "SQLite"), ("mariadb", "MariaDB")]
    ],
    *[
        faster("export", f"export ({how}), rows/s against `psql \\copy`", f"{how} postgres 100x", "psql postgres 100x", 0.5)
        for how in ("zstd", "gzip")
    ],
    faster("export", "export (not compressed), rows/s against `psql \\copy`", "plain postgres 100x", "psql postgres 100x", 0.6),
    faster("export", "export (zstd), rows/s against the null endpoint", "zstd postgres 100x", PG, 1.2),
    Goal("export", "export (zstd), peak memory: 100x rows / 1x", ["zstd postgres 100x", "zstd postgres 1x"],
         lambda a, b: a["peak"] / b["peak"], 1.1, most=True),
    faster("file", "fresh `local:FILE`, rows/s against the engine's import", "file postgres 10x", "import postgres 10x", 0.6),
    Goal("latency", f"rows/s against 25 x {measure.IN_FLIGHT} / {measure.LATENCY_MS} ms", ["latency postgres 100x"],
         lambda a: a["rate"] / (25 * measure.IN_FLIGHT * 1000 / measure.LATENCY_MS), 0.85),
    Goal("throttle", "throttling endpoint, settled: accepted / granted", ["throttled postgres 100x"], lambda a: a["granted"], 0.97, 0.90),
    Goal("throttle", "the same: sent again / accepted", ["throttled postgres 100x"], lambda a: a["resent"], 0.03, 0.05, most=True),
    Goal("noise", "rate kept under noise, the least of all pairs", ["noise postgres 1x"], lambda a: a["kept"], 0.5),
    *[
        goal
        for load, title in [("flat", "keys proved"), ("unproved", "keys compared (two passes)"), ("joined", "with join and embed")]
        for goal in [
            Goal("memory", f"peak memory, {title}: 10x rows / 1x", [f"{load} postgres 10x", f"{load} postgres 1x"],
                 lambda a, b: a["peak"] / b["peak"], 1.1, most=True),
            Goal("memory", f"peak memory, {title}: 100x rows / 1x", [f"{load} postgres 100x", f"{load} postgres 1x"],
                 lambda a, b: a["peak"] / b["peak"], 1.1, most=True),
            Goal("memory", f"peak memory, {title}: 100x rows", [f"{load} postgres 100x"], lambda a: a["peak"], 64, most=True, unit=" " + MIB),
        ]
    ],
    *[
        Goal("memory", f"CPU a row, {title}: 100x rows / 1x", [f"{load} postgres 100x", f"{load} postgres 1x", "flat postgres one"],
             per_row, (0.9, 1.1))
        for load, title in [("flat", "keys proved"), ("unproved", "keys compared (two passes)")]
    ],
    Goal("start", "start-up: `--version`", ["version postgres one"], lambda a: a["wall"] * 1000, 20, most=True, unit=" ms"),
    Goal("start", "start-up: `check` of 20 item types", ["check postgres one"], lambda a: a["wall"] * 1000, 100, most=True, unit=" ms"),
    Goal("passes", "two passes, rows/s against one", ["unproved postgres 100x", "one-pass postgres 100x"], lambda a, b: a["rate"] / b["rate"], None),
]
# Told, though nobody asks for a ratio of it.
BESIDE = {"postgres": ["read postgres 100x"], "python": [PG], "memory": []}
GROUPS = list(dict.fromkeys(goal.group for goal in GOALS))


def needed(groups):
    """The measurements of some groups, in order, each once."""
    names = [name for goal in GOALS if goal.group in groups for name in goal.needs]
    names += [name for group in groups for name in BESIDE.get(group, [])]
    return list(dict.fromkeys(names))


def table(measurements, binary, groups):
    """The lines of the table of goals, and its values."""
    lines = ["| goal | measured | goal | must hold | holds |", "| --- | --: | --- | --- | --- |"]
    values = {}
    for goal in GOALS:
        medians = [measurements.median(name, binary) for name in goal.needs]
        if goal.group not in groups or None in medians:
            continue
        value = goal.ratio(*medians)
        values[goal.text] = value
        unit = "" if goal.unit == "x" else goal.unit
        if goal.goal is None:
            lines.append(f"| {goal.text} | {value:.3g}{unit} | none | none | |")
        else:
            limits = f"{goal.limit(goal.goal)} | {goal.limit(goal.must)}"
            lines.append(f"| {goal.text} | {value:.3g}{unit} | {limits} | {goal.holds(value)} |")
    return lines, values


def details(measurements, binary):
    """The lines of the table of all measurements."""
    lines = [
        "| measurement | rows | wall s | CPU s | rows/s | rows/s, least to most | CPU s per million | peak MiB |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    own = measure.own_peak()
    for name, of in measurements.results:
        if of not in (None, binary):
            continue
        middle, runs = measurements.median(name, binary), measurements.results[name, of]
        rates = sorted(run["rows"] / run["wall"] for run in runs)
        peak = f"{middle['peak']:.1f}" if middle["peak"] > 1.1 * own else f"< {middle['peak']:.0f}"
        rows = middle["rows"]
        tell = (f"{middle['rate']:,.0f} | {rates[0]:,.0f}-{rates[-1]:,.0f} | {middle['cpu_million']:.2f}" if rows > 1 else "| |")
        lines.append(f"| {name} | {rows:,.0f} | {middle['wall']:.3f} | {middle['cpu']:.3f} | {tell} | {peak} |")
    return lines
