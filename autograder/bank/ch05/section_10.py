"""Section 5.10, Gradients of real models: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

batching = lazily("solutions.ch05.batching")


QUESTIONS = (
    Question(
        id="05-uneven-mean",
        kind="derive",
        title="Seven rows and three",
        section="5.10",
        bonus=True,
        ask="gradient of the joined batch",
        unit="",
        answer=lambda: batching.debug_loss([2.0, 4.0], [7, 3]),
        slips=(
            Slip("That is the plain mean: a rank with more rows weighs more.", value=(2.0 + 4.0) / 2),
            Slip("That is the sum over all rows: divide it by their number.", value=7 * 2.0 + 3 * 4.0),
            Slip("The counts were exchanged.", value=(3 * 2.0 + 7 * 4.0) / 10),
        ),
        derivation="The gradient of a mean over all $n$ rows is the mean of the ranks' gradients, weighted with their "
        "rows:\n\n$$g = \\sum_r \\frac{n_r}{n}\\,g_r$$\n\nwith $n_0 = 7$ and $g_0 = 2$ on one rank, "
        "$n_1 = 3$ and $g_1 = 4$ on the other.",
    ),
)
