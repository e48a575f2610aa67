"""Systems for RLHF side by side, from their own sources and documentation. Standard library only.

Read in November 2026; each line names what was read. Systems change within weeks, so look again before you rely on it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class System:
    """What a system does, in the chapter's words.

    Attributes:
        name: of the system.
        trains: libraries that train.
        writes: engines that write.
        place: where and when, as configured by default or in its guide.
        road: how weights get from one pool to another.
        old: what happens to answers of old weights.
        read: what was read, with its version or date.
    """

    name: str
    trains: str
    writes: str
    place: str
    road: str
    old: str
    read: str


SYSTEMS = (
    System(
        "verl",
        "FSDP, Megatron, Automodel, VeOmni, torchtitan",
        "vLLM, SGLang, TensorRT-LLM",
        "hybrid, in turn; fully_async: two pools",
        "checkpoint engine: NCCL, NIXL, Mooncake",
        "staleness_threshold limits how many are begun",
        "verl/checkpoint_engine/README.md (9fb5935); docs/advance/fully_async.md (2147009); "
        "docs/workers/engine_workers.rst, 2026",
    ),
    System(
        "OpenRLHF",
        "DeepSpeed ZeRO-3",
        "vLLM",
        "colocate_all: hybrid in turn; async_enable: two pools",
        "NCCL broadcast; CUDA IPC where colocated",
        "async_queue_size; partial_rollout_enable mixes versions",
        "documentation and openrlhf/cli/train_ppo_ray.py of 2026, v0.11",
    ),
    System(
        "TRL",
        "Accelerate: DeepSpeed, FSDP",
        "vLLM (GRPO: with use_vllm, else Transformers)",
        "GRPO: vLLM colocated; AsyncGRPO: a server",
        "vLLM's weight transfer over NCCL",
        "AsyncGRPO: max_staleness",
        "releases v1.11 and v1.18",
    ),
    System(
        "slime",
        "Megatron, in some versions FSDP",
        "SGLang",
        "two pools; --colocate: hybrid in turn",
        "NCCL broadcast; only what changed, also through a disk",
        "truncated or masked weights, --use-tis",
        "docs/en/get_started/usage.md, docs/en/advanced/delta-weight-sync.md (0a664bc)",
    ),
    System(
        "NeMo RL",
        "DTensor, Megatron",
        "vLLM, SGLang, Megatron, TensorRT-LLM",
        "colocated in turn; async_grpo: two pools (Megatron: or one)",
        "NCCL broadcast; shard to shard; NIXL; only what changed",
        "max_trajectory_age_steps: training waits; importance weights",
        "guides 'Train with Async GRPO' and 'Weight Refit', design page 'Generation Interface', v0.8",
    ),
    System(
        "AReaL",
        "FSDP, Megatron, Archon",
        "SGLang, vLLM",
        "two pools, asynchronous",
        "NCCL ('xccl'), a disk, awex",
        "the gate of 14.8, max_head_offpolicyness; decoupled loss",
        "docs/en/reference/alloc_mode.md (755c56d); areal/api/cli_args.py, 2026",
    ),
    System(
        "prime-rl",
        "FSDP2",
        "vLLM",
        "two pools, asynchronous",
        "NCCL broadcast; a file system for LoRA",
        "tokens whose probability is far from the writer's are masked",
        "docs/overview.md (04814b2), docs/algorithms.md (004274e), 2026",
    ),
)

#: What the page prints of each system, under the words with which it prints it.
ASPECTS = {
    "trains with": "trains",
    "writes with": "writes",
    "where and when": "place",
    "the road between two pools": "road",
    "old answers": "old",
}


def table(aspect: str) -> list[str]:
    """A line for each system with one of :data:`ASPECTS`.

    Raises:
        ValueError: an unknown aspect.
    """
    if aspect not in ASPECTS:
        raise ValueError(f"aspect must be one of {', '.join(ASPECTS)}, got {aspect!r}")
    return [f"    {one.name:<9} {getattr(one, ASPECTS[aspect])}" for one in SYSTEMS]


@dataclass(frozen=True)
class Gap:
    """Mean divergence (k3) between rollout and trainer with the same weights, nats a token: about from, to."""

    least: float
    most: float


#: "In dense models", and in mixtures of experts, as the authors of Miles saw it.
#: Source: lm-sys.org blog, 16 January 2026, "Let Speed Be With Stability" (SGLang RL team and others).
GAPS = {"dense": Gap(1e-5, 1e-3), "mixture of experts": Gap(1e-3, 1e-1)}
