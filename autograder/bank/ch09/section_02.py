"""Section 9.2, The mask that goes wrong: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="09-is-causal",
        kind="trace",
        title="The last 7 of 20 tokens",
        section="9.2",
        options=(
            "no error, and wrong numbers: the first of the 7 sees one token only, the oldest of all",
            "an error: 7 queries do not fit 20 keys",
            "the right numbers: causal is causal",
            "no error, and the 7 queries see each other but none of the 13 tokens before them",
        ),
        correct=0,
        derivation="The mask is a triangle that begins in the corner of the first query and the first key. Query 0 "
        "sees key 0, query 6 sees keys 0 to 6. None of them sees its own key, which is among the last seven.",
        slips={
            1: "Attention takes any number of queries and keys, and so does the mask.",
            2: "That holds where queries and keys are equally many: then the two corners are one.",
            3: "The triangle begins at the first key, so the old tokens are what is seen, and the new ones are not.",
        },
    ),
)
