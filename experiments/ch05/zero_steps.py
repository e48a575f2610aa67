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
LAYERS = 3


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
        f"Plain data parallelism. Every rank holds everything, 2 + 2 + 12 bytes for each of the six weights: {total}",
        f"Stage 1. Each rank keeps the optimizer states of two weights only: {total}",
        f"Stage 2. The gradients are cut in the same way: {total}",
        f"Stage 3. The weights are cut too, and nothing is stored twice: {total}",
    )[stage]


def _zero_alt(stage: int) -> str:
    cut = [name for name, _, first, _ in BANDS if stage >= first]
    whole = [name for name, _, first, _ in BANDS if stage < first]
    return (
        f"Three ranks, six weights. Whole on every rank: {', '.join(whole) or 'nothing'}. "
        f"In slices of two weights: {', '.join(cut) or 'nothing'}."
    )


def fsdp_scene(step: int) -> Scene:
    """The picture in part ``step`` of a stage 3 step on rank 0 of two: a column is a layer, which is half or whole."""
    left, across, passes = 66, 84, [*range(LAYERS), *reversed(range(LAYERS))]
    now = passes[step - 1] if step else None
    marks: list[Mark] = [Label(4, 34, "rank 0", "start")]
    for layer in range(LAYERS):
        x = left + across * layer
        marks.append(Label(x + 38, 13, f"layer {layer}", size=11, quiet=True))
        marks.append(Box(x, 18, 38, 24, "own", fill=0.8, strong=layer == now, size=11))
        text = "rank 1" if layer == now else ""
        marks.append(Box(x + 38, 18, 40, 24, text, tone="right", fill=0.8 * (layer == now), size=10))
    backward = step > LAYERS
    what = "" if now is None else f"{'backward' if backward else 'forward'} through layer {now}"
    marks.append(Label(left, 62, what, "start", size=12))
    alt = f"Rank 0 owns half of each of {LAYERS} layers. Whole at the moment: {'no layer' if now is None else now}."
    return Scene(left + across * LAYERS, 70, tuple(marks), _fsdp_says(step, now, backward), alt)


def _fsdp_says(step: int, now: int | None, backward: bool) -> str:
    if now is None:
        return "Between steps rank 0 holds its half of each layer. Rank 1 holds the other halves."
    if not backward:
        return f"All-gather layer {now}, use it, and free the half that rank 1 owns."
    return f"All-gather layer {now} again, compute its gradient, reduce-scatter that, and free the other half."
