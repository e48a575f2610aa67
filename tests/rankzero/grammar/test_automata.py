"""Automata of patterns: Python's own ``re`` is the judge, on random patterns, and every pair of states must differ."""

from __future__ import annotations

import itertools
import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankzero.grammar.automata import Dfa, compile_regex, minimal, trie
from rankzero.grammar.regex_syntax import LAST, SURROGATES

leaves = st.sampled_from(
    ["a", "b", "c", "[ab]", "[^a]", "[a-c]", ".", r"\.", r"\d", r"\W", "é", "[α-ω]", "(?:ab|c)", "()"]
)
patterns = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)
texts = st.text("abc1._ éωx\n漢", max_size=6)


def strings(letters: str, longest: int) -> list[str]:
    return ["".join(one) for size in range(longest + 1) for one in itertools.product(letters, repeat=size)]


# The language.


@settings(max_examples=300, deadline=None)
@given(patterns, st.lists(texts, min_size=1, max_size=12))
def test_it_accepts_what_python_matches(pattern, samples):
    dfa, judge = compile_regex(pattern), re.compile(pattern, re.ASCII)
    assert [dfa.accepts(text.encode()) for text in samples] == [bool(judge.fullmatch(text)) for text in samples]


@pytest.mark.parametrize("pattern", ["(a|ab)(c|bcd)*", "(a*b*)*c?", "((a|b)(a|b))*", "a{2,3}b{0,2}|c+", "", "()|a"])
def test_every_short_text_is_judged_as_python_does(pattern):
    dfa = compile_regex(pattern)
    expected = {text for text in strings("abcd", 6) if re.fullmatch(pattern, text)}
    assert {text for text in strings("abcd", 6) if dfa.accepts(text.encode())} == expected
    assert {text.decode() for text in dfa.texts(6)} == expected


def test_texts_come_in_order():
    found = list(compile_regex("(ab|b)*").texts(4))
    assert found == sorted(found, key=lambda text: (len(text), text))
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    "pattern", [r"[^\"]", ".", r"\W", r"[\u0000-\U0010ffff]", "[éа-я漢-龥]", r"[^\x80-\U0001f600]"]
)
def test_classes_of_characters_in_every_length(pattern):
    """Kills ranges of code points that are cut wrongly into bytes: all edges of lengths, and a sample of the rest."""
    dfa, judge = compile_regex(pattern), re.compile(pattern, re.ASCII)
    edges = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, LAST]
    near = {point for edge in edges for point in range(edge - 2, edge + 3)}
    points = near | set(range(0x500)) | {Random(7).randrange(LAST) for _ in range(300)} | set(range(0, LAST, 997))
    for point in sorted(points):
        if 0 <= point <= LAST and not SURROGATES[0] <= point <= SURROGATES[1]:
            assert dfa.accepts(chr(point).encode()) == bool(judge.fullmatch(chr(point))), hex(point)


def test_half_a_character_and_no_character_are_refused():
    dfa = compile_regex(".*")
    halves = (b"\xc3", b"\x80", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"a\xff")
    assert not any(dfa.accepts(text) for text in halves)
    assert dfa.run(b"\xc3") is not None  # a character may still come of it


# The form.


def distinct_by(dfa: Dfa, one: int, other: int) -> bool:
    """Whether some text leads one of two states to acceptance and not the other."""
    seen, waiting = {(one, other)}, [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if (left in dfa.accepting) != (right in dfa.accepting):
            return True
        for byte in {*dfa.edges.get(left, {}), *dfa.edges.get(right, {})}:
            pair = dfa.edges.get(left, {}).get(byte, -1), dfa.edges.get(right, {}).get(byte, -1)
            if pair not in seen:
                seen.add(pair)
                waiting.append(pair)
    return False


@settings(max_examples=100, deadline=None)
@given(patterns)
def test_it_is_the_smallest(pattern):
    """No two states can be told apart by no text; every state is reached and reaches acceptance; numbers run from 0."""
    dfa = compile_regex(pattern)
    assert set(dfa.edges) == set(range(len(dfa.edges)))
    assert {to for row in dfa.edges.values() for to in row.values()} | {0} == set(dfa.edges)
    assert all(distinct_by(dfa, one, other) for one, other in itertools.combinations(dfa.edges, 2))
    assert all(distinct_by(dfa, state, -1) for state in dfa.edges)
    assert minimal(dfa) == dfa


def test_numbers_do_not_depend_on_how_it_is_written():
    assert (
        compile_regex("ab|ac|ad")
        == compile_regex("a[b-d]")
        == compile_regex("a(d|c|b)")
        == minimal(trie([b"ab", b"ac", b"ad"]))
    )


def test_nothing_matches():
    empty = compile_regex(r"[^\x00-\U0010ffff]")
    assert empty == Dfa(0, frozenset(), {0: {}})
    assert list(empty.texts(3)) == []


def test_a_trie_is_numbered_as_its_words_come():
    """The states of the chapter's example."""
    dfa = trie([b"true", b"false"])
    assert dfa.run(b"true") == 4
    assert dfa.run(b"fals") == 8
    assert dfa.accepting == {4, 9}
    assert [text.decode() for text in dfa.texts(9)] == ["true", "false"]
    assert len(minimal(dfa).edges) == 8


def test_running_goes_on_from_a_state():
    dfa = compile_regex("abc")
    assert dfa.run(b"c", dfa.run(b"ab")) in dfa.accepting
    assert dfa.run(b"x", 0) is None
    assert not dfa.accepts(b"abcd")


# What is refused.


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a", "the end inside a group"),
        ("a)", "never opened at character 1"),
        ("[a", "the end inside a class"),
        ("[b-a]", "a range"),
        (r"[a-\d]", "a range"),
        ("*a", "a repeat of nothing at character 0"),
        ("a**", "a second repeat"),
        ("a+?", "a second repeat"),
        ("a{2,1}", "out of order"),
        ("a{1001}", "above 1,000"),
        ("a{,}", "without a number"),
        ("a{x}", "not {m}"),
        ("{2}", "a repeat of nothing"),
        ("^a", "an anchor"),
        ("a$", "an anchor"),
        ("(?=a)", "a special kind"),
        (r"\1", r"the escape \1"),
        (r"\b", r"the escape \b"),
        (r"\x4", "digits"),
        (r"\U00110000", "too large"),
        ("\\", "the end inside an escape"),
    ],
)
def test_what_is_no_regular_expression_says_so(pattern, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        compile_regex(pattern)


def test_an_automaton_that_would_be_huge_is_refused():
    with pytest.raises(ValueError, match="at most 20,000 states"):
        compile_regex("((a{1000}){1000}){1000}")
