"""Rows of a chart: who writes and who trains when, in turn, one batch ahead behind a barrier, or continuously."""

from __future__ import annotations

from solutions.ch14.rlhf_profile import asynchronous_time, synchronous_time

#: GPU-seconds of generation and of training, and seconds of the longest response.
Work = tuple[float, float, float]

#: All GPUs in turn; two pools of which one waits for every batch; two pools that never wait.
TURNS, BARRIER, CONTINUOUS = MODES = ("turns", "barrier", "continuous")


def spans(
    mode: str, gpus: int, split: int, work: Work, floor: float = 0.0, iterations: int = 3
) -> dict[str, list[tuple[str, float, float]]]:
    """Rows of a chart: what each GPU or pool does over a few iterations, and when the last one ends."""
    generate, train, tail = work
    if mode == TURNS:
        whole = synchronous_time(gpus, *work, floor)
        writing = whole - train / gpus
        starts = [whole * number for number in range(iterations)]
        both = [("generate", start, start + writing) for start in starts]
        both += [("train", start + writing, start + whole) for start in starts]
        return {f"all {gpus}": sorted(both, key=lambda one: one[1])}
    step = asynchronous_time(gpus, *work, split, mode == BARRIER, floor)
    starts = [step * number for number in range(iterations)]
    writing, training = floor + generate / split, train / (gpus - split)
    writing = max(writing, tail) if mode == BARRIER else writing
    return {
        f"{split} generate": [("generate", start, start + writing) for start in starts],
        f"{gpus - split} train": [("train", start + step, start + step + training) for start in starts],
    }
