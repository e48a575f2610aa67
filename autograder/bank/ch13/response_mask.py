"""Chapter 13: ``response_mask``, masks of responses."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.shared import draw_tokens
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _padded(rng: Random, batch: int, length: int, eos: int, pad: int) -> list[list[int]]:
    """Responses that end once, but for some that do not end, filled up with ``pad``."""
    made = []
    for _ in range(batch):
        words = [rng.randint(5, 20) for _ in range(rng.randint(1, length))]
        row = [*words[:-1], eos] if len(words) < length or rng.random() < 0.5 else words
        made.append([*row, *[pad] * (length - len(row))])
    return made


def _responses(rng: Random) -> Case:
    length, eos = rng.randint(4, 12), rng.randint(1, 4)
    given = _padded(rng, rng.randint(2, 6), length, eos, 0)
    given.append([rng.randint(5, 20) for _ in range(length)])
    return Case((draw_tokens(given, rng.choice(("int64", "int32"))), eos))


def _several_ends(rng: Random) -> Case:
    """Anything follows the first end, more ends among it."""
    length = rng.randint(5, 10)
    given = [[rng.randint(5, 9) for _ in range(length)] for _ in range(rng.randint(2, 5))]
    for row in given:
        for index in rng.sample(range(length), rng.randint(2, 3)):
            row[index] = 2
    return Case((draw_tokens(given), 2))


def _mask_ends(rng: Random) -> list[Case]:
    """The end as padding, the end first, one column, no end at all."""
    length = rng.randint(3, 6)
    return [
        Case((draw_tokens(_padded(rng, 4, length, 3, 3)), 3)),
        Case((draw_tokens([[2, *(rng.randint(3, 9) for _ in range(length))], [2] * (length + 1)]), 2)),
        Case((draw_tokens([[rng.choice((2, 7))] for _ in range(3)]), 2)),
        Case((draw_tokens([[rng.randint(3, 9) for _ in range(length)]]), 2)),
    ]


def mask_by_loop(tokens, eos):
    import torch

    made = torch.zeros(tokens.shape)
    for row, line in enumerate(tokens.tolist()):
        for index, token in enumerate(line):
            made[row, index] = 1
            if token == eos:
                break
    return made


EXERCISE = Build(
    "13 rlhf.response_mask",
    section="13.3",
    topic="masks of responses",
    grade="tensor",
    cases=(
        Case((draw_tokens([[5, 2, 0, 0], [5, 6, 7, 8], [2, 2, 5, 2]]), 2)),
        Case((draw_tokens([[4], [9]]), 9)),
        Case((draw_tokens([[3, 4, 1, 1, 1]]), 1)),
    ),
    groups=(
        Group("responses", _responses, 5, "1 up to and including the first end, 0 after it; without an end all is 1."),
        Group("several ends", _several_ends, 3, "Only the first end counts."),
        listed("ends", _mask_ends, "The end may come first, or fill up."),
    ),
    slips=(
        Slip(
            "The end is part of the response: it carries the score, and ending is learned like any token.",
            edit=("before == 0", "before + ends == 0"),
        ),
        Slip(
            "Tokens after the end were counted, unless they are the end once more: cut at the first end.",
            edit=("before == 0", "tokens != eos"),
        ),
        Slip(
            "What follows the first end is not part of the response: count the ends before a token.",
            edit=("before == 0", "before + ends <= 1"),
        ),
        Slip(
            "The first end counts, not the last.",
            edits=(
                (
                    "before = ends.cumsum(1) - ends  # how many ends come before a token",
                    "to_come = ends.flip(1).cumsum(1).flip(1)",
                ),
                ("before == 0", "(to_come > 0) | (ends.sum(1, keepdim=True) == 0)"),
            ),
        ),
        Slip(
            "A response without an end is all real: argmax of nothing is 0.",
            edit=("before == 0", "torch.arange(tokens.shape[1]) <= ends.argmax(1, keepdim=True)"),
        ),
    ),
    rights=(
        Right("a loop", program=mask_by_loop),
        Right(
            "a product over what came before",
            edits=(
                ("    ends = (tokens == eos).long()\n", "    ends = (tokens != eos).float()\n"),
                (
                    "    before = ends.cumsum(1) - ends  # how many ends come before a token\n",
                    "    before = torch.cat([torch.ones_like(ends[:, :1]), ends[:, :-1]], 1).cumprod(1)\n",
                ),
                ("(before == 0).float()", "before"),
            ),
        ),
    ),
    promises=(
        Promise(
            "A response without it is all real.",
            edit=("(before == 0)", "((before == 0) & ends.any(1, keepdim=True))"),
        ),
        Promise("including its first end-of-sequence token", edit=(".cumsum(1) - ends", ".cumsum(1)")),
    ),
)
