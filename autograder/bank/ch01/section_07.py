"""Section 1.7, Share out the data: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="01-forgot-set-epoch",
        kind="trace",
        title="A sampler that is never told the epoch",
        section="1.7",
        options=(
            "every epoch has the same order, and every rank repeats its samples",
            "every epoch has a different order, but every rank visits all samples",
            "some samples are visited by two ranks, others by none",
            "the sampler raises an error in the second epoch",
        ),
        correct=0,
        derivation="The order is a permutation drawn with `seed + epoch`. Without `set_epoch` the epoch stays 0: the "
        "permutation is the same each time. It is still the same on all ranks, so the shards still fit together.",
        slips={
            1: "The order does not change, and it is still dealt out: a rank gets only its share.",
            2: "All ranks draw with the same seed, so only the padding is visited twice.",
            3: "Nothing checks it, and that makes the mistake hard to find.",
        },
    ),
)
