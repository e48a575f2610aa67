"""The machine for JSON: ``json.loads`` judges whole texts, broken ones, and what random choices write."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankzero.grammar.json_automaton import JsonConstraint, JsonMachine
from rankzero.grammar.json_validity import json_fault
from rankzero.tiny.text import BpeTokenizer, ByteTokenizer

MACHINE = JsonMachine()
numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)
MARKS = b' {}[],:"\\0123-+.eEtfnu\xc3\xa9\x80a'


def reads(text: bytes) -> bool:
    try:
        json.loads(text.decode())
    except ValueError:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_every_json_is_accepted(value, ascii_only, indent):
    assert MACHINE.accepts(json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode())


def test_broken_json_is_judged_as_python_does():
    """Kills brackets that balance and are no JSON: 3,000 texts, each a few bytes away from JSON or JSON itself."""
    rng = Random(3)
    seeds = [
        b'{"a": [1, -2.5e+3, "x\\u00e9\xc3\xa9", null, true], "b": {}}',
        b'[[],{},0,"\\n"]',
        b" 12 ",
        b'"\xf0\x9f\x98\x80"',
    ]
    for _ in range(3000):
        text = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(0, 3)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 1)] = bytes([rng.choice(MARKS)]) * rng.randint(0, 1) or b" "
        assert MACHINE.accepts(bytes(text)) == reads(bytes(text)), bytes(text)


CLOSE = [
    b"",
    b"01",
    b"-",
    b"1.",
    b".5",
    b"1e",
    b"+1",
    b"nul",
    b"NaN",
    b"[1,]",
    b"{,}",
    b'{"a"}',
    b"{1:2}",
    b"[}",
    b"1 2",
]
CLOSE += [b'"\x1f"', b'"\\x"', b'"\\u00g0"', b'"\xed\xa0\x80"', b"'a'"]


@pytest.mark.parametrize("text", CLOSE)
def test_what_is_close_is_refused(text):
    assert not MACHINE.accepts(text)


@settings(max_examples=30, deadline=None)
@given(values)
def test_the_distance_is_the_fewest_bytes(value):
    """From every beginning: some byte brings the end one closer, and none brings it two closer."""
    text, state = json.dumps(value).encode(), MACHINE.start
    for byte in text:
        left = MACHINE.distance(state)
        after = [MACHINE.step(state, other) for other in range(256)]
        nearest = min((MACHINE.distance(one) for one in after if one is not None), default=0)
        assert nearest == left - 1 if left else MACHINE.complete(state)
        assert MACHINE.complete(state) == (left == 0)
        following = MACHINE.step(state, byte)
        assert following is not None
        state = following


def test_depth_has_a_bound():
    shallow = JsonMachine(deepest=2)
    assert shallow.accepts(b'[{"a":1}]')
    assert not shallow.accepts(b"[[[]]]")


# Tokens.


@pytest.fixture(scope="module")
def constraint():
    tokenizer = BpeTokenizer()
    return JsonConstraint(tokenizer.vocabulary, tokenizer.eos)


def test_masks_are_those_of_brute_force(constraint):
    """Every token of the vocabulary is run by itself, and JSON must be able to end within the budget."""
    vocabulary, eos = BpeTokenizer().vocabulary, BpeTokenizer.eos
    for text in (b"", b'{"a', b'{"a": [1', b"[tru", b'"\xe2\x82', b'"\\u12', b" {", b"-"):
        tokens = list(text)
        for token in tokens:
            constraint.advance(token)
        state = MACHINE.run(text)
        for left in (None, 1, 3, 7):
            after = {token: MACHINE.run(one, state) for token, one in enumerate(vocabulary) if one and token != eos}
            fits = [t for t, one in after.items() if one is not None and (left is None or MACHINE.distance(one) < left)]
            assert constraint.allowed(left) == sorted([*fits, eos] if MACHINE.complete(state) else fits)
        constraint.rollback(len(tokens))


def test_random_choices_write_json_within_every_limit(constraint):
    vocabulary, eos = BpeTokenizer().vocabulary, BpeTokenizer.eos
    for seed in range(400):
        rng, limit, tokens = Random(seed), 1 + seed % 40, []
        while not constraint.finished:
            tokens.append(rng.choice(constraint.allowed(limit - len(tokens))))
            constraint.advance(tokens[-1])
        constraint.rollback(len(tokens))
        assert len(tokens) - 1 <= limit
        text = b"".join(vocabulary[token] for token in tokens[:-1]).decode()
        assert tokens[-1] == eos
        assert json_fault(text) is None, text


def test_a_constraint_refuses_and_goes_back(constraint):
    with pytest.raises(ValueError, match="token must be allowed"):
        constraint.advance(ord("}"))
    with pytest.raises(ValueError, match="token must be allowed"):
        constraint.advance(BpeTokenizer.eos)
    constraint.advance(ord("7"))
    assert constraint.distance() == 0
    constraint.advance(BpeTokenizer.eos)
    assert constraint.finished
    assert constraint.allowed() == []
    with pytest.raises(RuntimeError):
        constraint.advance(ord("7"))
    with pytest.raises(ValueError, match="count must be an integer from 0 to 2"):
        constraint.rollback(3)
    constraint.rollback(2)
    assert not constraint.finished


def test_every_ascii_character_must_be_a_token():
    vocabulary = ByteTokenizer().vocabulary[:50]
    with pytest.raises(ValueError, match="every ASCII character"):
        JsonConstraint(vocabulary, 0)


# The judge.


def test_half_a_character_is_no_token_where_the_other_half_is_none():
    """Kills a mask after which nothing at all is allowed."""
    letters = [bytes([value]) for value in range(0x80)]
    constraint = JsonConstraint([*letters, "é".encode(), "é".encode()[:1], b""], 0x82)
    constraint.advance(ord('"'))
    assert {0x80, 0x81} & {*constraint.allowed()} == {0x80}
    with pytest.raises(ValueError, match="must be allowed here, got 129"):
        constraint.advance(0x81)
    constraint.advance(0x80)
    constraint.advance(ord('"'))
    assert 0x82 in constraint.allowed()
    rest = [bytes([value]) for value in range(0x80, 0xC0)]
    constraint = JsonConstraint([*letters, "é".encode(), "é".encode()[:1], *rest, b""], 0x82 + 0x40)
    constraint.advance(ord('"'))
    assert {0x80, 0x81} <= {*constraint.allowed()}


def test_the_judge_names_what_is_wrong():
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    assert json_fault('{"age": 3}', schema) is None
    assert "not JSON" in str(json_fault('{"age": 3', schema))
    assert "required" in str(json_fault("{}", schema))
    assert "integer" in str(json_fault('{"age": "3"}', schema))
