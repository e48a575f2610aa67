"""Section 13.7, Compare answers with each other: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip

CHANCE, ANSWERS = 0.1, 8

QUESTIONS = (
    Estimate(
        id="13-silent-groups",
        title="Prompts that say nothing",
        section="13.7",
        label="prompts of 1,000 whose eight answers all get the same mark",
        unit="prompts",
        answer=lambda: 1000 * (CHANCE**ANSWERS + (1 - CHANCE) ** ANSWERS),
        factor=1.3,
        scale=(1, 1000),
        landmarks=(
            Landmark(1, "1", "nearly every prompt teaches"),
            Landmark(100, "a tenth", "as many as answers are right"),
            Landmark(1000, "all", "nothing is learned"),
        ),
        derivation="An answer is wrong with probability $0.9$, eight of them are with $0.9^8$. All right is so rare "
        "that it does not count.",
        slips=(
            Slip("That is the chance that one answer is right.", value=100.0),
            Slip("That is one answer: all eight have to be wrong.", value=900.0),
            Slip("Those are the prompts that teach something.", value=lambda: 1000 * (1 - 0.9**8)),
        ),
    ),
)
