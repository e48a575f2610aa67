"""Section 7.16, Four schedules, and what they hold: its questions."""

from __future__ import annotations

from autograder.bank.ch07.quantities import peak
from autograder.items import Choice, Part, Question, Slip, lazily

pipeline = lazily("solutions.ch07.pipeline")


def first_backward(name: str) -> float:
    """When stage 0 of 4 starts its first backward: 8 micro-batches, forward 1, backward 2."""
    orders = pipeline.pipeline_schedule(name, 4, 8)
    return pipeline.simulate_schedule(orders, {"F": 1.0, "B": 2.0})["0B0"][0]


QUESTIONS = (
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
