"""Chapter 14's design of a GRPO job: judged by formulas written anew and another way to follow the two pools."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from itertools import product
from math import ceil

import pytest

from autograder.bank.ch14.design_place import QUESTIONS
from autograder.marking import designs
from solutions.ch14 import placed_job as job

DESIGN, REASON = QUESTIONS
PARAMETERS, KV, HBM, PEAK = 70_553_706_496, 327_680, 3.35e12, 989.4e12
WEIGHTS = 2 * PARAMETERS
BATCHES = job.measured()
TOKENS = sum(map(sum, BATCHES)) / len(BATCHES)
#: Half of an answer, as its tokens see it: long answers have more of them.
BEHIND = sum(one * one for lengths in BATCHES for one in lengths) / (2 * len(BATCHES) * TOKENS)
FITS = [(0, way) for way in range(3)] + [(writers, way) for writers in (16, 24, 32) for way in (1, 2)]


def token(gpus: int, running: float) -> float:
    """Seconds between two tokens of an answer."""
    caches = running * (500 + BEHIND) * KV / (gpus * HBM)
    return caches + max(WEIGHTS / (8 * HBM), WEIGHTS * running / (gpus * PEAK))


def written_alone(gpus: int) -> float:
    """Seconds in which a batch writes and nobody follows: the longest waits for weights, all read their caches."""
    read = sum(500 * one + one * one / 2 for lengths in BATCHES for one in lengths) / len(BATCHES)
    longest = sum(max(lengths) for lengths in BATCHES) / len(BATCHES)
    return longest * WEIGHTS / (8 * HBM) + read * KV / (gpus * HBM)


def training(gpus: int, way: int) -> float:
    """Seconds of the micro-batches of one replica; gathering and reducing hide behind them."""
    tp = (1, 2, 8)[way]
    packs = ceil((512 * 500 + TOKENS) / 32_768)
    block = 2 * 8192 * (8192 + 1024) + 2 * 8192 + 3 * 8192 * 28_672
    flops = 32_768 * (80 * (6 * block + 6 * 4096 * 8192) + 6 * 128_256 * 8192)
    computing = 4 / 3 * flops / (tp * 0.6 * PEAK)
    messages = 80 * 6 * 2 * (tp - 1) / tp * (2 * 32_768 * 8192) / 450e9
    return ceil(packs / (gpus // tp)) * (computing + messages)


def travelling(writers: int, way: int, road: int) -> float:
    """Seconds of the weights through ports of 50 GB/s."""
    chain = (ceil(WEIGHTS / 1e9) + (writers or 63) - 1) / ceil(WEIGHTS / 1e9) * WEIGHTS / 50e9
    if road < 2:
        return chain + (WEIGHTS / 50e9 if road == 0 else 0)
    if not writers:
        return 0.0 if way == 2 else WEIGHTS / 8 / 50e9
    copies, senders = writers // 8, 8 if way == 2 else 64 - writers
    return max(WEIGHTS / 8, copies * WEIGHTS / senders) / 50e9


def pools(each: float, step: float, bound: int) -> tuple[float, int]:
    """Seconds of an update, and versions that 99 of 100 answers are behind, update by update.

    Which answers an update learns from is known before it starts: later ones are begun after its end.
    """
    lengths = [one for lengths in job.batches() for one in lengths]
    free, begun, ends, finished = [0.0] * 512, [], [], []
    for update in range(8):
        for index in range(len(begun), min(len(lengths), 512 * (bound + update + 1))):
            gate = ends[index // 512 - bound - 1] if index // 512 > bound else 0.0
            start = max(heapq.heappop(free), gate)
            begun.append(start)
            finished.append((start + lengths[index] * each, index))
            heapq.heappush(free, finished[-1][0])
        order = sorted(finished)[: 512 * (update + 1)]
        ends.append(max(order[-1][0], ends[-1] if ends else 0.0) + step)
    ages = [place // 512 - bisect_right(ends, begun[index]) for place, (_, index) in enumerate(order)][512 * 4 :]
    return (ends[-1] - ends[3]) / 4, sorted(ages)[ceil(0.99 * len(ages)) - 1]


@pytest.mark.proof(part="bank")
def test_what_can_be_built():
    """Kills a plan without room, and one that refuses what has it; 16 bytes of states, whatever they are divided by."""
    for (writers, bound, way, _), made in designs.table(DESIGN).items():
        gpus, tp = 64 - writers, (1, 2, 8)[way]
        states = PARAMETERS * (4 / 8 + 12 / gpus) if way == 2 else PARAMETERS * 16 / gpus
        tokens = 32_768 / tp
        activations = 80 * 2 * 8192 * tokens + 2 * tokens * (4 * 8192 + 2 * 72 * 128 + 4 * 28_672)
        caches = 512 * (500 + BEHIND) * KV / (writers or 1)
        fits = states + activations <= 72e9 and (not writers or WEIGHTS / 8 + caches <= 72e9)
        assert bool(made.broken) == (not fits or bool(bound and not writers)), (writers, bound, way)
    assert {values[::2][:2] for values in designs.buildable(DESIGN)} == set(FITS)


def test_those_that_take_turns_are_judged_by_a_sum():
    for (writers, way), road in product(FITS, range(3)):
        made = designs.table(DESIGN)[writers, 0, way, road]
        whole = written_alone(writers or 64) + training(64 - writers, way) + travelling(writers, way, road)
        assert made.costs == pytest.approx((whole, 1), rel=0.02)  # at the end some copies have nothing to do


@pytest.mark.parametrize("bound", [1, 2, 4])
@pytest.mark.parametrize(("writers", "way", "road"), [(16, 1, 2), (16, 2, 0), (24, 2, 2), (32, 1, 1), (32, 1, 2)])
def test_two_pools_are_judged_by_another_simulation(writers, bound, way, road):
    """The time of a token is one with which Little's law holds."""
    step = training(64 - writers, way) + travelling(writers, way, road)
    each = job.simulated(job.Plan(writers, bound, job.TRAININGS[way], job.ROADS[road])).token
    seconds, behind = pools(each, step, bound)
    assert designs.table(DESIGN)[writers, bound, way, road].costs == pytest.approx((seconds, behind + 1), rel=1e-3)
    assert token(writers, min(512, TOKENS * each / seconds)) == pytest.approx(each, rel=0.01)


