"""Chapter 11: tokens that an automaton allows.

An automaton travels as a record whose states and bytes are integers; tokens are written as inside a bytes literal.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from autograder.items import Build, Case, Debug, Group, Slip, invalid


@dataclass(frozen=True)
class Dfa:
    """As ``rankzero.automata.Dfa``, of plain values."""

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


# --- token_index


def slip_first_byte(dfa, vocabulary, eos):
    index, waiting = {}, [dfa.start]
    while waiting:
        state = waiting.pop()
        if state not in index:
            row = dfa.edges.get(state, {})
            index[state] = {t: row[w[0]] for t, w in enumerate(vocabulary) if w and t != eos and w[0] in row}
            waiting += index[state].values()
    live = set(dfa.accepting)
    for _ in index:
        live |= {state for state, row in index.items() if live & set(row.values())}
    if dfa.start not in live:
        raise ValueError("no text matches")
    return {s: {t: n for t, n in row.items() if n in live} for s, row in index.items() if s in live}


def slip_dead_ends_stay(dfa, vocabulary, eos):
    def walk(state, text):
        for byte in text:
            state = dfa.edges.get(state, {}).get(byte)
        return state

    index, waiting = {}, [dfa.start]
    while waiting:
        state = waiting.pop()
        if state not in index:
            after = {t: walk(state, w) for t, w in enumerate(vocabulary) if w and t != eos}
            index[state] = {t: n for t, n in after.items() if n is not None}
            waiting += index[state].values()
    return index


def slip_automaton_alone(dfa, vocabulary, eos):
    live = set(dfa.accepting)
    for _ in dfa.edges:
        live |= {state for state, row in dfa.edges.items() if live & set(row.values())}

    def walk(state, text):
        for byte in text:
            state = dfa.edges.get(state, {}).get(byte)
        return state if state in live else None

    index, waiting = {}, [dfa.start]
    while waiting:
        state = waiting.pop()
        if state not in index:
            after = {t: walk(state, w) for t, w in enumerate(vocabulary) if w and t != eos}
            index[state] = {t: n for t, n in after.items() if n is not None}
            waiting += index[state].values()
    if not live & set(index):
        raise ValueError("no text matches")
    return index


def slip_pruned_once(dfa, vocabulary, eos):
    def walk(state, text):
        for byte in text:
            state = dfa.edges.get(state, {}).get(byte)
        return state

    index, waiting = {}, [dfa.start]
    while waiting:
        state = waiting.pop()
        if state not in index:
            after = {t: walk(state, w) for t, w in enumerate(vocabulary) if w and t != eos}
            index[state] = {t: n for t, n in after.items() if n is not None}
            waiting += index[state].values()
    live = {state for state, row in index.items() if row or state in dfa.accepting}
    if not set(dfa.accepting) & set(index):
        raise ValueError("no text matches")
    return {s: {t: n for t, n in row.items() if n in live} for s, row in index.items() if s in live}


def slip_whole_words(dfa, vocabulary, eos):
    def walk(state, text):
        for byte in text:
            state = dfa.edges.get(state, {}).get(byte)
        return state

    index = {dfa.start: {}}
    for token, text in enumerate(vocabulary):
        after = walk(dfa.start, text)
        if text and token != eos and after in dfa.accepting:
            index[dfa.start][token] = after
            index.setdefault(after, {})
    if len(index) == 1 and dfa.start not in dfa.accepting:
        raise ValueError("no text matches")
    return index


def slip_characters(dfa, vocabulary, eos):
    def walk(state, text):
        for character in text:
            state = dfa.edges.get(state, {}).get(ord(character))
        return state

    words = [token.decode(errors="replace") for token in vocabulary]
    index, waiting = {}, [dfa.start]
    while waiting:
        state = waiting.pop()
        if state not in index:
            after = {t: walk(state, w) for t, w in enumerate(words) if w and t != eos}
            index[state] = {t: n for t, n in after.items() if n is not None}
            waiting += index[state].values()
    live = set(dfa.accepting)
    for _ in index:
        live |= {state for state, row in index.items() if live & set(row.values())}
    if dfa.start not in live:
        raise ValueError("no text matches")
    return {s: {t: n for t, n in row.items() if n in live} for s, row in index.items() if s in live}


def slip_empty_tokens(dfa, vocabulary, eos):
    def walk(state, text):
        for byte in text:
            state = dfa.edges.get(state, {}).get(byte)
        return state

    index, waiting = {}, [dfa.start]
    while waiting:
        state = waiting.pop()
        if state not in index:
            after = {t: walk(state, w) for t, w in enumerate(vocabulary) if t != eos}
            index[state] = {t: n for t, n in after.items() if n is not None}
            waiting += index[state].values()
    live = set(dfa.accepting)
    for _ in index:
        live |= {state for state, row in index.items() if live & set(row.values())}
    if dfa.start not in live:
        raise ValueError("no text matches")
    return {s: {t: n for t, n in row.items() if n in live} for s, row in index.items() if s in live}


def slip_every_state(dfa, vocabulary, eos):
    def walk(state, text):
        for byte in text:
            state = dfa.edges.get(state, {}).get(byte)
        return state

    index = {}
    for state in {dfa.start, *dfa.accepting, *dfa.edges}:
        after = {t: walk(state, w) for t, w in enumerate(vocabulary) if w and t != eos}
        index[state] = {t: n for t, n in after.items() if n is not None}
    live = set(dfa.accepting)
    for _ in index:
        live |= {state for state, row in index.items() if live & set(row.values())}
    if dfa.start not in live:
        raise ValueError("no text matches")
    return {s: {t: n for t, n in row.items() if n in live} for s, row in index.items() if s in live}


def slip_eos_as_text(dfa, vocabulary, eos):
    def walk(state, text):
        for byte in text:
            state = dfa.edges.get(state, {}).get(byte)
        return state

    index, waiting = {}, [dfa.start]
    while waiting:
        state = waiting.pop()
        if state not in index:
            after = {t: walk(state, w) for t, w in enumerate(vocabulary) if w}
            index[state] = {t: n for t, n in after.items() if n is not None}
            waiting += index[state].values()
    live = set(dfa.accepting)
    for _ in index:
        live |= {state for state, row in index.items() if live & set(row.values())}
    if dfa.start not in live:
        raise ValueError("no text matches")
    return {s: {t: n for t, n in row.items() if n in live} for s, row in index.items() if s in live}


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
    """Empty tokens, and an EOS that has a text of its own and stands anywhere."""
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
        Group("empty tokens, EOS", _special, 4, "Empty tokens and EOS never appear, wherever they stand."),
        Group("bad input", _unspeakable, 3, "If no text of the vocabulary matches, raise ValueError."),
    ),
    slips=(
        Slip("Only the first byte of a token is looked at: all of its bytes must lead somewhere.", slip_first_byte),
        Slip("Dead ends stay: text that enters one can never end.", slip_dead_ends_stay),
        Slip(
            "Acceptance is looked for byte by byte: this vocabulary may not be able to spell it.", slip_automaton_alone
        ),
        Slip("One round of pruning leaves states that lead only to the ones taken out, and loops.", slip_pruned_once),
        Slip("Only tokens that are a whole text are allowed: a text may take several.", slip_whole_words),
        Slip("Tokens are read as characters: a token may hold half of one. Walk bytes.", slip_characters),
        Slip("An empty token leads from a state to itself, for ever.", slip_empty_tokens),
        Slip("States that no token reaches are in the index: begin at the start and follow tokens.", slip_every_state),
        Slip("EOS is treated as text: it ends a text and has no place in the index.", slip_eos_as_text),
    ),
)

# --- debug_token


def wrong_token(dfa, vocabulary, state):
    row = dfa.edges.get(state, {})
    return [token for token, text in enumerate(vocabulary) if text and text[0] in row]


def slip_last_byte_too(dfa, vocabulary, state):
    row, known = dfa.edges.get(state, {}), {byte for row in dfa.edges.values() for byte in row}
    return [t for t, text in enumerate(vocabulary) if text and text[0] in row and text[-1] in known]


def slip_each_from_here(dfa, vocabulary, state):
    row = dfa.edges.get(state, {})
    return [token for token, text in enumerate(vocabulary) if text and all(byte in row for byte in text)]


def slip_one_more_byte(dfa, vocabulary, state):
    row = dfa.edges.get(state, {})
    return [
        token
        for token, text in enumerate(vocabulary)
        if text and text[0] in row and (len(text) == 1 or text[1] in dfa.edges.get(row[text[0]], {}))
    ]


def slip_empty_too(dfa, vocabulary, state):
    def walk(place, text):
        for byte in text:
            place = dfa.edges.get(place, {}).get(byte)
        return place

    return [token for token, text in enumerate(vocabulary) if walk(state, text) is not None]


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
        Slip("First and last byte are not all of them: walk the token from state to state.", slip_last_byte_too),
        Slip(
            "Each byte is tested from the same state: it must be tested from where the last one led.",
            slip_each_from_here,
        ),
        Slip("Two bytes are tested: a token may have more.", slip_one_more_byte),
        Slip("An empty token has no byte to read, and is left out.", slip_empty_too),
    ),
    wrong=wrong_token,
)
