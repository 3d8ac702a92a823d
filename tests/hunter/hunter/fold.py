"""A naive fold of a row into an item, written from the documentation (templates.md, types.md) alone."""
import datetime
import json
import re
import zlib
from decimal import Decimal


class Reject(Exception):
    """The row makes no item."""


class Unjudged(Exception):
    """What this judge does not claim to know."""


class Time(str):
    """A date or a time, as its ISO text."""


# Values of a database, by the kind of their column. None, Decimal, str, Time, bool, bytes, list, dict.

def number(value):
    made = value if isinstance(value, Decimal) else Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not made.is_finite():
        raise Reject("unfit-value")
    made = Decimal(0) if made == 0 else made
    digits = len(made.normalize().as_tuple().digits) if made else 1
    if digits > 38 or (made and not -130 <= made.adjusted() <= 125):
        raise Reject("unfit-value")
    return made


def document(text):
    def members(pairs):
        if len({name for name, _ in pairs}) != len(pairs):
            raise Reject("unfit-value")
        return dict(pairs)

    return json.loads(text, parse_int=Decimal, parse_float=Decimal, object_pairs_hook=members)


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, str):
        return str(value)
    raise Reject("no-text")


def plain(value):
    if value == 0:
        return "0"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


# Templates.

def parse(template):
    """Parts: ("text", s), ("take", path, [(filter, args)]), ("optional", parts)."""
    parts, at = [], 0
    stack = [parts]

    def add(text):
        here = stack[-1]
        if here and here[-1][0] == "text":
            here[-1] = ("text", here[-1][1] + text)
        else:
            here.append(("text", text))

    while at < len(template):
        two, one = template[at:at + 2], template[at]
        if two in ("{{", "}}", "[[", "]]"):
            add(one)
            at += 2
        elif one == "{":
            end = at + 1
            quote = None
            while quote or template[end] != "}":
                quote = None if quote == template[end] else quote or (template[end] if template[end] in "`'\"" else None)
                end += 1
            stack[-1].append(take(template[at + 1:end]))
            at = end + 1
        elif one == "[":
            inner = []
            stack[-1].append(("optional", inner))
            stack.append(inner)
            at += 1
        elif one == "]":
            stack.pop()
            at += 1
        else:
            add(one)
            at += 1
    return parts


def take(text):
    pieces = split(text, "|")
    path = tuple(part.strip("`") for part in re.findall(r"`[^`]*`|[^.`]+", pieces[0].strip()))
    filters = []
    for piece in pieces[1:]:
        found = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", piece, re.S)
        filters.append((found[1], [word.strip() for word in split(found[2], ",")] if found[2] is not None else []))
    return ("take", path, filters)


def split(text, at):
    pieces, piece, quote = [], "", None
    for character in text:
        quote = None if quote == character else quote or (character if character in "`'\"" else None)
        if character == at and not quote:
            pieces.append(piece)
            piece = ""
        else:
            piece += character
    return pieces + [piece]


def word(text):
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def constant(text):
    """What `default`, `present` and `map` put."""
    if text[:1] in "'\"" and len(text) > 1:
        return word(text)
    if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", text):
        return number(Decimal(text))
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return Time(text)
    return text


def lookup(row, path):
    for length in range(len(path), 0, -1):
        name = ".".join(path[:length])
        if name in row:
            value = row[name]
            if isinstance(value, Reject):
                raise value
            for member in path[length:]:
                value = value.get(member) if isinstance(value, dict) else None
            return value
    raise Unjudged(f"no column {path}")


def evaluate(parts, row, trace=None):
    if len(parts) == 1 and parts[0][0] == "take":
        return placeholder(parts[0], row, trace)
    text, cut = "", False
    for part in parts:
        if part[0] == "text":
            text += part[1]
        elif part[0] == "take":
            value = placeholder(part, row, trace)
            if value is None:
                return None
            text += text_of(value)
        else:
            inner = []
            value = None if cut else evaluate([("text", "")] + part[1], row, inner)
            cut = value is None
            text += value or ""
            if trace is not None:    # one that is left out is told by one entry
                trace += [(None, [], None, None)] if cut else inner
    return text


def placeholder(part, row, trace):
    _, path, filters = part
    raw = lookup(row, path)
    value = raw
    for name, args in filters:
        value = apply(name, args, value)
    if trace is not None:
        trace.append((path, filters, raw, value))
    return value


