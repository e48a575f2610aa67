"""Section 15.5, The checkpoint: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import GPUS, NETWORK
from autograder.items import Estimate, Landmark, Slip
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.units import TB

#: Bytes of a checkpoint of the large model, and bytes/s of its storage.
CHECKPOINT, STORAGE = 14 * LLAMA3_405B.parameters, 2 * TB


QUESTIONS = (
    Estimate(
        id="cap-405b-write",
        title="How long does one checkpoint take to write?",
        section="15.5",
        label="14 bytes for each of 406B parameters, 16,384 writers with 50 GB/s each, a storage of 2 TB/s",
        unit="s",
        answer=lambda: CHECKPOINT / STORAGE,
        factor=1.5,
        scale=(1e-3, 1e4),
        landmarks=(
            Landmark(1e-3, "1 ms", "50 MB over one link"),
            Landmark(1.0, "1 s", "50 GB over one link"),
            Landmark(3600.0, "1 h", "180 TB over one link"),
        ),
        slips=(
            Slip(
                "That is how fast 16,384 links can send. All of them share one storage, which is 400 times slower.",
                value=CHECKPOINT / (GPUS * NETWORK),
            ),
            Slip("That sends the whole checkpoint over a single link.", value=CHECKPOINT / NETWORK),
        ),
        derivation=(
            "14 bytes times 406 billion is 5.7 TB. The links could carry $16384 \\cdot 50$ GB/s, some 800 TB/s, but "
            "the storage takes 2 TB/s in all. The slower of the two decides."
        ),
    ),
)
