"""Launches, graphs, padding and overlap: published figures, laws, and an event simulation that knows no formula."""

from __future__ import annotations

import asyncio
import heapq
from fractions import Fraction
from random import Random

import pytest

from rankzero.facts.units import ms, us
from solutions.ch10.scheduling import (
    capture_size,
    debug_budget,
    debug_yield,
    eager_time,
    graph_time,
    overlap_time,
    padding_waste,
    published_sizes,
)

POWERS = [2**power for power in range(9)]
DRAWS = 10_000


# An independent simulation: tasks with resources and predecessors, carried out by a queue of events.


def simulate(tasks: list[tuple[str, Fraction, list[int]]]) -> Fraction:
    """When the last task ends. A task is (resource, duration, tasks it waits for); a resource works in the given order.

    Times are fractions: what comes out is exact.
    """
    waits = [set(before) for _, _, before in tasks]
    queues: dict[str, list[int]] = {}
    for place, (resource, _, _) in enumerate(tasks):
        queues.setdefault(resource, []).append(place)
    busy: set[str] = set()
    events: list[tuple[Fraction, int]] = []
    now = Fraction(0)
    while True:
        for resource, queue in queues.items():
            if resource not in busy and queue and not waits[queue[0]]:
                heapq.heappush(events, (now + tasks[queue[0]][1], queue.pop(0)))
                busy.add(resource)
        if not events:
            assert not any(queues.values())
            return now
        now, done = heapq.heappop(events)
        busy.discard(tasks[done][0])
        for own in waits:
            own.discard(done)


def eager_tasks(kernels, launch):
    """Launches on the CPU, kernels on the GPU, each kernel after its launch."""
    launches = [("cpu", launch, []) for _ in kernels]
    return launches + [("gpu", kernel, [place]) for place, kernel in enumerate(kernels)]


def overlap_tasks(steps, schedule, compute, post):
    """The CPU's row is schedule 0, schedule 1, post 0, schedule 2, post 1, ...; a post waits for its step."""
    tasks, device = [], []
    for step in range(steps):
        tasks.append(("cpu", schedule, []))
        device.append(len(tasks))
        tasks.append(("gpu", compute, [len(tasks) - 1]))
        if step:
            tasks.append(("cpu", post, [device[step - 1]]))
    return tasks + ([("cpu", post, [device[-1]])] if steps else [])


def test_eager_time_is_that_of_the_simulation():
    rng = Random(1)
    for _ in range(DRAWS):
        kernels = [Fraction(rng.randint(0, 500), rng.choice((1, 2, 4))) for _ in range(rng.randint(0, 12))]
        launch = Fraction(rng.randint(0, 200), 8)
        found = eager_time([float(kernel) for kernel in kernels], float(launch))
        assert found == float(simulate(eager_tasks(kernels, launch)))  # quarters and eighths are exact in binary


def test_overlap_time_is_that_of_the_simulation():
    rng = Random(2)
    for _ in range(DRAWS):
        steps, times = rng.randint(0, 8), [Fraction(rng.randint(0, 80), 8) for _ in range(3)]
        assert overlap_time(steps, *map(float, times)) == float(simulate(overlap_tasks(steps, *times)))


# Launches.


@pytest.mark.parametrize(
    ("kernels", "launch", "time"),
    [
        ([100 * us] * 5, 50 * us, 0.00055),
        ([2 * us] * 500, 5 * us, 0.002502),
        ([10 * us] * 500, 5 * us, 0.005005),
        ([1 * us, 50 * us, 1 * us, 1 * us], 5 * us, 6.2e-05),
        ([7 * us], 5 * us, 1.2e-05),
        ([100 * us] * 5, 5 * us, 0.000505),
        ([3 * us] * 1000, 6 * us, 0.006003),
        ([], 5 * us, 0.0),
    ],
)
def test_eager_time_of_the_page(kernels, launch, time):
    assert eager_time(kernels, launch) == pytest.approx(time)


def test_uniform_kernels_follow_the_slower_side():
    rng = Random(3)
    for _ in range(300):
        count, kernel, launch = rng.randint(1, 400), rng.uniform(0, 500) * us, rng.uniform(0, 20) * us
        closed = max(count * launch + kernel, launch + count * kernel)
        assert eager_time([kernel] * count, launch) == pytest.approx(closed)


def test_eager_time_is_between_the_slower_side_and_the_sum():
    rng = Random(4)
    for _ in range(300):
        kernels = [rng.uniform(0, 500) * us for _ in range(rng.randint(1, 100))]
        launch = rng.uniform(0, 20) * us
        found, both = eager_time(kernels, launch), (len(kernels) * launch, sum(kernels))
        assert max(both) <= found * (1 + 1e-12)
        assert found <= sum(both) * (1 + 1e-12)


def test_a_graph_gains_where_launches_were_the_slower_side():
    assert graph_time([2 * us] * 500, 10 * us) == pytest.approx(0.00101)
    assert graph_time([10 * us] * 500, 10 * us) == pytest.approx(0.00501)
    assert graph_time([100 * us] * 5, 10 * us) == pytest.approx(0.00051)
    assert graph_time([], 10 * us) == 0.0
    assert eager_time([2 * us] * 500, 5 * us) / graph_time([2 * us] * 500, 10 * us) == pytest.approx(2.47723, rel=1e-5)


# Sizes.


