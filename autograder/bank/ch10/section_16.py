"""Section 10.16, Sizes of graphs: its questions."""

from __future__ import annotations

from autograder.bank.ch10.shared import POWERS, PUBLISHED
from autograder.items import Question, Slip, lazily

scheduling = lazily("solutions.ch10.scheduling")


QUESTIONS = (
    Question(
        id="10-pad-5",
        kind="derive",
        title="A batch of five",
        section="10.16",
        bonus=True,
        ask="share of padded rows",
        unit="",
        answer=lambda: scheduling.padding_waste([5], [1, 2, 4, 8, 16]),
        slips=(
            Slip("That is padded over useful rows, 3 over 5.", value=0.6),
            Slip("It does not run eagerly: it is padded to 8.", value=0),
            Slip("That is the share of useful rows.", value=0.625),
            Slip("That is the number of padded rows; a share of all that run is wanted.", value=3),
        ),
        derivation="The smallest size that fits is 8: $(8-5)/8$.",
    ),
    Question(
        id="10-pow2-waste",
        kind="derive",
        title="Powers of two",
        section="10.16",
        bonus=True,
        ask="share of padded rows",
        unit="",
        answer=lambda: scheduling.padding_waste(range(1, 257), POWERS),
        tolerance=0.02,
        slips=(
            Slip("That is the worst case, a batch just above a power of two.", value=0.5),
            Slip(
                "That is padded over useful rows.",
                value=lambda: 1 / (1 - scheduling.padding_waste(range(1, 257), POWERS)) - 1,
            ),
            Slip(
                "A mean of shares weighs a batch of 3 like one of 200: divide sum by sum.",
                value=lambda: sum(scheduling.padding_waste([batch], POWERS) for batch in range(1, 257)) / 256,
            ),
        ),
        derivation="Batches $2^{k-1}+1$ to $2^k$ run as $2^k$: $2^{k-1}$ batches of $2^k$ rows. All rows are "
        "$1 + \\sum_k 2^{2k-1}$, the useful ones $256 \\cdot 257 / 2$.",
    ),
    Question(
        id="10-sizes-count",
        kind="derive",
        title="How many graphs",
        section="10.16",
        bonus=True,
        ask="graphs",
        unit="",
        answer=lambda: len(PUBLISHED),
        tolerance=0,
        slips=(
            Slip("1, 2 and 4 are captured too.", value=32),
            Slip("Count both ends: 8 and 256.", value=34),
        ),
        derivation="Three small ones, and the multiples of 8 from 8 to 256.",
    ),
)
