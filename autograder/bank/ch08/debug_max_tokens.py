"""Chapter 8: ``debug_max_tokens``, prefill and decode."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Iterator, Slip


def wrong_max_tokens(prefill_token, decoded, max_tokens, eos):
    answer = [prefill_token]
    for token in decoded:
        if token == eos:
            break
        answer.append(token)
        if len(answer) >= max_tokens:
            break
    return answer


def _answer(rng: Random, least: int = 3) -> Case:
    tokens = [rng.randrange(9) for _ in range(rng.randint(6, 20))]
    return Case((rng.randrange(9), Iterator(tuple(tokens)), rng.randint(least, 24), rng.choice((9, rng.randrange(9)))))


def _first_token(rng: Random) -> list[Case]:
    tokens = Iterator(tuple(rng.randrange(9) for _ in range(5)))
    first = rng.randrange(9)
    return [
        Case((first, tokens, 1, 9)),
        Case((first, tokens, 1, 9)),
        Case((9, tokens, rng.randint(1, 4), 9)),
        Case((9, tokens, 1, 9)),
        Case((first, Iterator(()), 3, 9)),
    ]


EXERCISE = Debug(
    "08 serving_repairs.debug_max_tokens",
    section="8.11",
    topic="prefill and decode",
    bonus=True,
    wrong=wrong_max_tokens,
    cases=(
        Case((5, Iterator((6, 7, 8)), 3, 0)),
        Case((5, Iterator((6, 7, 8)), 1, 0)),
        Case((5, Iterator((6, 0, 8)), 9, 0)),
        Case((0, Iterator((6, 7)), 9, 0)),
    ),
    groups=(
        Group(
            "answers",
            _answer,
            10,
            "At most max_tokens tokens, and none from the end token on; the prefill's token is one like the others.",
            _first_token,
        ),
    ),
    slips=(
        Slip("The limit is tested only after a decode step: max_tokens=1 returns two tokens.", wrong_max_tokens),
        Slip(
            "An answer may have max_tokens tokens; yours ends one token earlier.",
            edit=("token == eos", "token == eos or len(answer) == max_tokens - 1"),
        ),
        Slip(
            "The token from prefill may be the end token.",
            edits=(
                ("answer: list[int] = []", "answer: list[int] = [prefill_token]"),
                ("itertools.chain([prefill_token], decoded)", "decoded"),
                ("token == eos", "token == eos or len(answer) == max_tokens"),
            ),
        ),
        Slip(
            "The token from prefill counts towards max_tokens; your answers are one token too long.",
            edits=(
                ("token == eos", "token == eos or len(answer) == max_tokens + 1"),
                ("if len(answer) == max_tokens:\n            break", ""),
            ),
        ),
        Slip(
            "The token from prefill is the first token of the answer.",
            edits=(
                ("itertools.chain([prefill_token], decoded)", "decoded"),
                ("token == eos", "token == eos or len(answer) == max_tokens or prefill_token == eos"),
            ),
        ),
    ),
)
