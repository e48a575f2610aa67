"""Section 5.2, What the DDP wrapper really does: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="05-first-bucket",
        kind="trace",
        title="How many all-reduces",
        section="5.2",
        options=(
            "1, then 3: in its first pass DDP does not know the order of the gradients, and waits for all of them",
            "3, then 3: a bucket of 1 MiB, one of 25 MiB, and a last one of 14 MiB, from the first pass on",
            "40, then 3: the first pass sends each layer alone and measures it, and the second uses buckets",
            "2, then 2: 40 MiB of gradients take one full bucket of 25 MiB and one of 15 MiB",
        ),
        correct=0,
        derivation="DDP fills its buckets in the order in which gradients arrive. That order is known only after a "
        "backward pass has shown it. Until then, by default, they wait in a single bucket. Then DDP makes buckets in "
        "the order that it saw. The first one closes at 1 MiB, so that its all-reduce starts early, and the others "
        "close at 25 MiB. What is left makes the last.",
        slips={
            1: "These are the buckets from the second pass on. By default, DDP first finds out which gradients come "
            "first.",
            2: "By default, DDP keeps all gradients together while it does not know their order.",
            3: "The first bucket closes at 1 MiB, not at 25 MiB. And the first pass has a single bucket.",
        },
    ),
)
