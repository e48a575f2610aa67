"""Chapter 6's memory, traffic and limits beside published runs. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import A100_SXM, NVLINK4
from rankzero.facts.units import GB, GiB, us
from solutions.ch04.spanning_groups import group_bandwidth
from solutions.ch06.activation_memory import activation_bytes
from solutions.ch06.activations import tensor_parallel_traffic

from ..comparison import Compared, Comparison
from . import published

S = published.SEQUENCE
#: The share of the peak at which the page lets matrix products run.
ASSUMED = 0.6
#: NVLink and network port of a B200 GPU in that measurement, bytes/s in one direction.
B200_LINKS = (900 * GB, 50 * GB)


def saved(run: published.Megatron) -> float:
    """What selective recomputation saves of a layer's activations."""
    return 1 - activation_bytes(run.model, S, recompute="selective") / activation_bytes(run.model, S)


def longer(how: str) -> float:
    """A layer's work with recomputation over that without, in FLOP; the backward pass is twice the forward."""
    width = published.MEGATRON[0].hidden
    core, rest = 4 * S**2 * width, 24 * S * width**2
    return 1 + (core / (core + rest) if how == "selective" else 1.0) / 3


def utilization(run: published.Megatron) -> float:
    """What the collectives of eight ranks leave of the assumed share."""
    sent = tensor_parallel_traffic(S, 1, run.hidden, published.RANKS, sequence_parallel=True)
    compute = 72 * S * run.hidden**2 / published.RANKS / (ASSUMED * A100_SXM.peak_bf16)
    return ASSUMED / (1 + sent / A100_SXM.nvlink.bandwidth / compute)


COMPARISONS = (
    Comparison(
        "6.6",
        "Time of one all-reduce of activations, bytes of a ring over the links' rate",
        "ch06.activations.tensor_parallel_traffic",
        "measured",
        published.ALL_REDUCE_SOURCE,
        (
            Compared(
                "8 GPUs, 64 MiB",
                published.ALL_REDUCE_TIME / us,
                tensor_parallel_traffic(4096, 1, 8192, 8, backward=False) / 2 / NVLINK4.bandwidth / us,
                "µs",
            ),
        ),
        "Two errors of opposite sign: start-ups are left out, and the switches did the adding.",
        "a first plan",
    ),
    Comparison(
        "6.8",
        "Share of a layer's activations that selective recomputation saves",
        "ch06.activation_memory.activation_bytes",
        "computed",
        published.SOURCE,
        tuple(
            Compared(run.name, 100 * published.SAVED[run.name], 100 * saved(run), "%")
            for run in published.MEGATRON
            if run.name in published.SAVED
        ),
        "The paper rounds to whole percent.",
        "what autograd keeps of such a layer",
    ),
    Comparison(
        "6.8",
        "Time of a layer with recomputation over that without, by FLOP",
        "",
        "measured",
        published.SOURCE,
        tuple(
            Compared(f"22B, {how}", published.LAYER_TIMES[how] / published.LAYER_TIMES["none"], longer(how), "x")
            for how in ("selective", "full")
        ),
        "What is repeated does fewer FLOP for each byte than the rest, and takes longer than its FLOP say.",
        "a lower limit of the price",
    ),
    Comparison(
        "6.9",
        "Bus bandwidth of 4 GiB inside a node and over four, every GPU with a port of its own",
        "ch04.spanning_groups.group_bandwidth",
        "measured",
        published.CROSSING_SOURCE,
        tuple(
            Compared(
                f"{8 * nodes} B200",
                published.CROSSING[4 * GiB][nodes > 1] / GB,
                group_bandwidth(8 * nodes, 8, *B200_LINKS) / GB,
                "GB/s",
            )
            for nodes in (1, 4)
        ),
        "Inside, the switches add, but the links miss their rate; across, both levels overlap, and are summed here.",
        "by how much a group loses when it leaves its node, for tensors of gigabytes",
    ),
    Comparison(
        "6.9",
        "Utilization with tensor parallelism over eight GPUs",
        "ch06.activations.tensor_parallel_traffic",
        "measured",
        published.SOURCE,
        tuple(Compared(run.name, 100 * run.utilization, 100 * utilization(run), "%") for run in published.MEGATRON),
        "The assumed share of the peak sets the level; communication explains a part of the fall to narrow models.",
        "the direction: wider models use GPUs better; not the level",
    ),
)
