"""Section 3.10, Exact statistics from parts: its questions."""

from __future__ import annotations

from autograder.items import Choice, Estimate, Landmark, Slip, lazily

cost = lazily("solutions.ch03.collective_cost")

VOCABULARY, FLOAT32, SHARDS = 128_256, 4, 8


def _saving() -> float:
    """Bytes received when the row is gathered, over those of two all-reduces of one number."""
    row = cost.traffic("all_gather", VOCABULARY * FLOAT32, SHARDS, 0)[1]
    return row / (2 * cost.traffic("all_reduce", FLOAT32, SHARDS, 0)[1])


QUESTIONS = (
    Choice(
        id="03-token-loss",
        kind="derive",
        title="The loss per token",
        section="3.10",
        options=(
            "the log says 3.0; the loss per token is 2.2",
            "the log says 3.0, and that is the loss per token",
            "the log says 2.2: an all-reduce weighs each rank by its data",
            "the log says 3.0; the loss per token is 3.8",
        ),
        correct=0,
        derivation="Add up the losses and the tokens, then divide: "
        "$\\frac{900\\cdot 2.0 + 100\\cdot 4.0}{900 + 100}$. The mean of the two means gives 100 tokens as much "
        "weight as 900.",
        slips={
            1: "Nine tokens in ten have a mean of 2.0, so the mean of all cannot lie halfway.",
            2: "An all-reduce sees two numbers, 2.0 and 4.0. It knows nothing of the tokens behind them.",
            3: "The weights are swapped: rank 0 has 900 of the tokens.",
        },
    ),
    Estimate(
        id="03-softmax-bytes",
        title="Two numbers instead of a row",
        section="3.10",
        label="bytes received with the whole row, over bytes received with two numbers",
        unit="times",
        answer=_saving,
        factor=4.0,
        scale=(1.0, 1e7),
        landmarks=(
            Landmark(8.0, "8", "the number of ranks"),
            Landmark(1e3, "1,000", "a quarter of an hour against a second"),
            Landmark(1e6, "1,000,000", "twelve days against a second"),
        ),
        slips=(
            Slip(
                "That is the number of ranks. The row grows with the vocabulary and the two numbers do not.",
                value=float(SHARDS),
            ),
            Slip(
                "That is the size of the row in bytes. The two numbers are not free: they cost 14 bytes on average.",
                value=lambda: cost.traffic("all_gather", VOCABULARY * FLOAT32, SHARDS, 0)[1],
            ),
        ),
        derivation=(
            "A rank lacks seven eighths of the 128,256 numbers of the row. To all-reduce a single number, 8 ranks need "
            "7 messages to add it up and 7 to hand it out, $\\frac{14}{8}$ for each rank on average, and this happens "
            "twice: $4 \\cdot \\frac{7}{8}$. The seven eighths cancel, so the saving is a quarter of the vocabulary."
        ),
    ),
)
