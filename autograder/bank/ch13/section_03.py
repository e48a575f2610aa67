"""Section 13.3, Write, then look again: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-unshifted",
        kind="debug",
        title="One place too far",
        section="13.3",
        options=(
            "It runs, and every number is the log-probability of another event.",
            "It stops: there are no logits for the last token.",
            "It runs, and the numbers are the right ones, one place late.",
            "It runs, and only the first word's number is wrong.",
        ),
        correct=0,
        derivation="There are logits after every token, so slices of both have the same length and nothing is out of "
        "range. The logits after a word are asked how likely that same word is as the next one: a number, and a wrong "
        "one at every place.",
        slips={
            1: "There are: a pass gives logits after every token; those after the last one predict what comes next.",
            2: "The row of tokens was not shifted along: each number is the chance of a word right behind itself.",
            3: "Each place asks the logits after a word about that word itself: all are wrong.",
        },
    ),
)
