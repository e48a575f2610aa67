"""Pipelines: order tables of torch, an independent longest path, closed forms, and published figures."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from types import SimpleNamespace

import pytest
from torch import nn
from torch.distributed import pipelining

from solutions.ch07.pipeline import (
    bubble_fraction,
    bubble_overhead,
    debug_fraction,
    one_f_one_b,
    peak_in_flight,
    pipeline_bytes_sent,
    pipeline_schedule,
    simulate_schedule,
)

UNITS = {"F": 1.0, "B": 2.0, "I": 1.0, "W": 1.0}


def makespan(orders, durations=None, hop=0.0):
    return max(end for _, end in simulate_schedule(orders, durations or UNITS, hop).values())


def drawn():
    """Schedules of every kind, with fewer micro-batches than ranks, too."""
    for ranks in (1, 2, 3, 4, 5, 8):
        for microbatches in (1, 2, 4, 7, 12):
            yield from ((name, ranks, microbatches, 1) for name in ("gpipe", "1f1b", "zb-h1"))
        for chunks in (2, 3, 4):
            yield from (("interleaved", ranks, rounds * ranks, chunks) for rounds in (1, 2, 3))


SHAPES = tuple(drawn())


# torch.distributed.pipelining, its stages mocked.


def stage(rank: int, ranks: int, index: int, stages: int):
    return SimpleNamespace(
        num_stages=stages,
        group_size=ranks,
        group_rank=rank,
        stage_index=index,
        is_first=index == 0,
        is_last=index == stages - 1,
        has_backward=True,
        submod=nn.Identity(),
        device="cpu",
    )


def table(schedule, ranks: int, microbatches: int, chunks: int = 1) -> list[list[str]]:
    """The order table that torch builds, computations alone."""
    mocks = [stage(0, ranks, place * ranks, ranks * chunks) for place in range(chunks)]
    single = issubclass(schedule, pipelining.schedules.PipelineScheduleSingle)
    built = schedule(mocks[0] if single else mocks, microbatches, loss_fn=nn.functional.mse_loss)
    orders = []
    for rank in range(ranks):
        actions = [action for action in built.pipeline_order[rank] if action is not None]
        orders.append([str(action) for action in actions if action.computation_type.value in "FBIW"])
    return orders


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize("microbatches", [1, 3, 8, 16])
def test_gpipe_is_torchs(ranks, microbatches):
    assert pipeline_schedule("gpipe", ranks, microbatches) == table(pipelining.ScheduleGPipe, ranks, microbatches)


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("chunks", [2, 3, 4])
def test_interleaved_is_torchs(ranks, rounds, chunks):
    ours = pipeline_schedule("interleaved", ranks, rounds * ranks, chunks)
    assert ours == table(pipelining.ScheduleInterleaved1F1B, ranks, rounds * ranks, chunks)


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_zero_bubble_is_torchs_with_one_stage_per_rank(ranks, rounds):
    ours = pipeline_schedule("zb-h1", ranks, rounds * ranks)
    assert ours == table(pipelining.ScheduleInterleavedZeroBubble, ranks, rounds * ranks)


@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (4, 8), (8, 12)])
def test_1f1b_is_torchs_but_for_its_last_rank(ranks, microbatches):
    """In torch 2.13 the table of the last rank starts with micro-batch 1: a forward too far."""
    ours, theirs = pipeline_schedule("1f1b", ranks, microbatches), table(pipelining.Schedule1F1B, ranks, microbatches)
    assert ours[:-1] == theirs[:-1]
    assert theirs[-1][0] == f"{ranks - 1}F1"
    assert ours[-1][0] == f"{ranks - 1}F0"


def test_orders_of_the_page():
    assert pipeline_schedule("gpipe", 1, 2) == [["0F0", "0F1", "0B0", "0B1"]]
    plain = "0F0 0F1 0F2 0F3 0B0 0F4 0B1 0F5 0B2 0B3 0B4 0B5"
    assert pipeline_schedule("1f1b", 4, 6)[0] == plain.split()
    assert pipeline_schedule("1f1b", 4, 6)[3] == [f"3{kind}{i}" for i in range(6) for kind in "FB"]
    interleaved = "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3"
    assert pipeline_schedule("interleaved", 2, 4, 2)[0] == interleaved.split()
    halves = "1F0 1F1 1I0 1F2 1I1 1W0 1F3 1I2 1W1 1I3 1W2 1W3"
    assert pipeline_schedule("zb-h1", 3, 4)[1] == halves.split()


# The simulator.


def longest_path(orders, durations, hop):
    """Ends of all operations by relaxing every edge until nothing changes: slow, and without any order of visits."""
    rank_of = {op: rank for rank, order in enumerate(orders) for op in order}
    parsed = {}
    for op in rank_of:
        kind = next(letter for letter in op if letter.isalpha())
        stage, _, number = op.partition(kind)
        parsed[int(stage), kind, int(number)] = op
    last = max(stage for stage, _, _ in parsed)
    edges = [(a, b, 0.0) for order in orders for a, b in pairwise(order)]
    for (stage, kind, number), op in parsed.items():
        before = [(stage - 1, "F", number)] if kind == "F" else [(stage, "I" if kind == "W" else "F", number)]
        if kind in "BI" and stage < last:
            before += [(stage + 1, "B", number), (stage + 1, "I", number)]
        for key in before:
            if key in parsed:
                edges.append((parsed[key], op, hop if rank_of[parsed[key]] != rank_of[op] else 0.0))
    seconds = {op: durations.get(op.rstrip("0123456789"), durations.get(op.strip("0123456789"))) for op in rank_of}
    ends = dict(seconds)
    for _ in range(len(ends)):
        changed = False
        for a, b, delay in edges:
            if ends[a] + delay + seconds[b] > ends[b] + 1e-12:
                ends[b], changed = ends[a] + delay + seconds[b], True
        if not changed:
            break
    return ends


def test_ends_are_longest_paths():
    rng = Random(7)
    for name, ranks, microbatches, chunks in SHAPES:
        if ranks * microbatches * chunks > 60:
            continue
        orders = pipeline_schedule(name, ranks, microbatches, chunks)
        durations = {kind: rng.uniform(0.1, 3) for kind in "FBIW"}
        durations |= {f"{rng.randrange(ranks)}{kind}": rng.uniform(0.1, 3) for kind in "FBIW"}
        hop = rng.choice((0.0, rng.random()))
        ends = {op: end for op, (_, end) in simulate_schedule(orders, durations, hop).items()}
        assert ends == pytest.approx(longest_path(orders, durations, hop))


def test_vectors_of_the_page():
    two = simulate_schedule(pipeline_schedule("1f1b", 2, 2), {"F": 1, "B": 2})
    assert two == {
        "0F0": (0, 1),
        "0F1": (1, 2),
        "0B0": (4, 6),
        "0B1": (7, 9),
        "1F0": (1, 2),
        "1B0": (2, 4),
        "1F1": (4, 5),
        "1B1": (5, 7),
    }
    assert [makespan(pipeline_schedule(name, 4, 8)) for name in ("gpipe", "1f1b")] == [33, 33]
    ends = [makespan(pipeline_schedule(name, 4, 8), hop=hop) for hop in (0.1, 0.5) for name in ("gpipe", "1f1b")]
    assert ends == pytest.approx([33.6, 34.6, 36, 41])
    assert makespan(pipeline_schedule("interleaved", 4, 12, 4), {"F": 0.25, "B": 0.5}) == pytest.approx(38.25)
    assert makespan(pipeline_schedule("interleaved", 4, 8, 2), {"F": 0.5, "B": 1}) == pytest.approx(28.5)
    assert makespan(pipeline_schedule("zb-h1", 4, 8)) == 27
    assert makespan(pipeline_schedule("zb-h1", 8, 16), {"F": 1, "I": 1.2, "W": 0.8}) == pytest.approx(57.8)
    slow = {"F": 1, "B": 2, "3F": 1.23, "3B": 2.46}
    assert makespan(pipeline_schedule("1f1b", 4, 8), slow) == pytest.approx(38.52)
    assert makespan(pipeline_schedule("1f1b", 3, 1), {"F": 0.04, "B": 0.08}, 0.005) == pytest.approx(0.38)
    starts = [simulate_schedule(pipeline_schedule(n, 4, 8), UNITS)["0B0"][0] for n in ("gpipe", "1f1b")]
    assert starts == [17, 10]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_idle_time_is_the_closed_form(shape):
    """Kills: a schedule with a needless wait, a fraction of the wrong total."""
    name, ranks, microbatches, chunks = shape
    orders = pipeline_schedule(name, ranks, microbatches, chunks)
    total = makespan(orders, {kind: seconds / chunks for kind, seconds in UNITS.items()})
    useful = microbatches * 3.0
    if name == "zb-h1":
        if microbatches >= ranks:  # (p - 1)(F + I - W)
            assert total - useful == pytest.approx(ranks - 1)
        return
    assert (total - useful) / total == pytest.approx(bubble_fraction(ranks, microbatches, chunks))
    assert (total - useful) / useful == pytest.approx(bubble_overhead(ranks, microbatches, chunks))


def test_gpipe_may_go_backward_in_any_order():
    orders = [order[:8] + order[:7:-1] for order in pipeline_schedule("gpipe", 4, 8)]
    assert orders[0][8] == "0B7"
    assert makespan(orders) == 33


def test_a_deadlock_names_who_waits_and_leaves_out_who_has_finished():
    with pytest.raises(ValueError, match=r"^deadlock: rank 0 waits at 0B0; rank 1 waits at 1F1$"):
        simulate_schedule([["0F0", "0B0", "0F1", "0B1"], ["1F1", "1B1", "1F0", "1B0"]], UNITS)
    forwards_end = [["0F0", "0F1"], ["1F1", "1F0"]]
    forwards_end[0] += ["0B0", "0B1"]
    forwards_end[1] += ["1B1", "1B0"]
    assert makespan(forwards_end) > 0  # another order of micro-batches is no deadlock
    halves = [["0F0", "0I0", "0W0"], ["1F0", "1W0", "1I0"]]
    with pytest.raises(ValueError, match=r"^deadlock: rank 0 waits at 0I0; rank 1 waits at 1W0$"):
        simulate_schedule(halves, UNITS)
    last = [["0F0"], ["2F0", "1F0"]]
    with pytest.raises(ValueError, match=r"^deadlock: rank 1 waits at 2F0$"):
        simulate_schedule(last, UNITS)


@pytest.mark.parametrize(
    ("orders", "durations", "hop"),
    [
        ([["0F0", "0B0", "0F0"]], UNITS, 0.0),
        ([["0F0", "0B0", "0F1"]], UNITS, 0.0),
        ([["0F0", "0I0"]], UNITS, 0.0),
        ([["0F0", "0B0", "0W0"]], UNITS, 0.0),
        ([["0F0", "0B0", "0I0", "0W0"]], UNITS, 0.0),
        ([["0F0"], ["1F0", "1B0"]], UNITS, 0.0),
        ([["0F0", "0S0"]], UNITS, 0.0),
        ([["0F0"], ["0B0"]], UNITS, 0.0),
        ([["0F0", "0B0"]], {"F": 1.0}, 0.0),
    ],
)
def test_orders_and_times_that_cannot_be(orders, durations, hop):
    with pytest.raises(ValueError, match="must"):
        simulate_schedule(orders, durations, hop)


def test_no_operations_and_forwards_alone():
    assert simulate_schedule([[], []], {}) == {}
    assert simulate_schedule([["0F0"], ["1F0"]], {"F": 2.0}, 0.5)["1F0"] == (2.5, 4.5)


# What is held and what is sent.


def test_peaks_of_the_page():
    peaks = {
        ("1f1b", 4, 12): [4, 3, 2, 1],
        ("gpipe", 4, 12): [12] * 4,
        ("1f1b", 4, 3): [3, 3, 2, 1],
        ("interleaved", 4, 8, 2): [11, 9, 7, 5],
        ("zb-h1", 4, 8): [4, 4, 4, 4],
    }
    for shape, right in peaks.items():
        assert [peak_in_flight(order) for order in pipeline_schedule(*shape)] == right


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_peaks_are_the_most_that_live_at_once(shape):
    """From the simulated times: a micro-batch lives from the end of its forward to the end of what frees it."""
    name, ranks, microbatches, chunks = shape
    orders = pipeline_schedule(*shape)
    times = simulate_schedule(orders, UNITS)
    for rank, order in enumerate(orders):
        lives = []
        for op in order:
            if "F" in op:
                free = op.replace("F", "W" if name == "zb-h1" else "B")
                lives.append((times[op][1], times[free][1]))
        assert peak_in_flight(order) == max(sum(a <= at < b for a, b in lives) for at, _ in lives)
        if name == "1f1b":
            assert peak_in_flight(order) == min(microbatches, ranks - rank)
        if name == "interleaved":
            assert peak_in_flight(order) == min(
                microbatches * chunks, 2 * (ranks - 1 - rank) + (chunks - 1) * ranks + 1
            )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bytes_are_the_edges_between_ranks(shape):
    name, ranks, microbatches, chunks = shape
    if name == "zb-h1":
        return
    sent = [pipeline_bytes_sent(rank, ranks, microbatches, 10.0, chunks) for rank in range(ranks)]
    homes = {op: rank for rank, order in enumerate(pipeline_schedule(*shape)) for op in order}
    counted = [0.0] * ranks
    for op, rank in homes.items():
        kind = "F" if "F" in op else "B"
        stage, _, number = op.partition(kind)
        target = f"{int(stage) + (1 if kind == 'F' else -1)}{kind}{number}"
        counted[rank] += 10.0 * (target in homes and homes[target] != rank)
    assert sent == counted
    assert sum(sent) == (2 * (ranks * chunks - 1) * microbatches * 10.0 if ranks > 1 else 0.0)


def test_bytes_of_the_page():
    plain = [pipeline_bytes_sent(rank, 4, 12, 0.5e9) for rank in (0, 1, 3)]
    chunked = [pipeline_bytes_sent(rank, 4, 12, 0.5e9, 4) for rank in (0, 1, 3)]
    assert plain + chunked == [6e9, 12e9, 6e9, 42e9, 48e9, 42e9]


# Closed forms.


def test_published_fractions():
    """Narayanan et al. 2021, section 2.2; the Llama 3 report, section 3.3.2, prints the overhead."""
    shapes = [(4, 12), (4, 8), (4, 12, 4), (16, 16, 8), (1, 7)]
    fractions = [0.2, 3 / 11, 1 / 17, 15 / 143, 0.0]
    assert [bubble_fraction(*shape) for shape in shapes] == pytest.approx(fractions)
    assert [bubble_overhead(*shape) for shape in shapes] == pytest.approx([0.25, 0.375, 0.0625, 0.1171875, 0.0])
    for shape in shapes:
        over = bubble_overhead(*shape)
        assert bubble_fraction(*shape) == pytest.approx(over / (1 + over)) == pytest.approx(debug_fraction(*shape))


def test_nothing_is_in_flight_without_an_order():
    assert peak_in_flight([]) == 0


# One rank's order under 1F1B, against what makes it one.


@pytest.mark.parametrize(("ranks", "microbatches"), [(1, 3), (2, 4), (3, 4), (4, 2), (5, 12), (8, 8)])
def test_one_f_one_b_is_the_schedule_that_holds_least_in_the_same_time(ranks, microbatches):
    """Every pass once and in turn; as fast as GPipe; and a rank holds only what it needs until its first gradient."""
    orders = [one_f_one_b(rank, ranks, microbatches) for rank in range(ranks)]
    assert makespan(orders) == makespan(pipeline_schedule("gpipe", ranks, microbatches))
    for rank, order in enumerate(orders):
        for kind in "FB":
            assert [op for op in order if kind in op] == [f"{rank}{kind}{m}" for m in range(microbatches)]
        assert peak_in_flight(order) == min(microbatches, ranks - rank)
        assert order.index(f"{rank}B0") == min(microbatches, ranks - rank)
