"""Masks, budgets and schemas: judged by ``re``, by exhaustive search, by a library of the field, by readers of JSON."""

from __future__ import annotations

import itertools
import json
import re
from random import Random
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankzero.grammar.automata import Dfa, compile_regex, trie
from rankzero.tiny.text import BpeTokenizer
from solutions.ch11.constrained import (
    ConstraintState,
    debug_limit,
    debug_token,
    forced_tokens,
    grammars,
    schema_to_regex,
    token_index,
)

TOKENIZER = BpeTokenizer()
CUT = [
    b"",
    *(word.encode() for word in ("t", "r", "u", "e", "tr", "true", "rue", "f", "fal", "se", "false", "als", "x")),
]
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "age": {"type": "integer"},
        "active": {"type": "boolean"},
    },
    "required": ["name", "age", "active"],
    "additionalProperties": False,
}


def spelled(tokens) -> bytes:
    return b"".join(TOKENIZER.vocabulary[token] for token in tokens)


# token_index


def test_the_example_of_the_page():
    index = token_index(trie([b"true", b"false"]), CUT, 0)
    assert index == {
        0: {1: 1, 5: 2, 6: 4, 8: 5, 9: 7, 11: 9},
        1: {2: 2, 7: 4},
        2: {3: 3},
        3: {4: 4},
        4: {},
        5: {12: 8},
        7: {10: 9},
        8: {4: 9},
        9: {},
    }


def test_dead_ends_of_the_vocabulary_are_taken_out():
    assert token_index(trie([b"true", b"false"]), [b"", b"t", b"rue", b"f", b"al", b"s"], 0) == {
        0: {1: 1},
        1: {2: 4},
        4: {},
    }


def test_a_loop_and_an_empty_token():
    dfa = compile_regex("ab*")
    assert token_index(dfa, [b"", b"a", b"b", b"ab", b"bb", b"ba", b""], 0) == {0: {1: 1, 3: 1}, 1: {2: 1, 4: 1}}


vocabularies = st.lists(st.text("ab", max_size=3).map(str.encode), min_size=1, max_size=6)
patterns = st.sampled_from(["(ab)*", "a+b?", "(a|bb)*a", "a{2,4}", "(aa|b)(ab)?", "b*a", "(aab|abb)+"])


@settings(max_examples=150, deadline=None)
@given(patterns, vocabularies)
def test_the_index_spells_exactly_what_the_pattern_matches(pattern, vocabulary):
    """All strings of up to four tokens, judged by ``re`` on the joined bytes; and from every state the end is near."""
    vocabulary, dfa = [*vocabulary, b"a"], compile_regex(pattern)
    eos = len(vocabulary) - 1
    tokens = [token for token, text in enumerate(vocabulary) if text and token != eos]
    try:
        index = token_index(dfa, vocabulary, eos)
    except ValueError:
        index = {}
    for length in range(5):
        for way in itertools.product(tokens, repeat=length):
            state: int | None = dfa.start if index else None
            for token in way:
                state = index.get(state, {}).get(token) if state is not None else None
            text = b"".join(vocabulary[token] for token in way).decode()
            assert (state in dfa.accepting) == bool(re.fullmatch(pattern, text)), (text, way)
    assert all(ends(index, dfa, state) for state in index)


def ends(index, dfa: Dfa, state: int) -> bool:
    """Whether acceptance can be reached."""
    seen, waiting = {state}, [state]
    while waiting:
        now = waiting.pop()
        if now in dfa.accepting:
            return True
        waiting += set(index[now].values()) - seen
        seen |= set(index[now].values())
    return False


@pytest.mark.parametrize(
    "pattern", ["20[0-9]{2}-(0[1-9]|1[0-2])", "(the|a) [a-z]{1,5}", ".{0,3}é", schema_to_regex(FORM)]
)
def test_masks_over_the_real_vocabulary_are_those_of_brute_force(pattern):
    """Every state and every token: all bytes lead somewhere. Each byte is a token, so that nothing is a dead end."""
    dfa = compile_regex(pattern)
    index = token_index(dfa, TOKENIZER.vocabulary, TOKENIZER.eos)
    assert set(index) == set(dfa.edges)
    for state, row in index.items():
        after = {t: dfa.run(text, state) for t, text in enumerate(TOKENIZER.vocabulary) if text}
        assert row == {token: to for token, to in after.items() if to is not None}


