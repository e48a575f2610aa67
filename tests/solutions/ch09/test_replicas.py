"""A replica under a steady load, against a simulation of single requests, and against its own limits."""

from __future__ import annotations

import math
from collections import deque
from random import Random

import pytest

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B
from rankzero.facts.units import GB
from solutions.ch03.collective_cost import ring_all_reduce_time
from solutions.ch09.replicas import LAUNCHES, LINK, START, USABLE, Load, Replica, steady


def simulated(replica: Replica, load: Load, budget: int, seconds: float) -> tuple[float, float, float]:
    """Answers running, seconds from arrival to first token, and the longest pass, request by request.

    Random arrivals; each pass takes one token of every running answer and fills up with prompts, the oldest first.
    """
    rng, now, due = Random(9), 0.0, 0.0
    waiting: deque[list[float]] = deque()  # arrival, and tokens that are computed and still to compute
    running: list[int] = []  # tokens that each answer has written
    firsts, weighted, longest = [], 0.0, 0.0
    while now < seconds:
        while due <= now:
            cached = load.prefix if rng.random() < load.hit else 0.0
            waiting.append([due, cached, load.prefix + load.prompt - cached])
            due += rng.expovariate(load.rate)
        room, ended, contexts = float(budget - len(running)), [], []
        tokens = float(len(running))
        for request in waiting:
            chunk = min(room, request[2])
            if not chunk:
                break
            contexts.append(request[1])
            request[1:] = request[1] + chunk, request[2] - chunk
            room, tokens = room - chunk, tokens + chunk
            if not request[2]:
                ended.append(request[0])
        contexts += [load.prefix + load.prompt + written for written in running]
        spent = replica.seconds(tokens, contexts) if tokens else due - now
        weighted += len(running) * spent
        longest = max(longest, spent if tokens else 0.0)
        now += spent
        running = [written + 1 for written in running if written + 1 < load.answer - 1]
        for arrival in ended:
            waiting.popleft()
            firsts.append(now - arrival)
            running.append(0)
    return weighted / now, sum(firsts) / len(firsts), longest


CASES = {
    "two GPUs, fp8": (Replica(LLAMA3_70B, H100_SXM, 2, 1), Load(3, 2000, 300), 256),
    "four GPUs, fp8, small budget": (Replica(LLAMA3_70B, H100_SXM, 4, 1), Load(2, 2000, 300), 128),
    "eight GPUs, bf16": (Replica(LLAMA3_70B, H100_SXM, 8), Load(4, 2000, 300), 1024),
    "cached prefixes": (Replica(LLAMA3_70B, H100_SXM, 4, 1), Load(4.5, 500, 250, 6000, 0.95), 256),
    "a small model": (Replica(LLAMA3_8B, H100_SXM, 1), Load(6, 1000, 200), 512),
}


#: One replica with cached prefixes in the gate; the others beside it.
DAILY = "cached prefixes"
PROOF = pytest.mark.proof(part="runs")


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("case", [pytest.param(case, marks=() if case == DAILY else PROOF) for case in CASES])
def test_the_balance_is_what_single_requests_come_to(case):
    """The averages of 50 simulated minutes: running answers within 10 percent, first tokens within 15."""
    replica, load, budget = CASES[case]
    found = steady(replica, load, budget)
    running, first, longest = simulated(replica, load, budget, 3000)
    assert found.running == pytest.approx(running, rel=0.1)
    assert found.first_token == pytest.approx(first, rel=0.15)
    assert 0.75 * longest < found.full < longest


def test_an_idle_replica_takes_a_pass_for_each_chunk():
    replica = Replica(LLAMA3_8B, H100_SXM, 1)
    found = steady(replica, Load(1e-9, 1000, 2), 250)
    assert found.running == pytest.approx(0, abs=1e-6)
    assert found.full == pytest.approx(replica.seconds(250, [500]))
    assert found.first_token == pytest.approx(4 * found.full + found.plain / 2)


def test_what_is_asked_too_much():
    """More tokens than can be multiplied, and a budget that leaves too little for prompts: prompts pile up."""
    replica = Replica(LLAMA3_70B, H100_SXM, 2, 1)
    most = 2 * 0.5 * H100_SXM.peak_fp8 / (2 * LLAMA3_70B.parameters)
    for found in (steady(replica, Load(most / 2000, 2000, 300), 2048), steady(replica, Load(3, 2000, 300), 128)):
        assert found.busy >= 1
        assert found.first_token == math.inf
    alone = steady(replica, Load(30, 1, 300), 64)
    assert alone.free <= 0
    assert alone.busy == math.inf


def test_room_and_the_parts_of_a_pass():
    replica = Replica(LLAMA3_70B, H100_SXM, 4)
    assert replica.kv_bytes == 327_680
    assert replica.room * 327_680 == pytest.approx(4 * USABLE * 80 * GB - 2 * LLAMA3_70B.parameters)
    assert Replica(LLAMA3_70B, H100_SXM, 1).room < 0
    assert replica.seconds(512, [4000]) == LAUNCHES + replica.roofline(512, [4000]) + replica.messages(512)
    assert Replica(LLAMA3_70B, H100_SXM, 1).messages(512) == 0
    tensor = 512 * LLAMA3_70B.hidden * 2
    each = ring_all_reduce_time(tensor, 4, LINK * 450 * GB, START)
    assert replica.messages(512) == pytest.approx(160 * each)
    assert replica.binds(2048, [0]) == "the products"
    assert replica.binds(1, [0]) == "reading the weights"
    assert replica.binds(1, [4_000_000]) == "reading the caches"
    assert Replica(LLAMA3_70B, H100_SXM, 8, 1).binds(2048, [0]) == "the all-reduces"


def test_half_the_bytes_half_the_products():
    """fp8 weights are read in half the time and multiplied in half the time."""
    small, large = Replica(LLAMA3_70B, H100_SXM, 1, 1), Replica(LLAMA3_70B, H100_SXM, 1, 2)
    for tokens in (1, 4096):
        assert small.roofline(tokens, []) == pytest.approx(large.roofline(tokens, []) / 2, rel=1e-3)
