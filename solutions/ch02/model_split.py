"""One training step of a model that is split over the ranks: rank r holds stage r.

world.run(lambda: forward_backward(stages[dist.get_rank()], inputs, targets, (8, 16)), ranks=4).values
"""

from __future__ import annotations

from typing import Any

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
    rank, ranks = dist.get_rank(), dist.get_world_size()
    activation: Any = inputs
    wanted: Any = targets
    if rank > 0:
        activation = torch.empty(shape)
        dist.recv(activation, rank - 1)
        activation.requires_grad_()
    output = stage(activation)
    if rank < ranks - 1:
        dist.send(output.detach().contiguous(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
    else:
        output, gradient = torch.nn.functional.mse_loss(output, wanted), torch.ones(())
    if output.requires_grad:  # False on a first rank whose stage has nothing to train
        output.backward(gradient)
    if rank > 0:
        dist.send(activation.grad.contiguous(), rank - 1)
    return float(output.detach()) if rank == ranks - 1 else None
