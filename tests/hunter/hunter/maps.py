"""Random mappings and access patterns over a world. Beside the mapping the world keeps what the judge has to know of each
pattern's SQL: which columns of the answer are which attributes, and whether the SQL says more than the key does."""
from . import fold, zoo


def make(rng, world):
    keys = {"partition": rng.choice(["PK", "PK", "PK", "hash"])}
    if rng.random() < 0.92:
        keys["sort"] = "SK"
    mapping = {"dynafold": 1, "table": {"name": "world", "key": keys}, "items": {}, "access_patterns": {}}
    world["mapping"], world["queries"], world["patterns"], world["query_tables"] = mapping, {}, {}, {}
    make_indexes(rng, mapping["table"])
    if rng.random() < 0.12:
        mapping["table"]["key_escape"] = "percent"
    if rng.random() < 0.12:
        mapping["table"]["type_attribute"] = False
    relations = zoo.relations(world)
    shared = rng.choice(["A#", "A#", "", "AB#"])
    for name in ["A", "B", "AB", "C"][:rng.choice([1, 1, 2, 2, 3, 4])]:
        relation = rng.choice(list(relations))
        mapping["items"][name] = make_item(rng, world, name, relation, relations, shared)
    if rng.random() < 0.12:
        make_beginnings(rng, world)
    if rng.random() < 0.12:
        make_middle(rng, world)
    if world["database"] == "sqlite" and rng.random() < 0.5:
        make_loose(rng, world)
    if rng.random() < 0.4:
        make_collection(rng, world)
    for number in range(rng.choice([0, 1, 2, 3])):
        make_pattern(rng, world, f"pattern{number + 1}")


def stored(table, kinds):
    return [(at, column) for at, column in enumerate(each for each in table["columns"] if not each.get("generated")) if column["kind"] in kinds]


def replace(world, name, table, key):
    """Puts an item type of one table and nothing else in another's place."""
    world["mapping"]["items"][name] = {"from": table["name"], "key": key}
    for known in ("queries", "query_tables"):
        world[known].pop(name, None)


def make_beginnings(rng, world):
    """Two item types of one table: the keys of one begin with those of the other and what a text may begin with."""
    items, keys = world["mapping"]["items"], world["mapping"]["table"]["key"]
    tables = [table for table in world["tables"] if stored(table, ["text"]) and table["rows"]]
    if len(items) < 2 or not tables:
        return
    table, word = rng.choice(tables), rng.choice(["B", "B#", "#"])
    at, column = rng.choice(stored(table, ["text"]))
    for name, beginning in zip(rng.sample(list(items), 2), ["X", f"X{word}"]):
        key = {keys["partition"]: beginning + name_of(column["name"])}
        if "sort" in keys:
            key = {keys["partition"]: "ALL", "SK": key[keys["partition"]]}
        replace(world, name, table, key)
    row = list(rng.choice(table["rows"]))
    if row[at].startswith("'"):
        row[at] = f"'{word}{row[at][1:]}"
        for other, number in stored(table, ["int"]):
            row[other] = str(rng.randint(300, 900))
        table["rows"].append(row)


def make_middle(rng, world):
    """A sort key with a number of fixed width behind one that may be missing."""
    keys = world["mapping"]["table"]["key"]
    tables = [table for table in world["tables"] if len(stored(table, ["int"])) > 1]
    if "sort" not in keys or not tables:
        return
    table = rng.choice(tables)
    (_, first), (_, second) = rng.sample(stored(table, ["int"]), 2)
    name = rng.choice(list(world["mapping"]["items"]))
    sort = f"{name}#[{name_of(first['name'], ' | pad(10)')}#]{name_of(second['name'], ' | pad(10)')}"
    replace(world, name, table, {keys["partition"]: "ALL", "SK": sort})


