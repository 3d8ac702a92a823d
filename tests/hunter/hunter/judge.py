"""The judge: makes all items by brute force from plain SELECTs, and enumerates what was claimed of them."""
import collections
import itertools
import re

from . import fold, zoo
from .fold import Reject, Unjudged

Made = collections.namedtuple("Made", "row item reject filtered key traces")
Find = collections.namedtuple("Find", "category what")


class Judge:
    def __init__(self, world, base):
        self.world, self.base, self.mapping = world, base, world["mapping"]
        self.table = self.mapping["table"]
        self.keys = [self.table["key"][part] for part in ("partition", "sort") if part in self.table["key"]]
        self.rows_of = {}

    # Rows.

    def kinds(self, name):
        item = self.mapping["items"][name]
        return self.world["queries"].get(name) or zoo.relations(self.world)[item["from"]]

    def columns_of(self, relation, kinds, where=None, whens=()):
        listed = ", ".join(f"s.{self.base.quote(column)}" for column in kinds)
        conditions = [("hunter_where", where), *((f"hunter_when{number}", when) for number, when in enumerate(whens))]
        met = ", ".join((f"CASE WHEN ({each}) THEN 1 ELSE 0 END" if each else "1") + f" AS {name}" for name, each in conditions)
        return f"(SELECT {listed}, {met} FROM {relation} s)"

    def rows(self, name):
        """The rows of an item type with their parents: (cells, whether `where` is met)."""
        item, quote = self.mapping["items"][name], self.base.quote
        kinds = dict(self.kinds(name))
        relation = f"({item['from']['sql']})" if isinstance(item["from"], dict) else quote(item["from"])
        select, joins = ["s.*"], ""
        whens = list(dict.fromkeys(each["$when"] for each in item.get("attributes", {}).values() if isinstance(each, dict) and "$when" in each))
        for alias, columns in item.get("join", {}).items():
            columns = [columns] if isinstance(columns, str) else columns
            table = next(table for table in self.world["tables"] if table["name"] == item["from"])
            key = next(key for key in table["foreign_keys"] if key["columns"][0] == columns[0])
            theirs = zoo.relations(self.world)[key["table"]]
            on = " AND ".join(f"{alias}.{quote(their)} = s.{quote(own)}" for own, their in zip(key["columns"], key["to"]))
            joins += f" LEFT JOIN {self.columns_of(quote(key['table']), theirs)} {alias} ON {on}"
            for column, kind in theirs.items():
                select.append(f"{alias}.{quote(column)} AS {quote(alias + '.' + column)}")
                kinds[f"{alias}.{column}"] = kind
        sql = f"SELECT {', '.join(select)} FROM {self.columns_of(relation, self.kinds(name), item.get('where'), whens)} s{joins}"
        names, found = self.base.select(sql)
        if joins and len(found) != len(self.base.select(f"SELECT 1 FROM {relation} s")[1]):
            raise Unjudged("a join that finds several parents")
        # MySQL's indexes leave rows out of LIKE 'a%' where a letter behind the `a` sorts before the blank.
        if item.get("where"):
            met = self.base.select(f"SELECT s.* FROM {relation} s WHERE {item['where']}")[1]
            if len(met) != sum(bool(row[names.index("hunter_where")]) for row in found):
                raise Unjudged("a condition that an index changes")
        for row in found:
            row = dict(zip(names, row))
            cells = {column: self.base.cell(kind, row[column]) for column, kind in kinds.items()}
            for number, when in enumerate(whens):
                cells["$when " + when] = bool(row[f"hunter_when{number}"])
            yield cells, bool(row["hunter_where"])

    def elements(self, item, cells):
        explode = item.get("explode")
        if not explode:
            yield cells
            return
        (alias, path), = explode.items()
        array = fold.lookup(cells, (path,))
        if array is None:
            return
        if not isinstance(array, list):
            raise Reject("explode")
        for index, element in enumerate(array):
            yield {**cells, alias: element, f"{alias}.$index": fold.Decimal(index)}

    def children(self, name, attribute, template, cells):
        """The children of a row, matched by the database, in the order of their key."""
        child, quote = template["$embed"], self.base.quote
        kinds = zoo.relations(self.world)[child]
        own = list(self.kinds(name))
        if (name, attribute) not in self.rows_of:
            on = " AND ".join(f"c.{quote(theirs)} = s.{quote(ours)}" for theirs, ours in template["$match"].items())
            listed = [f"s.{quote(column)}" for column in own] + [f"c.{quote(column)}" for column in kinds]
            _, self.rows_of[name, attribute] = self.base.select(
                f"SELECT {', '.join(listed)} FROM {quote(self.mapping['items'][name]['from'])} s JOIN {quote(child)} c ON {on}")
        found = []
        for row in self.rows_of[name, attribute]:
            parent = {column: self.base.cell(kind, value) for (column, kind), value in zip(self.kinds(name).items(), row)}
            if repr(parent) == repr({column: cells[column] for column in own}):
                found.append({column: self.base.cell(kind, value) for (column, kind), value in zip(kinds.items(), row[len(own):])})
        identity = [tuple(repr(row[own.index(column)]) for column in self.identity(name)) for row in
                    self.base.select(f"SELECT {', '.join(map(quote, own))} FROM {quote(self.mapping['items'][name]['from'])}")[1]]
        if len(set(identity)) != len(identity):
            raise Unjudged("parents of children that nothing tells apart")
        order = [each[template["$order"][0]] for each in found]
        if len(set(map(repr, order))) != len(order) or not all(isinstance(each, fold.Decimal) for each in order):
            raise Unjudged("children without an order")
        found.sort(key=lambda each: each[template["$order"][0]])
        return [{member: value for member, value in ((member, fold.evaluate(fold.parse(each), row)) for member, each in template["$each"].items())
                 if value is not None or self.mapping["items"][name].get("nulls") == "keep"} for row in found]

    def made(self, name):
        """Every row of an item type and what becomes of it."""
        if name not in self.rows_of:
            self.rows_of[name] = list(self.make(name))
        return self.rows_of[name]

    def make(self, name):
        item = self.mapping["items"][name]
        for cells, met in self.rows(name):
            for attribute, template in item.get("attributes", {}).items():
                if isinstance(template, dict) and "$embed" in template:
                    cells["children of " + attribute] = self.children(name, attribute, template, cells)
            try:
                elements = list(self.elements(item, cells))
            except Reject as reject:
                yield Made(cells, None, str(reject), not met, None, {})
                continue
            for element in elements:
                traces = {}
                try:
                    made = self.item(name, item, element, traces)
                    yield Made(cells, made, None, not met, tuple(made[key] for key in self.keys), traces)
                except Reject as reject:
                    yield Made(cells, None, str(reject), not met, None, {})

    def item(self, name, item, cells, traces):
        made = {}
        if self.table.get("type_attribute", "_type"):
            made[self.table.get("type_attribute", "_type")] = ("S", name)
        columns = item.get("columns", "*")
        own = list(self.kinds(name))
        for column in own if columns == "*" else columns:
            value = fold.lookup(cells, tuple(column.split(".", 1)) if "." in column else (column,))
            self.put(made, item, column.split(".", 1)[-1], value)
        index_keys = {attribute for index in self.table.get("indexes", {}).values() for attribute in (index["partition"], index.get("sort"))}
        templates = {**item.get("attributes", {}), **item["key"]}
        document = fold.lookup(cells, (templates.pop("$spread"),)) if "$spread" in templates else None
        for attribute, template in templates.items():
            is_key = attribute in item["key"] or attribute in index_keys
            if isinstance(template, dict) and "$when" in template:
                if not cells["$when " + template["$when"]]:
                    continue
                template = template["$value"]
            embedded = cells.get("children of " + attribute)
            value = embedded if embedded is not None else self.tree(template, cells, is_key, traces.setdefault(attribute, []) if is_key else None, item)
            self.put(made, item, attribute, value)
        if document is not None:
            if not isinstance(document, dict) or set(document) & (set(made) | set(templates)):
                raise Reject("spread")
            for attribute, value in document.items():
                if attribute in index_keys:
                    raise Unjudged("a document that makes keys of an index")
                self.put(made, item, attribute, value)
        for attribute in set(item["key"]) | index_keys:
            own_key = attribute in item["key"]
            value = made.get(attribute)
            if value is None or value[0] == "NULL":
                if own_key:
                    raise Reject("key-null")
                made.pop(attribute, None)
            elif value[0] != "S":
                raise Reject("key-type" if own_key else "index-key-type")
            elif value[1] == "":
                raise Reject("key-empty" if own_key else "index-key-empty")
        return made

    def put(self, made, item, attribute, value):
        if isinstance(value, Reject):
            raise value
        if value is not None or item.get("nulls") == "keep":
            made[attribute] = fold.attribute(value)

    def tree(self, template, cells, is_key, trace, item):
        if isinstance(template, dict):
            members = {name: self.tree(each, cells, False, None, item) for name, each in template.items()}
            return {name: each for name, each in members.items() if each is not None or item.get("nulls") == "keep"}
        if isinstance(template, list):
            return [self.tree(each, cells, False, None, item) for each in template]
        parts = fold.parse(template)
        if is_key and self.table.get("key_escape") and not (len(parts) == 1 and parts[0][0] == "take"):
            return escape(parts, cells, trace)
        return fold.evaluate(parts, cells, trace)

    def valid(self, name):
        return [made for made in self.made(name) if made.item is not None and not made.filtered]

    def contested(self):
        """Keys that several valid rows make, with their item types."""
        found = collections.defaultdict(list)
        for name in self.mapping["items"]:
            for made in self.valid(name):
                found[made.key].append((name, made))
        return found

    # Claims of `check`.

    def judge_claim(self, claim):
        """(find or None, whether the claim was not trivial). Claims that are not made, `proved` that is, are not judged."""
        judged = {"keys_differ": self.keys_differ, "text_order": self.text_order, "always_in_index": self.always_in_index,
                  "index_empty": self.index_empty, "item_size": self.item_size, "pattern_finds": self.pattern_finds}.get(claim["claim"])
        if claim["claim"] == "keys_differ" and claim["verdict"] == "differs" and all(len(owners) == 1 for owners in self.contested().values()):
            return Find("keys_differ: false alarm", str(claim)), True
        if not judged or claim["verdict"] != "proved":
            return None, False
        return judged(claim, claim["of"])

    def keys_differ(self, claim, of):
        names = of.get("item_types") or list(self.mapping["items"])
        keys = collections.defaultdict(list)
        for name in names:
            for made in self.valid(name):
                keys[made.key].append((name, made))
        trivial = sum(map(len, keys.values())) < 2
        for key, owners in keys.items():
            if len(names) == 2 and len({name for name, _ in owners}) < 2:
                continue
            if len(owners) > 1:
                across = "across" if len({name for name, _ in owners}) > 1 else "within"
                if any(isinstance(self.mapping["items"][name]["from"], dict) and not self.told_apart(name) for name in names):
                    across += " by the word of a query's `key`"
                nulls = any(value is None for _, made in owners for value in made.row.values())
                return Find(f"keys_differ {across}" + (" with NULLs" if nulls else ""),
                            f"{[name for name, _ in owners]} make {key}: {[shown(made.row) for _, made in owners][:3]}; because: {claim.get('because')}"), True
        return None, not trivial

    def told_apart(self, name):
        key = self.mapping["items"][name]["from"]["key"]
        rows = [tuple(repr(made.row[column]) for column in key) for made in self.made(name)]
        return len(set(rows)) == len(rows)

    def text_order(self, claim, of):
        name, attribute = of["item_types"][0], of["attribute"]
        asked = False
        for one, two in itertools.combinations([made for made in self.valid(name) if attribute in made.item], 2):
            order = compare_values(one.traces[attribute], two.traces[attribute])
            text = (one.item[attribute][1] > two.item[attribute][1]) - (one.item[attribute][1] < two.item[attribute][1])
            asked = asked or bool(order)
            if order and text and order != text:
                kind = " of a query" if isinstance(self.mapping["items"][name]["from"], dict) else ""
                return Find(f"text_order{kind}", f"{name}.{attribute}: {one.item[attribute][1]!r} and {two.item[attribute][1]!r} are the other way "
                            f"round as {[str(each[2]) for each in one.traces[attribute]]} and {[str(each[2]) for each in two.traces[attribute]]}; "
                            f"because: {claim.get('because')}"), True
        return None, asked

    def index_keys(self, index):
        keys = self.table["indexes"][index]
        return [keys[part] for part in ("partition", "sort") if part in keys]

    def always_in_index(self, claim, of):
        keys = self.index_keys(of["index"])
        items = [made for name in of["item_types"] for made in self.valid(name)]
        for made in items:
            if any(key not in made.item for key in keys):
                return Find("always_in_index", f"{of}: the row {shown(made.row)} is not in it; because: {claim.get('because')}"), True
        return None, bool(items)

    def index_empty(self, claim, of):
        keys = self.index_keys(of["index"])
        items = [made for name in self.mapping["items"] for made in self.valid(name)]
        for made in items:
            if all(key in made.item for key in keys):
                return Find("index_empty", f"{of}: the row {shown(made.row)} is in it"), True
        return None, bool(items)

    def item_size(self, claim, of):
        said = re.search(r"at most ([\d,]+)", claim.get("because") or "")
        most = claim.get("most_bytes") or said and int(said[1].replace(",", ""))
        if not most:
            return None, False
        items = [made for name in of["item_types"] for made in self.valid(name)]
        for made in items:
            if fold.size(made.item) > most:
                return Find("item_size", f"{of}: {fold.size(made.item)} bytes, at most {most} were claimed: {shown(made.row)}"), True
        return None, bool(items)

    # Access patterns.

    def query(self, pattern, parameters):
        """What DynamoDB answers: [(item type, item)], or None where the parameters make no key."""
        keys = self.table["indexes"][pattern["index"]] if pattern.get("index") else self.table["key"]
        wanted = self.partitions(pattern["key"][keys["partition"]], parameters)
        sort, on = keys.get("sort"), pattern["key"].get(keys.get("sort"))
        met = lambda text: True
        if on is not None:
            (kind, bound), = on.items() if isinstance(on, dict) else [("eq", on)]
            bounds = [self.asked_key(each, parameters) for each in (bound if isinstance(bound, list) else [bound])]
            if kind == "between" and bounds[0] > bounds[1]:
                return None    # DynamoDB refuses it
            first = bounds[0]
            met = {"eq": lambda text: text == first, "begins_with": lambda text: text.startswith(first), "lt": lambda text: text < first,
                   "le": lambda text: text <= first, "gt": lambda text: text > first, "ge": lambda text: text >= first,
                   "between": lambda text: first <= text <= bounds[-1]}[kind]
        found = []
        for name in self.mapping["items"]:
            for made in self.valid(name):
                item = made.item
                if item.get(keys["partition"]) in wanted and (not sort or sort in item and met(item[sort][1])):
                    found.append((name, item))
        found.sort(key=lambda each: each[1][sort][1] if sort else "", reverse=pattern.get("order") == "desc")
        return found[:pattern.get("limit")]

    def partitions(self, template, parameters):
        """The values of the partition key: one, or of a sharded key one for each shard."""
        sharded = re.search(r"\{\* \| shard\((\d+)\)\}", template)
        if not sharded:
            return {("S", self.asked_key(template, parameters))}
        # A shard's number is a value, not text of the template: `key_escape` asks which characters a template has.
        template, width = template.replace(sharded[0], "{shard}"), len(str(int(sharded[1]) - 1))
        return {("S", self.asked_key(template, {**parameters, "shard": str(number).zfill(width)})) for number in range(int(sharded[1]))}

    def asked_key(self, template, parameters):
        parts = fold.parse(template)
        if self.table.get("key_escape") and not (len(parts) == 1 and parts[0][0] == "take"):
            value = escape(parts, parameters, None)
        else:
            value = fold.evaluate(parts, parameters)
        if value is None or value == "":
            raise Reject("key")
        return fold.text_of(value)    # the hunter's keys are texts

    def answers(self, name, parameters):
        """(SQL's answer, the Query's) as lists of the compared values, types of other items; None where it cannot be asked."""
        pattern, about = self.mapping["access_patterns"][name], self.world["patterns"][name]
        try:
            found = self.query(pattern, parameters)
        except Reject:
            return None
        if found is None:
            return None
        kinds = self.kinds(about["item_type"])
        sql = re.sub(r":(p_\w+)", lambda match: self.base.literal(kinds[about["parameters"][match[1]]], parameters[match[1]]), pattern["sql"])
        _, rows = self.base.select(sql)
        if about.get("parts"):
            return self.answers_of_several(pattern, about, found, rows)
        columns = about["columns"] if "o.*" not in pattern["sql"] else list(kinds)
        item = self.mapping["items"][about["item_type"]]
        carried = [column for column in columns if item.get("columns", "*") == "*" or column in item["columns"]]
        held = [column for column in carried if self.projected(pattern, column)]
        left = []
        for row in rows:
            row = dict(zip(columns, row))
            left.append(tuple(unnull(self.base.cell(kinds[column], row[column])) for column in held))
        right = [tuple(unnull_attribute(made.get(column)) for column in held) for kind, made in found if kind == about["item_type"]]
        others = sorted({kind for kind, _ in found if kind != about["item_type"]})
        return left, right, others, [column for column in carried if column not in held], [dict(zip(columns, row)) for row in rows]

    def answers_of_several(self, pattern, about, found, rows):
        """Rows of a SQL over several item types: by a constant `_type`, or joined, where each row of a table counts once."""
        left, seen, held = [], set(), {}
        for part in about["parts"]:
            name = part["item_type"]
            carried = self.mapping["items"][name].get("columns", "*")
            held[name] = [column for column in part["at"] if carried == "*" or column in carried]
            kinds = self.kinds(name)
            for row in rows:
                if about["form"] == "union" and row[0] != name:
                    continue
                key = (name, *[repr(row[part["at"][column]]) for column in part["key"]])
                if about["form"] == "join" and (key in seen or any(row[part["at"][column]] is None for column in part["key"])):
                    continue
                seen.add(key)
                left.append((name, *[unnull(self.base.cell(kinds[column], row[part["at"][column]])) for column in held[name]]))
        right = [(name, *[unnull_attribute(item.get(column)) for column in held[name]]) for name, item in found if name in held]
        return left, right, sorted({name for name, _ in found} - set(held)), [], [{} for _ in rows]

    def projected(self, pattern, column):
        index = self.table.get("indexes", {}).get(pattern.get("index"))
        project = (index or {}).get("project", "all")
        return project == "all" or isinstance(project, list) and column in project or column in self.keys + self.index_keys(pattern["index"])

    def calls(self, name):
        """Values of the parameters: those in the data, and variants of them."""
        about = self.world["patterns"][name]
        kinds = self.kinds(about["item_type"])
        rows = [made.row for made in self.made(about["item_type"])]
        columns = about["parameters"]
        calls = []
        for row in rows:
            if all(row[column] is not None and not isinstance(row[column], (Reject, bytes, list, dict)) for column in columns.values()):
                calls.append({name: row[column] for name, column in columns.items()})
        seen = list(calls)
        for call in calls:
            for parameter, column in columns.items():
                seen += [{**call, parameter: variant} for variant in variants(kinds[column], call[parameter])]
        if len(columns) > 1:
            for first, second in itertools.islice(itertools.combinations(calls, 2), 40):
                seen.append({name: (first if number % 2 else second)[name] for number, name in enumerate(columns)})
        unique = {repr(sorted(call.items())): call for call in seen}
        return list(unique.values())[:120] or [{}] * (not columns)

    def comparable(self):
        """Patterns are judged where the table's content is beyond doubt."""
        return all(len(owners) == 1 for owners in self.contested().values())

    def pattern_finds(self, claim, of):
        name = of["pattern"]
        asked = False
        for call in self.calls(name):
            try:
                found = self.query(self.mapping["access_patterns"][name], call)
            except Reject:
                continue
            for kind, item in found or []:
                asked = True
                if kind not in of.get("item_types", []):
                    return Find("pattern_finds", f"{name} with {call} finds {kind}, and only {of.get('item_types')} were claimed"), True
        return None, asked

    def disagreement(self, name, call):
        """What is not the same in the two answers, or None. Raises where it cannot be told."""
        about = self.world["patterns"][name]
        both = self.answers(name, call)
        if both is None:
            return None
        left, right, others, missing, rows = both
        if "limit" in about or "limit" in self.mapping["access_patterns"][name]:
            if not about.get("order") or len({str(row[about["order"][0]]) for row in rows}) != len(rows):
                return None
        if collections.Counter(left) != collections.Counter(right):
            return "answers", f"{shown(call)}: the SQL answers {len(left)} rows {left[:4]}, the Query {len(right)} items {right[:4]}"
        if missing and left:
            return "not projected", f"{shown(call)}: the index does not hold {missing}"
        if others:
            return "others", f"{shown(call)}: the Query also answers {others}"
        if about.get("order") and len(left) > 1:
            by = self.held(name).index(about["order"][0]) if about["order"][0] in self.held(name) else None
            if by is None:
                raise Unjudged("an order by what is not compared")
            # Rows that are equal there may change places, also those that only the database takes for equal.
            one, two = ([str(row[by]).casefold().replace(" ", "") for row in side] for side in (left, right))
            if one != two:
                return "order", f"{shown(call)}: the SQL answers {left[:5]}, the Query {right[:5]}"
        return None

    def identity(self, name):
        source = self.mapping["items"][name]["from"]
        if isinstance(source, dict):
            return source["key"]
        table = next((table for table in self.world["tables"] if table["name"] == source), {})
        return table.get("primary_key") or list(self.kinds(name))

    def selected(self, name):
        """The columns of a pattern's SQL."""
        about = self.world["patterns"][name]
        is_all = "o.*" in self.mapping["access_patterns"][name]["sql"]
        return list(self.kinds(about["item_type"])) if is_all else about["columns"]

    def held(self, name):
        """Those of them that its items have, and its index holds."""
        pattern, about = self.mapping["access_patterns"][name], self.world["patterns"][name]
        listed = self.mapping["items"][about["item_type"]].get("columns", "*")
        return [column for column in self.selected(name) if (listed == "*" or column in listed) and self.projected(pattern, column)]

    def judge_answers(self, claim, report):
        """The claim that a pattern answers what its SQL answers."""
        name = claim["of"]["pattern"]
        if not self.comparable():
            return None, False
        calls, differ, nonempty = self.calls(name), None, False
        for call in calls:
            try:
                differ = differ or self.disagreement(name, call)
                both = self.answers(name, call)
            except Unjudged:
                if len(calls) == 1:
                    raise
                continue    # a neighbour that the column's type does not take
            nonempty = nonempty or bool(both and (both[0] or both[1]))
        about = self.world["patterns"][name]
        if claim["verdict"] == "proved":
            pattern = self.mapping["access_patterns"][name]
            if differ:
                extra = ("; the SQL says " + about["extra"][0].split(":")[0]) if about["extra"] else ""
                return Find(f"pattern proved: {differ[0]}{extra}", f"{name}: {pattern['sql']}: {differ[1]}"), True
            beyond = [extra for extra in about["extra"] if extra in ("a union", "a join") or extra.startswith("more") and not self.implied(extra, about)]
            if beyond:
                return Find(f"pattern overclaimed: {beyond[0].split(':')[0]}", f"{name}: {pattern['sql']}: {beyond}, and it is called proved"), True
        if claim["verdict"] == "differs":
            return self.reported(name, report), nonempty
        return None, nonempty

    def implied(self, extra, about):
        condition = extra.split(": ", 1)[1].replace("o.", "")
        item = self.mapping["items"][about["item_type"]]
        whens = [each["$when"] for each in item.get("attributes", {}).values() if isinstance(each, dict) and "$when" in each]
        return "IS NOT NULL" in condition or condition in [item.get("where"), *whens]

    def reported(self, name, report):
        """A difference that is reported has to exist."""
        entry = next((each for each in report.get("patterns") or [] if each.get("pattern") == name), {})
        about = self.world["patterns"][name]
        kinds = self.kinds(about["item_type"])
        for column in about["parameters"].values():
            if any(isinstance(made.row[column], bytes) for made in self.made(about["item_type"])):
                raise Unjudged("bytes as a parameter")
        examples = entry.get("examples") or []
        item = self.mapping["items"][about["item_type"]]
        if "$spread" in item.get("attributes", {}) and set(self.selected(name)) - set(self.held(name)):
            raise Unjudged("columns that a document may give")
        if not about.get("parts") and not set(self.identity(about["item_type"])) <= set(self.held(name)):
            raise Unjudged("answers without the columns that tell rows apart")
        for example in examples:
            call = {}
            for parameter, value in (example.get("parameters") or {}).items():
                call[parameter] = self.parameter(kinds[about["parameters"][parameter]], value)
            if set(call) != set(about["parameters"]) or self.disagreement(name, call):
                return None
            if any(each["kind"] == "order" for each in example.get("examples") or []) and not self.one_order(name, call):
                return None
            if "limit" in about or "limit" in self.mapping["access_patterns"][name]:
                return None
        if examples:
            return Find("false alarm of a pattern", f"{name}: {self.mapping['access_patterns'][name]['sql']}: {str(examples[0])[:600]}")
        return None

    def one_order(self, name, call):
        """Whether DynamoDB can answer in one order only."""
        pattern = self.mapping["access_patterns"][name]
        sort = (self.table["indexes"][pattern["index"]] if pattern.get("index") else self.table["key"]).get("sort")
        texts = [item.get(sort) for _, item in self.query(pattern, call) or []]
        return len(set(texts)) == len(texts)

    def parameter(self, kind, value):
        if isinstance(value, dict):
            (_, value), = value.items()
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, (int, float)) or kind in ("int", "real", "decimal"):
            try:
                return fold.number(fold.Decimal(str(value)))
            except ArithmeticError:
                return value
        if kind in ("date", "datetime", "instant"):
            return fold.Time(value)
        if kind == "bool":
            return value in ("true", "1", True)
        if kind == "any":
            raise Unjudged("a value of any type")
        return value

    # The table.

    def can_make(self, name, item):
        """Whether an item type's templates could make an item's key, for any row."""
        kinds = dict(self.kinds(name))
        return all(re.fullmatch(form(fold.parse(template), kinds), item[key][1], re.S) for key, template in self.mapping["items"][name]["key"].items())

    def compare(self, held):
        """What differs between a table's items and the judge's, where no key is contested: (missing, different, more)."""
        wanted = {key: owners for key, owners in self.contested().items()}
        found = {tuple(item.get(key) for key in self.keys): item for item in held}
        missing = [key for key in wanted if key not in found]
        different = [(key, found[key], owners[0][1].item) for key, owners in wanted.items()
                     if key in found and all(found[key] != made.item for _, made in owners)]
        return missing, different, [item for key, item in found.items() if key not in wanted]


