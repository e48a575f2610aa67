"""What several exercises of chapter 7 share."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Group
from rankzero.facts.layouts import Job
from rankzero.facts.models import GPT2_XL, LLAMA2_13B, LLAMA3_8B, LLAMA3_70B, LLAMA3_405B, LLAMA32_1B


def shape(rng: Random, chunks: int) -> Case:
    return Case((rng.randint(2, 64), rng.randint(2, 1024), *([chunks] if chunks > 1 else [])))


def plain(rng: Random) -> Case:
    return shape(rng, 1)


def with_chunks(rng: Random) -> Case:
    return shape(rng, rng.randint(2, 8))


def one_stage(rng: Random) -> Case:
    return Case((1, rng.randint(1, 64), rng.randint(1, 8)))


SHAPES = (
    Group("one chunk per rank", plain, 6, "p - 1 slots of each rank are empty, m are full."),
    Group("several chunks", with_chunks, 6, "With v chunks the empty slots are as many, and v times as short."),
    Group("one rank", one_stage, 3, "One rank never waits."),
)

SHAPE_CASES = (
    Case((4, 12)),
    Case((4, 8)),
    Case((4, 12, 4)),
    Case((16, 16, 8)),  # the overhead that the Llama 3 report's schedule would have without its own changes
    Case((1, 7)),
    Case((2, 1)),
)

DENSE = (LLAMA32_1B, LLAMA3_8B, LLAMA2_13B, LLAMA3_70B, GPT2_XL)
BIG = Job(LLAMA3_405B, 16_384, 2048, 8192)
MIDDLE = Job(LLAMA3_70B, 64, 1024, 4096)
NAMES = ("gpipe", "1f1b", "zb-h1", "interleaved")
Orders = list[list[str]]


def gpipe(ranks: int, microbatches: int) -> Orders:
    """All forwards, then all backwards."""
    return [[f"{rank}{kind}{i}" for kind in "FB" for i in range(microbatches)] for rank in range(ranks)]


def one_by_one(ranks: int, microbatches: int) -> Orders:
    """1F1B: a backward as soon as it can be."""
    orders = []
    for rank in range(ranks):
        order = [f"{rank}F{i}" for i in range(microbatches)]
        for i in range(microbatches):
            order.insert(min(2 * i + ranks - rank, i + microbatches), f"{rank}B{i}")
        orders.append(order)
    return orders
