"""What others have measured on RLHF jobs, to compare with the chapter's formulas. Standard library only.

>>> floor, work = fitted(*NEMO["DeepSeek-V3"].on_policy)
>>> round(floor), round(work / 512)
(88, 23)
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.units import GB

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


# Steps by phase


@dataclass(frozen=True)
class Phases:
    """Seconds of a step with all GPUs in turn: all of it, writing, the pass for old log-probabilities, training."""

    step: float
    writing: float
    looking: float
    training: float


#: Qwen2.5-Math-7B on H20 by number of GPUs, DAPO, 512 prompts of 16 answers of at most 28,000 tokens, means over 400
#: steps whose answers grew to different lengths. 100 steps on 128 GPUs: in turn, and in two pools of 64 (fully
#: asynchronous, partial rollouts), seconds. Prompts of a minibatch, and answers to each.
#: Source: volcengine/verl, docs/advance/fully_async.md, "last updated 10/18/2025" (2147009).
VERL = {
    32: Phases(790.10, 357.41, 107.71, 313.81),
    64: Phases(365.28, 150.72, 70.26, 133.41),
    128: Phases(356.30, 177.85, 53.92, 113.81),
}
VERL_HUNDRED = {"in turn": (8 * 60 + 36) * 60.0, "two pools": (3 * 60 + 13) * 60.0}
VERL_MINIBATCH = 32 * 16
#: How many times as fast the two pools were.
ASYNC_TIMES = VERL_HUNDRED["in turn"] / VERL_HUNDRED["two pools"]

# Weights on the road

#: Seconds of an update of all engines by broadcast, by number of H20 GPUs; an engine spans 16. fp8.
#: Source: MoonshotAI/checkpoint-engine, README.md, "Benchmark" (415c320), vLLM 0.10.2rc1.
KIMI = {16: 14.36, 256: 16.04}
DEEPSEEK = {16: 10.19, 256: 11.33}

#: DeepSeek-V3 in bf16: bytes of its 671 billion parameters, and of its routed experts, 256 in each of 58 layers, three
#: matrices of 7,168 x 2,048 each. A network card of 400 Gbit/s, bytes/s.
DEEPSEEK_BYTES = 2 * 671 * GB
DEEPSEEK_EXPERTS = 2 * 58 * 256 * 3 * 7168 * 2048
CARD = 50 * GB
#: Seconds in which 32 H100 of one engine got DeepSeek-V3 from 256 that train, with one switch changed, and the bytes
#: that one of them loaded with it on. Source: NVIDIA-NeMo/RL, docs/guides/checkpoint-engine-refit.md (0692f4c), a run
#: of 2026-07-15.
REFIT = {"whole experts": 36.812, "slices": 10.923}
REFIT_LOADED = 69.95 * 2**30
#: Seconds of the same change by another transport, which sends each shard once, into 8 engines of 32 GPUs: least and
#: most. Source: the same, docs/design-docs/nccl-reshard-refit.md (0505ac7), "Expected Performance".
RESHARD = (2.39, 2.83)

# Old samples


@dataclass(frozen=True)
class Mismatch:
    """Difference of a token's log-probability between two programs with the same weights: mean size, and largest."""

    mean: float
    largest: float


#: DeepSeek-V3 in vLLM and in Megatron; source as for :data:`REFIT`, the runs of that day.
MISMATCH = Mismatch(0.03227, 0.09738)

#: AIME 2024 in percent after 1,000 steps of a 1.5B model, by the bound on staleness; one run for each, 32 answers to a
#: problem. With a bound of 0 the two are the same run. "behaviour" is their naive PPO: it clips against the
#: writer. Source: inclusionAI/AReaL, blog/AReaL_v0_3.md, table 3 (177dce5).
AREAL = {
    "behaviour": {0: 42.0, 1: 41.8, 2: 40.0, 4: 23.3, 8: 35.7, 16: 35.8},
    "decoupled": {0: 42.0, 1: 42.1, 2: 41.8, 4: 42.2, 8: 41.0, 16: 38.7},
}

#: Minutes of 300 steps, Qwen2.5 1.5B on GSM8K, a staleness of 8, one run each: the log-probabilities of the
#: proximal policy computed in a pass, or estimated between the writer's and the current ones ("loglinear").
#: Source: inclusionAI/AReaL, docs/algorithms/prox_approx.md of November 2025 (432323c).
PROXIMAL_MINUTES = {"computed": 207.0, "estimated": 163.0}

# Where and when


@dataclass(frozen=True)
class Setting:
    """A setting of a library, and which cell of the page's table it is.

    Attributes:
        system: the library.
        version: of what was read.
        setting: its name.
        where, when: in the page's words.
        source: the file.
    """

    system: str
    version: str
    setting: str
    where: str
    when: str
    source: str


SETTINGS = (
    Setting(
        "OpenRLHF",
        "documentation, 2026",
        "--train.colocate_all --vllm.enable_sleep",
        "hybrid",
        "synchronous",
        "docs, hybrid_engine; openrlhf/cli/train_ppo_ray.py",
    ),
    Setting(
        "OpenRLHF",
        "documentation, 2026",
        "--train.async_enable",
        "disaggregated",
        "asynchronous",
        "docs, async_training; openrlhf/cli/train_ppo_ray.py",
    ),
    Setting(
        "verl",
        "October 2025",
        "fully_async_policy, staleness_threshold=0.5",
        "disaggregated",
        "asynchronous",
        "docs/advance/fully_async.md",
    ),
    Setting(
        "NeMo RL",
        "main, 2026",
        "policy.generation: backend=vllm, colocated.enabled=true",
        "hybrid",
        "synchronous",
        "docs/guides/async-grpo.md, docs/guides/checkpoint-engine-refit.md",
    ),
    Setting("prime-rl", "main, 2026", "the default", "disaggregated", "asynchronous", "docs/algorithms.md"),
)
