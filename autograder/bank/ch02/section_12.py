"""Section 2.12, A referee for blocking calls: its questions."""

from __future__ import annotations

from autograder.bank.ch02.quantities import rounds
from autograder.items import Choice, Question, Slip

QUESTIONS = (
    Choice(
        id="02-recv-recv",
        kind="trace",
        title="Both receive first",
        section="2.12",
        bonus=True,
        options=(
            "a deadlock: both wait in their receive",
            "both finish: every message is buffered",
            "small messages arrive, large ones do not",
            "one of them finishes",
        ),
        correct=0,
        derivation="A receive needs a message that was sent. Both sends come after the receives, so no message is ever "
        "sent, and a buffer would have nothing to hold.",
        slips={
            1: "A buffer helps those who send, and here nobody gets as far as sending.",
            2: "No message is sent at all, of whatever size.",
            3: "Both ranks run the same program, so whatever happens to one happens to the other.",
        },
    ),
    Question(
        id="02-parity-odd",
        kind="derive",
        title="An odd ring, even ranks first",
        section="2.12",
        bonus=True,
        ask="until all have finished",
        unit="rounds",
        answer=lambda: rounds(7, first_receiver=False),
        tolerance=0,
        slips=(
            Slip(
                "In a ring of 7, ranks 6 and 0 are neighbors and both even, so one of them waits for a round.",
                value=2,
            ),
            Slip(
                "There is no cycle of waits: rank 6 waits for rank 0, which gets to its receive in the end.",
                value=0,
            ),
            Slip(
                "That many rounds are needed if a single rank receives first. Here pairs work side by side.",
                value=7,
            ),
        ),
        derivation="Round 1: ranks 0, 2 and 4 send to 1, 3 and 5. Rank 6 waits, because rank 0 is still in its own "
        "send. Round 2: ranks 1 and 3 send to 2 and 4, and rank 0 receives from rank 6. Round 3: rank 5, which had to "
        "wait for rank 6 to reach its receive, sends last.",
    ),
)
