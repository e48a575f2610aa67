"""Section 8.7, How many GPUs: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily

serving = lazily("solutions.ch08.serving")

QUESTIONS = (
    Choice(
        id="08-near-capacity",
        kind="trace",
        title="From 80 to 95 percent",
        section="8.7",
        options=(
            "throughput grows by about a fifth, and the time inside more than doubles",
            "throughput and time inside both grow by about a fifth",
            "throughput stays, because the server is full, and the time inside grows by about a fifth",
            "throughput falls, because requests disturb each other, and the time inside doubles",
        ),
        correct=0,
        derivation="A stable server gives as many tokens as are asked for: $0.95 / 0.8$ is about 1.19. Arrivals and "
        "lengths vary, and the less room is left, the longer a crowd takes to disappear.",
        slips={
            1: "If all requests came evenly and were equally long, the time inside would not grow at all.",
            2: "At 80 percent a fifth of the slot-steps is still free.",
            3: "Nothing in this server becomes slower with load: a step takes as long, and requests wait for a slot.",
        },
    ),
    Question(
        id="08-little-inflight",
        kind="derive",
        title="How many are inside",
        section="8.7",
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
)
