"""A model split into stages: which layers each stage holds, and how long it waits. Standard library only.

>>> [len(stage_layers(126, 16, stage)) for stage in (0, 15)]
[8, 7]
"""

from __future__ import annotations

from rankzero import checks


def stage_layers(layers: int, stages: int, stage: int) -> range:
    """The consecutive layers of one stage, in a split that is as even as possible.

    The first ``layers mod stages`` stages hold one layer more than the others.

    Args:
        layers: of the model; not negative.
        stages: parts that it is cut into; at least 1. With more stages than layers, the last ones are empty.
        stage: the one whose layers are returned, from 0 to ``stages - 1``.

    Returns:
        The numbers of its layers, ascending.
    """
    checks.count(0, layers=layers)
    checks.count(stages=stages)
    checks.count(0, stages - 1, stage=stage)
    size, longer = divmod(layers, stages)
    start = stage * size + min(stage, longer)
    return range(start, start + size + (1 if stage < longer else 0))


def naive_step(
    layers: int, stages: int, layer_time: float, transfer_time: float, backward_ratio: float = 2.0
) -> tuple[float, float]:
    """Time of one training step of a model split into stages, and the average share of it in which a stage works.

    One batch goes forward through the stages and its gradient comes back, so one stage works at a time while all others
    wait: the compute of all layers adds up, and each boundary between stages is crossed once in each direction.

    Args:
        layers: of the model; at least 1.
        stages: processes that hold them, in sequence; at least 1.
        layer_time: forward time of one layer, seconds; positive.
        transfer_time: of the activation, or of its gradient, across one boundary, seconds; not negative.
        backward_ratio: backward time over forward time of a layer; not negative. 2 for matrix products, whose backward
            computes two gradients, each with as much work as the forward.

    Returns:
        ``(step_time, utilization)``: seconds, and useful compute over ``stages * step_time``, at most ``1 / stages``.
    """
    checks.count(layers=layers, stages=stages)
    checks.positive(layer_time=layer_time)
    checks.amount(transfer_time=transfer_time, backward_ratio=backward_ratio)
    compute = layers * layer_time * (1 + backward_ratio)
    step_time = compute + 2 * (stages - 1) * transfer_time
    return step_time, compute / (stages * step_time)