def vllm_table(sizes: list[int]) -> list[int | None]:
    """vLLM's rule, restated: a table from every batch up to the largest size to the size that it is padded to."""
    padded: list[int | None] = [None] * (max(sizes) + 1)
    for end, start in zip([*sorted(sizes, reverse=True)], [*sorted(sizes, reverse=True)[1:], 0], strict=True):
        for batch in range(start, end + 1):
            padded[batch] = start if batch == start else end
    return padded


@pytest.mark.parametrize("sizes", [POWERS, published_sizes(256), published_sizes(512), [7], [3, 100, 20]])
def test_capture_size_is_the_table_of_vllm(sizes):
    table = vllm_table(sizes)
    for batch in range(1, max(sizes) + 1):
        assert capture_size(batch, sizes) == table[batch]
    assert capture_size(max(sizes) + 1, sizes) is None


def test_the_published_list():
    assert (len(published_sizes(256)), len(published_sizes(512))) == (35, 51)
    assert published_sizes(40) == [1, 2, 4, 8, 16, 24, 32, 40]
    assert capture_size(33, published_sizes(256)) == 40
    assert capture_size(300, published_sizes(512)) == 304


@pytest.mark.parametrize(
    ("batches", "sizes", "share"),
    [
        ([5, 9, 17, 33], POWERS, 0.466667),
        ([5, 9, 17, 33], published_sizes(256), 0.272727),
        (range(1, 257), POWERS, 0.247076),
        (range(1, 257), published_sizes(256), 0.0259098),
        ([3, 300], POWERS, 0.25),
        ([300], POWERS, 0.0),
        ([], POWERS, 0.0),
        ([3], [], 0.0),
    ],
)
def test_padding_waste_of_the_page(batches, sizes, share):
    assert padding_waste(iter(batches), sizes) == pytest.approx(share, rel=1e-5)


def test_captured_batches_waste_nothing():
    rng = Random(5)
    for _ in range(200):
        batches = [rng.randint(1, 300) for _ in range(rng.randint(1, 40))]
        assert padding_waste(batches, batches) == 0.0
        assert 0 <= padding_waste(batches, POWERS) < 0.5


# Overlap.


@pytest.mark.parametrize(
    ("arguments", "time"),
    [
        ((20, 2, 10, 1), 0.203),
        ((1, 2, 10, 1), 0.013),
        ((2, 2, 10, 1), 0.023),
        ((20, 6, 5, 1), 0.144),
        ((20, 6, 6, 2), 0.164),
        ((100, 2, 5, 1), 0.503),
        ((0, 2, 5, 1), 0.0),
    ],
)
def test_overlap_time_of_the_page(arguments, time):
    steps, *times = arguments
    assert overlap_time(steps, *(own * ms for own in times)) == pytest.approx(time)
    assert overlap_time(steps, *(own * ms for own in times), overlap=False) == pytest.approx(steps * sum(times) * ms)


def test_overlap_lies_between_the_busier_side_and_the_sum():
    rng = Random(6)
    for _ in range(500):
        steps, (schedule, compute, post) = rng.randint(1, 60), [rng.uniform(0, 20) for _ in range(3)]
        found = overlap_time(steps, schedule, compute, post)
        assert steps * max(compute, schedule + post) <= found * (1 + 1e-12)
        assert found <= overlap_time(steps, schedule, compute, post, overlap=False) * (1 + 1e-12)
        if compute >= schedule + post:
            assert found == pytest.approx(schedule + steps * compute + post)


# The two programs to be fixed.


def test_others_run_between_the_steps():
    seen: list[str] = []

    async def server() -> None:
        while seen.count("step") < 5:
            seen.append("server")
            await asyncio.sleep(0)

    def step() -> bool:
        seen.append("step")
        return seen.count("step") < 5

    async def both() -> int:
        other = asyncio.create_task(server())
        count = await debug_yield(step)
        await other
        return count

    assert asyncio.run(both()) == 5
    assert seen == ["step", "server"] * 4 + ["step"]


def test_decodes_never_wait_for_a_prompt():
    steps = debug_budget([0, 0, 3], [3, 5, 20], [6, 8, 3], 8)
    for row in (0, 1):
        tokens = [step[row] for step in steps]
        assert 0 not in tokens[: max(place for place, own in enumerate(tokens) if own)]
    assert [sum(step[row] for step in steps) for row in range(3)] == [3 + 6 - 1, 5 + 8 - 1, 20 + 3 - 1]
    assert max(map(sum, steps)) <= 8


def test_budget_schedules_as_the_scheduler_does():
    """The same rule as the class of the chapter, where prompts come one after the other and memory is ample."""
    from solutions.ch10.token_budget import TokenBudgetScheduler

    rng = Random(7)
    for _ in range(50):
        count, budget = rng.randint(1, 4), rng.randint(5, 30)
        prompts, outputs = ([rng.randint(1, 40) for _ in range(count)] for _ in range(2))
        arrivals = [0, *(100 * place for place in range(1, count))]
        scheduler = TokenBudgetScheduler(budget, count, 1000, 4)
        for number, step in enumerate(debug_budget(arrivals, prompts, outputs, budget)):
            for request in range(count):
                if arrivals[request] == number:
                    scheduler.add(str(request), prompts[request], outputs[request])
            assert dict(scheduler.schedule()) == {str(i): own for i, own in enumerate(step) if own}
            scheduler.update()
