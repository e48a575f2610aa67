"""Chapter 07: the questions about the idle time of pipelines, and about what a stage holds."""

from __future__ import annotations

from collections.abc import Callable

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import ms

pipeline = lazily("solutions.ch07.pipeline")
split = lazily("solutions.ch02.model_parallel")


def share(stages: int, microbatches: int, chunks: int = 1) -> Callable[[], float]:
    """Idle time over the total, in percent."""
    return lambda: 100 * pipeline.bubble_fraction(stages, microbatches, chunks)


def overhead(stages: int, microbatches: int, chunks: int = 1) -> Callable[[], float]:
    """Idle time over the useful time, in percent."""
    return lambda: 100 * pipeline.bubble_overhead(stages, microbatches, chunks)


def first_backward(name: str) -> float:
    """When stage 0 of 4 starts its first backward: 8 micro-batches, forward 1, backward 2."""
    orders = pipeline.pipeline_schedule(name, 4, 8)
    return pipeline.simulate_schedule(orders, {"F": 1.0, "B": 2.0})["0B0"][0]


def peak(name: str, rank: int, ranks: int, microbatches: int, chunks: int = 1) -> int:
    return pipeline.peak_in_flight(pipeline.pipeline_schedule(name, ranks, microbatches, chunks)[rank])


def _naive(place: int, backward_ratio: float = 2.0) -> float:
    """Of 12 layers on 3 devices with one batch: the step's time in ms, and the busy share in percent."""
    time, busy = split.naive_step(12, 3, 10 * ms, 5 * ms, backward_ratio)
    return time / ms if place == 0 else 100 * busy


IDLE = (
    Question(
        id="07-naive-split",
        kind="derive",
        title="One batch through three stages",
        section="7.15",
        bonus=True,
        parts=(
            Part(
                "step time",
                "ms",
                lambda: _naive(0),
                slips=(
                    Slip("A backward takes twice a forward: two products for each.", value=lambda: _naive(0, 1.0)),
                    Slip("That leaves out the hops: two boundaries, both ways.", value=360),
                    Slip("That is compute shared by three: one stage works at a time.", value=120),
                ),
            ),
            Part(
                "busy share",
                "%",
                lambda: _naive(1),
                slips=(
                    Slip("A backward takes twice a forward: two products for each.", value=lambda: _naive(1, 1.0)),
                    Slip("That leaves out the hops.", value=100 / 3),
                    Slip("Only one of three stages works at a time: at most a third.", value=40),
                ),
            ),
        ),
        derivation="One stage works at a time, so all layers add up: $12 \\cdot (10 + 20)$ ms. Each of the two "
        "boundaries is crossed twice, 5 ms each. The busy share is the compute over three times the step.",
    ),
    Question(
        id="07-two-bubbles",
        kind="derive",
        title="One idle time, two numbers",
        section="7.3",
        parts=(
            Part(
                "idle over total",
                "%",
                share(4, 12),
                slips=(Slip("That is idle over useful time.", value=overhead(4, 12)),),
            ),
            Part(
                "idle over useful",
                "%",
                overhead(4, 12),
                slips=(Slip("That is idle over total time.", value=share(4, 12)),),
            ),
        ),
        derivation="A slot is one forward and one backward. Each rank has $m$ useful slots and $p - 1$ empty ones: "
        "$\\frac{p-1}{m+p-1}$ of the total, $\\frac{p-1}{m}$ of the useful time, with $p = 4$ and $m = 12$.",
    ),
    Question(
        id="07-4p-rule",
        kind="derive",
        title="Four micro-batches per stage",
        section="7.15",
        bonus=True,
        parts=(
            Part(
                "idle share, p = 4",
                "%",
                share(4, 16),
                slips=(
                    Slip("That is (p - 1)/m, an overhead.", value=overhead(4, 16)),
                    Slip("Only p - 1 slots are empty, not p.", value=20),
                    Slip("That is p/m.", value=25),
                ),
            ),
            Part(
                "limit for large p",
                "%",
                share(10**9, 4 * 10**9),
                slips=(Slip("That is the limit of the overhead, (p - 1)/(4 p).", value=25),),
            ),
        ),
        derivation="With $m = 4p$ the fraction is $\\frac{p-1}{5p-1}$, which grows with $p$ towards the ratio of its "
        "leading terms.",
    ),
)