def make_loose(rng, world):
    """Children whose own key tells case, under parents whose key does not: a parent's key is no key of its children."""
    keys = world["mapping"]["table"]["key"]
    found = []
    for child in world["tables"]:
        texts = {column["name"]: at for at, column in stored(child, ["text"])}
        found += [(child, key, texts[key["columns"][0]]) for key in child["foreign_keys"]
                  if len(key["columns"]) == 1 and key["columns"][0] in texts and key["table"] != child["name"]]
    if not found:
        return
    child, key, at = rng.choice(found)
    own = next(column for column in child["columns"] if column["name"] == key["columns"][0])
    own.pop("collate", None)
    own["null"] = False
    child.pop("inline_key", None)
    child["primary_key"] = [own["name"]]
    parent = next(table for table in world["tables"] if table["name"] == key["table"])
    theirs = next(column for column in parent["columns"] if column["name"] == key["to"][0])
    if theirs["kind"] != "text" or not child["rows"]:
        return
    theirs["collate"] = "COLLATE NOCASE"
    row = list(rng.choice(child["rows"]))
    child["rows"] += [[*row[:at], spelled, *row[at + 1:]] for spelled in (row[at].lower(), row[at].upper()) if row[at].startswith("'")]
    name = rng.choice(list(world["mapping"]["items"]))
    replace(world, name, child, {keys["partition"]: "L#" + name_of(f"p.{theirs['name']}"), **({"SK": "L"} if "sort" in keys else {})})
    world["mapping"]["items"][name]["join"] = {"p": own["name"]}


def make_indexes(rng, table):
    for number in range(rng.choice([0, 0, 1, 1, 2])):
        own = f"g{number + 1}"
        index = {"partition": rng.choice([own, own, own, "g1", table["key"].get("sort", own)])}
        if rng.random() < 0.7:
            index["sort"] = rng.choice([f"s{number + 1}", "SK" if "sort" in table["key"] else "s1", table["key"]["partition"]])
        if index.get("sort") == index["partition"]:
            index.pop("sort")
        project = rng.random()
        if project < 0.2:
            index["project"] = "keys"
        elif project < 0.4:
            index["project"] = rng.sample(["name", "code", "note", "id"], 2)
        table.setdefault("indexes", {})[f"GSI{number + 1}"] = index


def make_item(rng, world, name, relation, relations, shared):
    columns = dict(relations[relation])
    table = next((table for table in world["tables"] if table["name"] == relation), None)
    item = {"from": relation}
    if table and rng.random() < 0.2:
        columns = make_query(rng, world, name, item, table)
        table_for_keys = {**table, "foreign_keys": []}
    else:
        table_for_keys = table
    # Which affinity a column of a compound SELECT has SQLite leaves open: each statement may compare it otherwise.
    is_open = world["database"] == "sqlite" and "UNION" in str(item["from"])
    if rng.random() < 0.25 and not is_open:
        item["where"] = condition(rng, world, columns)
    reach = dict(columns)
    for key in (table_for_keys or {}).get("foreign_keys", []):
        if rng.random() < 0.6 and set(key["columns"]) <= set(columns):
            alias = "p" if "p" not in item.get("join", {}) else "q"
            item.setdefault("join", {})[alias] = key["columns"][0] if len(key["columns"]) == 1 else key["columns"]
            reach |= {f"{alias}.{column}": kind for column, kind in relations[key["table"]].items()}
    exploded = [column for column, kind in columns.items() if kind == "json"]
    if exploded and rng.random() < 0.6:
        item["explode"] = {"e": exploded[0]}
        reach |= {"e": "any", "e.$index": "index"}
    item["key"] = make_key(rng, world, table_for_keys, columns, reach, shared, name)
    carried(rng, item, columns, reach)
    for index in world["mapping"]["table"].get("indexes", {}).values():
        for attribute in (index["partition"], index.get("sort")):
            if attribute and attribute not in item["key"] and rng.random() < 0.85:
                template = index_key(rng, reach, name)
                if rng.random() < 0.15 and not is_open:
                    template = {"$value": template, "$when": condition(rng, world, columns)}
                item.setdefault("attributes", {})[attribute] = template
    if exploded and "explode" not in item and rng.random() < 0.5:
        item.setdefault("attributes", {})["$spread"] = exploded[0]
    if rng.random() < 0.1:
        item["nulls"] = "keep"
    if rng.random() < 0.3:
        embed(rng, world, item)
    return item


def embed(rng, world, item):
    """Children inside their parent, in the order of their integer keys."""
    for child in world["tables"]:
        kinds = {column["name"]: column["kind"] for column in child["columns"]}
        for key in child["foreign_keys"]:
            own = child.get("primary_key") or []
            if key["table"] == item["from"] and len(own) == 1 and kinds[own[0]] == "int":
                carried = [column for column, kind in kinds.items() if kind in ("int", "text", "real", "date")]
                item.setdefault("attributes", {})["children"] = {
                    "$embed": child["name"], "$match": dict(zip(key["columns"], key["to"])), "$order": own,
                    "$each": {column: name_of(column) for column in carried}}
                return


