"""Section 15.25, Fewer ranks than before: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="cap-reshard-reads",
        kind="trace",
        title="What a rank reads",
        section="15.25",
        bonus=True,
        options=(
            "the shards of ranks 1 and 2 as a whole, six rows, of which it keeps four",
            "exactly its four rows, from two files",
            "all twelve rows, of which it keeps its third",
            "nothing: a checkpoint of four ranks can be loaded by four ranks, or by a divisor of four",
        ),
        correct=0,
        derivation=(
            "Four ranks saved rows 0 to 2, 3 to 5, 6 to 8 and 9 to 11. Rows 4 to 7 lie in the second and the third of "
            "these shards. The planner asks for rows 4 and 5 of one and 6 and 7 of the other, but the reader loads a "
            "stored shard with torch.load, which gives back a whole tensor, and then cuts it."
        ),
        slips={
            1: "That is what the plan asks for. But torch.load reads a stored tensor whole.",
            2: "The metadata says where each shard stood, so a rank opens only the files that hold rows of its own.",
            3: "The metadata says which rows each shard holds, so any number of ranks can find theirs.",
        },
    ),
)
