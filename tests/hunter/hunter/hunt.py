"""One world from beginning to end: make it, run the program on it, judge what it claims."""
import collections
import json
import os
import random
import re

from . import bases, engine, maps, program, zoo
from .fold import Reject, Unjudged
from .judge import Find, Judge, shown


def make_world(seed, database):
    rng = random.Random(seed)
    world = zoo.make(rng, database)
    maps.make(rng, world)
    world["seed"] = str(seed)
    world["max_rejects"] = rng.choice([0, 1000, 1000, 1000])
    world["later"] = later(rng, world)
    return world


def later(rng, world):
    """What happens after the first load: changes of the table behind the program's back, of rows, and of the mapping."""
    steps = []
    if rng.random() < 0.5:
        steps.append({"do": "plant", "kind": rng.choice(["delete", "alter", "extra", "own", "none"]), "pick": rng.random()})
    if rng.random() < 0.6:
        steps.append({"do": "change", "kinds": rng.sample(["delete", "null", "where", "where", "sort"], rng.choice([1, 1, 2])), "pick": rng.random()})
    return steps


# Finds that `check` alone shows.
OF_CHECK = ("keys_differ", "text_order", "always_in_index", "index_empty", "item_size", "pattern_finds")


class Hunt:
    """Runs worlds, one at a time, in a folder of its own."""

    def __init__(self, binary, folder, database, engine_name, worker):
        self.folder, self.worker = folder, worker
        self.base = bases.open_base(database, folder, worker)
        self.binary, self.engine_name = binary, engine_name
        self.stats = collections.Counter()

    def close(self):
        self.base.drop()
        if hasattr(self, "engine"):
            self.engine.drop()

    def run(self, world, only=None):
        """All finds of a world; with `only`, those of a category at least, by the shortest way."""
        self.finds, self.world, self.only = [], world, only
        world["mapping"]["table"]["name"] = f"world-{os.getpid()}-{self.worker}"    # a server of DynamoDB is shared
        self.program = program.Program(self.binary, self.folder)
        for name in os.listdir(self.folder):
            if name.startswith("world"):
                os.remove(os.path.join(self.folder, name))
        state = os.path.join(self.folder, ".dynafold")
        if os.path.isdir(state):
            for name in os.listdir(state):
                os.remove(os.path.join(state, name))
        try:
            self.base.create(world)
        except Exception as error:    # the schema itself is refused: this world is none
            self.stats["refused schemas"] += 1
            self.refused = f"{type(error).__name__}: {error}"
            return []
        try:
            self.steps()
        except Unjudged as error:
            self.stats["worlds left unjudged"] += 1
            self.stats[f"unjudged: {str(error)[:60]}"] += 1
        for run in self.program.log:
            if run.crashed:
                self.found("crash", f"{run.command[:1]} ended with {run.code}: {run.err[-500:]}")
        return self.finds

    def found(self, category, what):
        self.finds.append(Find(category, what))

    def steps(self):
        world = self.world
        self.write_mapping()
        check = self.check()
        if check is None:
            return
        judge = Judge(world, self.base)
        self.judge = judge
        for name in world["mapping"]["items"]:
            judge.made(name)
        for claim in program.claims(check):
            self.judged(claim, judge.judge_claim)
        if self.only and self.only.startswith(OF_CHECK):
            return
        self.engine = engine.ENGINES[self.engine_name](self.folder, world["mapping"]["table"]["name"])
        self.engine.drop()
        if world.get("seed", "0").endswith(("0", "5")) or (self.only or "").startswith("preview"):
            self.preview(judge)
        if not self.first_load(judge):
            return
        if not self.only or "pattern" in self.only:
            self.patterns(judge)
        if self.only and not self.only.startswith(("verify", "prune", "crash")):
            return
        for step in world["later"]:
            {"plant": self.plant, "change": self.change}[step["do"]](step)

    def judged(self, claim, judge):
        kind = f"{claim['claim']} {claim['verdict']}"
        self.stats[kind] += 1
        try:
            find, real = judge(claim)
        except Unjudged as error:
            self.stats[f"unjudged: {str(error)[:60]}"] += 1
            return
        if real:
            self.stats[kind + ", not trivial"] += 1
        if find:
            self.finds.append(find)

    def write_mapping(self):
        """One item type or pattern a line, so that a diagnostic's line tells of which it is."""
        mapping = self.world["mapping"]
        lines, self.lines = ["{"], {}
        for part, value in mapping.items():
            if part in ("items", "access_patterns"):
                lines.append(f"{json.dumps(part)}: {{")
                for name, each in value.items():
                    lines.append(f"{json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}{',' if name != list(value)[-1] else ''}")
                    self.lines[len(lines)] = (part, name)
                lines.append("}" + ("," if part != list(mapping)[-1] else ""))
            else:
                lines.append(f"{json.dumps(part)}: {json.dumps(value, ensure_ascii=False)},")
        lines.append("}")
        with open(os.path.join(self.folder, "world.yaml"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def check(self):
        """The report of `check`, after the parts of the mapping that it refuses are taken away; None where nothing is left."""
        mapping = self.world["mapping"]
        for _ in range(6):
            run = self.program.run("check", "world.yaml", "--source", self.base.url)
            self.stats["worlds"] += 1 if _ == 0 else 0
            if run.crashed or run.report is None or "diagnostics" not in run.report:
                if not run.crashed:
                    self.stats["check without diagnostics"] += 1
                    self.refused = run.err[-300:]
                return None
            errors = [each for each in run.report["diagnostics"] if each["severity"] == "error"]
            if not errors:
                return run.report
            for error in errors:
                self.stats[f"check refuses: {error['code']}"] += 1
                part, name = self.lines.get(error["line"], (None, None))
                self.refused = f"{error['message']} {error.get('label')} {part} {name}"
                if part is None:
                    return None
                mapping[part].pop(name, None)
                if part == "items":
                    for pattern in [each for each, about in self.world["patterns"].items() if name == about["item_type"] or about.get("parts")]:
                        mapping["access_patterns"].pop(pattern, None)
            if not mapping["items"]:
                return None
            self.write_mapping()
        return None

    def migrate(self, *options):
        return self.program.run("migrate", "world.yaml", "--source", self.base.url, *self.engine.arguments, *options)

    def verify(self, *options):
        return self.program.run("verify", "world.yaml", "--source", self.base.url, *self.engine.arguments, *options)

    # The first load.

    def first_load(self, judge):
        """Whether the table now holds what the judge makes, so that more can be asked of it."""
        run = self.migrate("--max-rejects", str(self.world["max_rejects"]))
        if run.report is None or run.crashed:
            self.stats["migrate without a report"] += 1
            return False
        self.stats[f"migrate {run.code}"] += 1
        contested = {key: owners for key, owners in judge.contested().items() if len(owners) > 1}
        rejected = sum(made.item is None and not made.filtered for name in judge.mapping["items"] for made in judge.made(name))
        held = self.engine.items()
        self.books(judge, run)
        for claim in program.claims(run.report):
            self.judged(claim, judge.judge_claim)
            if claim["claim"] == "books_balance" and claim["verdict"] == "differs":
                self.found("books that do not balance", str(claim))
        if run.code == 0 and (contested or rejected):
            what = f"{len(contested)} keys are contested {list(contested)[:2]}, {rejected} rows make no item"
            self.found("migrate ends with 0 and loses rows" if contested else "migrate ends with 0 beside rejects", what)
            return False
        if run.code in (0, 3):
            missing, different, more = judge.compare(held)
            for category, keys in (("missing", missing), ("different", different), ("more", more)):
                if keys:
                    self.found(f"migrate: items {category}", f"{len(keys)}: {str(keys[0])[:700]}; rejects {str(run.report.get('rejects'))[:500]}")
            if missing or different or more:
                return False
            if run.code == 0:
                self.stats["migrate 0, table compared"] += 1
        if run.code == 1:
            if run.state == "stopped":
                self.stopped(run, held)
            elif not contested and not rejected:
                self.stats["migrate fails without a cause that the judge sees"] += 1
                self.refused = str(run.report.get("outcome")) + run.err[-300:]
            return False
        if run.code == 3 and not contested and not rejected:
            self.found("migrate: rejects a row that makes an item", str(run.report.get("rejects"))[:700])
            return False
        if self.world.get("seed", "0").endswith(("1", "4", "7")) or self.only and not self.only.startswith("verify"):
            return True
        verify = self.verify()
        if verify.report and verify.code in (0, 3):
            self.stats[f"verify {verify.state}"] += 1
            if verify.code == 3 and run.code == 0:
                self.found("verify: false alarm after a load", str(verify.report.get("findings"))[:700])
        return True

    def stopped(self, run, held):
        """A load that stops for faults that it knew before the first write has written nothing, and its books do not balance."""
        known = [each for each in run.report.get("rejects") or [] if each.get("attribute") in self.judge.keys]
        if held and known and run.report["keys"]["check"] == "first":
            self.found("a load that knew its faults wrote items", f"{len(held)} items; {str(run.report.get('rejects'))[:400]}")
        if any(claim["claim"] == "books_balance" and claim["verdict"] == "proved" for claim in program.claims(run.report)):
            self.found("a stopped load says that its books balance", f"{str(run.report.get('total'))[:600]}")

    def books(self, judge, run):
        if run.code not in (0, 3):
            return
        for book in run.report["item_types"]:
            name = book["item_type"]
            if "explode" in judge.mapping["items"][name]:
                continue
            rows = judge.made(name)
            counts = {"rows_read": len(rows), "filtered": sum(made.filtered for made in rows)}
            for field, count in counts.items():
                if book[field] != count:
                    self.found(f"books: {field}", f"{name}: {book[field]}, and there are {count}")
            if book["made"] + book["rejected"] + book["filtered"] != len(rows):
                self.found("books: the sum", f"{name}: {book}")
        self.stats["books compared"] += 1

    def preview(self, judge):
        """`preview --all` compares all keys: what it counts is what there is."""
        run = self.program.run("preview", "world.yaml", "--source", self.base.url, "--all")
        if run.report is None or run.code not in (0, 3):
            self.stats[f"preview ends with {run.code}"] += 1
            return
        self.stats["previews"] += 1
        for claim in program.claims(run.report):
            self.judged(claim, judge.judge_claim)
        shared = [len(owners) for owners in judge.contested().values() if len(owners) > 1]
        said = run.report.get("collisions") or {}
        if said.get("proved") and (said["keys"], said["items"]) != (len(shared), sum(shared) - len(shared)):
            self.found("preview: equal keys", f"{said['keys']} keys and {said['items']} items, and there are {len(shared)} and {sum(shared) - len(shared)}")

    # Access patterns.

    def patterns(self, judge):
        if not judge.mapping["access_patterns"]:
            return
        run = self.verify("--patterns")
        if run.report is None:
            self.stats["verify --patterns without a report"] += 1
            return
        for claim in program.claims(run.report):
            if claim["claim"] == "pattern_answers":
                self.judged(claim, lambda claim: judge.judge_answers(claim, run.report))

    # What happens afterwards.

    def plant(self, step):
        """The table is changed behind the program's back; `verify` says equal where it is equal, and only there."""
        held, kind = self.engine.items(), step["kind"]
        if not held or self.judge.mapping["table"].get("type_attribute") is False or any(item == {} for item in held):
            return
        item = dict(held[int(step["pick"] * len(held))])
        keys = {key: item[key] for key in self.judge.keys}
        other = {**keys, self.judge.keys[-1]: ("S", keys[self.judge.keys[-1]][1] + "~planted")}
        plain = sorted(set(item) - set(keys) - {"_type"})
        equal = kind in ("none", "extra")
        if kind == "delete":
            self.engine.delete(keys)
        elif kind == "alter":
            self.engine.put({**item, "planted": ("S", "x")} if not plain else {name: value for name, value in item.items() if name != plain[0]}, self.judge.keys)
        elif kind == "extra":
            self.engine.put({**other, "_type": ("S", "SOMEBODY")}, self.judge.keys)
        elif kind == "own":
            self.engine.put({**item, **other}, self.judge.keys)
        run = self.verify()
        self.said(run, equal, {"own": "an item of ours more", "extra": "a guest"}.get(kind, kind), str(keys))
        if kind == "extra":
            self.engine.delete(other)
        elif kind == "own":
            self.engine.delete(other)
        self.engine.put(item, self.judge.keys)

    def said(self, run, equal, what, when):
        if run.report is None or run.state not in ("equal", "different"):
            self.stats["verify without an answer"] += 1
            return
        self.stats[f"verify {run.state}, {'equal' if equal else 'different'} indeed"] += 1
        rejects = any(book["rejected"] for book in run.report.get("item_types", []))
        if run.state == "equal" and not equal:
            self.found(f"verify says equal beside a difference: {what}", f"{when}; {str(run.report.get('item_types'))[:300]}")
        if run.state == "different" and equal and not rejects:
            self.found(f"verify: false alarm: {what}", f"{when}; {str(run.report.get('findings'))[:500]}")

    def change(self, step):
        """Rows and conditions change; what `verify`, `--prune`, and `--prune` once more say and do."""
        before = self.engine.items()
        mapping = self.world["mapping"]
        rng = random.Random(str(step["pick"]))
        undo = json.loads(json.dumps(mapping))
        done = [kind for kind in step["kinds"] if self.change_one(rng, kind)]
        if not done:
            return
        self.write_mapping()
        try:
            judge = Judge(self.world, self.base)
            wanted = judge.contested()
        except Unjudged:
            mapping.clear()
            mapping.update(undo)
            return
        stale = [item for item in before if tuple(item.get(key) for key in judge.keys) not in wanted]
        rejected = any(made.item is None and not made.filtered for name in mapping["items"] for made in judge.made(name))
        contested = any(len(owners) > 1 for owners in wanted.values())
        own = mapping["table"].get("type_attribute") is not False
        when = "after " + ", ".join(done)
        if own and not contested:
            run = self.verify()
            missing, different, _ = judge.compare(before)
            kinds = [kind for kind, differ in (("stale", stale), ("missing", missing), ("different", different)) if differ]
            self.said(run, not kinds, f"{', '.join(kinds) or 'nothing'} after a change", when)
        self.prune(judge, before, wanted, when, rejected)

    def guest(self, judge, before):
        """An item of somebody else, which nothing may delete: no item type's name in it, nor a key that a template could make."""
        if not before:
            return None
        item = {key: before[0][key] for key in judge.keys}
        last = judge.keys[-1]
        item[last] = ("S", item[last][1] + "~settings")
        if judge.mapping["table"].get("type_attribute") is False:
            if any(judge.can_make(name, item) for name in judge.mapping["items"]):
                return None
        else:
            item["_type"] = ("S", "SOMEBODY")
        self.engine.put(item, judge.keys)
        return item

    def prune(self, judge, before, wanted, when, rejected):
        guest = self.guest(judge, before)
        options = ["--changes-only", "--prune", "--max-rejects", "1000"]
        run = self.migrate(*options)
        if run.report is None or run.code not in (0, 3):
            self.stats[f"prune ends with {run.code}"] += 1
            return
        self.stats["prunes"] += 1
        after = self.engine.items()
        filtered = {made.key for name in judge.mapping["items"] for made in judge.made(name) if made.filtered and made.key}
        for key in self.gone(judge, before, after):
            if key in wanted:
                self.found("prune deleted an item that a row makes", f"{when}: {key}")
            elif key in filtered:
                self.found("prune deleted an item of a filtered row", f"{when}: {key}")
        again = self.migrate(*options)
        twice = self.engine.items()
        if sorted(map(repr_item, twice)) != sorted(map(repr_item, after)):
            fewer = len(after) - len(twice)
            self.found("prune: the identical command changes the table again", f"{when}: {fewer} items fewer; {str(again.report.get('total'))[:300]}")
        contested = any(len(owners) > 1 for owners in wanted.values())
        if not contested and not rejected and judge.mapping["table"].get("type_attribute") is not False:
            missing, different, more = judge.compare([item for item in twice if item != guest])
            self.said(self.verify(), not (missing or different or more), f"{'more items' if more else 'equal'} after a prune", when)
        if guest:
            self.stats["prunes beside a guest"] += 1
            if guest not in twice:
                self.found("prune deleted a guest", f"{when}: {guest}")
        if filtered:
            self.prune_filtered(judge, wanted, guest, when)

    def prune_filtered(self, judge, wanted, guest, when):
        """The named form, which takes the items of filtered rows too."""
        before = self.engine.items()
        run = self.migrate("--changes-only", "--prune=filtered", "--max-rejects", "1000")
        if run.code not in (0, 3):
            self.stats[f"prune=filtered ends with {run.code}"] += 1
            return
        self.stats["prunes of filtered rows"] += 1
        gone = self.gone(judge, before, self.engine.items())
        for key in gone:
            if key in wanted or guest and key == tuple(guest[name] for name in judge.keys):
                self.found("prune=filtered deleted too much", f"{when}: {key}")

    @staticmethod
    def gone(judge, before, after):
        left = {tuple(item.get(key) for key in judge.keys) for item in after}
        return [key for key in (tuple(item.get(key) for key in judge.keys) for item in before) if key not in left]

    def change_one(self, rng, kind):
        items = self.world["mapping"]["items"]
        name = rng.choice(list(items))
        item = items[name]
        tables = {table["name"]: table for table in self.world["tables"]}
        if kind in ("delete", "null"):
            if isinstance(item["from"], dict) or item["from"] not in tables:
                return False
            table = tables[item["from"]]
            column = rng.choice([column["name"] for column in table["columns"] if not column.get("generated")])
            _, values = self.base.select(f"SELECT {self.base.quote(column)} FROM {self.base.quote(table['name'])}")
            values = [row[0] for row in values if row[0] is not None]
            if not values:
                return False
            kinds = {each["name"]: each["kind"] for each in table["columns"]}
            value = self.base.cell(kinds[column], rng.choice(values))
            if isinstance(value, (Reject, list, dict)):
                return False
            met = f"{self.base.quote(column)} = {self.base.literal(kinds[column], value)}"
            if kind == "delete":
                return self.base.attempt(f"DELETE FROM {self.base.quote(table['name'])} WHERE {met}")
            other = rng.choice([each["name"] for each in table["columns"] if not each.get("generated")])
            return self.base.attempt(f"UPDATE {self.base.quote(table['name'])} SET {self.base.quote(other)} = NULL WHERE {met}")
        if kind == "where":
            for other in items:
                if other == name or rng.random() < 0.5:
                    items[other]["where"] = maps.condition(rng, self.world, self.judge.kinds(other))
            return True
        if "SK" in item["key"] and "explode" not in item:
            item["key"]["SK"] += "~2"
            return True
        return False


def repr_item(item):
    return repr(sorted(item.items()))
