"""Section 13.9, The step as a program, and eleven ways to break it: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-eleven-faults",
        kind="debug",
        title="What a curve of rewards shows",
        section="13.9",
        options=(
            "two; seven look right, and two look better than right",
            "all but one or two: a wrong gradient does not climb",
            "about half, and the others learn visibly slower",
            "none: every one of them still climbs the reward",
        ),
        correct=0,
        derivation="A reward that is climbed shows that the direction of a step is right on average, and seven faults "
        "leave it so. With the sign of the advantage turned it falls, and with unshifted logits nothing is learned. "
        "Two faults undo the price on distance: then the reward rises much further than it should, and the judge, whom "
        "nobody asks, falls.",
        slips={
            1: "Most faults leave the average direction of a step as it was.",
            2: "Slower than what? A single curve has nothing beside it, and only one of these lies lower.",
            3: "With the advantage's sign turned the step goes down.",
        },
    ),
)
