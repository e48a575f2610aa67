"""Section 11.16, A batch by the weights alone: its questions."""

from __future__ import annotations

from autograder.bank.ch11.quantities import TOKENS, speed, tokens
from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.hardware import H100_SXM

costs = lazily("solutions.ch11.speculation_costs")

#: Sequences at which an H100 in bf16 computes as long as it reads weights, keys and values left aside (chapter 8).
RIDGE = H100_SXM.peak_bf16 / H100_SXM.memory_bandwidth

QUESTIONS = (
    Question(
        id="11-batch-256",
        kind="derive",
        title="A batch of 256",
        section="11.16",
        bonus=True,
        ask="speed-up",
        unit="times",
        answer=lambda: costs.batched_speedup(0.8, 4, 0.05, 256, RIDGE),
        slips=(
            Slip(
                "The batch is ignored: 1,280 positions are far above the ridge.",
                value=lambda: speed(0.8, 4, 0.05),
            ),
            Slip(
                "Verification is charged as five passes: below the ridge a pass costs more than its products.",
                value=lambda: speed(0.8, 4, 0.05, 5),
            ),
            Slip(
                "A sequence has k + 1 positions in the pass, not k.",
                value=lambda: speed(0.8, 4, 0.05, 256 * 4 / RIDGE),
            ),
            Slip("The draft's cost is missing.", value=lambda: costs.batched_speedup(0.8, 4, 0, 256, RIDGE)),
        ),
        derivation="A plain pass is below the ridge and costs 1. Verification has $256 \\cdot 5$ positions and costs "
        "their ratio to the ridge. " + TOKENS + " Divide by $4 \\cdot 0.05 + v$.",
    ),
    Question(
        id="11-break-even",
        kind="derive",
        title="Where speculation breaks even",
        section="11.16",
        bonus=True,
        ask="batch",
        unit="sequences",
        answer=lambda: costs.break_even_batch(0.8, 4, 0.05, RIDGE),
        slips=(
            Slip("There verification begins to cost more; it still pays for a while.", value=lambda: RIDGE / 5),
            Slip("That is the ridge itself: verification reaches it five times earlier.", value=lambda: RIDGE),
            Slip(
                "The draft's cost is missing.",
                value=lambda: tokens(0.8, 4) * RIDGE / 5,
            ),
            Slip(
                "A sequence has k + 1 positions in the pass, not k.",
                value=lambda: (tokens(0.8, 4) - 0.2) * RIDGE / 4,
            ),
        ),
        derivation="The speed-up is 1 when $k c + v$ equals the tokens of a pass. There $v = B (k+1)/B^*$.",
    ),
    Question(
        id="11-design-serve",
        kind="design",
        title="A service with a batch of 128",
        section="11.16",
        bonus=True,
        parts=(
            Part(
                "best k",
                "drafts",
                lambda: costs.best_batched(0.8, 0.05, 128, RIDGE)[0],
                tolerance=0,
                slips=(
                    Slip("The batch is ignored: that is best for few sequences.", value=8),
                    Slip("That is best at a batch of 64.", value=4),
                    Slip("Speculation still helps at this batch.", value=0),
                ),
            ),
            Part(
                "speed-up",
                "times",
                lambda: costs.best_batched(0.8, 0.05, 128, RIDGE)[1],
                slips=(
                    Slip(
                        "The batch is ignored: verification costs more than a plain pass.",
                        value=lambda: speed(0.8, 8, 0.05),
                    ),
                    Slip(
                        "That is k = 4: verification costs more than it needs to.",
                        value=lambda: costs.batched_speedup(0.8, 4, 0.05, 128, RIDGE),
                    ),
                ),
            ),
        ),
        derivation=TOKENS + " Divide by $k c + \\max(1, 128 (k+1)/B^*)$ and compare $k = 0, \\dots, 8$.",
    ),
)
