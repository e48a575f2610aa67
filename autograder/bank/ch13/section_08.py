"""Section 13.8, From tokens to one number: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-longer-wrong",
        kind="trace",
        title="A thousand steps of the mean by response",
        section="13.8",
        options=(
            "longer: a wrong answer is punished less for each word, the longer it is",
            "shorter: a long wrong answer has more words that are punished",
            "neither: each answer counts the same",
            "longer, and right answers too, by as much",
        ),
        correct=0,
        derivation="An answer's push is divided by its own length. Of two wrong answers the shorter one has the "
        "stronger push on each of its words, so what makes an answer end early is unlearned faster. For right "
        "answers it is the other way round: the short ones are praised more for each word.",
        slips={
            1: "More words, and each is pushed less by the same factor: the sum is the same for both.",
            2: "As a whole, yes. But words are what a model chooses, one at a time.",
            3: "For right answers the sign turns: the shorter one is praised more for each word.",
        },
    ),
)
