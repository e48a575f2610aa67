"""Chapter 11: ``token_index``, token masks."""

from __future__ import annotations

from random import Random

from autograder.bank.ch11.shared import CUT, LETTERS, TRUE, Dfa, cuts, trie, word, written
from autograder.items import Build, Case, Group, Promise, Slip, invalid


def _words(rng: Random, letters: str = LETTERS) -> list[bytes]:
    return [word(rng, rng.randint(2, 6), letters) for _ in range(rng.randint(2, 4))]


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
    tokens = [b"", *dict.fromkeys(word(rng, rng.randint(1, 3), "abc") for _ in range(6)), b"c", b"a", b"cab"]
    return Case((Dfa(0, sorted({size - 1, rng.randrange(size)}), edges), written(dict.fromkeys(tokens)), 0))


def _stuck(rng: Random) -> Case:
    """One word can be spelled; of the other only the beginning: a chain of dead ends."""
    first, second = b"s" + word(rng, rng.randint(1, 4)), b"t" + word(rng, rng.randint(3, 5))
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


EXERCISE = Build(
    "11 constrained.token_index",
    section="11.7",
    topic="token masks",
    probe="ch11_constraints.indexed",
    cases=(
        Case((TRUE, ["", *CUT], 0)),
        Case((TRUE, ["", "t", "rue", "f", "al", "s"], 0)),
        Case((Dfa(0, [1], {0: {97: 1}, 1: {98: 1}}), ["", "a", "b", "ab", "bb", "ba", ""], 0)),
        Case((trie(["né".encode()]), ["", "n", "\\xc3", "\\xa9", "n\\xc3", "e"], 0)),
        Case((TRUE, ["t", "true", "rue", "false"], 3)),
        invalid(TRUE, ["", "t", "r", "f", "fals"], 0),
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
    promises=(
        Promise(
            "A token is allowed where all of its bytes lead from state to state, and only if acceptance can still be "
            "reached",
            edit=(
                "        state: {token: after for token, after in row.items() if after in live}\n"
                "        for state, row in index.items()\n        if state in live\n",
                "        state: row for state, row in index.items()\n",
            ),
        ),
        Promise(
            "A token is allowed where all of its bytes lead",
            edit=(
                "        if byte not in row:\n            return None\n",
                "        if byte not in row:\n            return state\n",
            ),
        ),
        Promise(
            "Empty tokens and ``eos`` never appear.",
            edit=("if text and token != eos else None", "if token != eos else None"),
        ),
        Promise(
            "Empty tokens and ``eos`` never appear.",
            edit=("if text and token != eos else None", "if text else None"),
        ),
        Promise(
            "A state that accepts and allows no token has ``{}``.",
            edit=("        if state in live\n    }\n", "        if state in live and row\n    }\n"),
        ),
    ),
)
