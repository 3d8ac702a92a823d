"""Random schemas and rows: what each database lets one declare, and rows that keep what it enforces and no more."""

import itertools

WORDS = ["a", "A", "b", "B", "Bb", "Ba", "ab", "a#b", "#", "a#", "#a", "a|b", "|", "%", "a ", " a", "", "Ann", "Anna", "Ann Lee", "ann", "10",
         "9", "1", "01", "1.0", "2", "true", "é", "e\u0301", "É", "ß", "ss", "~", "a.b", "a_b", "a%b", "zz", "가", "\U0001f600", "null", "a\tb"]
NUMBERS = [0, 1, 2, 3, 7, 9, 10, 11, 12, 20, 99, 100, 101, 110, 777, 999, 1000, -1, -2, 123456, 2147483647, -2147483648, 9223372036854775807]
REALS = ["0.0", "-0.0", "1.0", "1.5", "-1.5", "2.25", "10.0", "9.0", "0.1", "1e15", "1e-7", "123456789.125"]
DECIMALS = ["0", "0.00", "1", "1.00", "1.5", "1.50", "-1.5", "10", "9.99", "99999999.99"]
DATES = ["1999-12-31", "2020-02-29", "2020-03-01", "2021-01-01", "2021-10-09", "2021-9-1", "2021-09-01"]
TIMES = ["1999-12-31 23:59:59", "2020-02-29 00:00:00", "2020-02-29 12:30:00", "2021-01-01 00:00:00", "2021-01-01 00:00:01"]
DOCUMENTS = ['["a","b"]', "[]", '[1,2,1]', '{"a":1,"b":["x","y"]}', '{"a":"z"}', "null", '["a#b","a"]', "{}"]

TYPES = {
    "sqlite": {
        "int": ["INTEGER", "INT", "BIGINT"], "text": ["TEXT", "VARCHAR(20)", "CHAR(8)"], "real": ["REAL", "DOUBLE"],
        "decimal": ["DECIMAL(10,2)", "NUMERIC"], "bool": ["BOOLEAN"], "date": ["DATE"], "datetime": ["DATETIME"], "json": ["JSON"],
        "blob": ["BLOB"], "any": [""],
    },
    "postgres": {
        "int": ["integer", "bigint", "smallint"], "text": ["text", "varchar(20)", "char(8)", "citext"], "real": ["double precision"],
        "decimal": ["numeric(10,2)", "numeric"], "bool": ["boolean"], "date": ["date"], "datetime": ["timestamp(0)"], "instant": ["timestamptz(0)"],
        "json": ["jsonb"], "blob": ["bytea"], "uuid": ["uuid"], "enum": ["mood"],
    },
    "mariadb": {
        "int": ["int", "bigint", "int unsigned", "smallint"], "text": ["varchar(20)", "char(8)"], "real": ["double"],
        "decimal": ["decimal(10,2)"], "bool": ["tinyint(1)"], "date": ["date"], "datetime": ["datetime"], "instant": ["timestamp NULL"], "json": ["json"],
        "blob": ["varbinary(20)"], "enum": ["enum('b','a','c','a#b')"],
    },
}
TYPES["mysql"] = TYPES["mariadb"]
STRICT = {"int": "INTEGER", "text": "TEXT", "real": "REAL", "blob": "BLOB", "any": "ANY"}
COLLATIONS = {
    "sqlite": ["COLLATE NOCASE", "COLLATE RTRIM", "COLLATE BINARY"],
    "postgres": ['COLLATE "C"', "COLLATE loose"],
    "mariadb": ["COLLATE utf8mb4_bin", "COLLATE utf8mb4_general_ci", "COLLATE utf8mb4_unicode_ci", "COLLATE utf8mb4_nopad_bin"],
}
COLLATIONS["mysql"] = ["COLLATE utf8mb4_bin", "COLLATE utf8mb4_general_ci", "COLLATE utf8mb4_0900_ai_ci"]
KINDS = ["int"] * 6 + ["text"] * 7 + ["real", "decimal", "bool", "date", "date", "datetime", "instant", "any", "blob", "uuid", "enum"]
NAMES = ["code", "name", "kind", "note", "day", "flag", "price", "grp", "region", "state", "pk", "title", "n"]


