"""Chapter 2: ``naive_step``, naive model parallelism."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import ms


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


EXERCISE = Build(
    "02 model_parallel.naive_step",
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
            "The utilization leaves out the transfers: a stage works less than 1/p of a step that has them.",
            edit=("compute / (stages * step_time)", "1 / stages"),
        ),
        Slip("p stages have p-1 boundaries.", edit=("stages - 1", "stages")),
        Slip(
            "The gradients have to come back: each boundary is crossed twice.",
            edit=("2 * (stages - 1)", "(stages - 1)"),
        ),
        Slip(
            "That is the share of the time in which some stage works, not the average stage.",
            edit=("compute / (stages * step_time)", "compute / (step_time)"),
        ),
    ),
    rights=(
        Right(
            "forward and backward apart",
            edit=(
                "compute = layers * layer_time * (1 + backward_ratio)",
                "compute = layers * layer_time + backward_ratio * layer_time * layers",
            ),
        ),
        Right(
            "the share from the waiting",
            edit=("compute / (stages * step_time)", "(1 - 2 * (stages - 1) * transfer_time / step_time) / stages"),
        ),
    ),
    promises=(
        Promise(
            "each boundary between stages is crossed once in each direction",
            edit=("2 * (stages - 1) *", "(stages - 1) *"),
        ),
        Promise(
            "useful compute over ``stages * step_time``", edit=("compute / (stages * step_time)", "compute / step_time")
        ),
    ),
)
