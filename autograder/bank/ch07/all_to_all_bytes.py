"""Chapter 7: ``all_to_all_bytes``, expert parallelism."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _sizes(rng: Random) -> tuple[int, ...]:
    return rng.randint(1, 8192), 64 * rng.randint(1, 128), rng.randint(2, 8), rng.choice((2, 3, 4, 8, 16, 64))


def _sent(rng: Random) -> Case:
    return Case((*_sizes(rng), *rng.choice(((), (1,), (4,)))))


def _once(rng: Random) -> Case:
    tokens, hidden, top_k, ranks = _sizes(rng)
    experts = ranks * rng.choice([n for n in (2, 4, 8, 16, 32) if ranks * n > top_k])
    return Case((tokens, hidden, top_k, ranks), {"once_per_rank": True, "experts": experts})


def _ends(rng: Random) -> list[Case]:
    tokens, hidden, top_k, _ = _sizes(rng)
    alone = Case((tokens, hidden, top_k, 1, 2, True, 8 * top_k))
    every = Case((tokens, hidden, top_k, top_k, 2, True, top_k))  # an expert on each rank, all of them chosen
    return [Case((tokens, hidden, top_k, 1)), Case((0, hidden, top_k, 8)), alone, every]


def sent_as_a_fraction(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    """Exactly, as a fraction; the share of ranks that is missed as a product."""
    copies = Fraction(top_k)
    if once_per_rank:
        missed = Fraction(1)
        for place in range(top_k):
            missed *= Fraction(max(0, experts - experts // ranks - place), experts - place)
        copies = ranks * (1 - missed)
    return float(copies * tokens * hidden * Fraction(bytes_per_element) * (ranks - 1) / ranks)


def sent_in_floats(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    """The share that is missed as a product of floats."""
    exact = sent_as_a_fraction(tokens, hidden, top_k, ranks, bytes_per_element, once_per_rank, experts)
    if not once_per_rank or ranks == 1:
        return exact
    free = experts - experts // ranks
    missed = math.prod((free - index) / (experts - index) for index in range(top_k)) if free >= top_k else 0.0
    return (1 - missed) * ranks * tokens * hidden * bytes_per_element * (1 - 1 / ranks)


EXERCISE = Build(
    "07 experts.all_to_all_bytes",
    section="7.23",
    topic="expert parallelism",
    bonus=True,
    cases=(
        Case((512, 4096, 2, 8)),
        Case((4096, 4096, 2, 8)),
        Case((4096, 7168, 8, 32, 2)),
        Case((4096, 7168, 8, 32, 2, True, 256)),
        Case((4096, 7168, 8, 8, 2, True, 256)),  # DeepSeek-V3's experts on 8 nodes
        Case((4096, 4096, 2, 1)),
    ),
    groups=(
        Group("k copies", _sent, 6, "Of R ranks, R - 1 are others; a token goes to k experts."),
        Group("once per rank", _once, 5, "Count the ranks that have at least one of k different experts."),
        one_of_each(
            "ends", _ends, "One rank sends nothing, no tokens are no bytes, and k experts may be all there are."
        ),
    ),
    slips=(
        Slip(
            "What counts is on how many ranks tokens can be, not how many experts there are.",
            edit=("bytes_per_element * (ranks - 1) / ranks", "bytes_per_element / (experts or 8 * ranks)"),
        ),
        Slip("A token goes to k experts, not to one.", edit=("tokens * copies", "tokens")),
        Slip(
            "One R-th of the rows stay on their rank: no rank sends to itself.",
            edit=("hidden * bytes_per_element * (ranks - 1) / ranks", "hidden * bytes_per_element"),
        ),
        Slip(
            "That is two exchanges, there and back. The question is about one.",
            edit=("return tokens * copies", "return 2 * tokens * copies"),
        ),
        Slip(
            "Sent once to each rank, a token travels less often than k times.",
            edit=("tokens * copies", "tokens * top_k"),
        ),
        Slip(
            "The k experts of a token are all different: draw them without replacement.",
            edit=("tokens * copies", "tokens * (ranks * (1 - (1 - 1 / ranks) ** top_k) if once_per_rank else top_k)"),
        ),
    ),
    rights=(
        Right("a fraction to the end", program=sent_as_a_fraction),
        Right("floats all along", program=sent_in_floats),
    ),
    promises=(
        Promise(
            "k different experts",
            edit=(
                "Fraction(math.comb(experts - experts // ranks, top_k), math.comb(experts, top_k))",
                "Fraction(ranks - 1, ranks) ** top_k",
            ),
        ),
        Promise("One rank sends nothing: 0.0.", edit=(" * (ranks - 1) / ranks", " * (ranks - 1 or 1) / ranks")),
    ),
)