def make_query(rng, world, name, item, table):
    plain = [column for column in table["columns"] if column["kind"] in ("int", "text", "real", "any")]
    if not plain:
        return {column["name"]: column["kind"] for column in table["columns"]}
    columns, listed = {}, []
    is_union = world["database"] == "sqlite" and len(plain) > 1 and rng.random() < 0.5
    # Of a compound's column in FROM, SQLite takes the affinity of any of the SELECTs: with `+` it has none (docs/sqlite.md).
    sign = "+" if is_union else ""
    for column in plain:
        quoted = zoo.quoted(world, column["name"])
        if rng.random() < 0.2 and column["kind"] == "int":
            listed.append(f"{quoted} + 0 AS {quoted}")
        elif rng.random() < 0.15 and column["kind"] == "text":
            listed.append(f"upper({quoted}) AS {quoted}")
        else:
            listed.append(f"{sign}{quoted} AS {quoted}" if sign else quoted)
        columns[column["name"]] = column["kind"]
    sql = f"SELECT {', '.join(listed)} FROM {zoo.quoted(world, table['name'])}"
    if rng.random() < 0.3:
        sql += f" WHERE {zoo.quoted(world, plain[0]['name'])} IS NOT NULL"
    if is_union:    # the types of the first SELECT are those of none
        turned = [sign + zoo.quoted(world, column["name"]) for column in plain[1:] + plain[:1]]
        sql += f" UNION ALL SELECT {', '.join(turned)} FROM {zoo.quoted(world, table['name'])}"
    key = [column for column in table.get("primary_key") or [plain[0]["name"]] if column in columns] or [plain[0]["name"]]
    item["from"] = {"sql": sql, "key": key}
    world["queries"][name], world["query_tables"][name] = columns, table["name"]
    return columns


def carried(rng, item, columns, reach):
    bare = {column: kind for column, kind in columns.items() if "." not in column}
    choice = rng.random()
    if choice < 0.5:
        item["columns"] = "*"
    elif choice < 0.9:
        item["columns"] = rng.sample(list(bare), rng.randint(0, len(bare)))
        for column in reach:
            if column.startswith("p.") and column[2:] not in bare and rng.random() < 0.4:
                item["columns"].append(column)
    else:
        item["columns"] = []
    if "e" in reach and rng.random() < 0.7:
        item.setdefault("attributes", {})["element"] = "{e}"
    if rng.random() < 0.2:
        column = rng.choice(list(columns))
        item.setdefault("attributes", {})["extra"] = {"inner": name_of(column), "list": [name_of(column), "x"]}


def name_of(column, filters=""):
    parts = column.split(".")
    written = ".".join(part if part.replace("_", "").replace("$", "").isalnum() else f"`{part}`" for part in parts)
    return "{" + written + filters + "}"


def placeholder(rng, column, kind, null=0.1):
    filters = {
        "int": ["", "", "", " | pad(6)", " | pad(6)", " | pad(3)", " | pad(2)", " | ordered", " | desc(6)", " | string"],
        "index": [" | pad(3)", ""],
        "text": ["", "", "", "", "", "", " | lower", " | upper", " | trim", " | truncate(1)", " | replace('#', '-')", " | map(a: 1, b: 2, *: 3)"],
        "real": ["", " | ordered"], "decimal": ["", " | ordered", " | pad(9, 2)"], "bool": ["", " | map(true: y, false: n)"],
        "date": ["", "", " | date"], "datetime": ["", " | date"], "instant": ["", " | date"], "any": [""], "uuid": [""], "enum": [""], "blob": [" | hex"], "json": [""],
    }[kind]
    chosen = rng.choice(filters)
    if rng.random() < null:
        words = {"int": ["0", "1", "7"], "real": ["0"], "decimal": ["0"], "bool": ["true"], "date": ["1999-12-31"]}
        if kind in ("int", "real", "decimal", "bool", "date", "text", "any"):
            chosen = f" | default({rng.choice(words.get(kind, ['none', 'a', 'b']))})" + chosen
    if chosen == "" and rng.random() < 0.04:
        chosen = " | present(1, 0)"
    return name_of(column, chosen)


