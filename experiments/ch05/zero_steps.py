"""Who holds what under ZeRO, with three ranks and six weights: what two steppers draw. Standard library only.

>>> [held_bytes(stage) for stage in range(4)]
[96.0, 48.0, 40.0, 32.0]
"""

from __future__ import annotations

from rankzero.explore import Box, Label, Mark, Scene
from rankzero.explore.scene import Tone
from solutions.ch05.zero import zero_memory

WEIGHTS, RANKS = 6, 3
#: What a rank holds for each weight: a name, bytes, the first stage that cuts it into slices, and a colour.
BANDS: tuple[tuple[str, int, int, Tone], ...] = (
    ("weights", 2, 3, "accent"),
    ("gradients", 2, 2, "quiet"),
    ("optimizer", 12, 1, "right"),
)
#: Layers under ``fully_shard``, and the weights of each.
LAYERS, LAYER = 3, 100


def owned(rank: int) -> range:
    """The weights whose slice a rank owns."""
    return range(rank * WEIGHTS // RANKS, (rank + 1) * WEIGHTS // RANKS)


def holds(rank: int, weight: int, first: int, stage: int) -> bool:
    """Whether a rank holds what a stage from ``first`` on cuts into slices."""
    return stage < first or weight in owned(rank)


def held_bytes(stage: int) -> float:
    """Bytes of model state on one rank."""
    return zero_memory(WEIGHTS, stage, RANKS)


def zero_scene(step: int) -> Scene:
    """The picture under stage ``step``: a block is a rank, a row in it a kind of state, a column a weight."""
    left, across, down, block = 112, 34, 20, 72
    marks: list[Mark] = []
    for rank in range(RANKS):
        top = 6 + block * rank
        marks.append(Label(4, top + 34, f"rank {rank}", "start", size=12))
        for row, (name, size, first, tone) in enumerate(BANDS):
            y = top + down * row
            marks.append(Label(left - 6, y + 14, name, "end", size=11, quiet=True))
            for weight in range(WEIGHTS):
                kept = holds(rank, weight, first, step)
                box = (left + across * weight, y, across - 3, down - 3, f"{size}" if kept else "", "")
                marks.append(Box(*box, tone=tone, fill=0.8 * kept, strong=kept and step == first, size=11))
    return Scene(left + across * WEIGHTS + 4, block * RANKS + 2, tuple(marks), _zero_says(step), _zero_alt(step))


def _zero_says(stage: int) -> str:
    total = f"{held_bytes(stage):g} bytes on each rank."
    return (
        f"Plain data parallelism. Every rank holds 2 + 2 + 12 bytes for each of the six weights: {total} And "
        "every rank computes the same six updates. Why?",
        f"Stage 1. Rank 1 updates two weights only. It needs no optimizer states for the others: {total}",
        "Stage 2. Rank 1 updates two weights, so why keep six gradients? The other four are added up on the ranks that "
        f"use them: {total}",
        "Stage 3. A layer's weights are needed only while it computes. So why keep them all the time? Now no state is "
        f"stored twice: {total}",
    )[stage]


def _zero_alt(stage: int) -> str:
    cut = [name for name, _, first, _ in BANDS if stage >= first]
    whole = [name for name, _, first, _ in BANDS if stage < first]
    return (
        f"Three ranks, six weights. Whole on every rank: {', '.join(whole) or 'nothing'}. "
        f"In slices of two weights: {', '.join(cut) or 'nothing'}."
    )


def fsdp_scene(step: int) -> Scene:
    """The picture in part ``step`` of a stage 3 step on rank 0 of two: its slices above, what it has gathered below."""
    left, across, passes = 80, 84, [*range(LAYERS), *reversed(range(LAYERS))]
    now = passes[step - 1] if step else None
    marks: list[Mark] = [Label(4, 34, "slices", "start", size=12), Label(4, 64, "gathered", "start", size=12)]
    for layer in range(LAYERS):
        x = left + across * layer
        marks.append(Label(x + 38, 13, f"layer {layer}", size=11, quiet=True))
        marks.append(Box(x, 18, 38, 24, f"{LAYER // 2}", fill=0.8, size=11))
        whole = layer == now
        box = (x, 48, 76, 24, f"{LAYER}" if whole else "", "")
        marks.append(Box(*box, tone="right", fill=0.8 * whole, strong=whole, size=11))
    backward = step > LAYERS
    what = "" if now is None else f"{'backward' if backward else 'forward'} through layer {now}"
    marks.append(Label(left, 92, what, "start", size=12))
    alt = (
        f"Rank 0 holds {LAYER // 2} weights of each of {LAYERS} layers. Gathered at the moment: "
        f"{'nothing' if now is None else f'layer {now}, {LAYER} weights'}."
    )
    return Scene(left + across * LAYERS, 100, tuple(marks), _fsdp_says(step, now, backward), alt)


def _fsdp_says(step: int, now: int | None, backward: bool) -> str:
    if now is None:
        return "Between steps rank 0 holds its half of each layer. Rank 1 holds the other halves."
    if not backward:
        return f"All-gather layer {now} into a buffer of its own, use it, and free the buffer. The slice stays."
    return f"All-gather layer {now} again, compute its gradient, reduce-scatter that, and free the buffer."
