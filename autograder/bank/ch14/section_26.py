"""Section 14.26, Two pools and their memory: its questions."""

from __future__ import annotations

from autograder.items import Choice, Estimate, Landmark, Slip
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB

#: Bytes of a GPU that may be taken.
_USABLE = 72 * GB


def _share() -> float:
    """Percent of the room that 32 GPUs have in turn, on the 8 of a pool."""
    copy = 2 * LLAMA3_70B.parameters / 8
    states = 16 * LLAMA3_70B.parameters / 32
    return 100 * 8 * (_USABLE - copy) / (32 * (_USABLE - copy - states))


QUESTIONS = (
    Choice(
        id="14-one-node",
        kind="design",
        title="70B on one node",
        section="14.26",
        bonus=True,
        options=(
            "The optimizer states stay on the host and are updated there",
            "Sleep mode: the rollout's copy and its caches are freed while the actor trains",
            "Tensor parallelism over all 8, so that a GPU holds an eighth of each matrix",
            "Nothing does: 1,270 GB do not go into 640",
        ),
        correct=0,
        derivation="Training needs 18 bytes for each parameter: 159 GB on each of 8 GPUs. Without the 12 of the "
        "optimizer it is 53 GB, the reference included, and 847 GB wait in the memory of the host.",
        slips={
            1: "That helps while it writes. While it trains, the states alone are 159 GB on each GPU.",
            2: "An eighth of everything is what sharding gives as well: 159 GB.",
            3: "The host has 2 TB, and not every byte is needed on a GPU.",
        },
    ),
    Estimate(
        id="14-pool-room",
        title="A quarter of the GPUs",
        section="14.26",
        bonus=True,
        label="room for caches on 8 GPUs that only write, in percent of that on 32 in turn",
        unit="%",
        answer=_share,
        factor=1.3,
        scale=(1.0, 1000.0),
        landmarks=(
            Landmark(25.0, "25 %", "as many GPUs"),
            Landmark(100.0, "100 %", "as much room"),
        ),
        slips=(
            Slip("That counts GPUs. Those in turn hold 35 GB of states each while they write.", value=25.0),
            Slip("That is the room on one GPU beside that on another; there are four times as many.", value=285.0),
        ),
        derivation="72 GB are usable. A copy over 8 takes 17.6 GB, and in turn 35.3 GB of states stay. Eight times "
        "54.4 GB against 32 times 19.1.",
    ),
)
