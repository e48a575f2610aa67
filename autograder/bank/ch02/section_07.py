"""Section 2.7, The pipelined relay: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.units import GB, MB, us

cost = lazily("solutions.ch02.alpha_beta")


def _best() -> int:
    return cost.best_chunks(64 * MB, 3, 50 * GB, 5 * us)


QUESTIONS = (
    Estimate(
        id="02-relay-guess",
        title="Into how many chunks?",
        section="2.7",
        label="the fastest number of chunks: 64 MB over 3 hops, 50 GB/s, start-up 5 µs",
        unit="chunks",
        answer=_best,
        factor=2,
        scale=(1, 1e5),
        landmarks=(
            Landmark(1, "1", "the whole tensor in one piece"),
            Landmark(3, "3", "one chunk for each hop"),
            Landmark(1000, "1,000", "64 KB each"),
        ),
        slips=(
            Slip("In one piece only one link works at a time.", value=1),
            Slip(
                "With one chunk per hop, all links work for a single step of five. In the other steps, half of them "
                "idle on average.",
                value=3,
            ),
            Slip(
                "A chunk of 250 KB spends half of its time starting up. Chunks should be larger than that.",
                value=lambda: 64 * MB / (5 * us * 50 * GB),
            ),
            Slip(
                "Now the chunks are so small that nearly all of the time goes into starting them.",
                value=lambda: 10 * 64 * MB / (5 * us * 50 * GB),
            ),
        ),
        derivation="The bytes of the whole tensor take 1,280 µs per hop, so each of $k$ chunks takes $5 + 1280 / k$ "
        "µs. The last chunk leaves rank 0 after $k$ steps and then has two more hops to go: $k + 2$ steps. Two parts "
        "of their time depend on $k$: the start-ups, $5 k$ µs, and the bytes in the last two hops, $2 \\cdot 1280 / "
        "k$ µs. The sum is smallest where the two are equal, at $k = \\sqrt{512}$, about 23.",
    ),
)