@pytest.mark.parametrize(
    "pattern", [schema_to_regex(FORM), grammars()["phone"], grammars()["signature"], "(19|20)[0-9]{2}|now"]
)
def test_masks_beside_a_library_of_the_field(pattern):
    """The same tokens in the same states as the index of outlines-core, EOS included.

    Only patterns in which no alternative hides another: that library prefers the first one that matches, and leaves out
    some texts of the language.
    """
    library = pytest.importorskip(
        "outlines_core", reason="outlines-core is not installed: masks are not compared with it"
    )
    known: dict[bytes, list[int]] = {}
    for token, text in enumerate(TOKENIZER.vocabulary):
        if text:
            known.setdefault(text, []).append(token)
    theirs = library.Index(pattern, library.Vocabulary(TOKENIZER.eos, known))
    dfa = compile_regex(pattern)
    index = token_index(dfa, TOKENIZER.vocabulary, TOKENIZER.eos)
    places = {theirs.get_initial_state(): dfa.start}
    waiting = list(places.items())
    while waiting:
        other, state = waiting.pop()
        ours = set(index[state]) | ({TOKENIZER.eos} if state in dfa.accepting else set())
        assert set(theirs.get_allowed_tokens(other)) == ours
        for token, after in index[state].items():
            following = theirs.get_next_state(other, token)
            if following not in places:
                waiting.append((following, after))
            assert places.setdefault(following, after) == after
    assert set(places.values()) == set(index)


def test_no_text_of_the_vocabulary():
    with pytest.raises(ValueError, match="no text of this vocabulary"):
        token_index(compile_regex("abc"), [b"", b"a", b"b"], 0)


# ConstraintState


def fewest(index, accepting, state: int, longest: int = 12) -> int:
    """The fewest tokens to acceptance, by trying all ways."""
    now = {state}
    for count in range(longest):
        if now & set(accepting):
            return count
        now = {after for one in now for after in index[one].values()}
    raise AssertionError("the end is too far")


@st.composite
def automata(draw):
    """An index from each state of which acceptance can be reached."""
    size = draw(st.integers(2, 6))
    index = {size - 1: {}}
    for state in range(size - 1):
        index[state] = {1: state + 1}
        for token in draw(st.sets(st.integers(2, 6), max_size=3)):
            index[state][token] = draw(st.integers(0, size - 1))
    accepting = {size - 1} | draw(st.sets(st.integers(0, size - 1), max_size=2))
    return index, 0, accepting, 9


@settings(max_examples=150, deadline=None)
@given(automata(), st.integers(0, 8), st.randoms(use_true_random=False))
def test_whoever_follows_the_mask_ends_in_time(made, spare, rng):
    """The law of the budget: with at least ``distance()`` tokens, any allowed tokens end accepted within them."""
    index, _, accepting, eos = made
    state = ConstraintState(*made)
    left, place = state.distance() + spare, 0
    assert state.distance() == fewest(index, accepting, 0)
    while True:
        allowed = state.allowed(left)
        right = [t for t, to in index[place].items() if left >= 1 + fewest(index, accepting, to)]
        assert allowed == sorted([*right, eos] if place in accepting else right)
        assert allowed
        token = rng.choice(allowed)
        state.advance(token)
        if token == eos:
            break
        left, place = left - 1, index[place][token]
    assert state.finished
    assert left >= 0


@settings(max_examples=100, deadline=None)
@given(automata(), st.randoms(use_true_random=False))
def test_what_is_taken_back_was_never_there(made, rng):
    """After any tokens and a rollback, everything is as it was before those tokens."""
    state, seen = ConstraintState(*made), []

    def look():
        return state.allowed(), state.distance(), state.finished, state.allowed(4)

    while not state.finished and len(seen) < 20:
        seen.append(look())
        state.advance(rng.choice(state.allowed()))
    back = rng.randint(0, len(seen))
    state.rollback(back)
    if back:
        assert look() == seen[len(seen) - back]
    with pytest.raises(ValueError, match="cannot be taken back"):
        state.rollback(len(seen) - back + 1)


@settings(max_examples=100, deadline=None)
@given(automata())
def test_forced_tokens_are_the_only_way(made):
    index, place, accepting, _ = made
    forced = forced_tokens(index, place, accepting)
    for token in forced:
        assert list(index[place]) == [token]
        assert place not in accepting
        place = index[place][token]
    assert place in accepting or len(index[place]) > 1 or len(forced) == 1000