DELIMITERS = ["#", "#", "#", "#", "|", "", "_", "#X#"]


def make_key(rng, world, table, columns, reach, shared, name):
    keys = world["mapping"]["table"]["key"]
    candidates = [key for key in [(table or {}).get("primary_key")] * 3 + (table or {}).get("unique", []) if key and set(key) <= set(columns)]
    chosen = list(rng.choice(candidates)) if candidates and rng.random() < 0.9 else rng.sample(list(columns), min(len(columns), rng.choice([1, 2])))
    chosen = [column for column in chosen if reach[column] != "json"] or list(columns)[:1]
    for key in (table or {}).get("foreign_keys", []):    # the parent's spelling of a key
        if len(key["columns"]) == 1 and key["columns"][0] in chosen and f"p.{key['to'][0]}" in reach and rng.random() < 0.5:
            chosen[chosen.index(key["columns"][0])] = f"p.{key['to'][0]}"
    if "e" in reach:
        chosen.append(rng.choice(["e.$index", "e"]))
    rng.shuffle(chosen)
    keyable = [column for column, kind in reach.items() if kind != "json"]
    extra = rng.sample(keyable, min(len(keyable), rng.choice([0, 0, 1, 1, 2])))
    partition, sort = [], []
    for column in chosen:
        (sort if "sort" in keys and rng.random() < 0.6 else partition).append(column)
    for column in extra:
        if column not in partition + sort:
            target = sort if "sort" in keys and rng.random() < 0.7 else partition
            target.insert(rng.randint(0, len(target)), column)
    beginning = rng.choice([shared, shared, f"{name}#", ""])
    made = {keys["partition"]: text_template(rng, beginning, partition, reach, 0.05) or "ALL"}
    spread = [column for column in sort if reach[column] in ("int", "text", "uuid", "date")]
    if spread and rng.random() < 0.2:
        made[keys["partition"]] += "." + name_of(rng.choice(spread), f" | shard({rng.choice([2, 3, 10, 20])})")
    if "sort" in keys:
        beginning = rng.choice([f"{name}#", f"{name}#", f"{name}", "X#", "", "AB#"])
        made["SK"] = text_template(rng, beginning, sort, reach, 0.3) or f"{name}#"
    return made


def text_template(rng, beginning, columns, reach, optional):
    delimiter = rng.choice(DELIMITERS)
    template = beginning
    for number, column in enumerate(columns):
        piece = (delimiter if number else "") + placeholder(rng, column, reach[column])
        template += f"[{piece}]" if rng.random() < optional else piece
    if columns and rng.random() < 0.1:
        template += rng.choice(["#", "#END"])
    if columns and template == "{" + template[1:-1] + "}" and template.count("{") == 1:
        template = "K#" + template if rng.random() < 0.7 or reach[columns[0]] not in ("text", "date", "datetime", "instant", "uuid", "enum") else template
    return template


def index_key(rng, reach, name):
    columns = [column for column, kind in reach.items() if kind not in ("json", "blob")]
    chosen = rng.sample(columns, min(len(columns), rng.choice([0, 1, 1, 1, 2])))
    return text_template(rng, rng.choice(["", f"{name}#", "G#"]), chosen, reach, 0.15) or "CONSTANT"


def condition(rng, world, columns, alias=""):
    """A SQL condition over one or two columns."""
    column = rng.choice([column for column, kind in columns.items() if kind in ("int", "text", "bool", "date", "real", "any")] or list(columns))
    kind, quoted = columns[column], alias + zoo.quoted(world, column)
    made = [f"{quoted} IS NOT NULL", f"{quoted} IS NOT NULL"]
    if kind == "int":
        number = rng.choice([0, 1, 2, 3, 9, 10, 777])
        made += [f"{quoted} <> {number}", f"{quoted} > {number}", f"{quoted} IN (1, 2, {number})", f"NOT ({quoted} = {number})",
                 f"({quoted} = {number} OR {quoted} IS NULL)", f"{quoted} BETWEEN 1 AND 10"]
    if kind == "text":
        word = zoo.text(rng.choice(["a", "A", "Ann", "b", "a#b", "10"]))
        made += [f"{quoted} <> {word}", f"{quoted} = {word}", f"{quoted} LIKE 'a%'", f"{quoted} IN ('a', {word})", f"NOT ({quoted} = {word})"]
    if kind == "date":
        made += [f"{quoted} >= '2020-01-01'"]
    return rng.choice(made)


