"""A block split over several ranks against the whole block: outputs, gradients, traffic, and some training steps.

>>> block_run(4, kv_heads=1).errors["attention.key.weight"] < 1e-10  # doctest: +SKIP
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from rankzero import world
from rankzero.tiny import GPT, GPTConfig
from rankzero.tiny.layers import Block

from .parallel_block import Operators, ParallelBlock, positions, whole_gradients
from .ring_bytes import collective_calls, ring_bytes
from .sharding_runs import drawn

#: Sequences, and tokens in each.
BATCH, TOKENS = 2, 8

LEARNING_RATE = 0.2


def shape(heads: int = 8, kv_heads: int = 8) -> GPTConfig:
    """One layer with heads of width 4."""
    return GPTConfig(vocab=16, layers=1, heads=heads, kv_heads=kv_heads, head_dim=4, ffn=8 * heads, context=TOKENS)


@dataclass(frozen=True)
class SplitBlock:
    """A split block beside the whole one.

    Attributes:
        ranks: how many.
        replicas: ranks that hold the same key and value heads.
        errors: largest absolute difference of the output ``Y``, the input's gradient ``dX``, and the gradient of every
            parameter, by its name in the whole block.
        unsummed: the same for the parameters' gradients before partial gradients were summed.
        calls: collectives of one rank, by name.
        bytes: bytes that one rank would send in optimal rings.
    """

    ranks: int
    replicas: int
    errors: dict[str, float]
    unsummed: dict[str, float]
    calls: dict[str, int]
    bytes: float


def block_run(
    ranks: int,
    heads: int = 8,
    kv_heads: int = 8,
    split_sequence: bool = False,
    summed: bool = True,
    backward: bool = True,
    operators: Operators | None = None,
) -> SplitBlock:
    """One forward and one backward pass through a block on ``ranks`` ranks, in double precision.

    Args:
        ranks: a divisor of ``heads``.
        heads: query heads.
        kv_heads: key and value heads.
        split_sequence: sequence parallelism.
        summed: sum partial gradients after the backward pass.
        backward: run a backward pass, too; otherwise only the output is compared.
        operators: what the block is made of.
    """
    config = shape(heads, kv_heads)
    run = world.run(_pass, config, split_sequence, summed, backward, operators, ranks=ranks, backend="gloo")
    parts = list(run.values)
    errors, unsummed = _errors(parts, config, split_sequence, backward)
    calls, sent = collective_calls(run.events), ring_bytes(run.events)
    return SplitBlock(ranks, parts[0]["replicas"], errors, unsummed, calls, sent)


def _errors(
    parts: list[dict[str, Any]], config: GPTConfig, split_sequence: bool, backward: bool
) -> tuple[dict[str, float], dict[str, float]]:
    """Largest differences from a pass through the whole block, and those of gradients before they are summed."""
    block, x, upstream = _whole(config)
    y = block(x, positions(config, TOKENS, x.dtype), 0)

    def of_tokens(name: str, right: torch.Tensor | None) -> float:
        found = [part[name] for part in parts]
        return max(_far(whole, right) for whole in ([torch.cat(found, 1)] if split_sequence else found))

    errors = {"Y": of_tokens("Y", y.detach())}
    if not backward:
        return errors, {}
    (y * upstream).sum().backward()
    errors["dX"] = of_tokens("dX", x.grad)
    right = dict(block.named_parameters())

    def of_parameters(key: str) -> dict[str, float]:
        found = whole_gradients([part["kv"] for part in parts], [part[key] for part in parts], config.head_dim)
        return {name: _far(gradient, right[name].grad) for name, gradient in found.items()}

    return errors | of_parameters("gradients"), of_parameters("unsummed")


def _far(found: torch.Tensor, right: torch.Tensor | None) -> float:
    assert right is not None
    return float((found - right).abs().max())


def _whole(config: GPTConfig) -> tuple[Block, torch.Tensor, torch.Tensor]:
    """The whole block, its input and the gradient from above; the same in every process."""
    block = GPT(config, seed=1).blocks[0].double()
    assert isinstance(block, Block)
    return block, drawn(1, BATCH, TOKENS, config.hidden).requires_grad_(), drawn(2, BATCH, TOKENS, config.hidden)


def _own_tokens(x: torch.Tensor, split_sequence: bool) -> torch.Tensor:
    """This rank's part of ``x`` [B, T, hidden], a leaf."""
    part = x.detach().chunk(dist.get_world_size(), 1)[dist.get_rank()] if split_sequence else x.detach()
    return part.clone()


