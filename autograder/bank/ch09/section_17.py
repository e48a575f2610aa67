"""Section 9.17, The radix tree: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="09-which-evicted",
        kind="trace",
        title="Two evictions",
        section="9.17",
        options=("B, then C", "A, then B", "C, then B", "B, then A"),
        correct=0,
        derivation="A match refreshes what it touches. After it, B was touched longest ago, then C, then A; all three "
        "are leaves.",
        slips={
            1: "A is the oldest insert, but the match has refreshed it.",
            2: "C was touched after B: the least recently used goes first.",
            3: "The match has refreshed A: it is the last to go.",
        },
        bonus=True,
    ),
)