# Access patterns.

def make_pattern(rng, world, name):
    mapping = world["mapping"]
    item_name = rng.choice([name for name in mapping["items"] if name not in ("PARENT", "CHILD")])
    item = mapping["items"][item_name]
    if "explode" in item:
        return
    columns = world["queries"].get(item_name) or zoo.relations(world)[item["from"]]
    index = rng.choice([None, *mapping["table"].get("indexes", {})])
    keys = mapping["table"]["indexes"][index] if index else mapping["table"]["key"]
    templates = {**item.get("attributes", {}), **item["key"]}
    template = templates.get(keys["partition"])
    if template is None:
        return
    made = Asked(rng, world, columns)
    pattern = {"key": {keys["partition"]: made.whole(made.plain(template))}, "items": [item_name]}
    if index:
        pattern["index"] = index
    sort = keys.get("sort")
    if sort and sort in templates and rng.random() < 0.85:
        pattern["key"][sort] = made.range(made.plain(templates[sort]))
    elif sort and sort in templates:
        made.plain(templates[sort])
    if not made.right:
        return
    about = {"item_type": item_name, "extra": []}
    pattern["sql"] = made.sql(item, pattern, about)
    pattern["params"] = made.sources(item, about) or None
    if not pattern["params"]:
        del pattern["params"]
    mapping["access_patterns"][name] = pattern
    about["parameters"] = made.parameters
    world["patterns"][name] = about


def make_collection(rng, world):
    """A parent and its children in one item collection, and a pattern that reads both with one SQL."""
    pairs = [(child, key) for child in world["tables"] for key in child["foreign_keys"]
             if len(key["columns"]) == 1 and key["table"] != child["name"] and child.get("primary_key")]
    keys = world["mapping"]["table"]["key"]
    if not pairs or "sort" not in keys:
        return
    child, key = rng.choice(pairs)
    parent = next(table for table in world["tables"] if table["name"] == key["table"])
    kinds = {column["name"]: column["kind"] for column in parent["columns"]}
    if kinds[key["to"][0]] not in ("int", "text", "date") or not parent.get("primary_key"):
        return
    filters = rng.choice(["", "", " | pad(6)"]) if kinds[key["to"][0]] == "int" else ""
    row = "#".join(name_of(column) for column in child["primary_key"])
    items = world["mapping"]["items"]
    items["PARENT"] = {"from": parent["name"], "key": {keys["partition"]: "P#" + name_of(key["to"][0], filters), "SK": "P#"}}
    items["CHILD"] = {"from": child["name"], "key": {keys["partition"]: "P#" + name_of(key["columns"][0], filters), "SK": "C#" + row}}
    tables = {"PARENT": (parent, "p", key["to"][0]), "CHILD": (child, "c", key["columns"][0])}
    for name, (table, _, _) in tables.items():
        columns = [column["name"] for column in table["columns"]]
        items[name]["columns"] = "*" if rng.random() < 0.7 else rng.sample(columns, rng.randint(1, len(columns)))
    parameter = "p_parent"
    quote = lambda name: zoo.quoted(world, name)
    about = {"item_type": "PARENT", "extra": [], "columns": [], "parameters": {parameter: key["to"][0]}, "parts": []}
    form = about["form"] = rng.choice(["union", "join"])
    if form == "union":
        shared = [column["name"] for column in parent["columns"]]
        shared += [column["name"] for column in child["columns"] if column["name"] not in shared]
        selects = []
        kinds_of = {}
        for name, (table, _, met) in tables.items():
            own = {column["name"]: column["kind"] for column in table["columns"]}
            if any(kinds_of.setdefault(column, kind) != kind for column, kind in own.items()):
                return    # one column of a union has one type
            listed = [quote(column) if column in own else f"NULL AS {quote(column)}" for column in shared]
            selects.append(f"SELECT '{name}' AS {quote('_type')}, {', '.join(listed)} FROM {quote(table['name'])} WHERE {quote(met)} = :{parameter}")
            about["parts"].append({"item_type": name, "at": {column: shared.index(column) + 1 for column in own}, "key": table["primary_key"]})
        sql = " UNION ALL ".join(selects)
        if world["database"] == "postgres":
            return    # NULL beside a typed column of another branch wants a cast
    else:
        select = "p.*, c.*"
        columns = [("PARENT", column["name"]) for column in parent["columns"]] + [("CHILD", column["name"]) for column in child["columns"]]
        if rng.random() < 0.4:
            select = ", ".join(f"{tables[name][1]}.{quote(column)} AS {quote(tables[name][1] + '_' + column)}" for name, column in columns)
            select = select if rng.random() < 0.5 else ", ".join(f"{tables[name][1]}.{quote(column)}" for name, column in columns)
        join = rng.choice(["LEFT JOIN", "LEFT JOIN", "JOIN"])
        sql = (f"SELECT {select} FROM {quote(parent['name'])} p {join} {quote(child['name'])} c "
               f"ON c.{quote(key['columns'][0])} = p.{quote(key['to'][0])} WHERE p.{quote(key['to'][0])} = :{parameter}")
        for name, (table, _, _) in tables.items():
            at = {column: number for number, (owner, column) in enumerate(columns) if owner == name}
            about["parts"].append({"item_type": name, "at": at, "key": table["primary_key"]})
    world["patterns"]["collection"] = about
    world["mapping"]["access_patterns"]["collection"] = {
        "key": {keys["partition"]: "P#" + name_of(parameter, filters)}, "items": ["PARENT", "CHILD"], "sql": sql,
        "params": {parameter: f"{quote_source(parent['name'])}.{key['to'][0]}"}}


