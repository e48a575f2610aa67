"""Section 6.9: the design ``06-design``."""

from __future__ import annotations

from autograder.items import Axis, Design, Knob, Simulated, lazily
from rankzero.facts.hardware import H100_SXM, IB_NDR, NVLINK4
from rankzero.facts.units import GB

activations = lazily("solutions.ch06.activations")
layer_memory = lazily("solutions.ch06.layer_memory")
groups = lazily("solutions.ch04.spanning_groups")

SEQUENCE, HIDDEN, HEADS = 8192, 8192, 64
LAYERS, IN_FLIGHT, NODE = 20, 4, 8
MEMORY, LIMIT = H100_SXM.memory, 50.0
RATE = 0.4 * H100_SXM.peak_bf16
RECOMPUTE = ("none", "selective", "full")


def memory(ranks: int, split: bool, recompute: str) -> float:
    """Bytes on a GPU: weights and gradients of 20 layers, activations of four micro-batches, a layer run again."""
    kept, whole = (
        layer_memory.stored_by_layer(SEQUENCE, 1, HIDDEN, HEADS, ranks=ranks, sequence_parallel=split, recompute=how)
        for how in (recompute, "none")
    )
    return 4 * LAYERS * 12 * HIDDEN**2 / ranks + LAYERS * IN_FLIGHT * kept + whole - kept


def extra_time(ranks: int, split: bool, recompute: str) -> float:
    """Time for communication and recomputation, in percent of the time of the matrix products, attention's included."""
    compute = (72 * SEQUENCE * HIDDEN**2 + 12 * SEQUENCE**2 * HIDDEN) / ranks / RATE
    sent = activations.tensor_parallel_traffic(SEQUENCE, 1, HIDDEN, ranks, sequence_parallel=split)
    if recompute == "full":  # the forward pass runs again, with its collectives
        sent += activations.tensor_parallel_traffic(SEQUENCE, 1, HIDDEN, ranks, backward=False, sequence_parallel=split)
    bandwidth = groups.group_bandwidth(ranks, min(ranks, NODE), NVLINK4.bandwidth, IB_NDR.bandwidth)
    again = {"none": 0.0, "selective": SEQUENCE / (18 * HIDDEN + 3 * SEQUENCE), "full": 1 / 3}[recompute]
    return 100 * (sent / bandwidth / compute + again)


def layout(ranks: int, sequence: int, recompute: int) -> Simulated:
    """What a layout takes, and whether it can be built."""
    plan = (ranks, bool(sequence), RECOMPUTE[recompute])
    size, extra = memory(*plan), extra_time(*plan)
    told = f"A GPU holds {size / GB:.1f} GB, and a step takes {extra:.1f} percent longer than its matrix products."
    broken = ""
    if size > MEMORY:
        broken = f"But a GPU has only {MEMORY / GB:g} GB."
    elif extra > LIMIT:
        broken = f"But {LIMIT:g} percent is the most that you accept."
        if ranks > NODE:
            broken += " The ranks span two nodes, so the activations of every layer cross the network."
    return Simulated(told, (size / GB, extra), broken)


QUESTIONS = (
    Design(
        id="06-design",
        title="How far to split a 70B model",
        section="6.9",
        knobs=(
            Knob("ranks", "tensor-parallel ranks (`ranks`)", (1, 2, 4, 8, 16)),
            Knob("sequence", "sequence parallelism, 0 without (`sequence`)", (0, 1)),
            Knob("recompute", "recompute: 0 nothing, 1 the attention core, 2 all (`recompute`)", (0, 1, 2)),
        ),
        axes=(Axis("memory of a GPU", "GB"), Axis("time beyond the matrix products", "%")),
        simulate=layout,
        derivation=(
            "Without recomputation nothing fits: the attention matrices alone need more than 100 GB, even on sixteen "
            "ranks. These would also span two nodes. Each GPU would cross by its own port with an eighth of every "
            "tensor, and still communicate for about half as long as it computes. What remains is a trade. Four "
            "ranks with sequence parallelism and selective recomputation lose the least time and fill most of the "
            "memory. Eight ranks halve the memory and lose almost twice as much time. Recomputing everything saves "
            "more memory, but repeats the forward pass and its collectives."
            "\n\n"
            "With flash attention, which never stores the attention matrix, a layer keeps as much as with selective "
            "recomputation."
        ),
    ),
)
