"""Section 1.4, How processes find each other: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="01-who-sets-it",
        kind="trace",
        title="Variables that a plain spawn sets",
        section="1.4",
        options=(
            "none of the five",
            "two: RANK and WORLD_SIZE",
            "four: all but LOCAL_RANK",
            "all five",
        ),
        correct=0,
        derivation="Spawning starts processes and hands over arguments; the environment is inherited as it is. A "
        "launcher such as torchrun adds the five variables. Without one, the script has to set them itself, or pass "
        "address, rank and world size as arguments.",
        slips={
            1: "The rank is an argument of the function that is spawned. Nothing writes it into the environment.",
            2: "Nobody told the spawn where to meet, so it cannot set an address and a port either.",
            3: "That is what torchrun does.",
        },
    ),
)