class Asked:
    """A key condition over an item type's templates, and the SQL that says the same, or nearly."""

    def __init__(self, rng, world, columns):
        self.rng, self.world, self.columns = rng, world, columns
        self.parameters = {}    # parameter -> column
        self.conditions = []
        self.right = True

    def quoted(self, column):
        return "o." + zoo.quoted(self.world, column)

    def parameter(self, column, end=""):
        name = "p_" + "".join(each if each.isalnum() else "_" for each in column) + end
        self.parameters[name] = column
        return name

    def bind(self, part):
        """A placeholder of the item's template as one of the pattern's."""
        column = ".".join(part[1])
        if column not in self.columns:
            self.right = False
            return ""
        if part[2] and part[2][-1][0] == "shard":
            return "{*" + filters(part) + "}"
        name = self.parameter(column)
        equal = f"{self.quoted(column)} = :{name}"
        if equal not in self.conditions:
            self.conditions.append(equal)
        return name_of(name, filters(part))

    def plain(self, template):
        """What an attribute is. Its `$when` is in the SQL too, mostly."""
        if isinstance(template, dict) and "$value" in template:
            if self.rng.random() < 0.85:
                self.conditions.append(template["$when"])
            return template["$value"]
        return template

    def whole(self, template):
        made = ""
        if not isinstance(template, str):
            self.right = False
            return ""
        for part in fold.parse(template):
            if part[0] == "optional":
                self.right = False
            else:
                made += escaped(part[1]) if part[0] == "text" else self.bind(part)
        return made

    def range(self, template):
        parts = fold.parse(template) if isinstance(template, str) else [("optional", [])]
        plain = next((at for at, part in enumerate(parts) if part[0] == "optional"), len(parts))
        choice = self.rng.random()
        if choice < 0.2 and plain == len(parts):
            return self.whole(template)
        takes = [at for at in range(plain) if parts[at][0] == "take"]
        if choice < 0.6 and takes:
            last = self.rng.choice(takes)
            made = "".join(escaped(part[1]) if part[0] == "text" else self.bind(part) for part in parts[:last])
            column = ".".join(parts[last][1])
            if column not in self.columns:
                self.right = False
                return ""
            quoted, low = self.quoted(column), self.parameter(column, "_low")
            bound = made + name_of(low, filters(parts[last]))
            kind = self.rng.choice(["ge", "gt", "le", "lt", "between"])
            if kind == "between":
                high = self.parameter(column, "_high")
                self.conditions += [f"{quoted} >= :{low}", f"{quoted} <= :{high}"]
                return {"between": [bound, made + name_of(high, filters(parts[last]))]}
            self.conditions.append(f"{quoted} {dict(ge='>=', gt='>', le='<=', lt='<')[kind]} :{low}")
            return {kind: bound}
        cut = self.rng.randint(0, plain)
        made = "".join(escaped(part[1]) if part[0] == "text" else self.bind(part) for part in parts[:cut])
        if not made:
            self.right = bool(self.conditions) or self.right
            first = parts[0] if parts and parts[0][0] == "text" else None
            made = escaped(first[1][:1]) if first else None
        if not made:
            self.right = False
        return {"begins_with": made}

    def sql(self, item, pattern, about):
        rng = self.rng
        listed = list(self.columns)
        if rng.random() < 0.3:
            needed = [] if rng.random() < 0.2 else self.needed(item)
            listed = needed + [column for column in rng.sample(listed, rng.randint(1, len(listed))) if column not in needed]
        select = ", ".join(map(self.quoted, listed))
        if rng.random() < 0.3 and len(listed) == len(self.columns):
            select = "o.*"
        conditions = list(self.conditions)
        if item.get("where") and rng.random() < 0.85:
            conditions.append(item["where"])
        elif item.get("where"):
            about["extra"].append("less than `where`")
        if rng.random() < 0.15:
            conditions.append(condition(rng, self.world, self.columns, "o."))
            about["extra"].append("more than the key: " + conditions[-1])
        source = item["from"]["sql"] if isinstance(item["from"], dict) else None
        relation = f"({source})" if source else zoo.quoted(self.world, item["from"])
        joined = ""
        table = next((table for table in self.world["tables"] if table["name"] == item["from"]), None) if not source else None
        children = [(child, key) for child in self.world["tables"] for key in child["foreign_keys"] if table and key["table"] == table["name"]]
        if children and rng.random() < 0.15 and not item.get("where"):
            child, key = rng.choice(children)
            pairs = zip(key["columns"], key["to"])
            on = " AND ".join(f"c.{zoo.quoted(self.world, own)} = o.{zoo.quoted(self.world, theirs)}" for own, theirs in pairs)
            kind = rng.choice(["JOIN", "LEFT JOIN"])
            joined = f" {kind} {zoo.quoted(self.world, child['name'])} c ON {on}"
            if kind == "JOIN" or not any(set(unique) <= set(key["columns"]) for unique in [child.get("primary_key") or [None], *child["unique"]]):
                about["extra"].append("a join")
        distinct = "DISTINCT " if rng.random() < 0.07 and not any(self.columns[column] == "json" for column in listed) else ""
        if distinct:
            about["extra"].append("distinct")
        sql = f"SELECT {distinct}{select} FROM {relation} o{joined}"
        if conditions:
            sql += " WHERE " + " AND ".join(conditions)
        if rng.random() < 0.06:
            sql += " UNION ALL " + sql
            about["extra"].append("a union")
        elif rng.random() < 0.25:
            by = rng.choice(listed)
            descending = rng.random() < 0.3
            sql += f" ORDER BY {self.quoted(by)}{' DESC' if descending else ''}"
            about["order"] = [by, descending]
            if rng.random() < 0.7 and descending:
                pattern["order"] = "desc"
            if rng.random() < 0.3:
                about["limit"] = rng.choice([1, 2, 3])
                sql += f" LIMIT {about['limit']}"
                if rng.random() < 0.8:
                    pattern["limit"] = about["limit"]
        about["columns"] = listed
        return sql

    def needed(self, item):
        """The columns that tell the rows apart."""
        if isinstance(item["from"], dict):
            return list(item["from"]["key"])
        table = next((table for table in self.world["tables"] if table["name"] == item["from"]), {"unique": []})
        return list(table.get("primary_key") or next(iter(table["unique"]), None) or list(self.columns)[:1])

    def sources(self, item, about):
        table = self.world["query_tables"][about["item_type"]] if isinstance(item["from"], dict) else item["from"]
        if isinstance(item["from"], str) and self.rng.random() < 0.5:
            return {}
        return {name: f"{quote_source(table)}.{column}" for name, column in self.parameters.items()}


def quote_source(name):
    return f'"{name}"' if " " in name else name


def filters(part):
    made = ""
    for name, args in part[2]:
        made += f" | {name}" + (f"({', '.join(args)})" if args else "")
    return made


def escaped(text):
    return text.replace("{", "{{").replace("}", "}}").replace("[", "[[").replace("]", "]]")
