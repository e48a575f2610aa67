"""Section 2.2, A chain: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="02-staircase",
        kind="trace",
        title="A chain of eight ranks",
        section="2.2",
        options=(
            "0.7 ms: one hop after another",
            "0.3 ms: all receives run at once",
            "0.6 ms: twice the ranks, twice the time",
            "0.4 ms: twice the ranks, one more step",
        ),
        correct=0,
        derivation="The number crosses one hop after another, and eight ranks have seven hops between them. Calling "
        "`recv` early costs nothing and gains nothing: the receive ends when the number arrives.",
        slips={
            1: "A receive that begins early still ends only when its message comes, after all hops before it.",
            2: "Count the hops, not the ranks: four ranks have three hops, and eight ranks have seven.",
            3: "Logarithms belong to trees, where several ranks send at the same time. In a chain only one does.",
        },
    ),
)
