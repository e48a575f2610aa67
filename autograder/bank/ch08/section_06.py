"""Section 8.6, Little's law: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily

serving = lazily("solutions.ch08.serving")


QUESTIONS = (
    Question(
        id="08-little-inflight",
        kind="derive",
        title="How many are inside",
        section="8.6",
        parts=(
            Part(
                "in flight",
                "requests",
                lambda: 500 * 1.0448,
                0.01,
                (Slip("Multiply rate and time.", value=lambda: 500 / 1.0448),),
            ),
            Part(
                "replicas",
                "replicas",
                lambda: serving.replicas_needed(500, 1.0448, 0.0, 1, 64),
                0.0,
                (
                    Slip("That is one request per replica; each has 64 slots.", value=523),
                    Slip("Rounding down leaves requests without a slot.", value=8),
                ),
            ),
        ),
        derivation="$L = \\lambda W$: 500 per second times 1.0448 s. Divide by 64, round up.",
    ),
    Question(
        id="08-little-rate",
        kind="derive",
        title="Throughput from what is inside",
        section="8.6",
        ask="throughput",
        unit="requests/s",
        answer=lambda: 64 / 1.6,
        tolerance=1e-6,
        slips=(
            Slip("Divide: many inside for a long time is a low rate.", value=lambda: 64 * 1.6),
            Slip("That is the time over the number.", value=lambda: 1.6 / 64),
        ),
        derivation="$\\lambda = L / W$.",
    ),
)
