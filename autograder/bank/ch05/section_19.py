"""Section 5.19, A training script: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="05-set-epoch",
        kind="trace",
        title="A line left out",
        section="5.19",
        bonus=True,
        options=(
            "every epoch deals the same rows in the same order, and no error is reported",
            "each rank shuffles with a seed of its own, so some rows are seen twice and others never",
            "the second epoch has no rows: the sampler is used up",
            "every rank sees all rows in every epoch",
        ),
        correct=0,
        derivation="The order is drawn from the seed plus the epoch. Without `set_epoch`, the epoch stays 0, so each "
        "rank gets the rows of the first epoch again, in the same order. The loss falls all the same, which is why "
        "nobody notices.",
        slips={
            1: "The seed is an argument of the sampler, 0 by default and the same on all ranks.",
            2: "Each pass over the loader asks the sampler for its order anew.",
            3: "That happens without the sampler: it is what deals the rows to the ranks.",
        },
    ),
    Choice(
        id="05-wrap",
        kind="debug",
        title="Move and wrap",
        section="5.19",
        bonus=True,
        options=(
            "`forward_sync_buffers=False`",
            "`gradient_as_bucket_view` left out",
            "`device_ids` left out",
            "`DDP(...)` first, and then `.to(device)`",
        ),
        correct=0,
        derivation="Buffers have no gradients, so no all-reduce makes them equal. Unless DDP broadcasts them, each "
        "rank keeps the running mean and variance of its own rows, and in evaluation their results differ.",
        slips={
            1: "Gradients are averaged all the same. They lie beside the buckets then, which costs memory.",
            2: "DDP then does not move the inputs. The script has moved them already, so nothing changes.",
            3: "The script passes `device_ids`, and with them DDP refuses a model that is still on the CPU.",
        },
    ),
)
