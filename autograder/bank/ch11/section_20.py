"""Section 11.20, Brackets without bound: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-which-fit",
        kind="trace",
        title="What an automaton can decide",
        section="11.20",
        bonus=True,
        options=(
            "All but the nested JSON.",
            "All four.",
            "Only the e-mail address and the date.",
            "Only the date.",
        ),
        correct=0,
        slips={
            1: "Brackets nested without bound must be counted, and an automaton counts no further than its states.",
            2: "A list of at most three numbers has a bound: write out the four lengths.",
            3: "Such an address may be long, but nothing in it must be counted: a loop does.",
        },
        derivation="A finite automaton remembers one of finitely many states. What is bounded can be written out, "
        "what repeats is a loop. To match closing brackets with opening ones it would have to remember their number: "
        "no bound.",
    ),
)
