"""Chapter 02: layers on stages, and the time of a step in which one stage works at a time: two build items."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip
from rankzero.units import ms

# --- stage_layers


def slip_rest_dropped(layers, stages, stage):
    if layers < 0 or stages < 1 or not 0 <= stage < stages:
        raise ValueError("out of range")
    size = layers // stages
    return range(stage * size, (stage + 1) * size)


def slip_rest_on_last(layers, stages, stage):
    if layers < 0 or stages < 1 or not 0 <= stage < stages:
        raise ValueError("out of range")
    size = layers // stages
    return range(stage * size, layers if stage == stages - 1 else (stage + 1) * size)


def slip_shared_layer(layers, stages, stage):
    if layers < 0 or stages < 1 or not 0 <= stage < stages:
        raise ValueError("out of range")
    size, longer = divmod(layers, stages)
    start = stage * size + min(stage, longer)
    return range(start, min(start + size + (stage < longer) + 1, layers))


def slip_rounded_up(layers, stages, stage):
    if layers < 0 or stages < 1 or not 0 <= stage < stages:
        raise ValueError("out of range")
    size = -(-layers // stages)
    return range(min(stage * size, layers), min((stage + 1) * size, layers))


def slip_longer_ones_last(layers, stages, stage):
    if layers < 0 or stages < 1 or not 0 <= stage < stages:
        raise ValueError("out of range")
    return range(stage * layers // stages, (stage + 1) * layers // stages)


def slip_any_stage(layers, stages, stage):
    size, longer = divmod(layers, stages) if stages else (layers, 0)
    start = stage * size + min(stage, longer)
    return range(start, start + size + (stage < longer))


def _uneven_of_each(rng: Random) -> list[Case]:
    """Splits with a rest that are asked about at their ends and in their middle."""
    stages = rng.randint(4, 32)
    size, longer = rng.randint(2, 9), rng.randint(2, stages - 2)
    asked = (0, longer - 1, longer, stages - 1, rng.randrange(stages))
    return [Case(args=(stages * size + longer, stages, stage)) for stage in asked]


def _uneven(rng: Random) -> Case:
    return rng.choice(_uneven_of_each(rng))


def _even(rng: Random) -> Case:
    stages = rng.randint(2, 32)
    return Case(args=(stages * rng.randint(2, 9), stages, rng.randrange(stages - 1)))


def _few_layers(rng: Random) -> list[Case]:
    """More stages than layers; one stage; no layers."""
    layers = rng.randint(2, 9)
    stages = layers + rng.randint(2, 9)
    few = [(layers, stages, layers - 1), (layers, stages, layers), (layers, stages, stages - 1)]
    return [Case(args=args) for args in (*few, (layers, 1, 0), (0, stages, 0))]


def _few(rng: Random) -> Case:
    return rng.choice(_few_layers(rng))


def _split_errors(rng: Random) -> list[Case]:
    layers, stages = rng.randint(8, 99), rng.randint(2, 8)
    broken = [
        (layers, 0, 0),
        (layers, -stages, 0),
        (layers, stages, stages),
        (layers, stages, -1),
        (-layers, stages, 0),
    ]
    return [Case(args=args, raises="ValueError") for args in broken]


def _split_error(rng: Random) -> Case:
    return rng.choice(_split_errors(rng))


STAGE_LAYERS = Build(
    id="02-stage-layers",
    module="model_parallel",
    function="stage_layers",
    grade="call",
    section="2.8",
    topic="stages",
    bonus=True,
    cases=(
        *(Case(args=(10, 4, stage)) for stage in range(4)),
        Case(args=(3, 4, 3)),
        Case(args=(126, 16, 13)),  # Llama 3 405B
        Case(args=(126, 16, 14)),
        Case(args=(10, 4, 4), raises="ValueError"),
    ),
    groups=(
        Group(
            "with a rest", _uneven, 5, "The first stages take one layer more each, until none is left.", _uneven_of_each
        ),
        Group("without a rest", _even, 3, "Every stage has as many layers, and no layer stands on two stages."),
        Group("few layers", _few, 5, "There may be one stage, no layers, or more stages than layers.", _few_layers),
        Group(
            "bad input",
            _split_error,
            5,
            "Bad input must raise ValueError: no stages, a stage that is not there, fewer than no layers.",
            _split_errors,
        ),
    ),
    slips=(
        Slip("The layers that are left over stand on no stage.", slip_rest_dropped),
        Slip("All layers that are left over stand on the last stage: spread them.", slip_rest_on_last),
        Slip("Two neighbouring stages share a layer: a range ends before its stop.", slip_shared_layer),
        Slip("Every stage was rounded up, so that the last ones have too few layers.", slip_rounded_up),
        Slip("The longer stages are spread or stand last: the first ones take one layer more.", slip_longer_ones_last),
        Slip("Impossible arguments were accepted: no stages, or a stage that is not there.", slip_any_stage),
    ),
)


# --- naive_step


def slip_one_stage(layers, stages, layer_time, transfer_time, backward_ratio=2.0):
    if layers < 1 or stages < 1 or layer_time <= 0 or transfer_time < 0 or backward_ratio < 0:
        raise ValueError("out of range")
    compute = layers * layer_time * (1 + backward_ratio)
    step_time = compute / stages + 2 * (stages - 1) * transfer_time
    return step_time, compute / (stages * step_time)


def slip_equal_backward(layers, stages, layer_time, transfer_time, backward_ratio=2.0):
    if layers < 1 or stages < 1 or layer_time <= 0 or transfer_time < 0 or backward_ratio < 0:
        raise ValueError("out of range")
    compute = 2 * layers * layer_time
    step_time = compute + 2 * (stages - 1) * transfer_time
    return step_time, compute / (stages * step_time)


def slip_one_transfer_more(layers, stages, layer_time, transfer_time, backward_ratio=2.0):
    if layers < 1 or stages < 1 or layer_time <= 0 or transfer_time < 0 or backward_ratio < 0:
        raise ValueError("out of range")
    compute = layers * layer_time * (1 + backward_ratio)
    step_time = compute + 2 * stages * transfer_time
    return step_time, compute / (stages * step_time)


def slip_one_way(layers, stages, layer_time, transfer_time, backward_ratio=2.0):
    if layers < 1 or stages < 1 or layer_time <= 0 or transfer_time < 0 or backward_ratio < 0:
        raise ValueError("out of range")
    compute = layers * layer_time * (1 + backward_ratio)
    step_time = compute + (stages - 1) * transfer_time
    return step_time, compute / (stages * step_time)


def slip_somebody_works(layers, stages, layer_time, transfer_time, backward_ratio=2.0):
    if layers < 1 or stages < 1 or layer_time <= 0 or transfer_time < 0 or backward_ratio < 0:
        raise ValueError("out of range")
    compute = layers * layer_time * (1 + backward_ratio)
    step_time = compute + 2 * (stages - 1) * transfer_time
    return step_time, compute / step_time


def slip_any_step(layers, stages, layer_time, transfer_time, backward_ratio=2.0):
    compute = layers * layer_time * (1 + backward_ratio)
    step_time = compute + 2 * (stages - 1) * transfer_time
    return step_time, compute / (stages * step_time)


def _step(rng: Random) -> Case:
    layer_time = 10 ** rng.uniform(-4, -1)
    transfer_time = layer_time * 10 ** rng.uniform(-2, 1)
    ratio = rng.choice([1.5, 2.5, 3.0, rng.uniform(1.1, 3)])
    return Case(args=(rng.randint(4, 128), rng.randint(2, 16), layer_time, transfer_time, ratio))


def _usual_step(rng: Random) -> Case:
    layer_time = 10 ** rng.uniform(-4, -1)
    return Case(args=(rng.randint(4, 128), rng.randint(2, 16), layer_time, layer_time * 10 ** rng.uniform(-2, 1)))


def _plain_steps(rng: Random) -> list[Case]:
    """One stage, or transfers that cost nothing."""
    layers, stages, layer_time = rng.randint(4, 128), rng.randint(2, 16), 10 ** rng.uniform(-4, -1)
    alone = [Case(args=(layers, 1, layer_time, layer_time * rng.uniform(0.1, 2))) for _ in range(2)]
    return [*alone, *(Case(args=(layers, stages + more, layer_time, 0.0)) for more in range(2))]


def _plain_step(rng: Random) -> Case:
    return rng.choice(_plain_steps(rng))


def _step_errors(rng: Random) -> list[Case]:
    layers, stages = rng.randint(4, 128), rng.randint(2, 16)
    broken: list[tuple[float, ...]] = [(layers, stages, 10 * ms, 5 * ms, -2.0)]
    broken += [(0, stages, 10 * ms, 5 * ms), (layers, 0, 10 * ms, 5 * ms), (layers, -stages, 10 * ms, 5 * ms)]
    broken += [(layers, stages, -10 * ms, 5 * ms), (layers, stages, 0.0, 5 * ms), (layers, stages, 10 * ms, -1 * ms)]
    return [Case(args=args, raises="ValueError") for args in broken]


def _step_error(rng: Random) -> Case:
    return rng.choice(_step_errors(rng))


NAIVE_STEP = Build(
    id="02-naive-step",
    module="model_parallel",
    function="naive_step",
    grade="call",
    section="2.8",
    topic="naive model parallelism",
    cases=(
        Case(args=(12, 3, 10 * ms, 5 * ms)),
        Case(args=(12, 3, 10 * ms, 5 * ms, 1.0)),
        Case(args=(80, 8, 2 * ms, 0.1 * ms)),
        Case(args=(12, 1, 10 * ms, 5 * ms)),
        Case(args=(32, 4, 1 * ms, 0.0)),
        Case(args=(12, 0, 10 * ms, 5 * ms), raises="ValueError"),
    ),
    groups=(
        Group(
            "any backward", _step, 4, "All layers follow each other, forward and back; each boundary is crossed twice."
        ),
        Group("usual backward", _usual_step, 4, "The backward may be left out: it takes twice the forward then."),
        Group("no transfers", _plain_step, 4, "One stage sends nothing, and transfers may cost nothing.", _plain_steps),
        Group(
            "bad input",
            _step_error,
            7,
            "Bad input must raise ValueError: no layers, no stages, times that cannot be.",
            _step_errors,
        ),
    ),
    slips=(
        Slip("That is the work of one stage: the batch passes through all of them.", slip_one_stage),
        Slip(
            "The backward was taken to be as fast as the forward: it takes `backward_ratio` times as long.",
            slip_equal_backward,
        ),
        Slip("P stages have P-1 boundaries.", slip_one_transfer_more),
        Slip("The gradients have to come back: each boundary is crossed twice.", slip_one_way),
        Slip("That is the share of the time in which some stage works, not the average stage.", slip_somebody_works),
        Slip("Impossible arguments were accepted: no layers, no stages, negative times.", slip_any_step),
    ),
)

ITEMS = (STAGE_LAYERS, NAIVE_STEP)
