"""Section 2.4, Rings of blocking calls: its questions."""

from __future__ import annotations

from autograder.bank.ch02.quantities import rounds
from autograder.items import Question, Slip

QUESTIONS = (
    Question(
        id="02-one-reversed",
        kind="derive",
        title="One rank receives first",
        section="2.4",
        ask="until all have finished",
        unit="rounds",
        answer=lambda: rounds(8, first_receiver=True),
        tolerance=0,
        slips=(
            Slip("Two rounds is what even and odd ranks need, whose pairs work side by side.", value=2),
            Slip("That leaves out the message of rank 0 itself, which comes last.", value=7),
            Slip("One rank that receives first is enough to break the cycle: all of them finish.", value=0),
            Slip(
                "Everybody but rank 0 is in a send. Only the send that rank 0 is waiting for can complete.",
                value=1,
            ),
        ),
        derivation="Only rank 0 receives, so in round 1 only rank 7 delivers its message. Then rank 7 receives, "
        "which lets rank 6 send, and so on down to rank 1; rank 0 sends last. One message per round makes as many "
        "rounds as ranks.",
    ),
)
