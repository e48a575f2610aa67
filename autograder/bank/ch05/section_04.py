"""Section 5.4, Accumulation: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import ms

batching = lazily("solutions.ch05.batching")


def _step(sync_every: bool) -> float:
    """Seconds of a step of 64 micro-steps of 120 ms with reductions of 50 ms."""
    return batching.accumulated_step_time(64, 120 * ms, 50 * ms, sync_every=sync_every)


def _left(sync_every: bool) -> float:
    return 2048 / _step(sync_every)


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
        "$G$. So the gradient is right, and all reductions but the last were paid for nothing.",
        slips={
            1: "It is divided by the number of ranks after it has been added up over the ranks: equal numbers stay.",
            2: "DDP averages: it adds up and divides. The average of equal numbers is that number.",
            3: "The last reduction comes after the last micro-batch, so all ranks end with the same average.",
        },
    ),
    Question(
        id="05-accumulate",
        kind="derive",
        title="A batch of 2,048",
        section="5.4",
        parts=(
            Part(
                "micro-steps",
                "",
                lambda: batching.accumulation_steps(2048, 4, 8),
                tolerance=0,
                slips=(
                    Slip("That forgets the 8 ranks.", value=2048 / 4),
                    Slip("That forgets the micro-batch.", value=2048 / 8),
                ),
            ),
            Part(
                "saved by reducing once",
                "ms",
                lambda: (_step(True) - _step(False)) / ms,
                slips=(Slip("One reduction remains.", value=64 * 50),),
                tolerance=1e-3,
            ),
            Part(
                "sequences per second when reduced once",
                "1/s",
                lambda: _left(False),
                slips=(
                    Slip("That reduces in every micro-step.", value=lambda: _left(True)),
                    Slip("That leaves the reduction out.", value=2048 / (64 * 0.12)),
                ),
                tolerance=1e-3,
            ),
        ),
        derivation="One micro-step takes 4 sequences on each of 8 ranks. With $k$ of them, of $c = 120$ ms each, and "
        "reductions of $s = 50$ ms, a step takes $k c + s$ or $k (c + s)$, and trains on 2,048 sequences.",
    ),
)
