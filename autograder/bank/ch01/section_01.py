"""Section 1.1, Four processes that talk: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="01-nobody-first",
        kind="trace",
        title="When rank 0 waits as well",
        section="1.1",
        options=(
            "nothing is printed: every rank waits",
            "rank 0 gets an error, because no rank -1 exists",
            "rank 0 waits, and ranks 1 to 3 print as before",
            "the same four lines are printed, only later",
        ),
        correct=0,
        derivation="The rank before rank 0 is taken modulo the number of ranks, so it is rank 3. Follow the waits: 0 "
        "waits for 3, 3 for 2, 2 for 1, and 1 for 0. Ranks 0 to 2 would send after their receive, and no receive ever "
        "ends.",
        slips={
            1: "$(0 - 1) \\bmod 4$ is 3, a rank that exists: the call is valid, and it waits.",
            2: "Rank 1 waits for rank 0's message, and rank 0 sends only after its own receive.",
            3: "Somebody has to send first, and now nobody does.",
        },
    ),
)
