"""Section 10.5, Whom to let in: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="10-gates",
        kind="trace",
        title="Four gates",
        section="10.5",
        options=(
            "the first chunk fits: most preemptions; everything is reserved: most memory unused",
            "the whole prompt fits: most preemptions; everything is reserved: most memory unused",
            "the first chunk fits: most preemptions and most memory unused",
            "everything is reserved: most preemptions, because so much memory is taken",
        ),
        correct=0,
        derivation="A gate that asks for little lets in requests whose tokens collide later. One that asks "
        "for the longest possible answer never preempts, and keeps room that short answers never use.",
        slips={
            1: "The whole prompt includes its first chunk: this gate lets fewer in.",
            2: "What preempts most is full most of the time.",
            3: "Nobody collides who has everything reserved: there are no preemptions at all.",
        },
    ),
    Choice(
        id="10-cached-budget",
        kind="trace",
        title="Almost everything is cached",
        section="10.5",
        options=(
            "1 in the first, 8 in the second",
            "1 in both: cached tokens are not computed",
            "8 in both: the prompt has 4,000 tokens",
            "1 in the first, 2 in the second",
        ),
        correct=0,
        derivation="100 tokens are not cached, fewer than the budget. A scheduler that looks for the prefix only "
        "among the tokens that it has granted grants 512 of 4,000 in each pass, and seven of its eight passes compute "
        "nothing of this prompt.",
        slips={
            1: "The second pays its budget before it looks: cached tokens use up the 512.",
            2: "The first looks before it pays: 3,900 tokens need no budget.",
            3: "The second grants at most 512 of the 4,000 tokens in a pass.",
        },
    ),
)
