"""Section 3.15, More about time: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB, ms, us

cost = lazily("solutions.ch03.collective_cost")


QUESTIONS = (
    Question(
        id="03-ring-ms",
        kind="derive",
        title="Time of a ring",
        section="3.15",
        bonus=True,
        ask="time",
        unit="ms",
        answer=lambda: cost.ring_all_reduce_time(2 * GB, 8, 50 * GB) / ms,
        slips=(
            Slip("That takes 50 GB/s for the sum of both directions: it is the rate of each.", value=140.0),
            Slip("That is one trip around the ring: an all-reduce makes two.", value=35.0),
            Slip("That is 2 S/B: on each trip a rank sends seven of the eight chunks.", value=80.0),
        ),
        derivation="All links are busy in every step, so the time is the bytes that one rank sends over one link's "
        "bandwidth:\n\n$$T = \\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$$\n\nwith $N = 8$, $S = 2$ GB and $B = 50$ GB/s.",
    ),
    Question(
        id="03-duplex",
        kind="derive",
        title="A data sheet that adds both directions",
        section="3.15",
        bonus=True,
        ask="time",
        unit="ms",
        answer=lambda: cost.ring_all_reduce_time(2 * GB, 8, 25 * GB) / ms,
        slips=(
            Slip("That takes the sum of both directions for one.", value=70.0),
            Slip("That doubles the figure, which has to be halved.", value=35.0),
        ),
        derivation="The ring sends in one direction of each link: $B$ is half of the summed figure. Then "
        "$T = \\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$ with $N = 8$ and $S = 2$ GB.",
    ),
    Question(
        id="03-ring-latency-share",
        kind="derive",
        title="A start-up for every step",
        section="3.15",
        bonus=True,
        parts=(
            Part(
                "time",
                "ms",
                lambda: cost.ring_all_reduce_time(2 * GB, 8, 50 * GB, 5 * us) / ms,
                tolerance=1e-4,
                slips=(
                    Slip("That is one start-up for all 14 steps.", value=70.005),
                    Slip("That leaves the start-ups out.", value=70.0),
                ),
            ),
            Part(
                "of it latency",
                "µs",
                lambda: cost.ring_all_reduce_time(0, 8, 50 * GB, 5 * us) / us,
                tolerance=1e-3,
                slips=(
                    Slip("That is one step: there are 2(N-1).", value=5.0),
                    Slip("That is one trip: there are two.", value=35.0),
                    Slip("A trip has N-1 steps, not N.", value=80.0),
                ),
            ),
        ),
        derivation="Every one of the $2(N-1)$ steps starts a message:\n\n"
        "$$T = 2(N-1)\\left(\\alpha + \\frac{S}{N B}\\right).$$\n\n"
        "Of this, $2(N-1)\\,\\alpha$ is latency. Here $N = 8$, $S = 2$ GB, $B = 50$ GB/s and $\\alpha = 5$ µs.",
    ),
)
