"""Section 3.17, Exact means, arg-maxima and softmaxes: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Part, Question, Slip, lazily

cost = lazily("solutions.ch03.collective_cost")

VOCABULARY, FLOAT32, SHARDS = 128_256, 4, 8


def _saving() -> float:
    """Bytes received when the row is gathered, over those of two all-reduces of one number."""
    row = cost.traffic("all_gather", VOCABULARY * FLOAT32, SHARDS, 0)[1]
    return row / (2 * cost.traffic("all_reduce", FLOAT32, SHARDS, 0)[1])


QUESTIONS = (
    Question(
        id="03-mean-of-means",
        kind="derive",
        title="The mean of the means",
        section="3.17",
        bonus=True,
        parts=(
            Part(
                "true mean",
                "",
                lambda: (100 * 1.0 + 100 * 2.0 + 50 * 3.0) / 350,
                tolerance=1e-3,
                slips=(Slip("That is the mean of the means: the last rank has half as many values.", value=1.5),),
            ),
            Part(
                "mean of the means",
                "",
                lambda: (0.0 + 1.0 + 2.0 + 3.0) / 4,
                tolerance=1e-3,
                slips=(Slip("That is the true mean: averaging the averages weighs all ranks alike.", value=450 / 350),),
            ),
        ),
        derivation="The true mean weighs by count: $\\sum_r n_r m_r / \\sum_r n_r$. The mean of the means weighs all "
        "ranks alike: $\\frac{1}{N}\\sum_r m_r$. They agree only for equal counts.",
    ),
    Estimate(
        id="03-softmax-bytes",
        title="Two numbers instead of a row",
        section="3.17",
        bonus=True,
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
                "That is what a rank receives of the row, in bytes. The two numbers are not free: they cost 14 bytes "
                "on average.",
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
