"""Chapter 02: layers on stages, and the time of a step in which one stage works at a time: two build items."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip
from rankzero.facts.units import ms


def _uneven_of_each(rng: Random) -> list[Case]:
    """Splits with a remainder; the stage is at either end or in the middle."""
    stages = rng.randint(4, 32)
    size, longer = rng.randint(2, 9), rng.randint(2, stages - 2)
    asked = (0, longer - 1, longer, stages - 1, rng.randrange(stages))
    return [Case(args=(stages * size + longer, stages, stage)) for stage in asked]


def _even(rng: Random) -> Case:
    stages = rng.randint(2, 32)
    return Case(args=(stages * rng.randint(2, 9), stages, rng.randrange(stages - 1)))


def _few_layers(rng: Random) -> list[Case]:
    """More stages than layers; one stage; no layers."""
    layers = rng.randint(2, 9)
    stages = layers + rng.randint(2, 9)
    few = [(layers, stages, layers - 1), (layers, stages, layers), (layers, stages, stages - 1)]
    return [Case(args=args) for args in (*few, (layers, 1, 0), (0, stages, 0))]


STAGE_LAYERS = Build(
    id="02-stage-layers",
    module="model_parallel",
    function="stage_layers",
    grade="call",
    section="2.15",
    topic="stages",
    bonus=True,
    cases=(
        *(Case(args=(10, 4, stage)) for stage in range(4)),
        Case(args=(3, 4, 3)),
        Case(args=(126, 16, 13)),  # Llama 3 405B
        Case(args=(126, 16, 14)),
    ),
    groups=(
        listed("with a rest", _uneven_of_each, "The first stages take one layer more each, until none is left."),
        Group("without a rest", _even, 3, "Every stage has as many layers, and no layer is on two stages."),
        listed("few layers", _few_layers, "There may be one stage, no layers, or more stages than layers."),
    ),
    slips=(
        Slip(
            "The layers that are left over are on no stage.",
            edits=(
                ("start = stage * size + min(stage, longer)", "size = layers // stages"),
                ("return range(start", "return range(stage * size"),
                ("start + size + (1 if stage < longer else 0)", "(stage + 1) * size"),
            ),
        ),
        Slip(
            "All layers that are left over are on the last stage: spread them.",
            edits=(
                ("start = stage * size + min(stage, longer)", "start = stage * size"),
                ("(1 if stage < longer else 0)", "(longer if stage == stages - 1 else 0)"),
            ),
        ),
        Slip(
            "Two neighboring stages share a layer: a range ends before its stop.",
            edit=(
                "start + size + (1 if stage < longer else 0)",
                "min(start + size + (1 if stage < longer else 0) + 1, layers)",
            ),
        ),
        Slip(
            "Every stage was rounded up, so that the last ones have too few layers.",
            edit=(
                (
                    "    size, longer = divmod(layers, stages)\n"
                    "    start = stage * size + min(stage, longer)\n"
                    "    return range(start, start + size + (1 if stage < longer else 0))"
                ),
                (
                    "    size = -(-layers // stages)\n"
                    "    return range(min(stage * size, layers), min((stage + 1) * size, layers))"
                ),
            ),
        ),
        Slip(
            "The longer stages are spread or come last: the first ones take one layer more.",
            edits=(
                ("return range(start", "return range(stage * layers // stages"),
                ("start + size + (1 if stage < longer else 0)", "(stage + 1) * layers // stages"),
            ),
        ),
    ),
)


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


NAIVE_STEP = Build(
    id="02-naive-step",
    module="model_parallel",
    function="naive_step",
    grade="call",
    section="2.15",
    topic="naive model parallelism",
    bonus=True,
    cases=(
        Case(args=(12, 3, 10 * ms, 5 * ms)),
        Case(args=(12, 3, 10 * ms, 5 * ms, 1.0)),
        Case(args=(80, 8, 2 * ms, 0.1 * ms)),
        Case(args=(12, 1, 10 * ms, 5 * ms)),
        Case(args=(32, 4, 1 * ms, 0.0)),
    ),
    groups=(
        Group(
            "any backward",
            _step,
            4,
            "All layers follow each other, forward and back, and each boundary is crossed twice; the utilization is "
            "the time of the layers over `stages` times the time of the step.",
        ),
        Group("usual backward", _usual_step, 4, "The backward may be left out: it takes twice the forward then."),
        listed("no transfers", _plain_steps, "One stage sends nothing, and transfers may cost nothing."),
    ),
    slips=(
        Slip(
            "That is the work of one stage: the batch passes through all of them.",
            edit=("step_time = compute", "step_time = compute / stages"),
        ),
        Slip(
            "The backward was taken to be as fast as the forward: it takes `backward_ratio` times as long.",
            edits=(("layers * layer_time", "2 * layers"), ("1 + backward_ratio", "layer_time")),
        ),
        Slip(
            "The utilization leaves out the transfers: a stage works less than 1/P of a step that has them.",
            edit=("compute / (stages * step_time)", "1 / stages"),
        ),
        Slip("P stages have P-1 boundaries.", edit=("stages - 1", "stages")),
        Slip(
            "The gradients have to come back: each boundary is crossed twice.",
            edit=("2 * (stages - 1)", "(stages - 1)"),
        ),
        Slip(
            "That is the share of the time in which some stage works, not the average stage.",
            edit=("compute / (stages * step_time)", "compute / (step_time)"),
        ),
    ),
)

ITEMS = (STAGE_LAYERS, NAIVE_STEP)