def make(rng, database):
    """A schema with rows, as plain data."""
    world = {"database": database, "before": [], "after": [], "tables": [], "views": []}
    if database == "postgres":
        world["before"].append("CREATE TYPE mood AS ENUM ('b', 'a', 'c', 'a#b')")
    world["unenforced"] = rng.random() < 0.5 or database == "sqlite"
    for number in range(rng.choice([1, 1, 2, 2, 2, 3, 4, 6])):
        table = make_table(rng, world, f"t{number + 1}" if rng.random() < 0.9 else f"Table {number + 1}")
        world["tables"].append(table)
    for table in world["tables"]:
        if world["tables"].index(table) and rng.random() < 0.85 or rng.random() < 0.15:
            add_foreign_key(rng, world, table)
    for table in world["tables"]:
        fill(rng, world, table)
    if rng.random() < 0.2:
        add_view(rng, world)
    if database == "postgres":
        unenforced_postgres(rng, world)
    return world


def make_table(rng, world, name):
    database = world["database"]
    strict = database == "sqlite" and rng.random() < 0.15
    kinds = [kind for kind in KINDS if kind in TYPES[database] and (not strict or kind in STRICT)]
    first = "id" if rng.random() < 0.8 else "ID"
    columns = [make_column(rng, world, first, "int" if rng.random() < 0.7 else rng.choice(kinds), strict)]
    for column in rng.sample(NAMES, rng.randint(1, 5)):
        columns.append(make_column(rng, world, column, rng.choice(kinds), strict))
    if "json" in TYPES[database] and not strict and rng.random() < 0.15:
        columns.append(make_column(rng, world, "doc", "json", strict))
    if rng.random() < 0.1:
        source = rng.choice([column for column in columns if column["kind"] in ("int", "text")] or columns[:1])
        if source["kind"] == "int":
            columns.append({"name": "made", "kind": "int", "type": "bigint", "generated": f"{quoted(world, source['name'])} % 3", "null": True})
            if strict:
                columns[-1]["type"] = "INTEGER"
    table = {"name": name, "columns": columns, "rows": [], "indexes": [], "unique": [], "foreign_keys": [], "options": ""}
    keys = [column["name"] for column in columns if column["kind"] != "json" and not column.get("generated")]
    style = rng.random()
    if style < 0.6:
        table["primary_key"] = [columns[0]["name"]]
        if database == "sqlite":
            table["inline_key"] = rng.choice(["yes", "yes", "desc", None])
            if table["inline_key"] == "desc" and columns[0]["kind"] == "int" and rng.random() < 0.7:
                columns[0].update(type="INTEGER", null=True)    # not an alias of the rowid
    elif style < 0.85 and len(keys) > 1:
        table["primary_key"] = rng.sample(keys, rng.choice([2, 2, 3]) if len(keys) > 2 else 2)
        if rng.random() < 0.5:    # without NULLs there is something to prove, also in SQLite
            for column in columns:
                column["null"] = column["null"] and column["name"] not in table["primary_key"]
    for _ in range(rng.choice([0, 0, 1, 2])):
        unique = rng.sample(keys, min(len(keys), rng.choice([1, 1, 2])))
        kind = rng.random()
        listed = ", ".join(quoted(world, column) for column in unique)
        if kind < 0.6:
            table["unique"].append(unique)
        elif database in ("sqlite", "postgres"):
            extra = {0: f" WHERE {quoted(world, rng.choice(keys))} IS NOT NULL", 1: ""}[rng.randint(0, 1)]
            kinds_of = {column["name"]: column["kind"] for column in columns}
            if kind > 0.85 and kinds_of[unique[0]] == "text":
                listed = f"lower({quoted(world, unique[0])})"
            table["indexes"].append(f"CREATE UNIQUE INDEX {quoted(world, name + '_u' + str(len(table['indexes'])))} ON {quoted(world, name)} ({listed}){extra}")
    if database != "sqlite":
        for column in columns:
            if column["name"] in table.get("primary_key", []):
                column["null"] = False
    if strict:
        table["options"] = "STRICT"
    if database == "sqlite" and table.get("primary_key") and rng.random() < 0.12:
        table["options"] = ", ".join(filter(None, [table["options"], "WITHOUT ROWID"]))
    return table


def make_column(rng, world, name, kind, strict):
    database = world["database"]
    column = {"name": name, "kind": kind, "type": STRICT[kind] if strict else rng.choice(TYPES[database][kind]), "null": rng.random() < 0.5}
    if kind == "text" and column["type"] != "citext" and rng.random() < (0.25 if database == "sqlite" else 0.6):
        column["collate"] = rng.choice(COLLATIONS[database])
    return column


