"""Chapter 07: the bytes of expert parallelism."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07_words import UNCHECKED
from autograder.items import Build, Case, Group, Slip, invalid


def slip_over_experts(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    from math import comb

    if tokens < 0 or min(hidden, top_k, ranks) < 1 or not 0 <= bytes_per_element < float("inf"):
        raise ValueError("out of range")
    if once_per_rank and (experts is None or experts < top_k or experts % ranks):
        raise ValueError("experts")
    parts = experts or 8 * ranks
    k = ranks * (1 - comb(experts - experts // ranks, top_k) / comb(experts, top_k)) if once_per_rank else top_k
    return tokens * k * hidden * bytes_per_element / parts


def slip_one_expert(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    if tokens < 0 or min(hidden, top_k, ranks) < 1 or not 0 <= bytes_per_element < float("inf"):
        raise ValueError("out of range")
    if once_per_rank and (experts is None or experts < top_k or experts % ranks):
        raise ValueError("experts")
    return tokens * hidden * bytes_per_element * (ranks - 1) / ranks


def slip_own_share(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    from math import comb

    if tokens < 0 or min(hidden, top_k, ranks) < 1 or not 0 <= bytes_per_element < float("inf"):
        raise ValueError("out of range")
    if once_per_rank and (experts is None or experts < top_k or experts % ranks):
        raise ValueError("experts")
    k = ranks * (1 - comb(experts - experts // ranks, top_k) / comb(experts, top_k)) if once_per_rank else top_k
    return tokens * k * hidden * bytes_per_element


def slip_there_and_back(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    from math import comb

    if tokens < 0 or min(hidden, top_k, ranks) < 1 or not 0 <= bytes_per_element < float("inf"):
        raise ValueError("out of range")
    if once_per_rank and (experts is None or experts < top_k or experts % ranks):
        raise ValueError("experts")
    k = ranks * (1 - comb(experts - experts // ranks, top_k) / comb(experts, top_k)) if once_per_rank else top_k
    return 2 * tokens * k * hidden * bytes_per_element * (ranks - 1) / ranks


def slip_every_time(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    if tokens < 0 or min(hidden, top_k, ranks) < 1 or not 0 <= bytes_per_element < float("inf"):
        raise ValueError("out of range")
    if once_per_rank and (experts is None or experts < top_k or experts % ranks):
        raise ValueError("experts")
    return tokens * top_k * hidden * bytes_per_element * (ranks - 1) / ranks


def slip_with_repeats(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    if tokens < 0 or min(hidden, top_k, ranks) < 1 or not 0 <= bytes_per_element < float("inf"):
        raise ValueError("out of range")
    if once_per_rank and (experts is None or experts < top_k or experts % ranks):
        raise ValueError("experts")
    k = ranks * (1 - (1 - 1 / ranks) ** top_k) if once_per_rank else top_k
    return tokens * k * hidden * bytes_per_element * (ranks - 1) / ranks


def slip_any_exchange(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    from math import comb

    if ranks < 1:
        return 0.0
    k = top_k
    if once_per_rank and experts and 1 <= top_k <= experts:
        k = ranks * (1 - comb(experts - experts // ranks, top_k) / comb(experts, top_k))
    return tokens * k * hidden * bytes_per_element * (ranks - 1) / ranks


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


def _bad(rng: Random) -> list[Case]:
    tokens, hidden, top_k, _ = _sizes(rng)
    return [
        invalid(-1, hidden, top_k, 8),
        invalid(tokens, 0, top_k, 8),
        invalid(tokens, hidden, 0, 8),
        invalid(tokens, hidden, top_k, 0),
        invalid(tokens, hidden, top_k, 8, -2),
        invalid(tokens, hidden, top_k, 8, once_per_rank=True),
        invalid(tokens, hidden, top_k, 8, once_per_rank=True, experts=8 * rng.randint(1, 8) + 3),
        invalid(tokens, hidden, 9, 8, once_per_rank=True, experts=8),
    ]


BYTES = Build(
    id="07-all-to-all-bytes",
    module="experts",
    function="all_to_all_bytes",
    grade="call",
    section="7.12",
    topic="expert parallelism",
    bonus=True,
    cases=(
        Case((512, 4096, 2, 8)),
        Case((4096, 4096, 2, 8)),
        Case((4096, 7168, 8, 32, 2)),
        Case((4096, 7168, 8, 32, 2, True, 256)),
        Case((4096, 7168, 8, 8, 2, True, 256)),  # DeepSeek-V3's experts on 8 nodes
        Case((4096, 4096, 2, 1)),
        invalid(4096, 4096, 2, 8, 2, True),
        invalid(4096, 4096, 2, 8, 2, True, 60),
    ),
    groups=(
        Group("k copies", _sent, 6, "Of R ranks, R - 1 are others; a token goes to k experts."),
        Group("once per rank", _once, 5, "Count the ranks that have at least one of k different experts."),
        Group(
            "ends",
            lambda rng: rng.choice(_ends(rng)),
            4,
            "One rank sends nothing, no tokens are no bytes, and k experts may be all there are.",
            _ends,
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad(rng)),
            8,
            "Bad input must raise ValueError: experts that are missing or do not divide, counts below their least.",
            _bad,
        ),
    ),
    slips=(
        Slip("What counts is on how many ranks tokens can be, not how many experts there are.", slip_over_experts),
        Slip("A token goes to k experts, not one.", slip_one_expert),
        Slip("An R-th of the tokens stays on its rank: nobody sends to himself.", slip_own_share),
        Slip("That is two exchanges, there and back: asked is one.", slip_there_and_back),
        Slip("Sent once to each rank, a token travels less often than k times.", slip_every_time),
        Slip("The k experts of a token are different: draw them without putting back.", slip_with_repeats),
        Slip(UNCHECKED.format("missing experts, no ranks"), slip_any_exchange),
    ),
)

ITEMS = (BYTES,)
