"""Chapter 11: ``schema_to_regex``, schemas as patterns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip

Schema = dict[str, Any]
LETTERS = "ABCXYZabcxyz0189 "
KEYS = ("name", "age", "a", "b2", "active", "city", "x.y", "n(1)", "p+q", "ключ", "größe", 'say "hi"', "a\\b")
PLAIN_KEYS = ("name", "age", "a", "b2", "active", "city")
VALUES: tuple[Any, ...] = ("red", "dark blue", "a.b", "2+2", "(x)", "it's", "é", None, True, False, 0, -7, 12, 1.5)


def _string(rng: Random) -> Schema:
    most = rng.randint(2, 8)
    low = {"minLength": rng.randint(1, most)} if rng.random() < 0.4 else {}
    return {"type": "string", "maxLength": most} | low


def _simple(rng: Random) -> Schema:
    kind = rng.choice(("string", "integer", "integer", "boolean", "null"))
    return _string(rng) if kind == "string" else {"type": kind}


def _enum(rng: Random) -> Schema:
    return {"enum": [rng.choice(VALUES[:7]), *rng.sample(VALUES[7:], rng.randint(1, 3))]}


def _array(rng: Random, item: Schema, most: int | None = None) -> Schema:
    most = rng.randint(2, 4) if most is None else most
    low = {"minItems": rng.randint(1, most)} if most and rng.random() < 0.5 else {}
    return {"type": "array", "items": item, "maxItems": most} | low


def _object(values: Sequence[Schema], keys: Sequence[str]) -> Schema:
    return {"type": "object", "properties": dict(zip(keys, values, strict=True))}


def _value(schema: Schema, rng: Random) -> Any:
    """A value of the schema."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        return {key: _value(inner, rng) for key, inner in schema.get("properties", {}).items()}
    if kind == "array":
        count = rng.randint(schema.get("minItems", 0), schema["maxItems"])
        return [_value(schema["items"], rng) for _ in range(count)]
    if kind == "string":
        length = rng.randint(schema.get("minLength", 0), schema["maxLength"])
        return "".join(rng.choice(LETTERS) for _ in range(length))
    return {"integer": rng.choice((0, -1, 7, rng.randint(-(10**9) + 1, 10**9 - 1))), "boolean": rng.random() < 0.5}.get(
        kind
    )


def compact(value: Any, **more: Any) -> str:
    """The text of a value."""
    settings: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")} | more
    return json.dumps(value, **settings)


def _broken(text: str, rng: Random) -> str:
    """The text with one byte more, less or another."""
    index = rng.randrange(len(text))
    mark = rng.choice('0-,:{}[]"aZ 9.')
    return rng.choice(
        (text[:index] + text[index + 1 :], text[:index] + mark + text[index:], text[:index] + mark + text[index + 1 :])
    )


def _texts(schema: Schema, rng: Random) -> list[str]:
    """Texts of the schema, and texts that are close to it."""
    values = [_value(schema, rng) for _ in range(4)]
    right = [compact(value) for value in values]
    near = [_broken(text, rng) for text in right for _ in range(2)]
    other = [compact(values[0], separators=(", ", ": ")), compact(values[0], ensure_ascii=True), repr(values[0])]
    return list(dict.fromkeys([*right, *near, *other]))


def _case(schema: Schema, rng: Random, *more: str) -> Case:
    texts = [*_texts(schema, rng), *more]
    rng.shuffle(texts)
    return Case((schema, texts))


def _flat(rng: Random) -> Case:
    number, word = {"type": "integer"}, _string(rng) | {"minLength": 1}
    rest = [_simple(rng) for _ in range(rng.randint(0, 2))]
    schema = _object([number, word, *rest], rng.sample(PLAIN_KEYS, 2 + len(rest)))
    value = _value(schema, rng)
    (first, second), tail = list(value)[:2], dict(list(value.items())[2:])
    value[first] = -rng.randint(1, 99)
    text = compact(value)
    swapped = compact({second: value[second], first: value[first]} | tail)
    zeros = text.replace(f":{value[first]}", f":0{-value[first]}", 1)
    longer = compact(value | {first: 10**9})
    empty = compact(value | {second: ""})
    missing = compact({first: value[first]} | tail)
    return _case(schema, rng, text, swapped, zeros, longer, empty, missing)