MEMORY = (
    Choice(
        id="07-1f1b-gain",
        kind="trace",
        title="What 1F1B changes",
        section="7.16",
        bonus=True,
        options=(
            "the idle share stays the same, and stage 0 holds at most 4 micro-batches instead of 16",
            "the idle share falls from 3/19 to 3/16, and the memory stays the same",
            "both fall: the idle share to 3/16, and stage 0 holds 4 micro-batches",
            "nothing: it is GPipe in another order",
        ),
        correct=0,
        derivation="Both schedules leave $p - 1$ slots of every rank empty and end at $(m + p - 1)(t_F + t_B)$. 1F1B "
        "starts a backward as soon as it can, so stage $i$ holds at most $\\min(m, p - i)$ micro-batches.",
        slips={
            1: "3/16 is idle over useful time, for both schedules; and memory is what changes.",
            2: "3/16 is idle over useful time, for both schedules: the step takes as long as before.",
            3: "The step takes as long, but backwards come earlier and free activations.",
        },
    ),
    Choice(
        id="07-in-flight",
        kind="trace",
        title="What each stage holds",
        section="7.4",
        options=(
            "8, 6, 4 and 2 GB, from the first stage to the last",
            "8 GB on every stage",
            "6, 4, 2 and 0 GB, from the first stage to the last",
            "24 GB on every stage",
        ),
        correct=0,
        derivation="Stage $i$ runs $p - 1 - i$ forwards to warm up and one more before its first backward: $p - i$ "
        "micro-batches of 2 GB each, with $p = 4$.",
        slips={
            1: "Only the first stage holds four micro-batches. The last one goes backward after its first forward.",
            2: "That is the warm-up alone. One more forward comes before the first backward.",
            3: "That is GPipe, which holds all 12 micro-batches.",
        },
    ),
    Question(
        id="07-first-backward",
        kind="trace",
        title="The first backward of stage 0",
        section="7.16",
        bonus=True,
        parts=(
            Part(
                "GPipe",
                "units of time",
                lambda: first_backward("gpipe"),
                slips=(
                    Slip(
                        "Right after its last forward stage 0 has nothing to send back: the loss is on the last.",
                        value=8,
                    ),
                    Slip(
                        "The last stage has finished its forwards then; three backwards come before stage 0's.",
                        value=11,
                    ),
                    Slip("That is 1F1B's.", value=lambda: first_backward("1f1b")),
                ),
            ),
            Part(
                "1F1B",
                "units of time",
                lambda: first_backward("1f1b"),
                slips=(
                    Slip("That is when stage 0 has run its first 4 forwards: the gradient is not there yet.", value=4),
                    Slip("That is GPipe's.", value=lambda: first_backward("gpipe")),
                ),
            ),
        ),
        derivation="With GPipe the last stage ends its last forward after $m + p - 1$ units; its first backward and "
        "those of two more stages follow, 2 units each. With 1F1B the first micro-batch goes through 4 forwards, then "
        "through three backwards.",
    ),
    Question(
        id="07-fixed-batch",
        kind="design",
        title="A batch of 512 on four stages",
        section="7.16",
        bonus=True,
        parts=(
            Part(
                "m",
                "micro-batches",
                lambda: min((4, 8, 16, 32, 64), key=lambda m: pipeline.bubble_fraction(4, m)),
                tolerance=0,
                slips=(
                    Slip("That idles 3/7 of the time.", value=4),
                    Slip("That is the rule m = 4p; more micro-batches idle less, and hold less.", value=16),
                ),
            ),
            Part(
                "on stage 0 with 1F1B",
                "samples",
                lambda: 512 // 64 * peak("1f1b", 0, 4, 64),
                tolerance=0,
                slips=(
                    Slip("That is GPipe's, whatever m is: all micro-batches of the batch.", value=512),
                    Slip("That is one micro-batch: stage 0 holds p of them.", value=8),
                    Slip("That is the number of micro-batches: count the samples in those that are held.", value=64),
                ),
            ),
        ),
        derivation="The idle share falls with $m$. A micro-batch has $512/m$ samples, and stage 0 holds $p$ of them: "
        "$p \\cdot 512 / m$ falls with $m$, too. What limits $m$ is how small a micro-batch keeps the kernels busy.",
    ),
)

ITEMS = (*IDLE, *MEMORY)