def apply(name, args, value):
    if name == "default":
        return constant(args[0]) if value is None else value
    if name == "present":
        return constant(args[1] if value is None else args[0])
    if value is None:
        return None
    if name in ("pad", "desc", "ordered"):
        if isinstance(value, bool) or not isinstance(value, Decimal):
            raise Reject("wrong-kind")
        return {"pad": pad, "desc": desc, "ordered": ordered}[name](value, *[int(arg) for arg in args])
    if name in ("upper", "lower", "trim", "truncate", "replace"):
        if not isinstance(value, str) or isinstance(value, Time):
            raise Reject("wrong-kind")
        if name == "truncate":
            return value[:int(args[0])]
        if name == "replace":
            return value.replace(word(args[0]), word(args[1]))
        return {"upper": value.upper, "lower": value.lower, "trim": value.strip}[name]()
    if name == "string":
        if isinstance(value, (bytes, list, dict)):
            raise Unjudged("string of a document")
        return text_of(value)
    if name == "map":
        codes = dict([piece.strip() for piece in arg.split(":", 1)] for arg in args)
        code = codes.get(text_of(value), codes.get("*"))
        if code is None:
            raise Reject("unmapped")
        return constant(code)
    if name == "shard":
        n = int(args[0])
        return str(zlib.crc32(text_of(value).encode()) % n).zfill(len(str(n - 1)))
    if name == "hex":
        if not isinstance(value, bytes):
            raise Reject("wrong-kind")
        return value.hex()
    if name == "date":
        if not isinstance(value, Time):
            raise Reject("wrong-kind")
        return Time(value[:10])
    raise Unjudged(f"the filter {name}")


def pad(value, width, scale=0):
    if value < 0:
        raise Reject("pad-negative")
    scaled = value.scaleb(scale)
    if scaled != scaled.to_integral_value():
        raise Reject("pad-fraction")
    digits = str(int(scaled)).zfill(scale + 1)
    whole, fraction = (digits[:-scale], digits[-scale:]) if scale else (digits, "")
    if len(whole) > width:
        raise Reject("pad-overflow")
    return whole.zfill(width) + ("." + fraction if scale else "")


def desc(value, width):
    if value < 0:
        raise Reject("desc-negative")
    if value != value.to_integral_value():
        raise Reject("desc-fraction")
    if value >= 10 ** width:
        raise Reject("desc-overflow")
    return str(10 ** width - 1 - int(value)).zfill(width)


def ordered(value):
    if value == 0:
        return "o"
    normal = abs(value).normalize()
    digits = "".join(map(str, normal.as_tuple().digits))
    if value > 0:
        return f"p{normal.adjusted() + 500:03}{digits}."
    return f"n{499 - normal.adjusted():03}{''.join(str(9 - int(d)) for d in digits)}~"


# Items: {name: attribute}, an attribute being (type, value).

def attribute(value):
    if isinstance(value, bool):
        return ("BOOL", value)
    if isinstance(value, Decimal):
        return ("N", number(value))
    if isinstance(value, str):
        return ("S", str(value))
    if isinstance(value, bytes):
        return ("B", value)
    if value is None:
        return ("NULL", True)
    if isinstance(value, list):
        return ("L", tuple(attribute(each) for each in value))
    if isinstance(value, dict):
        return ("M", tuple(sorted((name, attribute(each)) for name, each in value.items())))
    raise Unjudged(f"a value {type(value)}")


def constant_attribute(value):
    if isinstance(value, bool):
        return ("BOOL", value)
    return ("N", number(Decimal(str(value))))


def read(attribute_json):
    """An attribute from DynamoDB JSON."""
    import base64
    (kind, value), = attribute_json.items()
    if kind == "N":
        return ("N", number(Decimal(value)))
    if kind == "B":
        return ("B", value if isinstance(value, bytes) else base64.b64decode(value))
    if kind == "L":
        return ("L", tuple(read(each) for each in value))
    if kind == "M":
        return ("M", tuple(sorted((name, read(each)) for name, each in value.items())))
    if kind in ("SS", "NS", "BS"):
        return (kind, tuple(sorted(value)))
    return (kind, value)


def write(attribute_pair):
    """DynamoDB JSON from an attribute."""
    import base64
    kind, value = attribute_pair
    if kind == "N":
        return {"N": plain(value)}
    if kind == "B":
        return {"B": base64.b64encode(value).decode()}
    if kind == "L":
        return {"L": [write(each) for each in value]}
    if kind == "M":
        return {"M": {name: write(each) for name, each in value}}
    return {kind: value}


def size(item):
    return sum(len(name.encode()) + size_of(value) for name, value in item.items())


def size_of(pair):
    kind, value = pair
    if kind == "S":
        return len(value.encode())
    if kind == "B":
        return len(value)
    if kind == "N":
        if value == 0:
            return 1
        digits, exponent = value.normalize().as_tuple().digits, value.normalize().as_tuple().exponent
        count = len(digits) + (exponent % 2)
        return (count + 1) // 2 + 1 + (1 if value < 0 else 0)
    if kind in ("BOOL", "NULL"):
        return 1
    if kind == "L":
        return 3 + sum(1 + size_of(each) for each in value)
    return 3 + sum(1 + len(name.encode()) + size_of(each) for name, each in value)


def is_date(text):
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text)) and bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def is_datetime(text):
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", text)) and bool(datetime.datetime.fromisoformat(text))
    except ValueError:
        return False
