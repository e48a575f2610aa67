"""Section 7.10, Expert parallelism: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="07-more-experts",
        kind="trace",
        title="Twice as many experts",
        section="7.10",
        options=(
            "nothing: as many rows leave for other ranks as before",
            "they double: there are twice as many experts to send to",
            "they halve: each expert is chosen half as often",
            "they quadruple: every expert exchanges rows with every other",
        ),
        correct=0,
        derivation="Each token sends one row to each of its two experts. Seven eighths of the experts are on other "
        "ranks, whether there are 64 of them or 128, so seven eighths of the rows travel.",
        slips={
            1: "A token visits two experts, no matter how many there are to choose from.",
            2: "Each expert gets half as many rows, but a rank now has twice as many experts.",
            3: "Experts exchange nothing. Tokens travel to their experts and back.",
        },
    ),
)
