"""Section 14.21, Two pools in numbers: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily

profile = lazily("solutions.ch14.rlhf_profile")


def _speed_up(barrier: bool) -> float:
    """Of the best pair of pools over all GPUs in turn, with a tail."""
    job = (100, 6000, 3500, 100)
    return profile.synchronous_time(*job) / profile.asynchronous_time(*job, barrier=barrier)


QUESTIONS = (
    Question(
        id="14-sync-async",
        kind="derive",
        title="In turn and side by side",
        section="14.21",
        bonus=True,
        parts=(
            Part(
                "synchronous iteration",
                "s",
                lambda: 60.0 + 5 + 35,
                tolerance=0.005,
                slips=(Slip("Scoring takes time, too.", value=95),),
            ),
            Part(
                "two pools, the best split",
                "s",
                lambda: 65.0 + 35,
                tolerance=0.005,
                slips=(Slip("A pool has a part of the GPUs: its phase takes longer.", value=65),),
            ),
            Part(
                "two pools of half the GPUs each",
                "s",
                lambda: 65 / 0.5,
                tolerance=0.005,
                slips=(
                    Slip("A pool has a part of the GPUs: its phase takes longer.", value=65),
                    Slip("Scoring runs in the rollout pool.", value=120),
                ),
            ),
        ),
        derivation="With a share $f$ of the GPUs for rollout the iteration takes $\\max(65/f, 35/(1-f))$ seconds. The "
        "best $f$ makes both equal.",
    ),
    Question(
        id="14-tail-gain",
        kind="derive",
        title="What the tail is worth",
        section="14.21",
        bonus=True,
        parts=(
            Part(
                "best speed-up of pools that wait for each batch",
                "",
                lambda: _speed_up(barrier=True),
                tolerance=0.005,
                slips=(
                    Slip("That holds without a tail; here training need not wait for the longest response.", value=1),
                    Slip("Overlap is not free: each pool has a part of the GPUs, so its phase takes longer.", value=2),
                    Slip("That is the speed-up without a barrier.", value=lambda: _speed_up(barrier=False)),
                ),
            ),
            Part(
                "best speed-up of pools that never wait",
                "",
                lambda: _speed_up(barrier=False),
                tolerance=0.005,
                slips=(
                    Slip("Without a barrier an iteration may be shorter than the longest response.", value=1.35),
                    Slip("Overlap is not free: each pool has a part of the GPUs, so its phase takes longer.", value=2),
                ),
            ),
        ),
        derivation="In turn: $\\max(W_g/N, L) + W_t/N$. Side by side with a barrier: $\\max(W_g/g, L, W_t/(N-g))$ at "
        "the best $g$. Without one: $\\max(W_g/g, W_t/(N-g))$.",
    ),
    Choice(
        id="14-evidence",
        kind="trace",
        title="What two rows say",
        section="14.21",
        bonus=True,
        options=(
            "DeepSeek-V3 cannot have waited for all of that part behind a barrier; Qwen3's row decides nothing",
            "Both refute a barrier: two pools were faster than all GPUs in turn",
            "Both show a barrier: two pools cannot be faster than the part that does not scale",
            "Nothing: two runs in turn cannot tell what does not scale",
        ),
        correct=0,
        derivation="Behind a barrier an update takes at least as long as the longest answer. DeepSeek-V3's took 0.73 "
        "times the part that does not scale: so not all of it was waiting for an answer. Qwen3's took 1.01 times it, "
        "as a barrier would have it, and as other causes would, too.",
        slips={
            1: "Pools with a barrier may be faster than turns: training no longer comes after the longest answer.",
            2: "One was: 64 s is less than 88 s.",
            3: "They tell its size. They do not tell its cause, the longest answer or the reading of weights.",
        },
    ),
)
