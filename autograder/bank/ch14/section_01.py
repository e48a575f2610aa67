"""Section 14.1, Two machines in one loop: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.models import LLAMA3_70B

profile = lazily("solutions.ch14.rlhf_profile")


def _writing(gpus: int) -> float:
    """Seconds in which so many H100s write 512 answers of 8,192 tokens."""
    return profile.phase_seconds(LLAMA3_70B, gpus, profile.Iteration(512, 100, 8192, critic=False))["generate"]


QUESTIONS = (
    Estimate(
        id="14-decode-guess",
        title="A quarter of the GPUs",
        section="14.1",
        label="time in which 64 GPUs write 512 answers of 8,192 tokens",
        unit="s",
        answer=lambda: _writing(64),
        factor=1.15,
        scale=(1.0, 10_000.0),
        landmarks=(
            Landmark(49.9, "50 s", "all 256 GPUs"),
            Landmark(200.0, "200 s", "four times as long"),
        ),
        slips=(
            Slip("That lets all of a token's time grow. A copy reads its weights once, for however many.", value=199.6),
            Slip("Each copy has four times as many answers now, and reads all their keys and values.", value=49.9),
        ),
        derivation="A copy has 64 answers instead of 16. For one token it reads the weights in 5.3 ms, as before, and "
        "the caches in 3.3 ms instead of 0.8: 8,192 times 8.5 ms.",
    ),
)
