"""Section 4.2, Ring again: its questions."""

from __future__ import annotations

from autograder.bank.ch04.quantities import ALPHA
from autograder.items import Estimate, Landmark, Slip
from rankzero.facts.units import GB, MB

QUESTIONS = (
    Estimate(
        id="04-small-big-world",
        title="When does a ring of 1,024 ranks stop waiting for start-ups?",
        section="4.2",
        label="size at which bytes and start-ups take equally long: 1,024 ranks, 50 GB/s, 5 µs per message",
        unit="MB",
        answer=lambda: 1024 * ALPHA * 50 * GB / MB,
        factor=1.5,
        scale=(1e-2, 1e5),
        landmarks=(
            Landmark(1.0, "1 MB", "the same for four ranks"),
            Landmark(20.0, "20 MB", "gradients of 10 million parameters, bf16"),
            Landmark(8e3, "8 GB", "the gradients of this section"),
        ),
        slips=(
            Slip(
                "That is the size of one message. The tensor is cut into 1,024 of them.",
                value=lambda: ALPHA * 50 * GB / MB,
            ),
            Slip(
                "That is the size for four ranks. More ranks cut the tensor into smaller messages.",
                value=1.0,
            ),
            Slip(
                "That adds up all 2,046 messages of a rank. A message carries a 1,024th of the tensor, and each chunk "
                "travels twice, once to add and once to hand out.",
                value=lambda: 2046 * ALPHA * 50 * GB / MB,
            ),
        ),
        derivation=(
            "Starting a message takes 5 µs, in which the link could carry 250 KB. So the two take equally long when a "
            "message carries 250 KB, as in the picture. But with 1,024 ranks a message is a 1,024th of the tensor."
        ),
    ),
)