def test_distances_of_the_example():
    words = (
        b"",
        b"{",
        b'"',
        b"a",
        b'":',
        b"}",
        b"t",
        b"true",
        b"f",
        b"al",
        b"se",
        b'{"',
        b"rue",
        b"e",
        b"alse",
        b'{"a',
    )
    dfa = trie([b'{"a":true}', b'{"a":false}'])
    state = ConstraintState(token_index(dfa, words, 0), 0, dfa.accepting, 0)
    assert state.distance() == 4
    assert [state.allowed(left) for left in (6, 5, 4, 3)] == [[1, 11, 15], [11, 15], [15], []]


# schema_to_regex


def random_schema(rng: Random, depth: int = 2) -> dict[str, Any]:
    kinds = ["string", "integer", "boolean", "null", "enum"] + ["object", "array"] * (depth > 0)
    kind = rng.choice(kinds)
    if kind == "enum":
        return {
            "enum": rng.sample(["a", "b.c", "d e", "(x)", "é", 'q"r', "s\\t", None, True, -3, 1.5, [], {"k": 1}], 3)
        }
    if kind == "string":
        low = rng.randint(0, 3)
        return {"type": "string", "minLength": low, "maxLength": low + rng.randint(0, 4)}
    if kind == "array":
        low = rng.randint(0, 2)
        bounds = {"minItems": low, "maxItems": low + rng.randint(0, 2)}
        return {"type": "array", "items": random_schema(rng, depth - 1)} | bounds
    if kind == "object":
        keys = rng.sample(
            ["name", "a.b", "x(y)", "größe", 'say "hi"', "back\\slash", "", "[", "a b"], rng.randint(0, 3)
        )
        properties = {key: random_schema(rng, depth - 1) for key in keys}
        return {"type": "object", "properties": properties, "required": keys, "additionalProperties": False}
    return {"type": kind}


def in_order(schema: dict[str, Any], value: Any) -> bool:
    """What JSON Schema cannot say of a value that is valid: the order of keys, the alphabet, the length of integers."""
    if "enum" in schema:
        return True
    if schema["type"] == "object":
        properties = schema["properties"]
        return list(value) == list(properties) and all(in_order(properties[key], value[key]) for key in value)
    if schema["type"] == "array":
        return all(in_order(schema["items"], item) for item in value)
    if schema["type"] == "string":
        return re.fullmatch("[A-Za-z0-9 ]*", value) is not None
    return schema["type"] != "integer" or (type(value) is int and abs(value) < 10**9)


