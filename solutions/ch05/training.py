"""The parts of a training script that people forget: equal starts, and a step of several micro-batches.

world.run(train, ranks=2)  # train calls broadcast_model(model) once, accumulated_step(...) in every step
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from rankzero import checks


def broadcast_model(model: torch.nn.Module, group: dist.ProcessGroup | None = None) -> None:
    """Give every rank the parameters and buffers that the model has on the first rank of the group.

    A frozen parameter is sent too, and so is a buffer, such as the running mean of a batch normalization: no gradient
    would ever make it equal. The tensors are filled in place, because an optimizer may hold them already. Each tensor
    is sent once.

    Args:
        model: of the same structure on every rank, with values of its own.
        group: of the ranks; None is the default group.
    """
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            dist.broadcast(tensor, group=group, group_src=0)


def accumulated_step(
    replica: DistributedDataParallel,
    optimizer: torch.optim.Optimizer,
    micro_batches: Sequence[tuple[torch.Tensor, torch.Tensor]],
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    max_norm: float = 1.0,
) -> float:
    """One optimizer step over several micro-batches.

    The gradients are reduced once, with the last micro-batch. Then the gradient of the mean loss over all micro-batches
    and ranks is clipped, the optimizer steps, and the gradients are cleared for the next step.

    Args:
        replica: the model in DDP.
        optimizer: of its parameters.
        micro_batches: inputs and targets of this rank, at least one pair, all with equally many rows.
        loss: called with what the replica returns and with the targets; the mean over rows.
        max_norm: the gradient is scaled down to this norm if it is longer; positive.

    Returns:
        The gradient's norm before it was clipped.
    """
    checks.require(len(micro_batches) > 0, "hold at least one", micro_batches=len(micro_batches))
    checks.positive(max_norm=max_norm)
    for number, (inputs, targets) in enumerate(micro_batches, 1):
        last = number == len(micro_batches)
        with nullcontext() if last else replica.no_sync():
            (loss(replica(inputs), targets) / len(micro_batches)).backward()
    norm = torch.nn.utils.clip_grad_norm_(replica.parameters(), max_norm)
    optimizer.step()
    optimizer.zero_grad()
    return norm.item()
