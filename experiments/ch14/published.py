"""What others have measured on RLHF jobs, to compare with the chapter's formulas. Standard library only.

>>> floor, work = fitted(*NEMO["DeepSeek-V3"].on_policy)
>>> round(floor), round(work / 512)
(88, 23)
"""

from __future__ import annotations

from dataclasses import dataclass

#: GPUs, and seconds from one update to the next.
Measured = tuple[int, float]


@dataclass(frozen=True)
class Updates:
    """Seconds of an update of one model.

    Attributes:
        on_policy: twice, all GPUs in turn, on different numbers of GPUs.
        one_step_off: two pools, the rollout one update ahead, on as many GPUs as the second.
    """

    on_policy: tuple[Measured, Measured]
    one_step_off: Measured


#: GRPO on H100 in bf16, 512 responses an update, mean of five updates. DeepSeek-V3: at most 1,536 tokens, about 700 on
#: average; Qwen3-235B: at most 8,192, about 5,700 on average. Two pools need not divide the GPUs as all in turn do: the
#: tensor parallelism of Qwen3's rollout differs between the runs.
#: Source: NVIDIA-NeMo/RL, docs/about/performance-summary.md, "NeMo RL v0.6", read in August 2026 (7ea279a).
NEMO = {
    "DeepSeek-V3": Updates(((256, 134.0), (512, 111.0)), (512, 64.1)),
    "Qwen3-235B": Updates(((128, 395.0), (256, 312.0)), (256, 231.0)),
}


def fitted(few: Measured, many: Measured) -> tuple[float, float]:
    """What two runs in turn say of a job: seconds that more GPUs do not shorten, and GPU-seconds that they share.

    Two equations for two unknowns. They do not say which phase the first part belongs to.
    """
    (fewer, slow), (more, quick) = few, many
    work = (slow - quick) / (1 / fewer - 1 / more)
    return quick - work / more, work
