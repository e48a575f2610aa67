"""Section 9.5, Reserved and not used: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="09-which-waste",
        kind="trace",
        title="What do blocks of 16 leave?",
        section="9.5",
        options=(
            "the end of each request's last block, at most 15 slots; any free block will do",
            "nothing at all: every slot that is taken holds a token",
            "the waste outside: blocks leave holes between requests, too",
            "what is reserved: a request takes the blocks of its longest answer when it comes",
        ),
        correct=0,
        derivation="A block is taken when a token needs it, so none is reserved for later. Blocks are alike, so "
        "every free block fits every request. The last block of each request is filled in part: at most 15 slots.",
        slips={
            1: "A request of 17 tokens takes two blocks, and 15 slots of the second are empty.",
            2: "A request's blocks need not lie in a row, so a single free block is of use to anyone.",
            3: "That is the old way. A block is taken when there is a token for it.",
        },
    ),
)