def judged(schema: dict[str, Any], text: str) -> bool:
    """The oracle: ``json.loads``, ``jsonschema``, the order of keys, and that the text is compact."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    valid = jsonschema.Draft202012Validator(schema).is_valid(value) and in_order(schema, value)
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return valid and text.replace("-0", "0") == written.replace("-0", "0")


def drawn(dfa: Dfa, rng: Random) -> str:
    """A text of the language."""
    state, text = dfa.start, bytearray()
    while state not in dfa.accepting or (dfa.edges[state] and rng.random() < 0.8):
        byte, state = rng.choice(list(dfa.edges[state].items()))
        text.append(byte)
    return text.decode()


def test_what_a_pattern_matches_is_what_readers_of_json_accept():
    """500 texts of the languages of random schemas, and 500 that are a character away from one."""
    rng, near = Random(11), 0
    for _ in range(100):
        schema = random_schema(rng)
        pattern = schema_to_regex(schema)
        dfa = compile_regex(pattern)
        for text in [drawn(dfa, rng) for _ in range(5)]:
            assert re.fullmatch(pattern, text)
            assert judged(schema, text), (schema, text)
            place = rng.randrange(len(text))
            broken = (
                text[:place] + rng.choice(['"', ",", "0", "}", "x", " ", "]", ""]) + text[place + rng.randint(0, 1) :]
            )
            matches = re.fullmatch(pattern, broken) is not None
            assert matches == dfa.accepts(broken.encode())
            assert matches == judged(schema, broken), (schema, broken)
            near += matches
    assert 0 < near < 250  # some of them are texts of the language, most are not


def test_the_pattern_of_the_page():
    pattern = schema_to_regex(FORM)
    assert pattern == r'\{"name":"[A-Za-z0-9 ]{0,8}","age":-?(0|[1-9][0-9]{0,8}),"active":(true|false)\}'
    assert re.fullmatch(pattern, '{"name":"Alice","age":30,"active":true}')
    assert not re.fullmatch(pattern, '{"name":"Alice","age":030,"active":true}')


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "string"}, "maxLength must bound a string"),
        ({"type": "string", "maxLength": 2, "pattern": "a"}, "pattern"),
        ({"type": "array", "maxItems": 2}, "items must say"),
        ({"type": "array", "items": {"type": "null"}}, "maxItems must bound an array"),
        ({"type": "integer", "minimum": 0}, "minimum"),
        ({"enum": [1], "minimum": 1}, "minimum"),
        ({"type": "object", "properties": {"a": {"type": "null", "format": "x"}}}, "format"),
        ({"type": "number"}, "type must be one of"),
        ({"type": ["string", "null"]}, "type must be one of"),
        ({"type": "string", "maxLength": 2, "minLength": 3}, "maxLength must be an integer >= 3"),
        ({"type": "array", "items": {"type": "null"}, "maxItems": True}, "maxItems must be an integer"),
        ({"enum": []}, "enum must be a list, not empty"),
        ({"type": "object", "properties": {"a": True}}, "schema must be a dictionary"),
    ],
)
def test_what_is_not_in_the_list_names_its_keyword(schema, word):
    with pytest.raises(ValueError, match=word):
        schema_to_regex(schema)


def test_annotations_say_nothing():
    noted = {"title": "Age", "description": "years", "default": 3, "examples": [7], "deprecated": False}
    noted |= {"readOnly": True, "writeOnly": False, "$comment": "for later"}
    for schema in ({"type": "integer"}, {"enum": ["a", 1]}, FORM):
        assert schema_to_regex(schema | noted) == schema_to_regex(schema)
    titles = {"type": "object", "properties": {"title": {"type": "null"}}, "title": "Titles"}
    assert schema_to_regex(titles) == r'\{"title":null\}'


@pytest.mark.parametrize("depth", [9, 12, 400, 5_000])
def test_what_is_too_deep_is_refused_at_once(depth):
    """A pattern doubles with each level of arrays: nothing is built of those that are refused."""
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(depth - 1):
        schema = {"type": "array", "items": schema, "maxItems": 2}
    with pytest.raises(ValueError, match="levels must be an integer from 1 to 8"):
        schema_to_regex(schema)


def test_eight_levels_are_a_pattern_that_compiles():
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(7):
        schema = {"type": "array", "items": schema, "maxItems": 2}
    assert re.fullmatch(schema_to_regex(schema), "[[[[[[[null,null],[null]]]],[]]]]")


# Forms by hand, and the repairs.


def test_the_forms_by_hand():
    """Beside parsers that know nothing of the patterns."""
    patterns = grammars()
    for text in ("def f():", "def _go2(a, b):", "def f(a, b, c):", "def f(a, b, c, d):", "def f(a,b):", "def 2f():"):
        try:
            tree = compile(text + "\n    pass\n", "form", "exec", 0x400)
            arguments = [argument.arg for argument in tree.body[0].args.args]
            name = tree.body[0].name
            right = text == f"def {name}({', '.join(arguments)}):" and len(arguments) <= 3
        except SyntaxError:
            right = False
        assert bool(re.fullmatch(patterns["signature"], text)) == right, text
    assert re.fullmatch(patterns["phone"], "555-010-4477")
    assert not re.fullmatch(patterns["phone"], "555.010.4477")
    assert re.fullmatch(patterns["email"], "a.b@mail.example.org")
    assert not re.fullmatch(patterns["email"], "a@b")


def test_every_byte_of_a_token_is_read():
    dfa = trie([b'{"a":1}'])
    vocabulary = [b"", b"{", b'{"', b'{"}', b'{"a":', b"{}", b"a"]
    assert debug_token(dfa, vocabulary, 0) == [1, 2, 4]
    assert debug_token(dfa, vocabulary, 2) == [6]


def test_five_hundred_texts_within_a_limit():
    dfa = compile_regex(schema_to_regex(FORM))
    index = token_index(dfa, TOKENIZER.vocabulary, TOKENIZER.eos)
    least = ConstraintState(index, dfa.start, dfa.accepting, TOKENIZER.eos).distance()
    for seed in range(500):
        state = ConstraintState(index, dfa.start, dfa.accepting, TOKENIZER.eos)
        limit = least + seed % 12
        tokens = debug_limit(state, Random(seed).choice, limit)
        assert len(tokens) <= limit
        assert judged(FORM, spelled(tokens).decode())
    with pytest.raises(ValueError, match="no text fits"):
        debug_limit(ConstraintState(index, 0, dfa.accepting, TOKENIZER.eos), Random(0).choice, least - 1)


def test_an_automaton_may_be_any_record():
    """As graders hand it in: attributes, and nothing else."""
    dfa = SimpleNamespace(start=0, accepting=frozenset({1}), edges={0: {97: 1}})
    assert token_index(dfa, [b"", b"a", b"b"], 0) == {0: {1: 1}, 1: {}}
