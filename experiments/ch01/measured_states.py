"""What a training step really takes: FLOPs as counted by PyTorch, and bytes summed over its tensors.

    counted_flops(GPTConfig()).ratio
    state_bytes(GPTConfig())

Nothing here uses a formula; the chapter compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

from rankzero.tiny import GPT, GPTConfig, batches, loss


@dataclass(frozen=True)
class Counted:
    """FLOPs of one training step, as ``torch.utils.flop_counter`` counts them.

    Attributes:
        tokens: in the batch.
        forward: FLOP of the forward pass.
        step: FLOP of the forward and the backward pass together.
    """

    tokens: int
    forward: int
    step: int

    @property
    def ratio(self) -> float:
        """FLOP of the whole step over FLOP of its forward pass."""
        return self.step / self.forward


def counted_flops(config: GPTConfig, batch: int = 2) -> Counted:
    """Count the FLOPs of one step on ``batch`` sequences of ``config.context`` tokens, without the optimizer's."""
    model = GPT(config)
    inputs, targets = next(iter(batches(None, batch, config.context, 0)))
    with FlopCounterMode(display=False) as forward:
        model(inputs)
    with FlopCounterMode(display=False) as step:
        loss(model, inputs, targets).backward()
    return Counted(inputs.numel(), forward.get_total_flops(), step.get_total_flops())


def state_bytes(config: GPTConfig, mixed: bool = True) -> dict[str, int]:
    """Bytes of everything that training a model keeps in memory, after one step of AdamW on real data.

    Args:
        config: the model's shape.
        mixed: keep weights and gradients in bf16, and an fp32 master copy that the optimizer updates; otherwise keep
            everything in fp32, without a copy.

    Returns:
        Bytes of ``weights``, ``gradients``, ``master copy``, ``moments`` and ``step counters`` (one number for each
        tensor).
    """
    model = GPT(config).to(torch.bfloat16 if mixed else torch.float32)
    weights = list(model.parameters())
    masters: list[torch.Tensor] = [weight.detach().float() if mixed else weight for weight in weights]
    optimizer = torch.optim.AdamW(masters)
    loss(model, *next(iter(batches(None, 2, config.context, 0)))).backward()
    if mixed:
        _step_through_masters(optimizer, weights, masters)
    else:
        optimizer.step()
    states = [state for by_name in optimizer.state.values() for state in by_name.items()]
    return {
        "weights": _bytes(weights),
        "gradients": _bytes(weight.grad for weight in weights if weight.grad is not None),
        "master copy": _bytes(masters) if mixed else 0,
        "moments": _bytes(tensor for name, tensor in states if name != "step"),
        "step counters": _bytes(tensor for name, tensor in states if name == "step"),
    }


def _step_through_masters(
    optimizer: torch.optim.Optimizer, weights: list[torch.nn.Parameter], masters: list[torch.Tensor]
) -> None:
    """Update the fp32 copies with the bf16 gradients, then round them into the weights; no fp32 gradients are kept."""
    for master, weight in zip(masters, weights, strict=True):
        master.grad = weight.grad.float() if weight.grad is not None else None
    optimizer.step()
    with torch.no_grad():
        for master, weight in zip(masters, weights, strict=True):
            master.grad = None
            weight.copy_(master)


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