def _list(rng: Random) -> Case:
    item = rng.choice(({"type": "integer"}, {"type": "boolean"}, _string(rng)))
    schema = _array(rng, item)
    few = [_value(item, rng) for _ in range(schema["maxItems"] + 1)]
    texts = ["[]", compact(few), compact(few[:1]), compact(few[:-1]), compact(few[:-1])[:-1] + ",]"]
    return _case(schema, rng, *texts, "[" + compact(few[0]) + compact(few[0]) + "]", "[,]")


def _bounded(rng: Random) -> list[Case]:
    """Bounds of 0, and minima."""
    empty = _array(rng, {"type": "integer"}, 0)
    cases = [
        Case((empty, ["[]", "[1]", "[0]", "[1,2]", "[,]", ""])),
        Case(({"type": "string", "maxLength": 0}, ['""', '"a"', ""])),
    ]
    many = {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3}
    texts = ["[" + ",".join(["true"] * count) + "]" for count in range(5)]
    nested = _object([empty], ["list"])
    one = Case(({"type": "array", "items": {"type": "boolean"}, "maxItems": 1}, texts))
    return [*cases, Case((many, texts)), one, Case((nested, ['{"list":[]}', '{"list":[1]}', '{"list":[12]}', "{}"]))]


def _strange(rng: Random) -> Case:
    """Keys and values that need escapes."""
    odd = rng.sample(KEYS[6:9], 1) + rng.sample(KEYS[9:11], 1) + rng.sample(KEYS[11:], 1)
    schema = _object([_enum(rng), _simple(rng), {"type": "boolean"}], odd)
    value = _value(schema, rng)
    loose = compact(value).replace(".", "x").replace("+", "").replace("(1)", "1")
    return _case(schema, rng, loose, compact(value).replace('"', "'"))


def _values(rng: Random, typed: bool = False) -> Case:
    """Values of several kinds; also beside a type, which they need not have."""
    schema = _enum(rng) | ({"type": "string"} if typed else {})
    texts = [text for value in schema["enum"] for text in (compact(value), repr(value), str(value))]
    return Case((schema, list(dict.fromkeys([*texts, "nul", "[]", "redd", '"axb"', '"22"', '"x"']))))


def _annotated(rng: Random) -> list[Case]:
    """What says nothing about the texts; and properties that are called like it."""
    note: Schema = {rng.choice(("title", "description", "$comment")): "Form", "deprecated": rng.random() < 0.5}
    inner = {"type": "integer", "default": 3, "examples": [1, 2], "title": "Age"}
    enum = {"enum": ["red", 7], "description": "colours", "readOnly": True, "default": "red"}
    flags = {"type": "array", "items": {"type": "boolean", "title": "Flag"}, "maxItems": 2, "writeOnly": False}
    keys = rng.sample(PLAIN_KEYS, 3)
    return [
        _case(_object([inner, enum, flags], keys) | note, rng),
        _case(_object([inner, enum], ["title", "default"]) | note, rng),
    ]


def _deep(inner: Schema, arrays: int, objects: int) -> Schema:
    """A schema in arrays, all of it in objects."""
    for _ in range(arrays):
        inner = {"type": "array", "items": inner, "maxItems": 1}
    for _ in range(objects):
        inner = _object([inner], ["a"])
    return inner


def _levels(rng: Random) -> list[Case]:
    """As deep as it may be: 8 levels, the innermost schema included."""
    arrays = rng.randint(2, 4)
    return [_case(_deep({"type": "boolean"}, arrays, 7 - arrays), rng)]


def _nested(rng: Random) -> Case:
    inner = _object([_simple(rng), {"type": "integer"}], rng.sample(PLAIN_KEYS, 2))
    schema = _object([_array(rng, inner, 2), inner], rng.sample(PLAIN_KEYS, 2))
    return _case(schema | {"required": list(schema["properties"])[::-1], "additionalProperties": False}, rng)


