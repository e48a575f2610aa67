"""The simulator of batches: known runs, a loop that takes every step, and the laws of queues and of list scheduling."""

from __future__ import annotations

import math
from itertools import pairwise, permutations, product
from random import Random

import pytest

from rankzero.sim.batching import (
    POLICIES,
    changes,
    continuous,
    little,
    load,
    percentile,
    poisson_arrivals,
    static,
    step_by_step,
    time_average,
)


def workload(count: int, rng: Random, sigma: float = 0.9) -> list[int]:
    """Lengths of answers: log-normal around 60 tokens, between 1 and 512."""
    return [min(512, max(1, round(rng.lognormvariate(math.log(60), sigma)))) for _ in range(count)]


def drawn(seed: int) -> tuple[list[int], int, list[float] | None]:
    """Lengths, slots, arrivals: none, whole, or anywhere inside a step; some at the same time."""
    rng = Random(seed)
    lengths = [rng.randint(1, rng.choice((1, 4, 12))) for _ in range(rng.randint(0, 20))]
    arrivals = rng.choice(
        (None, [rng.randint(0, 20) for _ in lengths], [rng.choice((rng.uniform(0, 30), 3.5)) for _ in lengths])
    )
    return lengths, rng.randint(1, 6), arrivals


@pytest.mark.parametrize(
    ("policy", "arguments", "spans"),
    [
        (static, ([3, 1, 2, 5, 4], 2), [(0, 3), (0, 3), (3, 8), (3, 8), (8, 12)]),
        (continuous, ([3, 1, 2, 5, 4], 2), [(0, 3), (0, 1), (1, 3), (3, 8), (3, 7)]),
        (continuous, ([4, 2, 3], 2, [5, 0, 0]), [(5, 9), (0, 2), (0, 3)]),
        (continuous, ([4, 2, 3], 2, [0, 0, 10]), [(0, 4), (0, 2), (10, 13)]),
        (continuous, ([2, 2], 1, [0.5, 0.2]), [(3, 5), (1, 3)]),
        (static, ([4, 2, 3], 2, [5, 0, 1]), [(5, 9), (1, 4), (1, 4)]),
        (static, ([], 3), []),
        (continuous, ([], 3), []),
    ],
)
def test_known_runs(policy, arguments, spans):
    """Kills a freed slot that idles a step, a static slot released early, and arrivals left out of account."""
    assert list(policy(*arguments).spans) == spans


@pytest.mark.parametrize("name", POLICIES)
def test_a_run_is_what_comes_of_taking_every_step(name):
    for seed in range(2000):
        lengths, slots, arrivals = drawn(seed)
        run = POLICIES[name](lengths, slots, arrivals)
        assert list(run.spans) == step_by_step(lengths, slots, arrivals, name), seed


@pytest.mark.parametrize("name", POLICIES)
def test_no_two_requests_share_a_slot_at_a_time(name):
    """Kills places that are only counted: each slot's requests follow each other, and each has its whole length."""
    for seed in range(500):
        run = POLICIES[name](*drawn(seed))
        assert all(came <= start for came, start in zip(run.arrivals, run.starts, strict=True))
        assert all(finish - start >= n for (start, finish), n in zip(run.spans, run.lengths, strict=True))
        for place in range(run.slots):
            mine = sorted(span for span, slot in zip(run.spans, run.places, strict=True) if slot == place)
            assert all(before[1] <= after[0] for before, after in pairwise(mine)), seed
        assert set(run.places) <= set(range(run.slots))


@pytest.mark.parametrize("name", POLICIES)
def test_steps_and_idle_slots_are_those_of_the_clock(name):
    """Idle slot-steps by looking at every slot of every step in which something runs, empty ones left out."""
    for seed in range(300):
        run = POLICIES[name](*drawn(seed))
        busy = [
            sum(start <= step < start + n for start, n in zip(run.starts, run.lengths, strict=True))
            for step in range(run.makespan)
            if any(start <= step < finish for start, finish in run.spans)
        ]
        assert run.steps == len(busy)
        assert run.idle == sum(run.slots - count for count in busy)
        assert run.idle_share + run.occupancy == pytest.approx(1.0 if busy else 0.0)


