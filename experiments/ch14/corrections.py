"""Chapter 14: wrong claims about the systems of RLHF, and what is right. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import DGX_H100, H100_SXM, IB_NDR
from rankzero.facts.models import LLAMA3_70B, LLAMA3_405B, Model
from rankzero.facts.units import GB, TB, Gbit, MiB, format_bytes
from solutions.ch02.alpha_beta import message_time
from solutions.ch09.kv_cache import kv_bytes_per_token
from solutions.ch13.rlhf_memory import rlhf_bytes, role_bytes
from solutions.ch14.rlhf_profile import Iteration, asynchronous_time, flops_per_response_token, synchronous_time
from solutions.ch14.rlhf_schedule import debug_scaled_gen, simulate_async
from solutions.ch14.weight_sync import bucketed_sync_time, transition_cost

from ..correction import LLM_OPTIMIZATION, MLSYS, Correction

_HYBRID = "Sheng et al. (2024), HybridFlow, arXiv:2409.19256"
_AREAL = "Fu et al. (2025), AReaL, arXiv:2505.24298"
_ZERO = "Rajbhandari et al. (2020), arXiv:1910.02054"

#: The weights that most examples move: 70 billion parameters in bf16.
_PARAMETERS, _WEIGHTS = 70e9, 140 * GB


def _roads() -> tuple[Correction, ...]:
    """How weights move."""
    cost = transition_cost(_WEIGHTS, 8, 1, 2, 2, 1, "nested")
    whole = transition_cost(_WEIGHTS, 8, 1, 1, 8, 1, "gather")
    gather = message_time(whole.received, H100_SXM.nvlink.bandwidth)
    one = message_time(_WEIGHTS, IB_NDR.bandwidth)
    node = message_time(_WEIGHTS, DGX_H100.network_bandwidth)
    disk = bucketed_sync_time(_WEIGHTS, _WEIGHTS, (7 * GB, 7 * GB))
    return (
        Correction(
            "14.4",
            "A hybrid engine switches between training and generation without moving data: only metadata changes.",
            f"Only between equal layouts. Going from 8 slices to 2, each GPU receives {cost.received / GB:.1f} of "
            f"{_WEIGHTS / GB:.0f} GB; gathering the whole model over NVLink takes {gather:.2f} s.",
            "Half of the model is more than an eighth of it. The published gain is up to 89 %, not all.",
            f"{_HYBRID}, section 8.4",
            matters="The pause between training and generation is missing from the schedule.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter14.md",),
        ),
        Correction(
            "14.5",
            "A zero-copy update takes microseconds: every GPU gets a handle to the 140 GB.",
            f"The handle is that fast, but the gathering before it is not; and {_WEIGHTS / GB:.0f} GB do not fit into "
            f"{H100_SXM.memory / GB:.0f}. Sliced by 8 they are {_WEIGHTS / 8 / GB:.1f} GB on each GPU.",
            "Move layers or buckets, so that no GPU ever holds the whole model.",
            "the documentation of torch.multiprocessing; section 14.5",
            matters="The update is planned at a fraction of its time, on memory that is not there.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter14-rlhf-architecture/scripts/weight_update_demo.py",),
        ),
        Correction(
            "14.5",
            "`tensor._cuda_ipc_handle()` shares a tensor, with processes on the same GPU only; NCCL serves within "
            "one GPU.",
            "There is no such method: `torch.multiprocessing.reductions.reduce_tensor` makes what a queue sends. It "
            "reaches "
            "any process of the same node that sees the device.",
            "NCCL refuses two ranks on one GPU, so it cannot be used there.",
            "torch.multiprocessing.reductions; the user guide of NCCL, section on communicators",
            matters="The code fails on its first call, or fails between machines.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter14.md (the first half)",),
        ),
        Correction(
            "14.5",
            "`broadcast(x, src=0, group=inference)` sends from the first rank of the group.",
            "`src` is a rank of the world: rank 0 is not in the group (2, 3), and the call fails. Write `src=2` or "
            "`group_src=0`.",
            "Ranks are renumbered within a group, but `src` is not.",
            "the documentation of torch.distributed.broadcast",
            matters="The call fails, or the wrong rank's weights are sent.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter14.md",),
        ),
        Correction(
            "14.7",
            "An iteration takes generation, transfer, training and another transfer: 55.6 s.",
            f"It takes {30 + 20 + one:.1f} s: the weights move once, in {one:.1f} s.",
            "Only responses go back, as tokens and log-probabilities of a few kilobytes each.",
            "section 14.5",
            matters="Every iteration is planned one transfer too long.",
            places=(
                f"{MLSYS}, tutorial/part4-rlhf/chapter14-rlhf-architecture/scripts/weight_update_demo.py "
                "(the four terms)",
            ),
        ),
        Correction(
            "14.5",
            "A cluster's network gives 50 GB/s, a disk moves 140 GB in 20 s, and `gbps = 50` says so.",
            f"One port gives {IB_NDR.bandwidth / GB:.0f} GB/s; a node's {DGX_H100.ports} move the weights in "
            f"{node:.2f} s. "
            f"Through a disk they go twice, {disk:.0f} s at 7 GB/s. And `gbps` reads as Gbit/s: "
            f"{50 * GB / (50 * Gbit):.0f} times less.",
            "Count ports, count both ways, and name the unit.",
            "NVIDIA DGX H100 data sheet (2022)",
            matters="Bits are taken for bytes, or one port for a node, and the choice of a road is made on it.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter14-rlhf-architecture/scripts/weight_update_demo.py",),
        ),
    )


def _times() -> tuple[Correction, ...]:
    """Who waits for whom."""
    together, apart = synchronous_time(100, 6000, 3500, 100), asynchronous_time(100, 6000, 3500, 100)
    lengths = [500] * 600 + [4096]
    small, large = (debug_scaled_gen(lengths, 2, 0.02, gpus) for gpus in (32, 256))
    work = sum(lengths) * 0.02 / 2
    ppo, actor = flops_per_response_token(Iteration(epochs=1)), flops_per_response_token(Iteration(critic=False))
    return (
        Correction(
            "14.2",
            "Synchronous means the same GPUs, asynchronous means different ones; the reference gets 64 GPUs for "
            "generation.",
            "Where and when are separate choices: two pools can work in turn. The policy generates; the reference "
            "makes one "
            "pass over what was written.",
            "Sharing GPUs forces the phases to take turns. Separate GPUs leave the choice.",
            f"{_HYBRID}, section 2; {_AREAL}, section 2",
            matters="GPUs are given to a model that does not generate.",
        ),
        Correction(
            "14.7",
            "Asynchronous RLHF is 1.5 to 2 times as fast.",
            "Not by itself: with perfect scaling and no tail it is never faster. With a tail of 100 s on 100 GPUs it "
            "is "
            f"{together / apart:.2f} times as fast.",
            f"Examples time generation on one GPU whatever the pool: {work:.0f} s for a batch that takes {small:.1f} "
            "s on 32 "
            f"GPUs and {large:.1f} s, its longest response, on 256. And the gain has a price: staleness.",
            f"{_AREAL}; section 14.7",
            matters="Two pools are built that are no faster than one.",
        ),
        Correction(
            "14.1",
            "Training costs 6N for each token.",
            f"6N for the actor alone. With an equal critic it is 12N per epoch, and {ppo:.0f}N for the iteration with "
            "generation "
            f"and the three other models' passes; GRPO with a rule takes {actor:.0f}N.",
            "Forward 2N and backward 4N count for each model that learns.",
            f"{_HYBRID}, section 2",
            matters="Most of the compute is missing from the plan.",
        ),
    )


def _kv(model: Model, tokens: int, heads: int) -> float:
    return tokens * kv_bytes_per_token(model.layers, heads, model.head_dim)


def _memory() -> tuple[Correction, ...]:
    """What is held where."""
    moments = 2 * role_bytes(_PARAMETERS, trained=True, optimizer_bytes=8)["optimizer"]
    states = 2 * role_bytes(_PARAMETERS, trained=True)["optimizer"]
    tokens = 32 * 2048
    grouped, full = _kv(LLAMA3_70B, tokens, LLAMA3_70B.kv_heads), _kv(LLAMA3_70B, tokens, LLAMA3_70B.heads)
    larger = LLAMA3_405B.heads // LLAMA3_405B.kv_heads
    seven, learner = rlhf_bytes("ppo", 7e9)["total"], role_bytes(_PARAMETERS, trained=True)["total"]
    needed = rlhf_bytes("ppo", _PARAMETERS)["total"] / (80 * GB)
    return (
        Correction(
            "14.3",
            "At TP8 the Adam states of a 70B PPO job take 70 GB on each GPU; offloaded, 80 of 80 GB fit.",
            f"Actor and critic have moments of {moments / 8 / GB:.0f} GB on each GPU, {states / 8 / GB:.0f} with "
            "masters; "
            f"the hosts need {states / TB:.2f} TB. And 80 of 80 GB leave nothing for a cache.",
            "Two models are trained, with 12 bytes of optimizer states for each parameter.",
            f"{_ZERO}, section 3.1",
            matters="The plan leaves out the critic and the master copies, and neither GPUs nor hosts hold them.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter14-memory.md",),
        ),
        Correction(
            "14.3",
            "The cache of a token takes 2 x layers x hidden x 2 bytes.",
            f"Only without grouped queries. For 32 sequences of 2,048 tokens Llama 3 70B takes {grouped / GB:.1f} GB, "
            "not "
            f"{full / GB:.0f}; for the 405B model the formula is {larger} times too large.",
            "Those models have 8 heads of keys and values, and 64 or 128 of queries.",
            "Ainslie et al. (2023), arXiv:2305.13245",
            matters="Batches are kept several times too small, or the formula is applied to a model it does not fit.",
            places=(
                f"{MLSYS}, tutorial/part4-rlhf/chapter14-rlhf-architecture/scripts/memory_timeline.py",
                f"{LLM_OPTIMIZATION} (with heads times head size)",
            ),
        ),
        Correction(
            "14.3",
            "Four models of 7B fit on each of 8 GPUs with TP1; for 70B, TP8 and PP2 hold actor and critic on 32 GPUs.",
            f"The states of the four take {seven / GB:.0f} GB, {seven / 8 / GB:.1f} on each of 8 GPUs when they are "
            "sharded. "
            f"One trained model of 70B cut into 16 takes {learner / 16 / GB:.0f} GB of a GPU, without activations.",
            "A trained model takes 16 bytes for each parameter, not 2.",
            f"{_ZERO}, section 3.1",
            matters="Training is placed on GPUs that hold the weights and nothing else.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter14.md",),
        ),
        Correction(
            "14.12",
            "The GPUs needed are required bytes over memory, times 0.7 for safety.",
            f"Divide by 0.7: {needed:.1f} full GPUs of states become {needed / 0.7:.0f}, not {0.7 * needed:.0f}.",
            "Using only a share of the memory makes each GPU smaller.",
            "section 14.3",
            matters="The safety margin makes the job smaller instead of larger.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter14-rlhf-architecture/scripts/memory_timeline.py",),
        ),
        Correction(
            "14.3",
            "Everything that is not called `weights` scales with the batch.",
            "Optimizer states, gradients, masters and a reference have other names but do not depend on the batch; "
            f"classify by what a tensor is. A batch of one response needs {format_bytes(states)} of optimizer states "
            "too.",
            f"Caches and activations scale: {kv_bytes_per_token(80, 8, 128) / MiB:.2f} MiB of cache for each token.",
            "section 14.3",
            matters="Offloading is planned for things whose size the batch does not change.",
            places=(
                f"{MLSYS}, tutorial/part4-rlhf/chapter14-rlhf-architecture/scripts/memory_timeline.py "
                "(names with weights or optimizer)",
            ),
        ),
    )


def _bound() -> tuple[Correction, ...]:
    """What a gate guarantees."""
    late = simulate_async([9] + [1] * 11, 2, 2, 1, 1, 0, 1)
    return (
        Correction(
            "14.9",
            "A gate with max_staleness 1 never trains on a sample that is older than one version.",
            f"It bounds how far production runs ahead. One response of nine steps among one-step ones arrives "
            f"{max(max(ages) for _, _, ages in late.steps)} versions late.",
            "The gate counts starts, but a response takes as long as it takes. Drop late ones or correct for them.",
            f"{_AREAL}, section 5.1",
            matters="Corrections for stale samples are left out because they seem impossible.",
        ),
    )


CORRECTIONS = (*_roads(), *_times(), *_memory(), *_bound())
