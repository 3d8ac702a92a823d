"""Makes a find small: takes away tables, rows, columns, item types, patterns and pieces of templates while it stays."""
import copy
import json
import os
import re
import time


def shrink(hunt, world, category, seconds=40):
    """The smallest world that was found to have a find of this category, as a case to keep."""
    end = time.monotonic() + seconds
    stats = hunt.stats.copy()

    def still(candidate):
        tried = copy.deepcopy(candidate)
        try:
            return any(find.category == category for find in hunt.run(tried, category))
        except Exception:
            return False

    best, smaller = world, True
    while smaller and time.monotonic() < end:
        smaller = False
        for candidate in candidates(best):
            if time.monotonic() > end:
                break
            if still(candidate):
                best, smaller = candidate, True
                break
    final = copy.deepcopy(best)
    finds = [find for find in hunt.run(final, category) if find.category == category]
    hunt.stats = stats
    best.pop("seed", None)
    return {"category": category, "what": finds[0].what if finds else "(seen once)", "world": best}


def candidates(world):
    """Worlds that are a little smaller, the largest steps first."""
    def without(change):
        made = copy.deepcopy(world)
        change(made)
        return made

    mapping = world["mapping"]
    for number in range(len(world["later"])):
        yield without(lambda made: made["later"].pop(number))
    for name in mapping["access_patterns"]:
        yield without(lambda made: (made["mapping"]["access_patterns"].pop(name), made["patterns"].pop(name)))
    for name in mapping["items"]:
        if len(mapping["items"]) > 1:
            yield without(lambda made: drop_item(made, name))
    for number in range(len(world["tables"])):
        if len(world["tables"]) > 1:
            yield without(lambda made: made["tables"].pop(number))
    if world.get("views"):
        yield without(lambda made: made["views"].clear())
    for name in mapping["table"].get("indexes", {}):
        yield without(lambda made: made["mapping"]["table"]["indexes"].pop(name))
    for number, table in enumerate(world["tables"]):
        half = len(table["rows"]) // 2
        if half > 1:
            yield without(lambda made: made["tables"][number].update(rows=table["rows"][:half]))
            yield without(lambda made: made["tables"][number].update(rows=table["rows"][half:]))
        for row in range(len(table["rows"])):
            yield without(lambda made: made["tables"][number]["rows"].pop(row))
    for number, table in enumerate(world["tables"]):
        for part in ("foreign_keys", "unique", "indexes"):
            for each in range(len(table[part])):
                yield without(lambda made: made["tables"][number][part].pop(each))
        if table.get("options"):
            yield without(lambda made: made["tables"][number].update(options=""))
        for column in table["columns"]:
            if len(table["columns"]) > 1:
                yield without(lambda made: drop_column(made, number, column["name"]))
    for part in ("before", "after"):
        for number in range(len(world.get(part, []))):
            yield without(lambda made: made[part].pop(number))
    for name in list(mapping["table"]):
        if name in ("key_escape", "type_attribute"):
            yield without(lambda made: made["mapping"]["table"].pop(name))
    for name, item in mapping["items"].items():
        for part in list(item):
            if part in ("where", "join", "nulls", "explode", "attributes"):
                yield without(lambda made: made["mapping"]["items"][name].pop(part))
        if item.get("columns") != []:
            yield without(lambda made: made["mapping"]["items"][name].update(columns=[]))
        for part in ("attributes", "key"):
            for attribute, template in item.get(part, {}).items():
                if part == "attributes" and len(item[part]) > 1:
                    yield without(lambda made: made["mapping"]["items"][name][part].pop(attribute))
                if isinstance(template, str):
                    for shorter in shorter_templates(template):
                        yield without(lambda made: made["mapping"]["items"][name][part].update({attribute: shorter}))


def drop_item(world, name):
    world["mapping"]["items"].pop(name)
    for pattern in [pattern for pattern, about in world["patterns"].items() if name == about["item_type"] or about.get("parts") and name == "CHILD"]:
        world["patterns"].pop(pattern)
        world["mapping"]["access_patterns"].pop(pattern, None)


def drop_column(world, number, name):
    table = world["tables"][number]
    at = [column["name"] for column in table["columns"] if not column.get("generated")]
    if name in at:
        for row in table["rows"]:
            row.pop(at.index(name))
    table["columns"] = [column for column in table["columns"] if column["name"] != name]
    if name in table.get("primary_key", []):
        table.pop("primary_key")
    table["unique"] = [unique for unique in table["unique"] if name not in unique]
    table["foreign_keys"] = [key for key in table["foreign_keys"] if name not in key["columns"]]


def shorter_templates(template):
    pieces = re.findall(r"\[[^\]]*\]|\{[^}]*\}|[^{\[]+", template)
    for at in range(len(pieces)):
        shorter = "".join(pieces[:at] + pieces[at + 1:])
        if shorter:
            yield shorter
    for found in re.finditer(r" \| [^|}]*", template):
        yield template[:found.start()] + template[found.end():]


def shown(case):
    return json.dumps(case, ensure_ascii=False)


def keep(case, category, folder):
    os.makedirs(folder, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", category.lower()).strip("-")
    number = 1
    while os.path.exists(os.path.join(folder, f"{name}-{number}.json")):
        number += 1
    path = os.path.join(folder, f"{name}-{number}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(case, file, ensure_ascii=False, indent=1)
        file.write("\n")
    return f"kept as {path}"