def _pass(
    config: GPTConfig, split_sequence: bool, summed: bool, backward: bool, operators: Operators | None
) -> dict[str, Any]:
    block, whole_x, upstream = _whole(config)
    part = ParallelBlock(block, config, split_sequence, operators)
    x = _own_tokens(whole_x, split_sequence).requires_grad_()
    y = part(x, positions(config, TOKENS, x.dtype))
    if not backward:
        return {"Y": y.detach(), "replicas": part.replicas}
    (y * _own_tokens(upstream, split_sequence)).sum().backward()
    unsummed = _gradients(part)
    if summed:
        part.sum_gradients()
    found = {"Y": y.detach(), "dX": x.grad, "kv": part.kv_heads, "replicas": part.replicas}
    return found | {"gradients": _gradients(part), "unsummed": unsummed}


def _gradients(part: ParallelBlock) -> dict[str, torch.Tensor]:
    return {name: weight.grad.clone() for name, weight in part.named_parameters() if weight.grad is not None}


@dataclass(frozen=True)
class Twins:
    """Losses of the whole block and of the split one, step by step, from the same weights on the same batches."""

    whole: tuple[float, ...]
    split: tuple[float, ...]

    @property
    def difference(self) -> float:
        """The largest difference between two losses of one step."""
        return max(abs(a - b) for a, b in zip(self.whole, self.split, strict=True))


def train_twins(
    ranks: int,
    heads: int = 8,
    kv_heads: int = 8,
    split_sequence: bool = False,
    steps: int = 20,
    summed: bool = True,
    operators: Operators | None = None,
) -> Twins:
    """Train a block to produce a fixed target, split and whole, by gradient descent in double precision.

    Arguments are those of :func:`block_run`; ``steps`` is how many.
    """
    config = shape(heads, kv_heads)
    run = world.run(_train, config, split_sequence, steps, summed, operators, ranks=ranks, backend="gloo")
    block, x, target = _whole(config)
    now, whole = positions(config, TOKENS, x.dtype), []
    for _ in range(steps):
        block.zero_grad()
        loss = (block(x.detach(), now, 0) - target).square().mean()
        loss.backward()
        _descend(block)
        whole.append(float(loss.detach()))
    return Twins(tuple(whole), tuple(run.values[0]))


def _train(
    config: GPTConfig, split_sequence: bool, steps: int, summed: bool, operators: Operators | None
) -> list[float]:
    block, whole_x, whole_target = _whole(config)
    part = ParallelBlock(block, config, split_sequence, operators)
    x, target = (_own_tokens(tensor, split_sequence) for tensor in (whole_x, whole_target))
    now, losses = positions(config, TOKENS, x.dtype), []
    for _ in range(steps):
        part.zero_grad()
        loss = (part(x, now) - target).square().sum() / whole_target.numel()  # of this rank's tokens
        loss.backward()
        if summed:
            part.sum_gradients()
        _descend(part)
        value = loss.detach()
        if split_sequence:
            dist.all_reduce(value)
        losses.append(float(value))
    return losses


def _descend(model: torch.nn.Module) -> None:
    with torch.no_grad():
        for weight in model.parameters():
            if weight.grad is not None:
                weight.sub_(weight.grad, alpha=LEARNING_RATE)
