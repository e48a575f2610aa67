"""The live runs of chapter 5: real worlds, small models. What they count is checked, what they time is not."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math

import pytest
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from experiments.ch05 import data_parallel_runs, ddp_buckets, fsdp_runs
from experiments.ch05.accumulation_runs import accumulate
from experiments.ch05.batch_scaling_runs import ToTarget, fit_hyperbola, measured_noise, steps_to_target
from experiments.ch05.loss_scale_runs import (
    deep_tanh_gradients,
    gradient_exponents,
    in_fp16,
    scaled_training,
    tiny_gradients,
)
from experiments.ch05.parameter_server import DATA, ROWS, WIDTH, Served, serve
from experiments.ch05.zero_runs import sharded_run, zero_run
from rankzero import world
from rankzero.facts.units import KiB, MiB
from solutions.ch05.batching import gradient_noise_scale
from solutions.ch05.buckets import assign_buckets
from solutions.ch05.data_parallel import gather_parameter, reduce_to_slice, synchronize_gradients
from solutions.ch05.precision import LossScaler, dynamic_loss_scale
from solutions.ch05.zero import state_bytes, zero_memory, zero_traffic

#: Several tests look at one run.
fsdp_step = functools.cache(fsdp_runs.fsdp_step)
RUNS = pytest.mark.proof(part="runs")

# Replicas.


def _one_gradient(forward: bool, backward: bool) -> float:
    """On each rank: the gradient of one weight, 1 on rank 0 and 3 on rank 1, with each pass in or out of no_sync."""
    model = torch.nn.Linear(1, 1, bias=False)
    replica = DistributedDataParallel(model)
    with replica.no_sync() if forward else contextlib.nullcontext():
        y = replica(torch.full((1, 1), 1.0 + 2 * dist.get_rank()))
    with replica.no_sync() if backward else contextlib.nullcontext():
        y.sum().backward()
    return float(model.weight.grad)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("backward", [True, False])
def test_ddp_reduces_unless_the_forward_pass_ran_in_no_sync(forward, backward):
    run = world.run(_one_gradient, forward, backward, ranks=2)
    assert run.values == ((1.0, 3.0) if forward else (2.0, 2.0))


def _with_unused(passes: int) -> None:
    layers = [torch.nn.Linear(512, 512, bias=False) for _ in range(40)]
    replica = DistributedDataParallel(torch.nn.Sequential(*layers), find_unused_parameters=True)
    for _ in range(passes):
        replica(torch.ones(8, 512)).sum().backward()


@pytest.mark.proof(part="runs")
def test_ddp_that_looks_for_unused_weights_has_its_buckets_from_the_first_pass_on():
    events = world.run(_with_unused, 2, ranks=2).events
    sent = [event.sent // MiB for event in events if event.rank == 0 and event.operation == "all_reduce"]
    assert sent == 2 * [14, 25, 1, 0]  # the last one says which weights were used


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("counts", [pytest.param((7, 3), marks=RUNS), (4, 1, 5)])
def test_by_hand_is_ddp_is_one_process(counts):
    """The law of the chapter, in float64, unequal rows included."""
    alone = data_parallel_runs.train_alone(sum(counts), steps=5, dtype="float64")
    for run in (data_parallel_runs.train_by_hand, data_parallel_runs.train_with_ddp):
        found = run(counts, steps=5, dtype="float64")
        assert found.difference(alone) < 1e-12
        assert found.spread == 0
        assert found.losses == pytest.approx(alone.losses, rel=1e-12)
        assert found.reductions == 1


@pytest.mark.proof(part="runs")
def test_the_plain_mean_is_another_training():
    alone = data_parallel_runs.train_alone(10, steps=5, dtype="float64")
    plain = data_parallel_runs.train_by_hand((7, 3), 5, "float64", synchronize=data_parallel_runs.plain_mean)
    assert plain.difference(alone) > 1e-4
    each = data_parallel_runs.train_by_hand((7, 3), 5, "float64", synchronize=data_parallel_runs.per_parameter)
    assert each.difference(alone) < 1e-12
    assert each.reductions == len(alone.weights)


@pytest.mark.proof(part="runs")
def test_float32_differs_by_rounding_alone():
    alone = data_parallel_runs.train_alone(8)
    assert 0 < data_parallel_runs.train_by_hand((4, 4)).difference(alone) < 1e-5


def test_gradients_before_and_after():
    """Before, the ranks differ; after, all have the joined gradient, which is the weighted mean of what was before."""
    seen = data_parallel_runs.one_gradient((3, 1), shown=6)
    assert not torch.allclose(seen.before[0], seen.before[1])
    assert seen.difference < 1e-15
    assert torch.allclose((3 * seen.before[0] + seen.before[1]) / 4, seen.joined, rtol=1e-10)


# Buckets.


@pytest.mark.proof(part="runs")
def test_ddp_sends_one_bucket_then_three():
    """And the later ones are those of the rule, in the order in which gradients arrive."""
    first, *later = ddp_buckets.ddp_steps(layers=40, layer_bytes=MiB, ranks=2, steps=3, rows=1)
    assert [bucket.size for bucket in first.buckets] == [40 * MiB]
    rule = [len(bucket) * MiB for bucket in assign_buckets([MiB] * 40, [MiB, 25 * MiB])]
    for step in later:
        assert [bucket.size for bucket in step.buckets] == rule == [MiB, 25 * MiB, 14 * MiB]
        assert all(0 <= bucket.start <= bucket.end <= step.seconds for bucket in step.buckets)
        assert [event.operation for event in step.events] == ["backward pass", *["all_reduce"] * 3]


def _three_passes() -> None:
    """On each rank, DDP as it comes, 40 layers of 1 MiB. A barrier of one rank marks each last gradient in the log."""
    groups = [dist.new_group([rank]) for rank in range(dist.get_world_size())]
    model = DistributedDataParallel(ddp_buckets.layers_of(40, MiB))
    model.module[0].weight.register_hook(lambda gradient: dist.barrier(groups[dist.get_rank()]))
    for _ in range(3):
        model(torch.ones(4, 512)).square().mean().backward()


@pytest.mark.proof(part="runs")
def test_the_event_log_shows_buckets_and_what_they_overlap():
    """In the first pass the one bucket starts behind the last gradient; later all but the last bucket start before."""
    run = world.run(_three_passes, ranks=2)
    for rank in range(2):
        mine = sorted((event for event in run.events if event.rank == rank), key=lambda event: event.start)
        marks = {(rank,): "last gradient"}
        seen = [marks.get(e.peers, e.sent // MiB) for e in mine if e.operation in ("all_reduce", "barrier")]
        later = [1, 25, "last gradient", 14]
        assert seen == ["last gradient", 40, *later, *later]


def test_exposed_is_what_ends_behind_the_last_gradient():
    buckets = (ddp_buckets.Bucket(1, 0.5, 4.0), ddp_buckets.Bucket(1, 2.0, 3.0))
    assert ddp_buckets.Step(buckets, backward=2.0, seconds=5.0).exposed == 2.0
    assert ddp_buckets.Step(buckets, backward=4.5, seconds=5.0).exposed == 0.0


@pytest.mark.proof(part="runs")
def test_a_sweep_counts_reductions_as_the_rule_does():
    caps = (4 * KiB, 40 * KiB, 64 * MiB)
    for row in ddp_buckets.bucket_sweep(caps, layers=8, layer_bytes=16 * KiB, steps=1, rows=2):
        expected = len(assign_buckets([16 * KiB] * 8, [row.cap]))
        assert row.reductions == (expected, expected)
        assert all(0 < seconds < math.inf for seconds in (*row.seconds, row.backward))


# Accumulation.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("micro_steps", "every", "reductions"),
    [(4, True, 4), pytest.param(4, False, 1, marks=RUNS), (3, False, 1), pytest.param(1, True, 1, marks=RUNS)],
)
def test_no_sync_saves_reductions_and_no_accuracy(micro_steps, every, reductions):
    found = accumulate(micro_steps, every, rows=8)
    assert found.reductions == reductions
    assert found.sent == reductions * found.gradient_bytes
    assert found.difference < 1e-6


# Batch size.


def test_a_hyperbola_is_found():
    runs = [ToTarget(batch, 0.1, round(100 * (1 + 64 / batch))) for batch in (8, 16, 64, 256)]
    assert fit_hyperbola(runs) == pytest.approx((100, 64), rel=0.01)
    with pytest.raises(ValueError, match="at least two batch sizes that reached the target, got 1"):
        fit_hyperbola([runs[0], ToTarget(16, 0.1, None)])


@pytest.mark.proof(part="runs")
def test_larger_batches_take_fewer_steps_and_more_examples():
    small, large = steps_to_target((8, 64), lambda batch: 0.006 * (batch / 16) ** 0.5, target=3.2)
    assert small.steps > large.steps
    assert small.examples < large.examples
    assert steps_to_target((8,), lambda batch: 1e-9, "sgd", target=0.0, most=20)[0].examples is None


@pytest.mark.proof(part="runs")
def test_the_noise_scale_grows_as_the_loss_falls():
    early, late = measured_noise(at=(0, 60), ranks=2, rows=4, measured=12)
    assert late.loss < early.loss
    assert (early.small_batch, early.large_batch) == (4, 8)
    noise = [
        gradient_noise_scale(m.small_batch, m.large_batch, m.small_norm_squared, m.large_norm_squared)
        for m in (early, late)
    ]
    assert noise[1] > 2 * noise[0] > 0


# ZeRO.


@pytest.fixture(scope="module")
def plain():
    """Weights of one process that sees all rows."""
    return zero_run(0, ranks=1).weights


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("stage", "ranks"),
    [
        *((stage, 3) for stage in (0, 1, 2, 3)),
        *(pytest.param(*run, marks=RUNS) for run in [(0, 1), (1, 1), (2, 1), (3, 1), (2, 4), (3, 2), (3, 4)]),
    ],
)
def test_zero_holds_and_sends_what_the_formulas_say(plain, stage, ranks):
    """Counted tensors and the event log against the closed forms, to the byte; and the same weights.

    AdamW runs with a large eps, so that a sum of gradients, or a share of them, does not pass for their mean.
    """
    run = zero_run(stage, ranks)
    sizes = state_bytes("fp32")
    assert run.state_bytes == (zero_memory(run.parameters, stage, ranks, *sizes),) * ranks
    assert run.sent == pytest.approx((zero_traffic(run.parameters, stage, ranks, *sizes[:2]),) * ranks)
    assert float((run.weights - plain).abs().max()) < 1e-6


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("stage", [pytest.param(0, marks=RUNS), pytest.param(1, marks=RUNS), 2, 3])
def test_micro_steps_cost_what_the_formula_says(plain, stage):
    run = zero_run(stage, 2, micro_steps=3)
    assert run.sent[0] == pytest.approx(zero_traffic(run.parameters, stage, 2, 4, 4, micro_steps=3))
    assert float((run.weights - plain).abs().max()) < 1e-6


@pytest.mark.proof(part="runs")
def test_weights_that_are_kept_are_gathered_once(plain):
    run = zero_run(3, 3, reshard=False)
    assert run.sent[0] == pytest.approx(zero_traffic(run.parameters, 3, 3, 4, 4, reshard=False))
    assert run.calls == {"all_reduce": 0, "reduce_scatter": 4, "all_gather": 4}
    assert float((run.weights - plain).abs().max()) < 1e-6


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("stage", "wrong"),
    [
        (2, {"reduce": lambda gradient, kept: 3 * reduce_to_slice(gradient, kept)}),
        (
            3,
            {
                "gather": lambda shard, numel: (
                    gather_parameter(3 * shard, numel) - gather_parameter(2 * shard, numel).detach()
                )
            },
        ),
    ],
)
def test_a_stage_runs_with_the_learners_own_function(plain, stage, wrong):
    """Kills: a stage that takes no notice of it, and weights that cannot tell a wrong gradient from a right one."""
    assert float((zero_run(stage, 2, **wrong).weights - plain).abs().max()) > 1e-4


def test_rows_that_micro_steps_cannot_share_are_refused():
    with pytest.raises(ValueError, match="must divide 24 rows, got"):
        zero_run(1, 5)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("ranks", "held"), [(1, 792), (4, 204)])
def test_sharded_adamw_trains_as_the_plain_one(ranks, held):
    run = sharded_run(ranks)
    assert run.state_bytes == (held,) * ranks
    assert run.calls == {"all_reduce": 0, "reduce_scatter": 10, "all_gather": 10}
    padded = -(-run.parameters // ranks) * ranks
    assert run.sent == pytest.approx(zero_traffic(padded, 1, ranks, 4, 4), abs=1e-9)
    assert run.difference < 1e-6


# FSDP2.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("options", "gathers", "scatters"),
    [
        ({"reshard": True}, 8, 4),
        ({"reshard": False}, 4, 4),
        ({"exchange": "never"}, 8, 0),
        ({"passes": 3, "exchange": "last"}, 24, 4),
    ],
)
def test_the_ledger_of_fully_shard(options, gathers, scatters):
    run = fsdp_step(**options)
    assert run.calls == {"all_gather": gathers, "reduce_scatter": scatters}
    assert run.parameters == 17_290
    assert run.local_bytes == (4 * 8645,) * 2
    whole = run.gradient_bytes == 4 * run.parameters
    assert whole if scatters == 0 else run.gradient_bytes == 4 * run.parameters // 2
    assert (run.step_difference is None) == (scatters == 0)
    assert run.step_difference is None or run.step_difference < 1e-6
    assert run.optimizer_bytes == ((8 * 8645,) * 2 if scatters else (0, 0))


@pytest.mark.parametrize("reshard", [True, False])
def test_fully_shard_sends_what_stage_3_sends(reshard):
    run = fsdp_step(reshard=reshard)
    assert run.sent == pytest.approx(zero_traffic(run.parameters, 3, 2, 4, 4, reshard=reshard))


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    "options", [{}, pytest.param({"ranks": 3, "reshard": False}, marks=RUNS), {"passes": 3, "exchange": "last"}]
)
def test_fully_shard_trains_as_one_process(options):
    assert fsdp_step(dtype="float64", **options).step_difference < 1e-15


def test_one_layer_at_a_time_is_whole():
    """Unless the weights are kept: then they pile up forward and go backward."""
    largest = 4 * (64 * 74 + 74)
    short, long = (fsdp_step(reshard=reshard).moments for reshard in (True, False))
    names = [f"forward {n}" for n in range(4)] + [f"backward {n}" for n in (3, 2, 1, 0)]
    assert [m.name for m in short] == [m.name for m in long] == names
    assert max(m.whole for m in short) == largest
    assert [m.whole for m in long] == [*(sum(4 * 4160 for _ in range(n)) for n in (1, 2, 3)), 4 * 17_290] + [
        4 * 17_290,
        *(4 * 4160 * n for n in (3, 2, 1)),
    ]


# fp16.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("scale", "interval"), [(2.0**24, 5), (2.0**28, 3), (1024.0, 4)])
def test_the_learners_scaler_is_gradscaler(scale, interval):
    """Real overflows, the same trace; and the closed rule foretells it from the skipped steps."""
    theirs, mine = (scaled_training(way, scale, interval, steps=30) for way in ("torch", LossScaler))
    assert mine == theirs
    assert mine.scales[-1] == dynamic_loss_scale(mine.skipped, scale, interval)
    if scale > 2**20:
        assert any(mine.skipped)
    assert mine.losses[-1] < mine.losses[0]


def test_exponents_count_every_gradient_once():
    counts = gradient_exponents([torch.tensor([1.0, 1.5, -2.0, 0.0]), torch.tensor([2.0**-30])])
    assert counts == {0: 2, 1: 1, -30: 1}


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("gradients", [tiny_gradients, deep_tanh_gradients])
def test_a_scale_saves_gradients_and_too_large_a_scale_loses_them(gradients):
    found = gradients()
    plain, scaled, too_large = (in_fp16(found, 2.0**power) for power in (0, 16, 30))
    assert plain.zero > 0
    assert plain.subnormal > 0.1
    assert scaled.zero == scaled.infinite == 0
    assert scaled.subnormal < 1e-3
    assert too_large.infinite > 0.01


# The parameter server.


@pytest.fixture(scope="module")
def served() -> Served:
    """Sixty updates of workers with unequal work."""
    return serve(updates=60, work=(1, 2, 4), learning_rate=0.05)


@pytest.mark.proof(part="runs")
def test_staleness_is_that_of_the_other_workers(served):
    """Every update lies between pull and push of each other worker, once: the mean is workers - 1, exactly."""
    assert len(served.staleness) == len(served.workers) == len(served.seconds) == 60
    assert len(served.losses) == 61
    assert min(served.staleness) >= 0
    assert set(served.workers) <= {1, 2, 3}
    assert len(served.unused) == 3
    assert served.mean_staleness == 2
    since = [served.workers[:place][::-1] for place in range(60)]  # who made the updates before each, newest first
    pairs = zip(served.workers, since, strict=True)
    late = [before.index(worker) if worker in before else len(before) for worker, before in pairs]
    assert list(served.staleness) == late
    assert served.losses[-1] < served.losses[0] / 10


def replayed(served: Served, rate: float) -> list[float]:
    """The losses of the same updates in one process, each gradient taken at weights that are as old as was told."""
    same = torch.Generator().manual_seed(0)
    x = torch.randn(DATA, WIDTH, generator=same)
    y = x @ torch.randn(WIDTH, generator=same) + 0.1 * torch.randn(DATA, generator=same)
    own = {worker: torch.Generator().manual_seed(worker) for worker in set(served.workers)}
    weights = [torch.zeros(WIDTH)]
    for worker, staleness in zip(served.workers, served.staleness, strict=True):
        rows = torch.randint(DATA, (ROWS,), generator=own[worker])
        error = x[rows] @ weights[-1 - staleness] - y[rows]
        weights.append(weights[-1] - rate * 2 * error @ x[rows] / ROWS)
    return [float((x @ w - y).square().mean()) for w in weights]


def test_late_gradients_were_computed_with_old_weights(served):
    """Replayed in one process with the staleness that was told; with fresh weights it would be another training."""
    assert max(served.staleness) >= 1
    assert list(served.losses) == pytest.approx(replayed(served, 0.05), rel=1e-3)
    fresh = replayed(dataclasses.replace(served, staleness=(0,) * 60), 0.05)
    assert list(served.losses) != pytest.approx(fresh, rel=1e-3)


def test_one_worker_is_never_late():
    served = serve(updates=8, work=(1,))
    assert set(served.staleness) == {0}
    assert served.unused == (0,)


@pytest.mark.proof(part="runs")
def test_a_barrier_leaves_no_staleness():
    served = serve(updates=8, work=(1, 2), synchronous=True)
    assert set(served.staleness) == {0}
    assert served.unused == ()
    assert served.losses[-1] < served.losses[0]


def test_the_exercise_can_be_handed_in():
    """The page hands the learner's own function over."""
    found = data_parallel_runs.train_by_hand((1, 1), 2, synchronize=synchronize_gradients)
    assert found.reductions == 1
