# Generated from solutions/ch02/model_split.py by make stubs. Write the bodies; names and signatures stay.
"""One training step of a model that is split over the ranks: rank r holds stage r.

world.run(lambda: forward_backward(stages[dist.get_rank()], inputs, targets, (8, 16)), ranks=4).values
"""

from __future__ import annotations

import torch
import torch.distributed as dist


def forward_backward(
    stage: torch.nn.Module, inputs: torch.Tensor | None, targets: torch.Tensor | None, shape: tuple[int, ...]
) -> float | None:
    """One forward and one backward pass through all stages; activations go to the next rank, gradients come back.

    Autograd does not cross messages: the activation that a rank receives is a new leaf, whose gradient it sends back.
    Each boundary is crossed by one message each way. Afterwards every parameter has the gradient that it has in the
    uncut model, added to what ``.grad`` held before. A stage may have no parameters, or frozen ones.

    Args:
        stage: this rank's part of the model.
        inputs: the batch, on rank 0; elsewhere it is not used.
        targets: what the last stage should give, of the shape of its output, on the last rank; elsewhere not used.
        shape: of the activation at every boundary between two stages, in float32; the same on every rank.

    Returns:
        The mean squared error on the last rank, None on the others.
    """
    raise NotImplementedError("02-forward-backward: not written yet")
