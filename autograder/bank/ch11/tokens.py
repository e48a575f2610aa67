"""Chapter 11: tokens that an automaton allows.

An automaton travels as a record whose states and bytes are integers; tokens are written as inside a bytes literal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from autograder.items import Build, Case, Debug, Group, Slip, invalid


@dataclass(frozen=True)
class Dfa:
    """As ``rankzero.grammar.automata.Dfa``, of plain values."""

    start: int
    accepting: list[int]
    edges: dict[int, dict[int, int]]


def trie(words: Iterable[bytes]) -> Dfa:
    """A state for each beginning of a word, numbered as they come."""
    edges: dict[int, dict[int, int]] = {0: {}}
    ends: list[int] = []
    for word in words:
        state = 0
        for byte in word:
            if byte not in edges[state]:
                edges[len(edges)] = {}
                edges[state][byte] = len(edges) - 1
            state = edges[state][byte]
        ends.append(state)
    return Dfa(0, sorted(set(ends)), edges)


def written(vocabulary: Iterable[bytes]) -> list[str]:
    """Tokens as inside a bytes literal."""
    return [repr(token)[2:-1].replace("\\'", "'") for token in vocabulary]


LETTERS = "abcdxyz"


def _word(rng: Random, length: int, letters: str = LETTERS) -> bytes:
    return "".join(rng.choice(letters) for _ in range(length)).encode()


def _words(rng: Random, letters: str = LETTERS) -> list[bytes]:
    return [_word(rng, rng.randint(2, 6), letters) for _ in range(rng.randint(2, 4))]


def cuts(rng: Random, words: Sequence[bytes], more: int = 4) -> list[bytes]:
    """Tokens that spell every word: each is cut at random places, and there are some random pieces of it, too."""
    found = []
    for word in words:
        places = sorted({0, len(word), *(rng.randint(1, len(word)) for _ in range(rng.randint(1, 3)))})
        found += [word[i:j] for i, j in pairwise(places)]
        for _ in range(more):
            start = rng.randrange(len(word))
            found.append(word[start : rng.randint(start + 1, len(word))])
    found = list(dict.fromkeys(found))
    rng.shuffle(found)
    return found


def _spelled(rng: Random, letters: str = LETTERS) -> Case:
    words = _words(rng, letters)
    strange = [words[0][:1] + words[-1][-1:] + b"q", words[-1] + b"x", words[0][:1] + b"q"]
    return Case((trie(words), written([b"", *cuts(rng, words), *strange]), 0))


def _looping(rng: Random) -> Case:
    """An automaton with cycles, one of which is a trap: once in it, no text ends."""
    size, letters = rng.randint(3, 5), b"abc"
    edges = {state: {byte: rng.randrange(size) for byte in letters if rng.random() < 0.8} for state in range(size)}
    edges[0][97], edges[size - 1] = size - 1, {}
    trap = size
    edges |= {trap: {97: trap + 1, 98: trap}, trap + 1: {97: trap}}
    edges[0][99] = trap
    tokens = [b"", *dict.fromkeys(_word(rng, rng.randint(1, 3), "abc") for _ in range(6)), b"c", b"a", b"cab"]
    return Case((Dfa(0, sorted({size - 1, rng.randrange(size)}), edges), written(dict.fromkeys(tokens)), 0))


def _stuck(rng: Random) -> Case:
    """One word can be spelled; of the other only the beginning: a chain of dead ends."""
    first, second = b"s" + _word(rng, rng.randint(1, 4)), b"t" + _word(rng, rng.randint(3, 5))
    tokens = [*cuts(rng, [first]), second[:1], second[1:2], second[:2], second[2:3] + b"q"]
    tokens = [token for token in tokens if not token.endswith(second[-1:]) or token in first]
    return Case((trie([first, second + b"!"]), written(dict.fromkeys([b"", *tokens])), 0))


def _wide(rng: Random) -> Case:
    """Characters of several bytes, cut anywhere."""
    return _spelled(rng, "éß€漢😀a")


def _special(rng: Random) -> Case:
    """Empty tokens, and an EOS that has a text of its own, at any place."""
    words = _words(rng)
    tokens = [*cuts(rng, words), b"", b""]
    rng.shuffle(tokens)
    eos = rng.randrange(len(tokens) + 1)
    return Case((trie(words), written([*tokens[:eos], words[0][:1], *tokens[eos:]]), eos))


def _unspeakable(rng: Random) -> Case:
    words = [b"s" + word for word in _words(rng)]
    if rng.random() < 0.5:
        return invalid(trie(words), written([b"", *(word[1:] for word in words)]), 0)
    return invalid(trie([word + b"!" for word in words]), written([b"", b"s", *words]), 0)


_TRUE = trie([b"true", b"false"])
_CUT = ["t", "r", "u", "e", "tr", "true", "rue", "f", "fal", "se", "false", "als", "x"]

TOKEN_INDEX = Build(
    id="11-token-index",
    module="constrained",
    function="token_index",
    grade="call",
    probe="ch11_constraints.indexed",
    section="11.7",
    topic="token masks",
    cases=(
        Case((_TRUE, ["", *_CUT], 0)),
        Case((_TRUE, ["", "t", "rue", "f", "al", "s"], 0)),
        Case((Dfa(0, [1], {0: {97: 1}, 1: {98: 1}}), ["", "a", "b", "ab", "bb", "ba", ""], 0)),
        Case((trie(["né".encode()]), ["", "n", "\\xc3", "\\xa9", "n\\xc3", "e"], 0)),
        Case((_TRUE, ["t", "true", "rue", "false"], 3)),
        invalid(_TRUE, ["", "t", "r", "f", "fals"], 0),
    ),
    groups=(
        Group("words", _spelled, 7, "Each token is walked byte by byte from every state that tokens can reach."),
        Group("loops", _looping, 5, "An automaton may have cycles, and some never reach acceptance."),
        Group(
            "dead ends", _stuck, 4, "Take out states from which no token leads on to acceptance, until none is left."
        ),
        Group(
            "characters of several bytes", _wide, 4, "The automaton reads bytes, and a token may hold half a character."
        ),
        Group(
            "empty tokens, EOS", _special, 4, "Empty tokens and EOS never appear, wherever they are in the vocabulary."
        ),
        Group("no text", _unspeakable, 3, "If no text of the vocabulary matches, raise ValueError."),
    ),
    slips=(
        Slip(
            "Only the first byte of a token is looked at: all of its bytes must lead somewhere.",
            edit=("_walk(dfa, text, state) if text", "_walk(dfa, text[:1], state) if text"),
        ),
        Slip(
            "Dead ends stay: text that enters one can never end.",
            edit=(
                (
                    "{\n"
                    "        state: {token: after for token, after in row.items() if after in live}\n"
                    "        for state, row in index.items()\n"
                    "        if state in live\n"
                    "    }"
                ),
                "index",
            ),
        ),
        Slip(
            "Acceptance is looked for byte by byte: this vocabulary may not be able to spell it.",
            edit=(
                "live = _distances(index, dfa.accepting)",
                "live = _distances({state: {**row} for state, row in dfa.edges.items()}, dfa.accepting)",
            ),
        ),
        Slip(
            "One round of pruning leaves states that lead only to the ones taken out, and loops.",
            edit=(
                "live = _distances(index, dfa.accepting)\n    if dfa.start not in live:",
                (
                    "live = {state for state, row in index.items() if row or state in dfa.accepting}\n"
                    "    if not set(dfa.accepting) & set(index):"
                ),
            ),
        ),
        Slip(
            "Only tokens that are a whole text are allowed: a text may take several.",
            edit=(
                "_tokens_from(dfa, vocabulary, eos, state)",
                (
                    "{t: after for t, after in _tokens_from(dfa, vocabulary, eos, dfa.start).items() "
                    "if state == dfa.start and after in dfa.accepting}"
                ),
            ),
        ),
        Slip(
            "Tokens are read as characters: a token may hold half of one. Walk bytes.",
            edit=("    for byte in text:", '    for byte in map(ord, text.decode(errors="replace")):'),
        ),
        Slip(
            "An empty token leads from a state to itself, again and again.",
            edit=("if text and token != eos", "if token != eos"),
        ),
        Slip(
            "States that no token reaches are in the index: begin at the start and follow tokens.",
            edit=("waiting = [dfa.start]", "waiting = [dfa.start, *dfa.accepting, *dfa.edges]"),
        ),
        Slip(
            "EOS is treated as text: it ends a text and has no place in the index.",
            edit=("if text and token != eos", "if text"),
        ),
    ),
)


def wrong_token(dfa, vocabulary, state):
    row = dfa.edges.get(state, {})
    return [token for token, text in enumerate(vocabulary) if text and text[0] in row]


def _from_somewhere(rng: Random) -> Case:
    words = [_word(rng, rng.randint(4, 6), "abcd") for _ in range(4)]
    dfa = trie(words)
    state = rng.randint(0, 2)
    here = words[0][state:]
    strange = [here[:1] + b"q", here[:2] + b"q", here[:2] + b"q" + here[:1], here[:2] + here[:1] * 4, here[:1] * 3]
    strange += [here[:1] + b"q" + here[-1:], here[:2] + b"qq" + here[-1:]]
    return Case((dfa, written([b"", *dict.fromkeys([here, *cuts(rng, words), *strange])]), state))


DEBUG_TOKEN = Debug(
    id="11-debug-token",
    module="constrained",
    function="debug_token",
    grade="call",
    probe="ch11_constraints.readable",
    section="11.7",
    topic="token masks",
    cases=(
        Case((_TRUE, ["", *_CUT], 0)),
        Case((trie([b'{"a":1}']), ["", "{", '{"', '{"}', '{"a":', "{}", "a", '":', '":{'], 0)),
        Case((trie([b'{"a":1}']), ["", "{", '{"', '{"}', '{"a":', "{}", "a", '":', '":{'], 3)),
    ),
    groups=(
        Group("tokens", _from_somewhere, 8, "Every byte of a token must lead on from where the one before it has led."),
    ),
    slips=(
        Slip("Only the first byte is tested: the others must be readable, too.", wrong_token),
        Slip(
            "First and last byte are not all of them: walk the token from state to state.",
            edit=(
                "if text and _walk(dfa, text, state) is not None",
                (
                    "if text and _walk(dfa, text[:1], state) is not None and any(text[-1] in row for "
                    "row in dfa.edges.values())"
                ),
            ),
        ),
        Slip(
            "Each byte is tested from the same state: it must be tested from where the last one led.",
            edit=("_walk(dfa, text, state) is not None", "all(byte in dfa.edges.get(state, {}) for byte in text)"),
        ),
        Slip(
            "Two bytes are tested: a token may have more.",
            edit=("_walk(dfa, text, state)", "_walk(dfa, text[:2], state)"),
        ),
        Slip("An empty token has no byte to read, and is left out.", edit=("if text and _walk", "if _walk")),
    ),
    wrong=wrong_token,
)
