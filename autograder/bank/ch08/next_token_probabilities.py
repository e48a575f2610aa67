"""Chapter 8: ``next_token_probabilities``, sampling."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor

LOGITS = Tensor.of([2.0, 1.0, 0.0, -1.0], "float64")


def _logits(rng: Random, *rows: int, dtype: str = "float64") -> Tensor:
    """Logits that all differ by a hundredth at least, in each of ``rows``; a vector without rows."""
    width = rng.randint(8, 24)
    drawn = [value / 100 for _ in range(math.prod(rows)) for value in rng.sample(range(-200, 201), width)]
    return Tensor.of(drawn, dtype, (*rows, width))


def _top_p(rng: Random) -> Case:
    return Case((_logits(rng), rng.choice((0.5, 0.7, 1.5, 2.0)), 0, rng.uniform(0.3, 0.9)))


def _all_three(rng: Random) -> Case:
    return Case((_logits(rng), rng.choice((0.6, 1.6, 2.5)), rng.randint(3, 7), rng.uniform(0.4, 0.9)))


def _simple(rng: Random) -> list[Case]:
    return [
        Case((_logits(rng),)),
        Case((_logits(rng), rng.choice((0.5, 2.0)))),
        Case((_logits(rng), 1.0, rng.randint(1, 4))),
        Case((_logits(rng), 1.0, 50)),
        Case((_logits(rng),), {"top_p": rng.uniform(0.2, 0.8)}),
        Case((_logits(rng, dtype="float32"), rng.choice((0.5, 2.0)), rng.randint(2, 5))),
        Case((_logits(rng, dtype="float32"), 0)),
    ]


def _greedy(rng: Random) -> list[Case]:
    ties = [float(rng.randint(0, 3)) for _ in range(9)] + [3.0, 3.0]
    return [
        Case((_logits(rng), 0)),
        Case((Tensor.of(ties, "float64"), 0.0, rng.randint(0, 3), 0.5)),
        Case((_logits(rng, rng.randint(2, 5)), 0)),
    ]


def _ties(rng: Random) -> list[Case]:
    """Equal logits where top-k cuts, and where the sum reaches top-p exactly: four or eight equal ones, or some more.

    Their probabilities are powers of two, which every order of operations gives exactly, in half types too.
    """
    level = rng.choice((-2.0, 0.0, 1.0))
    levels = [float(value) for value in (3, 2, 2, 2, 2, 1, 1, 0)]
    rng.shuffle(levels)
    among = [level] * 4 + [-4000.0] * rng.randint(3, 9)
    rng.shuffle(among)
    return [
        Case((Tensor.of(levels, "float64"), 1.0, rng.randint(2, 4))),
        Case((Tensor.of(levels * 2, "float64", (2, 8)), rng.choice((0.5, 2.0)), rng.randint(2, 4))),
        Case((Tensor.of([level] * 8, "float64"), rng.choice((0.5, 1.0, 2.0)), 0, rng.choice((0.25, 0.5)))),
        Case((Tensor.of(among, "float64"), 1.0, 0, 0.5)),
    ]


def _halves(rng: Random) -> list[Case]:
    """In half types: a tie in each, and temperature 0."""
    level, temperature = rng.choice((-2.0, 0.0, 1.0)), rng.choice((0.5, 1.0, 2.0))
    equal = Tensor.of([level] * 8)
    return [
        Case((equal, temperature, 4), {"dtype": "bfloat16"}),
        Case((equal, temperature, 0, 0.25), {"dtype": "float16"}),
        Case((_logits(rng, dtype="float32"), 0), {"dtype": "bfloat16"}),
    ]


def _rows(rng: Random) -> Case:
    return Case((_logits(rng, rng.randint(2, 5)), rng.choice((0.7, 1.4)), rng.randint(3, 9), rng.uniform(0.5, 0.95)))


def probabilities_by_comparison(logits, temperature=1.0, top_k=0, top_p=1.0):
    """Each token finds out for itself how much is more probable than it: nothing is sorted."""
    if temperature == 0:
        largest = logits == logits.amax(-1, keepdim=True)
        return (largest & (largest.cumsum(-1) == 1)).to(logits.dtype)
    mine, other = logits.unsqueeze(-1), logits.unsqueeze(-2)
    earlier = logits.new_ones(logits.shape[-1:] * 2).tril(-1).bool()
    above = (other > mine) | ((other == mine) & earlier)  # [..., token, more probable]
    kept = above.sum(-1) < (top_k or logits.shape[-1])
    weights = ((logits - logits.amax(-1, keepdim=True)) / temperature).exp() * kept
    weights = weights / weights.sum(-1, keepdim=True)
    if top_p < 1:
        weights = weights * ((above * weights.unsqueeze(-2)).sum(-1) < top_p)
    return weights / weights.sum(-1, keepdim=True)


EXERCISE = Build(
    "08 tiny_serving.next_token_probabilities",
    section="8.8",
    topic="sampling",
    grade="tensor",
    probe="ch08_batches.of_type",
    tolerance=1e-6,
    cases=(
        Case((LOGITS,)),
        Case((LOGITS, 0.5)),
        Case((LOGITS,), {"top_k": 2}),
        Case((LOGITS,), {"top_p": 0.7}),
        Case((LOGITS,), {"top_p": 0.6}),
        Case((LOGITS, 2, 3, 0.8)),
        Case((LOGITS, 0)),
    ),
    groups=(
        Group("temperature and top-p", _top_p, 5, "Temperature changes which tokens top-p keeps."),
        Group("all three", _all_three, 4, "Temperature first, then top-k, then top-p of what is left."),
        one_of_each(
            "one at a time", _simple, "Each option alone; a large k keeps all. The result has the type of the logits."
        ),
        one_of_each("temperature 0", _greedy, "All goes to the largest logit of each row, the first of equal."),
        one_of_each(
            "ties",
            _ties,
            "Of equal logits the lowest indices come first: k are kept, and no more than it takes to reach `top_p`.",
        ),
        one_of_each("half types", _halves, "Logits in bf16 or fp16 give probabilities in bf16 or fp16."),
        Group(
            "several rows",
            _rows,
            3,
            "The last dimension is the vocabulary, and every row is a distribution of its own.",
            lambda rng: [Case((_logits(rng, 2, 2), 1.5, rng.randint(3, 7)))],
        ),
    ),
    slips=(
        Slip(
            "Temperature divides the logits; dividing probabilities changes nothing.",
            edits=(
                ("(logits / temperature).sort(", "logits.sort("),
                (
                    "= ranked.softmax(-1)\n",
                    "= ranked.softmax(-1) / temperature\n"
                    "    probabilities = probabilities / probabilities.sum(-1, keepdim=True)\n",
                ),
            ),
        ),
        Slip(
            "The token at which the sum reaches top_p stays.",
            edit=(
                "= probabilities.cumsum(-1) - probabilities",
                "= probabilities.cumsum(-1)\n        before[..., 0] = 0",
            ),
        ),
        Slip(
            "Where the sum of the more probable tokens equals top_p, it is reached: nothing else is kept.",
            edit=("before >= top_p", "before > top_p"),
        ),
        Slip(
            "All logits that equal the k-th were kept: keep k, of equal ones those with the lowest indices.",
            edit=(
                "        ranked[..., top_k:] = -torch.inf\n",
                "        least = ranked[..., min(top_k, ranked.shape[-1]) - 1, None]\n"
                "        ranked = ranked.masked_fill(ranked < least, -torch.inf)\n",
            ),
        ),
        Slip(
            "Half types became float32: the result has the type of the logits.",
            edits=(
                (
                    "(logits / temperature).sort(",
                    "(logits / temperature).to(torch.promote_types(logits.dtype, torch.float32)).sort(",
                ),
                (".to(logits.dtype)", ".to(torch.promote_types(logits.dtype, torch.float32))"),
            ),
        ),
        Slip(
            "Temperature first, then top-k, then top-p.",
            edits=(
                ("(logits / temperature).sort(", "logits.sort("),
                ("    if top_k:\n        ranked[..., top_k:] = -torch.inf\n", ""),
                (
                    "    return torch.zeros_like(",
                    "    if top_k:\n        probabilities[..., top_k:] = 0\n"
                    "    probabilities = (probabilities.log() / temperature).softmax(-1)\n"
                    "    return torch.zeros_like(",
                ),
            ),
        ),
        Slip(
            "What is kept must sum to 1 again.",
            edit=("        probabilities = probabilities / probabilities.sum(-1, keepdim=True)\n", ""),
        ),
        Slip(
            "Top-p counts the mass of what top-k has left, not of all tokens.",
            edits=(
                ("    if top_k:\n        ranked[..., top_k:] = -torch.inf\n", ""),
                (
                    "        probabilities = probabilities / ",
                    "    if top_k:\n        probabilities[..., top_k:] = 0\n    probabilities = probabilities / ",
                ),
            ),
        ),
        Slip(
            "The probabilities must stand where their tokens stand, not sorted.",
            edit=("torch.zeros_like(probabilities).scatter(-1, order, probabilities)", "probabilities"),
        ),
    ),
    rights=(
        Right("compared with each other, not sorted", program=probabilities_by_comparison),
        Right(
            "double precision inside",
            edits=(
                ("(logits / temperature).sort", "(logits.double() / temperature).sort"),
                (
                    "return torch.zeros_like(probabilities).scatter(-1, order, probabilities)",
                    "return torch.zeros_like(probabilities).scatter(-1, order, probabilities).to(logits.dtype)",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "to the one with the lowest index if several are equal",
            edit=("logits.argmax(-1)", "(logits.shape[-1] - 1 - logits.flip(-1).argmax(-1))"),
        ),
        Promise(
            "of the logits' type",
            edit=(
                "torch.zeros_like(probabilities).scatter(-1, order, probabilities)",
                "torch.zeros_like(probabilities).scatter(-1, order, probabilities).double()",
            ),
        ),
        Promise("of the logits' type", edit=(".to(logits.dtype)", ".double()")),
        Promise(
            "up to and including the one at which their sum reaches ``top_p``",
            edit=("before >= top_p", "before + probabilities > top_p"),
        ),
        Promise(
            "of the tokens that are left",
            edits=(
                ("    if top_k:\n        ranked[..., top_k:] = -torch.inf\n", ""),
                (
                    "        probabilities = probabilities / probabilities.sum",
                    "        probabilities[..., top_k or None:] = 0\n"
                    "        probabilities = probabilities / probabilities.sum",
                ),
            ),
        ),
        Promise(
            "the kept probabilities sum to 1",
            edit=("        probabilities = probabilities / probabilities.sum(-1, keepdim=True)\n", ""),
        ),
    ),
)
