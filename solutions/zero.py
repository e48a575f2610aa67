"""Memory of model states under ZeRO: weights, gradients and optimizer states, sliced over the data-parallel ranks.

Standard library only. Sizes are in bytes; byte arguments are bytes per parameter.
"""

from __future__ import annotations

import math


def zero_memory(
    params: float,
    stage: int,
    ranks: int,
    weight_bytes: float = 2.0,
    gradient_bytes: float = 2.0,
    optimizer_bytes: float = 12.0,
) -> float:
    """Bytes of model state that one rank holds.

    Stage 0 keeps everything on every rank. Stage 1 slices the optimizer states, stage 2 the gradients too, stage 3 the
    weights too. A slice is one part in ``ranks``: real division, nothing rounded or padded. Activations, buffers and
    fragmentation are not counted. Under tensor or pipeline parallelism, pass the parameters of one shard.

    Args:
        params: parameters of the model; not negative.
        stage: 0, 1, 2 or 3.
        ranks: data-parallel ranks; at least 1 (one rank holds everything, whatever the stage).
        weight_bytes: bytes per weight; not negative. 2 is bf16.
        gradient_bytes: bytes per gradient; not negative.
        optimizer_bytes: bytes of optimizer state per parameter; not negative. 12 is Adam in fp32: master copy of the
            weight, first moment and second moment, 4 bytes each.

    Returns:
        Bytes on one rank (not GB, not GiB).

    Raises:
        ValueError: an argument is outside its range or not finite; the message names it and its value.

    Source: Rajbhandari et al. (2020), arXiv:1910.02054, sections 3 and 5.
    """
    if isinstance(stage, bool) or stage not in (0, 1, 2, 3):
        raise ValueError(f"stage must be 0, 1, 2 or 3, got {stage!r}")
    if isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1:
        raise ValueError(f"ranks must be an integer >= 1, got {ranks!r}")
    sizes = {"params": params, "weight_bytes": weight_bytes, "gradient_bytes": gradient_bytes}
    for name, size in (sizes | {"optimizer_bytes": optimizer_bytes}).items():
        if not (math.isfinite(size) and size >= 0):
            raise ValueError(f"{name} must be finite and not negative, got {size!r}")
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = gradient_bytes / (ranks if stage >= 2 else 1)
    optimizer = optimizer_bytes / (ranks if stage >= 1 else 1)
    return float(params * (weights + gradients + optimizer))
