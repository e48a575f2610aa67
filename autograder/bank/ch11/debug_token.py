"""Chapter 11: ``debug_token``, token masks."""

from __future__ import annotations

from random import Random

from autograder.bank.ch11.shared import CUT, TRUE, cuts, trie, word, written
from autograder.items import Case, Debug, Group, Promise, Slip


def wrong_token(dfa, vocabulary, state):
    row = dfa.edges.get(state, {})
    return [token for token, text in enumerate(vocabulary) if text and text[0] in row]


def _from_somewhere(rng: Random) -> Case:
    words = [word(rng, rng.randint(4, 6), "abcd") for _ in range(4)]
    dfa = trie(words)
    state = rng.randint(0, 2)
    here = words[0][state:]
    strange = [here[:1] + b"q", here[:2] + b"q", here[:2] + b"q" + here[:1], here[:2] + here[:1] * 4, here[:1] * 3]
    strange += [here[:1] + b"q" + here[-1:], here[:2] + b"qq" + here[-1:]]
    return Case((dfa, written([b"", *dict.fromkeys([here, *cuts(rng, words), *strange])]), state))


EXERCISE = Debug(
    "11 constrained.debug_token",
    section="11.17",
    topic="token masks",
    bonus=True,
    probe="ch11_constraints.readable",
    wrong=wrong_token,
    cases=(
        Case((TRUE, ["", *CUT], 0)),
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
    promises=(
        Promise("Empty tokens are left out.", edit=("if text and _walk(", "if _walk(")),
        Promise(
            "The tokens whose bytes can all be read",
            edit=("_walk(dfa, text, state)", "_walk(dfa, text[:2], state)"),
        ),
    ),
)
