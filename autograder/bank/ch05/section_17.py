"""Section 5.17, No barrier: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily

batching = lazily("solutions.ch05.batching")


QUESTIONS = (
    Question(
        id="05-staleness",
        kind="derive",
        title="Eight workers in turn",
        section="5.17",
        bonus=True,
        parts=(
            Part(
                "largest learning rate",
                "",
                lambda: batching.largest_stable_rate(7),
                slips=(
                    Slip("That divides the synchronous limit by the workers.", value=2 / 8),
                    Slip("That divides the synchronous limit by the delay.", value=2 / 7),
                    Slip(
                        "That is a delay of 8: the eighth worker's gradient is seven updates old.",
                        value=lambda: batching.largest_stable_rate(8),
                    ),
                ),
            ),
            Part(
                "times less than synchronous SGD",
                "x",
                lambda: batching.largest_stable_rate(0) / batching.largest_stable_rate(7),
                slips=(
                    Slip("That is the number of workers.", value=8),
                    Slip("That is the delay.", value=7),
                    Slip(
                        "That is a delay of 8: the eighth worker's gradient is seven updates old.",
                        value=lambda: batching.largest_stable_rate(0) / batching.largest_stable_rate(8),
                    ),
                ),
            ),
        ),
        derivation="With delay $\\tau$ and curvature $\\lambda = 1$ the iteration converges below\n\n$$\\eta\\lambda "
        "= 2\\sin\\frac{\\pi}{2(2\\tau+1)} .$$\n\nEach of 8 workers in turn pushes after the 7 others: $\\tau = 7$. "
        "Synchronous SGD has $\\tau = 0$.",
    ),
)
