"""Section 14.25, Search the placement: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB

schedule = lazily("solutions.ch14.rlhf_schedule")

_SIZES = {
    "train_bytes": 36 * LLAMA3_70B.parameters,
    "rollout_bytes": 2 * LLAMA3_70B.parameters,
    "rollout_tp": 8,
    "gpu_memory": 80 * GB,
    "reserve": 20 * GB,
}


def _placed(gpus: int, tail: float) -> float:
    return schedule.best_placement(gpus, 3840, 3840, tail, **_SIZES).iteration_time


def _smallest_for_two_pools() -> int:
    """From 64 GPUs on: with fewer the two phases do not fit in turn, so that there is nothing to win against."""
    counts = range(64, 257, 8)
    found = (schedule.best_placement(gpus, 3840, 3840, 90, **_SIZES) for gpus in counts)
    return next(
        gpus for gpus, one in zip(counts, found, strict=True) if one is not None and one.kind == "disaggregated"
    )


def _resident(tensor_parallel: int) -> float:
    """GB on one of 64 colocated GPUs."""
    return (_SIZES["train_bytes"] / 64 + _SIZES["rollout_bytes"] / tensor_parallel + _SIZES["reserve"]) / GB


QUESTIONS = (
    Question(
        id="14-design-64",
        kind="design",
        title="Place a 70B job on 64 GPUs",
        section="14.25",
        bonus=True,
        parts=(
            Part(
                "smallest tensor parallelism of the rollout copy that fits, colocated",
                "GPUs",
                lambda: next(t for t in (1, 2, 4, 8) if _resident(t) <= 80),
                tolerance=0,
                slips=(Slip("States, a slice of the copy and the reserve exceed 80 GB there.", value=4),),
            ),
            Part(
                "bytes then on each GPU, the reserve included",
                "GB",
                lambda: _resident(8),
                tolerance=0.01,
                slips=(
                    Slip("One model's trained states over 8 GPUs; the job has 64, and four models.", value=140),
                    Slip("The reserve counts, too.", value=lambda: _resident(8) - 20),
                ),
            ),
            Part(
                "best iteration without a tail",
                "s",
                lambda: _placed(64, 0),
                tolerance=0.01,
                slips=(Slip("That is one phase alone.", value=60),),
            ),
            Part(
                "best iteration with a tail of 90 s",
                "s",
                lambda: _placed(64, 90),
                tolerance=0.01,
                slips=(
                    Slip("32 GPUs hold the states, but nothing beside them: the reserve is missing.", value=120),
                    Slip("The training comes after the longest response.", value=90),
                ),
            ),
            Part(
                "fewest GPUs, in steps of 8 from 64, with which two pools win at 90 s",
                "GPUs",
                _smallest_for_two_pools,
                tolerance=0,
                slips=(
                    Slip("There 48 GPUs must train to keep their reserve, and 16 generate for 240 s.", value=64),
                    Slip("Pools of 24 and 48 take 160 s there; in turn it is faster.", value=72),
                    Slip("There turns do not fit, and 8 GPUs generate alone: that is no win.", value=56),
                ),
            ),
        ),
        derivation="Colocated a GPU holds $36N/64$ bytes of states, $2N/t$ of the copy and the reserve. In two pools "
        "the training GPUs hold $36N/(n-g)$ and the reserve, so they must be many. Compare $\\max(W_g/n, L) + W_t/n$ "
        "with $\\max(W_g/g, W_t/(n-g))$ for every $g$ that fits.",
    ),
)
