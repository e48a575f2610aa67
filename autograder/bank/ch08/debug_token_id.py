"""Chapter 8: ``debug_token_id``, tokenizers."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.items import Case, Debug, Group, Slip


def wrong_token_id(word, vocabulary=1000):
    return hash(word) % vocabulary


def _word(rng: Random) -> str:
    return "".join(rng.choice("abcdefghijklmnop\u00e9") for _ in range(rng.randint(3, 12)))


def _words(rng: Random) -> Case:
    return Case((sorted({_word(rng) for _ in range(40)}), rng.choice((1000, 50_000))))


def _default(rng: Random) -> Case:
    return Case((sorted({_word(rng) for _ in range(40)}),))


def two_processes(case: Case, numbers: tuple[list[int], ...]) -> dict[str, Any]:
    """Whether both processes number the words alike, from 0 up, and different words differently."""
    words, vocabulary = (*case.args, 1000)[:2]
    first, second = numbers
    if len(first) != len(words):
        raise ValueError("there must be a number for each word")
    whole = all(type(one) is int and 0 <= one < vocabulary for one in first)
    return {
        "the same in both": first == second,
        "whole numbers below the vocabulary": whole,
        "different words mostly differ": len(set(first)) > 0.5 * min(len(set(words)), vocabulary),
    }


EXERCISE = Debug(
    "08 serving_repairs.debug_token_id",
    section="8.11",
    topic="tokenizers",
    bonus=True,
    probe="ch08.two_processes",
    processes=2,
    concludes=two_processes,
    wrong=wrong_token_id,
    cases=(
        Case((["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog"], 1000)),
        Case((["to", "be", "or", "not", "to", "be"], 50_000)),
    ),
    groups=(
        Group("words", _words, 4, "The same word, the same number, in every process.", lambda rng: [_default(rng)]),
        Group(
            "few numbers",
            lambda rng: Case(([_word(rng) for _ in range(30)], rng.randint(1, 3))),
            2,
            "The vocabulary may hold one to three numbers: all words get integers from 0 to `vocabulary - 1`.",
        ),
    ),
    slips=(
        Slip(
            "Python salts the hash of a string anew in each process, unless PYTHONHASHSEED is set before it starts.",
            wrong_token_id,
        ),
        Slip(
            "Different words should mostly get different numbers.",
            edit=('int.from_bytes(digest[:4], "big")', "len(word)"),
        ),
        Slip(
            "The number must stay below the size of the vocabulary.",
            edit=('int.from_bytes(digest[:4], "big") % vocabulary', 'int.from_bytes(digest[:4], "big")'),
        ),
    ),
)