def form(parts, kinds):
    """A regular expression of the texts that a template makes."""
    made = ""
    for part in parts:
        if part[0] == "text":
            made += re.escape(part[1])
        elif part[0] == "optional":
            made += f"(?:{form(part[1], kinds)})?"
        else:
            widths = [(name, args) for name, args in part[2] if name in ("pad", "desc") and len(args) == 1]
            made += f"\\d{{{int(widths[-1][1][0])}}}" if widths and part[2][-1][0] in ("pad", "desc") else ".*"
    return made


def escape(parts, cells, trace):
    literal = set("".join(part[1] for part in flat(parts) if part[0] == "text")) | {"%"}
    text, cut = "", False

    def value_text(value):
        return "".join("".join(f"%{byte:02X}" for byte in each.encode()) if each in literal else each for each in fold.text_of(value))

    for part in parts:
        if part[0] == "text":
            text += part[1]
        elif part[0] == "take":
            value = fold.placeholder(part, cells, trace)
            if value is None:
                return None
            text += value_text(value)
        else:
            inner, piece = [], ""
            for each in part[1] if not cut else []:
                value = each[1] if each[0] == "text" else fold.placeholder(each, cells, inner)
                cut = cut or value is None
                piece += "" if value is None else value if each[0] == "text" else value_text(value)
            text += "" if cut else piece
            if trace is not None:
                trace += [(None, [], None, None)] if cut else inner
    return text


