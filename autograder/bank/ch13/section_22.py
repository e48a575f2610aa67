"""Section 13.22, Learn from pairs alone: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-dpo-models",
        kind="design",
        title="Who is still in memory",
        section="13.22",
        bonus=True,
        options=(
            "the policy; the reference's numbers can be computed once, before training",
            "policy, reference and reward model",
            "policy and reward model",
            "policy, reference and critic",
        ),
        correct=0,
        derivation="The answers are fixed, so the log-probabilities of the reference are two numbers for each pair, "
        "and do not change. Nobody writes, nothing is scored, and there is no value to learn.",
        slips={
            1: "The score of an answer is read off the policy itself: beta times its log-ratio.",
            2: "There is no reward model: the comparisons train the policy.",
            3: "A critic says what to expect of a prompt. Both answers of a pair have the same one, so it cancels.",
        },
    ),
    Choice(
        id="13-dpo-chosen",
        kind="trace",
        title="What happens to the preferred answers",
        section="13.22",
        bonus=True,
        options=(
            "they become less likely, and the rejected ones even less",
            "they become more likely, and the rejected ones less",
            "they become more likely, and so do the rejected ones, by less",
            "they stay where they are: the reference holds them, and only the rejected ones fall",
        ),
        correct=0,
        derivation="The loss sees the gap of two log-ratios and nothing else. Adding the same number to both changes "
        "nothing, so nothing keeps the chosen ones up. Where both answers of a pair share most of their words, pushing "
        "one down takes the other along, and the probability goes to answers that are in no pair.",
        slips={
            1: "The gap grows that way, too. But no term asks for it, and the shared words go down with the rejected "
            "answer.",
            2: "The gap would grow. It grows faster if what only the rejected ones have is pushed down.",
            3: "The reference is a zero from which both are counted, not a force on one of them.",
        },
    ),
)
