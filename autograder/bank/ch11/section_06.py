"""Section 11.6, When the batch grows: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip
from rankzero.facts.hardware import H100_SXM

#: Tokens of a pass at which an H100 multiplies in bf16 as long as it reads the weights (chapter 8).
RIDGE = H100_SXM.peak_bf16 / H100_SXM.memory_bandwidth

QUESTIONS = (
    Estimate(
        id="11-free-until",
        title="Until when checking is free",
        section="11.6",
        label="sequences up to which checking three guesses each costs no more than a plain pass, by the formula",
        unit="sequences",
        answer=lambda: RIDGE / 4,
        factor=1.5,
        scale=(1, 1e4),
        landmarks=(
            Landmark(RIDGE, "ridge", "tokens of a pass at which multiplying takes as long as reading the weights"),
            Landmark(1000, "1,000", "sequences that a busy server may run at a time"),
        ),
        slips=(
            Slip("That is the ridge itself: each sequence has four tokens in the pass.", value=lambda: RIDGE),
            Slip("That multiplies by four: more tokens of a sequence reach the ridge sooner.", value=lambda: 4 * RIDGE),
        ),
        derivation="A round of three guesses puts four tokens of each sequence into the pass. The pass multiplies as "
        "long as it reads the weights at about 295 tokens.",
    ),
)