def _beyond(rng: Random) -> list[Case]:
    """What the pattern could not enforce: a keyword that is unknown, a bound or the items that are missing."""
    number = {"type": "integer"}
    schemas: tuple[Schema, ...] = (
        {"type": "string", "maxLength": rng.randint(4, 9), "pattern": "a+"},
        {"type": "string", "minLength": rng.randint(0, 4)},
        {"type": "array", "items": number},
        {"type": "array", "maxItems": rng.randint(1, 4)},
        {"type": "array", "items": number, "maxItems": 3, "uniqueItems": True},
        {"enum": ["red"], "pattern": "r.*"},
        number | {rng.choice(("minimum", "maximum", "multipleOf")): 3},
        _object([number | {"format": "int32"}], ["a"]),
    )
    return [Case((schema, ["1"]), raises="ValueError") for schema in schemas]


_FORM = _object(
    [{"type": "string", "maxLength": 8}, {"type": "integer"}, {"type": "boolean"}], ["name", "age", "active"]
)

_THREE = {"type": "array", "items": {"type": "integer"}, "maxItems": 3}


EXERCISE = Build(
    "11 constrained.schema_to_regex",
    section="11.18",
    topic="schemas as patterns",
    bonus=True,
    probe="ch11_constraints.matched",
    cases=(
        Case((_FORM, ['{"name":"Alice","age":30,"active":true}', '{"name":"","age":-1,"active":false}'])),
        Case((_FORM, ['{"name":"Alice","age":030,"active":true}', '{"age":30,"name":"Alice","active":true}'])),
        Case((_FORM, ['{"name": "Alice","age":30,"active":true}', '{"name":"Alice","age":30}'])),
        Case((_THREE, ["[]", "[1]", "[1,2,3]", "[1,2,3,4]", "[1,]", "[,1]", "[1 2]"])),
        Case((_THREE | {"minItems": 2}, ["[]", "[1]", "[1,2]", "[1,2,3]"])),
        Case((_THREE | {"maxItems": 0}, ["[]", "[1]"])),
        Case(
            ({"enum": ["red", "a.b", None, True, 2]}, ['"red"', "red", '"a.b"', '"axb"', "null", "None", "true", "2"])
        ),
        Case((_object([{"type": "null"}], ["größe"]), ['{"größe":null}', '{"gr\\u00f6\\u00dfe":null}'])),
        Case((_THREE | {"uniqueItems": True}, ["[]"]), raises="ValueError"),
        Case(({"type": "string"}, ['""']), raises="ValueError"),
    ),
    groups=(
        Group("objects", _flat, 5, "Properties in the order of the schema, no blanks, integers without leading zeros."),
        Group("lists", _list, 4, "Commas are between two items, and nowhere else; count them."),
        listed(
            "bounds",
            _bounded,
            "Bounds hold exactly: a list or a string may have to be empty, and a minimum may be more than one.",
        ),
        Group("keys and values", _strange, 4, "A key may hold any character: write it as JSON, then escape it."),
        Group("enum", _values, 4, "Values of an enum are written as JSON.", lambda rng: [_values(rng, typed=True)]),
        Group("nested", _nested, 3, "A schema in a schema is a pattern in a pattern.", _levels),
        listed(
            "annotations",
            _annotated,
            "Titles, descriptions and the like say nothing about the texts; a property may have such a name.",
        ),
        listed(
            "beyond a pattern",
            _beyond,
            "A keyword that is unknown, or a bound that is missing: raise ValueError.",
        ),
    ),
    slips=(
        Slip(
            "030 is no JSON: a number other than 0 begins with 1 to 9.",
            edit=('_INTEGER = "-?(0|[1-9][0-9]{0,8})"', '_INTEGER = "-?[0-9]{1,9}"'),
        ),
        Slip("Integers may be negative.", edit=('"-?(0|', '"(0|')),
        Slip(
            "The comma belongs between two items: [1,] and [1 2] are no JSON.",
            edit=(
                (
                    '    further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"\n'
                    '    return rf"\\[{further}\\]" if least else rf"\\[({further})?\\]"'
                ),
                '    return rf"\\[({item},?){{{least},{most}}}\\]"',
            ),
        ),
        Slip(
            "Keys and values are in the pattern unescaped: a dot then matches anything.",
            edit=(
                're.escape(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))',
                'json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))',
            ),
        ),
        Slip(
            "An enum holds JSON texts, not those of Python: null, true and double quotes.",
            edit=("'|'.join(map(_written, schema['enum']))", "'|'.join(re.escape(repr(v)) for v in schema['enum'])"),
        ),
        Slip(
            "Letters outside ASCII are written as they are, not as \\u escapes.",
            edit=("json.dumps(value, ensure_ascii=False, allow_nan", "json.dumps(value, allow_nan"),
        ),
        Slip(
            "A list with maxItems 0 still takes one item.",
            edits=(('    if most == 0:\n        return r"\\[\\]"\n', ""), ("{most - 1}", "{max(most - 1, 0)}")),
        ),
        Slip("The minimum is ignored.", edit=("schema.get(low, 0), schema[high]", "0, schema[high]")),
        Slip(
            "Blanks are allowed where compact JSON has none.",
            edits=(
                ("{_written(key)}:{_pattern(value)}", "{_written(key)}: ?{_pattern(value)}"),
                ("{','.join(members)}", "{', ?'.join(members)}"),
            ),
        ),
        Slip(
            "Properties may come in any order and more than once; the schema's order is asked for.",
            edit=(
                "        return rf\"\\{{{','.join(members)}\\}}\"",
                (
                    '        one, count = "|".join(members), len(schema.get("properties", {}))\n'
                    '        return rf"\\{{(({one})(,({one})){{{count - 1}}})?\\}}" if count else r"\\{\\}"'
                ),
            ),
        ),
        Slip(
            "`title`, `default` and the other annotations are refused: ignore them.",
            edit=(
                (
                    '_ANNOTATIONS = {"title", "description", "default", "examples", "deprecated", '
                    '"readOnly", "writeOnly", "$comment"}'
                ),
                "_ANNOTATIONS = set[str]()",
            ),
        ),
        Slip(
            "Schemas outside the list were accepted: unknown keywords, missing bounds.",
            edits=(
                (
                    "    for keyword in schema:\n"
                    '        if keyword not in _KEYWORDS[kind] | _ANNOTATIONS | {"type"}:\n'
                    "            raise ValueError(f\"{keyword} is not a keyword of {'an' if kind == 'enum' else 'type'}"
                    ' {kind} here")\n',
                    "",
                ),
                ("{{{max(least - 1, 0)},{most - 1}}}", "*"),
                (
                    "    if high not in schema:\n"
                    "        raise ValueError(f\"{high} must bound {'an' if schema['type'] == 'array' else 'a'} "
                    "{schema['type']}\")\n"
                    "    return schema.get(low, 0), schema[high]",
                    '    return schema.get(low, 0), schema.get(high, "")',
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "Or with an ``enum``, a list of at least one value, and perhaps a ``type``: then only the values count.",
            edit=(' | _ANNOTATIONS | {"type"}', ' | _ANNOTATIONS | {"type" if "enum" not in schema else ""}'),
        ),
        Promise(
            "``readOnly``, ``writeOnly`` and ``$comment`` are ignored.",
            edit=(' | _ANNOTATIONS | {"type"}', ' | {"type"}'),
        ),
        Promise("Schemas hold schemas at most 8 levels deep", edit=("count(1, 8, levels", "count(1, 7, levels")),
        Promise(
            "in the order of the schema",
            edit=('in schema.get("properties", {}).items())', 'in sorted(schema.get("properties", {}).items()))'),
        ),
        Promise(
            "Keys and the values of ``enum`` are written by",
            edit=("ensure_ascii=False, allow_nan", "ensure_ascii=True, allow_nan"),
        ),
        Promise("a missing minimum is 0", edit=("schema.get(low, 0), schema", "schema.get(low, 1), schema")),
    ),
)