def flat(parts):
    for part in parts:
        yield from flat(part[1]) if part[0] == "optional" else [part]


def compare_values(one, two):
    """-1, 0, 1 by the tuple of values, as docs/claims.md says: what the filters give, numbers as numbers, behind `desc` the
    other way round, all other text by its bytes; a segment that is left out first. 0 also where nothing can be said."""
    at = [0, 0]
    while at[0] < len(one) and at[1] < len(two):
        first, second = one[at[0]], two[at[1]]
        if (first[0] is None) != (second[0] is None):
            return -1 if first[0] is None else 1
        at = [at[0] + 1, at[1] + 1]
        if first[0] is None:
            continue
        (path, filters, raw, out), (path_two, _, raw_two, out_two) = first, second
        if path != path_two:
            return 0
        last = filters[-1][0] if filters else None
        left, right = (raw, raw_two) if last in ("pad", "ordered", "desc") and len(filters) == 1 else (out, out_two)
        if last in ("pad", "ordered", "desc") and len(filters) > 1:
            return 0
        if left is None or right is None or isinstance(left, (bytes, list, dict)) or type(left) is not type(right):
            return 0
        if left != right:
            return (1 if left > right else -1) * (-1 if last == "desc" else 1)
    return 0


def variants(kind, value):
    if isinstance(value, bool):
        return []
    if isinstance(value, fold.Decimal):
        return [value + 1, value - 1, fold.Decimal(424242)] if kind != "bool" else []
    if isinstance(value, fold.Time):
        return [fold.Time("1999-01-01" + value[10:])]
    if kind == "text" and isinstance(value, str):
        made = [value.swapcase(), value.upper(), value.lower(), value + " ", value.rstrip(" "), value[:1], value[:-1], value + "#", value + "x", "absent"]
        return [each for each in dict.fromkeys(made) if each and each != value]
    return []


def unnull(cell):
    if isinstance(cell, Reject):
        return ("unfit",)
    return None if cell is None else fold.attribute(cell)


def unnull_attribute(value):
    return None if value is None or value[0] == "NULL" else value


def shown(row):
    return {name: str(value) if value is not None else None for name, value in row.items()}