def add_foreign_key(rng, world, table):
    """A key to the primary key of a table, this one among them, to a unique column, or in SQLite to anything."""
    to = rng.choice(world["tables"][:world["tables"].index(table) + 1])
    targets = [key for key in [to.get("primary_key")] + to["unique"] if key]
    if not targets and world["database"] != "sqlite":
        return
    target = rng.choice(targets) if targets else [to["columns"][0]["name"]]
    columns = []
    for name in target:
        theirs = next(column for column in to["columns"] if column["name"] == name)
        own = f"{'up' if to is table else to['name'].replace(' ', '_').lower()}_{name.lower()}"
        column = {**theirs, "name": own, "null": rng.random() < 0.5}
        column.pop("generated", None)
        if "STRICT" in table["options"] and column["kind"] not in STRICT:
            return
        if "STRICT" in table["options"]:
            column["type"] = STRICT[column["kind"]]
        if theirs.get("collate") and world["database"] == "sqlite" and rng.random() < 0.3:
            column.pop("collate")
        if own in [each["name"] for each in table["columns"]]:
            return
        columns.append(column)
    table["columns"] += columns
    if to is not table and "WITHOUT" not in table["options"] and rng.random() < 0.2:    # one to one: the parent's key is the child's
        for column in columns:
            column["null"] = False
        table.pop("inline_key", None)
        table["primary_key"] = [column["name"] for column in columns]
    suffix = rng.choice(["", "", "DEFERRABLE INITIALLY DEFERRED", "ON DELETE CASCADE"])
    if world["database"] in ("mariadb", "mysql") and "DEFER" in suffix:
        suffix = ""
    key = {"columns": [column["name"] for column in columns], "table": to["name"], "to": target, "suffix": suffix}
    if world["database"] == "postgres" and rng.random() < 0.4:
        key["after"] = "NOT VALID"
    table["foreign_keys"].append(key)


def add_view(rng, world):
    table = rng.choice(world["tables"])
    columns = [column for column in table["columns"] if column["kind"] in ("int", "text")]
    if columns:
        chosen = ", ".join(quoted(world, column["name"]) for column in columns)
        extra = rng.choice(["", f" WHERE {quoted(world, columns[0]['name'])} IS NOT NULL"])
        world["views"].append({
            "name": "v1", "create": f"CREATE VIEW v1 AS SELECT {chosen} FROM {quoted(world, table['name'])}{extra}",
            "columns": {column["name"]: column["kind"] for column in columns}, "of": table["name"]})


def unenforced_postgres(rng, world):
    if rng.random() < 0.15:    # a table that inherits: the keys of the one above do not hold over its rows
        name = quoted(world, rng.choice(world["tables"])["name"])
        listed = [table for table in world["tables"] if quoted(world, table["name"]) == name][0]["columns"]
        columns = ", ".join(quoted(world, column["name"]) for column in listed if not column.get("generated"))
        world["after"] += [f'CREATE TABLE heir () INHERITS ({name})', f"INSERT INTO heir ({columns}) SELECT {columns} FROM {name}"]
    referenced = {key["table"] for table in world["tables"] for key in table["foreign_keys"]}
    for table in world["tables"]:
        if table["name"] not in referenced and rng.random() < 0.3:    # triggers keep its keys, and are off where `unenforced`
            table["deferrable"] = True
        name = quoted(world, table["name"])
        for key in table["foreign_keys"]:
            if key.get("after"):
                own, theirs = (", ".join(quoted(world, column) for column in columns) for columns in (key["columns"], key["to"]))
                world["after"].append(f"ALTER TABLE {name} ADD FOREIGN KEY ({own}) REFERENCES {quoted(world, key['table'])} ({theirs}) NOT VALID")
        if rng.random() < 0.1:
            column = table["columns"][-1]
            world["after"] += [f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
                               f"CREATE POLICY seen ON {name} FOR SELECT USING ({quoted(world, column['name'])} IS NOT NULL AND random() >= 0)"]