def test_graham_bounds_the_makespan():
    """No order of work beats the lower bound, and serving in turn stays below the upper one."""
    for seed in range(2000):
        lengths, slots, _ = drawn(seed)
        makespan, whole = continuous(lengths, slots).makespan, sum(lengths)
        assert max(-(-whole // slots), max(lengths, default=0)) <= makespan <= whole / slots + max(lengths, default=0)
        assert makespan <= static(lengths, slots).makespan


def test_continuous_is_within_two_minus_one_over_m_of_the_best_assignment():
    """Against the best of all assignments to slots, tried one by one."""
    rng = Random(0)
    for _ in range(150):
        slots, lengths = rng.randint(1, 3), [rng.randint(1, 9) for _ in range(rng.randint(1, 6))]
        ways = product(range(slots), repeat=len(lengths))
        best = min(
            max(sum(n for n, s in zip(lengths, way, strict=True) if s == slot) for slot in range(slots)) for way in ways
        )
        assert best <= continuous(lengths, slots).makespan <= (2 - 1 / slots) * best + 1e-9


def test_grahams_worst_case_is_reached():
    slots = 3
    lengths = [1] * (slots * (slots - 1)) + [slots]
    assert continuous(lengths, slots).makespan == 2 * slots - 1
    assert min(continuous(list(order), slots).makespan for order in set(permutations(lengths))) == slots


def test_continuous_starts_no_request_later_than_static():
    for seed in range(500):
        lengths, slots, arrivals = drawn(seed)
        ours, theirs = continuous(lengths, slots, arrivals), static(lengths, slots, arrivals)
        assert all(mine <= other for mine, other in zip(ours.starts, theirs.starts, strict=True)), seed
        assert all(mine <= other for mine, other in zip(ours.finishes, theirs.finishes, strict=True)), seed


def test_fifty_requests_on_eight_slots():
    """Figures of the course: 542 steps against 977, a quarter of the slot-steps idle against more than half."""
    lengths = workload(50, Random(8))
    old, new = static(lengths, 8), continuous(lengths, 8)
    assert (sum(lengths), old.steps, new.steps) == (3266, 977, 542)
    assert (new.idle_share, old.idle_share) == pytest.approx((0.246771, 0.582139), abs=1e-6)
    assert (round(new.mean_finish), round(old.mean_finish)) == (219, 539)
    assert new.p99_finish == new.makespan == 542
    assert new.row() == {
        "steps": 542,
        "occupancy": new.tokens / (542 * 8),
        "idle slot-steps": 1070,
        "mean finish": new.mean_finish,
        "p99 finish": 542,
    }


def test_a_run_without_requests_is_empty():
    run = continuous([], 2)
    assert (run.steps, run.idle, run.makespan, run.tokens) == (0, 0, 0, 0)
    assert (run.occupancy, run.idle_share, run.mean_latency, run.mean_finish, run.p99_finish) == (0.0,) * 5
    assert changes(run) == []


def test_percentiles_are_the_nearest_rank():
    values = list(range(1, 101))
    Random(1).shuffle(values)
    assert [percentile(values, share) for share in (0.01, 0.5, 0.99, 1.0)] == [1, 50, 99, 100]
    assert percentile([7.0], 0.5) == 7.0
    assert percentile(values, 1e-10) == 1
    run = continuous([4, 2, 3], 2, [0, 0, 1])
    assert run.latencies == (4, 2, 4)
    assert run.percentile_latency(0.3) == 2


# Little's law


@pytest.mark.parametrize("part", ["both", "queue", "slots"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.85, 0.89])
def test_littles_law_holds_below_ninety_percent_load(share, part):
    """10,000 requests: the time average of a counter against rate times mean stay, within two percent."""
    rng = Random(round(100 * share))
    lengths = workload(10_000, rng)
    rate = share * 8 / (sum(lengths) / len(lengths))
    assert load(lengths, 8, rate) == pytest.approx(share)
    law = little(continuous(lengths, 8, poisson_arrivals(rate, len(lengths), rng)), part)
    assert law.inside > 0
    assert abs(law.error) < 0.02


def test_the_queue_and_the_slots_make_the_whole():
    rng = Random(3)
    run = continuous(workload(500, rng), 4, poisson_arrivals(0.05, 500, rng))
    queue, slots, both = (little(run, part) for part in ("queue", "slots", "both"))
    assert queue.inside + slots.inside == pytest.approx(both.inside)
    assert queue.time + slots.time == pytest.approx(both.time)


def test_towards_capacity_the_time_grows_and_the_throughput_does_not():
    times, throughputs = [], []
    for share in (0.5, 0.8, 0.95, 1.3):
        rng = Random(5)
        lengths = workload(2000, rng)
        run = continuous(lengths, 8, poisson_arrivals(share * 8 * 2000 / sum(lengths), 2000, rng))
        times.append(run.mean_latency)
        throughputs.append(run.tokens / run.makespan)
    assert times == sorted(times)
    assert times[-1] > 3 * times[0]
    assert max(throughputs) <= 8


def test_one_server_with_exponential_service_waits_as_the_textbook_says():
    """M/M/1: mean time inside is 1 / (mu - lambda); steps are made short against a service."""
    rng, count, mean, share = Random(2), 60_000, 200.0, 0.5
    lengths = [max(1, round(rng.expovariate(1 / mean))) for _ in range(count)]
    run = continuous(lengths, 1, poisson_arrivals(share / mean, count, rng))
    assert run.mean_latency == pytest.approx(mean / (1 - share), rel=0.03)


def test_the_number_inside_by_looking_at_each_moment():
    for seed in range(200):
        run = continuous(*drawn(seed))
        for part, (into, out) in {
            "queue": (run.arrivals, run.starts),
            "slots": (run.starts, run.finishes),
            "both": (run.arrivals, run.finishes),
        }.items():
            counts = changes(run, part)
            assert all(a[0] < b[0] and a[1] != b[1] for a, b in pairwise(counts))
            for time, count in counts:
                assert count == sum(a <= time < b for a, b in zip(into, out, strict=True)), (seed, part)
            if run.lengths:
                area = sum(b - a for a, b in zip(into, out, strict=True))
                assert time_average(counts, 0, run.makespan) * run.makespan == pytest.approx(area)


def test_a_time_average_over_a_part_of_the_time():
    counts = [(2, 1), (4, 3), (5, 0)]
    assert time_average(counts, 3, 6) == pytest.approx((1 + 3) / 3)
    assert time_average(counts, 0, 2) == 0
    assert time_average(counts, 4.5, 4.75) == 3
    assert time_average([], 0, 1) == 0


def test_arrivals_come_at_their_rate():
    times = poisson_arrivals(0.25, 20_000, Random(0))
    assert times == sorted(times)
    assert len(times) / times[-1] == pytest.approx(0.25, rel=0.02)
    gaps = [b - a for a, b in pairwise(times)]
    assert sum(gap > 4 for gap in gaps) / len(gaps) == pytest.approx(math.exp(-1), rel=0.03)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: continuous([2, 0], 1), "lengths must be an integer >= 1, got 0"),
        (lambda: continuous([2], 1, [0, 1]), r"one entry for each of 1 lengths, got \(0, 1\)"),
        (lambda: continuous([2, 2], 1, [0, -1]), r"not negative, got \(0, -1\)"),
        (lambda: static([2], 1, [math.nan]), "finite"),
        (lambda: time_average([], 1, 1), "until must be after since"),
        (lambda: little(continuous([1], 1)), "come after 0"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