def test_several_are_right():
    """Where the trainer waits, roads and layouts do not count; where it does not, one of each does."""
    front = designs.front(DESIGN)
    fastest = {values for values in front if values[0] == 16}
    assert {values[1] for values in fastest} == {2, 4}
    assert {values[2:] for values in fastest} == {(1, 0), (1, 1), (1, 2), (2, 2)}
    assert set(front) - fastest == {(24, 2, 2, 2), (32, 2, 1, 2), (32, 1, 1, 2), (0, 0, 0, 2)}
    assert len(designs.table(DESIGN)) == 216


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0, 1, 0, 2), "the bound is 0"),
        ((8, 2, 1, 2), "Each of the 8 GPUs that write needs 18 GB for its slice of the weights and 78 GB for caches"),
        ((40, 2, 1, 2), "The larger part: states"),
        ((24, 2, 0, 2), "The larger part: activations"),
        ((16, 1, 1, 2), designs.BEATEN),
        ((32, 4, 1, 2), designs.BEATEN),
        ((32, 2, 1, 0), designs.BEATEN),
        ((24, 2, 1, 2), designs.BEATEN),
    ],
)
def test_what_loses_is_told_why(values, words):
    right, said = designs.judged(DESIGN, values)
    assert not right
    assert words in said


def test_what_the_card_says_of_the_front():
    """One batch ahead is most of it; a bound of 4 gains nothing; pairs of 40 GPUs have empty micro-batches."""
    costs = {values: made.costs for values, made in designs.buildable(DESIGN).items()}
    best = {bound: min(cost[0] for values, cost in costs.items() if values[1] == bound) for bound in (0, 1, 2, 4)}
    assert best[0] > 2.5 * best[1]
    for values, (seconds, age) in costs.items():
        if values[1] == 4:
            two = costs[values[0], 2, *values[2:]]
            assert seconds == pytest.approx(two[0], rel=1e-3)
            assert age >= two[1]
    packs = ceil((512 * 500 + TOKENS) / 32_768)
    assert ceil(packs / 20) == ceil(packs / 16) == 4 > packs / 20
    assert travelling(16, 1, 1) > 8 * travelling(16, 1, 2)
    assert travelling(24, 2, 2) > travelling(24, 1, 2)


def test_why_answers_of_sixteen_writers_get_older():
    """More than twice as long for a token, an update nearly as long, and the same bound and road."""
    few, many = (job.simulated(job.Plan(writers, 2, job.PAIRS, job.SLICES)) for writers in (16, 32))
    assert few.staleness > many.staleness
    assert few.token > 2 * many.token
    assert few.seconds > 0.8 * many.seconds
    assert few.move == many.move
    assert "a token takes longer" in REASON.options[REASON.correct]
