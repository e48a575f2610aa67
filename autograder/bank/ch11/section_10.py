"""Section 11.10, Both together: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-order-combined",
        kind="trace",
        title="A mask for drafted tokens",
        section="11.10",
        options=(
            "On the draft's and on the target's distributions; at a rejection the automaton is rolled back with the "
            "cache.",
            "On the draft alone: the target then sees only tokens that fit.",
            "On the text that comes out: tokens that do not fit are thrown away.",
            "On the target alone, after tokens are accepted.",
        ),
        correct=0,
        slips={
            1: "The replacement and the bonus token are drawn from the target: without a mask they may not fit.",
            2: "Throwing away changes the distribution, and what follows was drawn after a token that is gone.",
            3: "Accepted tokens would be judged by an unmasked distribution, and the replacement may not fit.",
        },
        derivation="The rule of acceptance is exact for any two distributions. Take the masked ones: then the result "
        "follows the masked target. The automaton has read the whole draft and must go back to the last token that "
        "stays.",
    ),
)
