"""Section 4.17, One step for small tensors: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="04-shots",
        kind="trace",
        title="One shot, two shots or a ring",
        section="4.17",
        bonus=True,
        options=(
            "one shot for both: it has the fewest steps",
            "one shot for 16 KB, two shots for 64 MB: few start-ups count first, then few bytes",
            "two shots for 16 KB, one shot for 64 MB: a large tensor should move only once",
            "one shot for 16 KB, the ring for 64 MB: by the formulas only the ring sends the fewest bytes",
        ),
        correct=1,
        derivation=(
            "One shot reads $n - 1 = 7$ whole tensors and starts once; two shots start twice and read "
            "$2 \\cdot \\frac78$ of a tensor, as many bytes as a ring, which starts 14 times. At 16 KB the bytes take "
            "a fraction of a start-up, so one start-up wins. At 64 MB they are nearly all of the time, and seven "
            "tensors take four times as long as $\\frac74$ of one."
        ),
        slips={
            0: "Its one step reads seven whole tensors. For 64 MB that is four times the bytes of two shots.",
            2: "One shot does not move a tensor once: every rank reads all seven others.",
            3: "Two shots are a reduce-scatter and an all-gather: as many bytes as the ring, with 2 start-ups of 14.",
        },
    ),
)
