"""Section 4.3, Trees: its questions."""

from __future__ import annotations

from autograder.items import Order

QUESTIONS = (
    Order(
        id="04-tree-way",
        kind="trace",
        title="From rank 7 to rank 5",
        section="4.3",
        steps=(
            "rank 7 sends to rank 6",
            "rank 6 sends to rank 4",
            "rank 4 sends to rank 0",
            "rank 0 sends to rank 4",
            "rank 4 sends to rank 5",
        ),
        derivation="Rank 7's number climbs from child to parent until it is part of the total on rank 0. Rank 4 has "
        "added it on the way, but it does not have the numbers of ranks 0 to 3 yet, so it has nothing to hand to rank "
        "5 until the total comes back down.",
    ),
)
