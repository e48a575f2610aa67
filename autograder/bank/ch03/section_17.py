"""Section 3.17, Exact means, arg-maxima and softmaxes: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip

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
)