def fill(rng, world, table):
    """Rows at random. What the database refuses is left out when they are put in."""
    parents = {}
    for key in table["foreign_keys"]:
        to = next(each for each in world["tables"] if each["name"] == key["table"])
        names = [column["name"] for column in to["columns"] if not column.get("generated")]
        rows = [[row[names.index(name)] for name in key["to"]] for row in to["rows"]]
        parents[tuple(key["columns"])] = rows
    few = rng.random() < 0.5    # few values, so that rows meet
    pools = {column["name"]: pool(rng, world, column, few) for column in table["columns"]}
    for _ in range(rng.choice([1, 2, 3, 5, 8, 8, 12])):
        row = {column["name"]: cell(rng, world, column, pools[column["name"]]) for column in table["columns"] if not column.get("generated")}
        for column in table.get("primary_key", []):
            if world["database"] == "sqlite" and rng.random() < 0.25:
                row[column] = "NULL"    # where SQLite lets a key hold it
        for columns, rows in parents.items():
            if rows and rng.random() < 0.75:
                for name, value in zip(columns, rng.choice(rows)):
                    row[name] = respelled(rng, value) if rng.random() < 0.2 else value
        row = list(row.values())
        if table["rows"] and rng.random() < 0.25:    # nearly another row
            row = list(rng.choice(table["rows"]))
            for at in rng.sample(range(len(row)), min(len(row), rng.choice([1, 1, 2]))):
                column = [column for column in table["columns"] if not column.get("generated")][at]
                row[at] = rng.choice(["NULL", respelled(rng, row[at]), cell(rng, world, column, pools[column["name"]])])
        table["rows"].append(row)
    texts = [at for at, column in enumerate(each for each in table["columns"] if not each.get("generated")) if column["kind"] == "text"]
    if len(texts) > 1 and table["rows"] and rng.random() < 0.4:    # two rows that a delimiter makes one text
        row, mark = list(rng.choice(table["rows"])), rng.choice("##|_")
        for first, second in itertools.permutations(texts, 2):
            for one, two in (("a", f"b{mark}c"), (f"a{mark}b", "c")):
                table["rows"].append([text(one) if at == first else text(two) if at == second else value for at, value in enumerate(row)])


def respelled(rng, literal):
    if literal.startswith("'"):
        return rng.choice([literal.upper(), literal.lower(), literal[:-1] + " '"])
    return literal


def pool(rng, world, column, few):
    kind = column["kind"]
    mysql = world["database"] in ("mariadb", "mysql")
    values = {
        "int": [str(number) for number in NUMBERS], "text": [text(each, mysql) for each in WORDS], "real": REALS, "decimal": DECIMALS,
        "bool": ["1", "0"] if world["database"] != "postgres" else ["true", "false"], "date": [text(each) for each in DATES],
        "datetime": [text(each) for each in TIMES], "instant": [text(each) for each in TIMES], "json": [text(each) for each in DOCUMENTS],
        "blob": ["x'61'", "x'00'", "x'6123'", "x'ff'"] if world["database"] != "postgres" else [r"'\x61'", r"'\x00'", r"'\x6123'"],
        "any": ["1", "'1'", "1.5", "'a'", "'10'", "2", "10", "x'61'", "'a#b'"], "enum": ["'a'", "'b'", "'c'", "'a#b'"],
        "uuid": [f"'00010203-0405-0607-0809-0a0b0c0d0e0{digit}'" for digit in "123abc"],
    }[kind]
    if kind in ("date", "datetime") and world["database"] != "sqlite":
        values = [value for value in values if value != "'2021-9-1'"]
    return rng.sample(values, min(len(values), 5 if few else 14))


def text(value, mysql=False):
    value = value.replace("\\", "\\\\") if mysql else value
    return "'" + value.replace("'", "''") + "'"


def cell(rng, world, column, values):
    if column.get("null", True) and rng.random() < 0.15 or rng.random() < 0.03:
        return "NULL"
    if world["database"] == "sqlite" and rng.random() < (0.04 if column["kind"] == "text" else 0.1):
        return rng.choice(["'x'", "1.5", "'yes'", "'true'", "x'61'", "7", "'12'", "'1#2'", "'2#'", "'1|1'", "'#1'", "'2021-01-01#1'"])
    return rng.choice(values)


def quoted(world, name):
    mark = "`" if world["database"] in ("mariadb", "mysql") else '"'
    return mark + name + mark


def relations(world):
    """The tables and views, with the kinds of their columns."""
    found = {table["name"]: {column["name"]: column["kind"] for column in table["columns"]} for table in world["tables"]}
    for view in world.get("views", []):
        found[view["name"]] = view["columns"]
    return found
