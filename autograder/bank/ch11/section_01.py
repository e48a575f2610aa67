"""Section 11.1, Guess and check: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-three-of-five",
        kind="trace",
        title="Five drafted, the fourth wrong",
        section="11.1",
        options=(
            "4 tokens, 5 passes of the draft, 1 of the target",
            "3 tokens, 5 passes of the draft, 1 of the target",
            "4 tokens, 4 passes of the draft, 1 of the target",
            "4 tokens, 5 passes of the draft, 5 of the target",
        ),
        correct=0,
        derivation="Three guesses are kept. In place of the fourth the target's own token is written, and the fifth "
        "is dropped. The draft model had made all five guesses, and one pass of the target had read them.",
        slips={
            1: "The target's own token takes the place of the wrong guess.",
            2: "The fifth token had been guessed, too: the verdict comes after all guesses.",
            3: "One pass of the target scores all places.",
        },
    ),
    Choice(
        id="11-bad-draft",
        kind="trace",
        title="A draft that knows nothing",
        section="11.1",
        options=(
            "Nothing: the text stays the same, at about one pass of the target for each token.",
            "Now and then a bad guess gets through, so the text gets worse.",
            "The text gets shorter, because most guesses are dropped.",
            "It stops: no guess is right, so no token is ever written.",
        ),
        correct=0,
        derivation="A guess is written only where it is the target's own next token. Every other token comes from the "
        "target itself, one in each round at least.",
        slips={
            1: "A guess gets through only if it is what the target would have written.",
            2: "For every dropped guess the round writes the target's own token; rounds go on until the text is done.",
            3: "Each round writes at least one token: the target's own.",
        },
    ),
)
