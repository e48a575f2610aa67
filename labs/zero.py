# Generated from solutions/zero.py by make stubs. Write the bodies; names and signatures stay.
"""Memory of model states under ZeRO: weights, gradients and optimizer states, sliced over the data-parallel ranks.

Standard library only. Sizes are in bytes; byte arguments are bytes per parameter.
"""

from __future__ import annotations


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
    raise NotImplementedError("05-zero-memory: not written yet")
