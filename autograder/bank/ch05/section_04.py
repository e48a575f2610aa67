"""Section 5.4, Accumulation: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="05-sync-every",
        kind="trace",
        title="Reduced four times",
        section="5.4",
        options=(
            "the same: averaging what is already equal on all ranks does not change it",
            "too small: the first micro-batch is divided by the number of ranks in every pass",
            "too large: the first micro-batch is added up over the ranks once more in every pass",
            "different on every rank: later micro-batches are added to it after the reduction",
        ),
        correct=0,
        derivation="After the first pass every rank holds the average $G$ of the first micro-batches. In the second "
        "pass rank $r$ adds its own $g_r$, and the reduction averages $G + g_r$ over the ranks. The average of $G$ is "
        "$G$. So the gradient is right, and all reductions but the last were unnecessary.",
        slips={
            1: "They are divided by the number of ranks, but also added up over them: equal numbers stay equal.",
            2: "DDP averages: it adds up and divides. The average of equal numbers is that number.",
            3: "The last reduction comes after the last micro-batch, so all ranks end with the same average.",
        },
    ),
)
