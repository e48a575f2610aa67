"""The vocabulary split over ranks: an embedding and a loss for which no rank sees all logits.

>>> loss_run(4).calls  # doctest: +SKIP
{'all_reduce': 3}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.nn import functional

from rankzero import world
from solutions.ch03.collective_cost import traffic
from solutions.ch06.sharded_layers import vocab_parallel_cross_entropy, vocab_parallel_embedding

from .ring_bytes import collective_calls, ring_bytes
from .sharding_runs import block_of, drawn, gradient_of

#: Tokens of a batch, rows of the table, width of the model; logits reach ``SCALE``.
TOKENS, VOCAB, HIDDEN, SCALE = 6, 32, 8, 100.0


@dataclass(frozen=True)
class Vocabulary:
    """A split vocabulary beside the whole one.

    Attributes:
        value_error: largest absolute difference of the losses, or of the embedded tokens.
        gradient_error: the same for the gradient of the logits, or of the table, with shards joined.
        calls: collectives of one rank, forward and backward.
        bytes: bytes that one rank would send in optimal rings.
    """

    value_error: float
    gradient_error: float
    calls: dict[str, int]
    bytes: float


def loss_run(
    ranks: int,
    loss: Callable[..., torch.Tensor] = vocab_parallel_cross_entropy,
    vocab: int = VOCAB,
    tokens: int = TOKENS,
    scale: float = SCALE,
) -> Vocabulary:
    """Losses and their gradient on ``ranks`` ranks against the library's, in double precision.

    Args:
        ranks: a divisor of ``vocab``.
        loss: a function from this rank's logits and all targets to the loss of each token.
        vocab: how many logits a token has.
        tokens: in the batch.
        scale: of the logits.
    """
    run = world.run(_loss, loss, vocab, tokens, scale, ranks=ranks, backend="gloo")
    logits, targets = _logits(vocab, tokens, scale)
    right = functional.cross_entropy(logits, targets, reduction="none")
    right.sum().backward()
    return _compared(run, right.detach(), gradient_of(logits), 1)


def embedding_run(
    ranks: int,
    embedding: Callable[..., torch.Tensor] = vocab_parallel_embedding,
    vocab: int = VOCAB,
    tokens: int = TOKENS,
    hidden: int = HIDDEN,
) -> Vocabulary:
    """Embedded tokens and the table's gradient on ``ranks`` ranks against the library's; arguments as above."""
    run = world.run(_embedding, embedding, vocab, tokens, hidden, ranks=ranks, backend="gloo")
    table, (_, ids) = drawn(5, vocab, hidden).requires_grad_(), _logits(vocab, tokens, 1.0)
    right = functional.embedding(ids, table)
    (right * drawn(6, tokens, hidden)).sum().backward()
    return _compared(run, right.detach(), gradient_of(table), 0)


def _compared(run: world.World, value: torch.Tensor, gradient: torch.Tensor, dim: int) -> Vocabulary:
    values, gradients = zip(*run.values, strict=True)
    value_error = max(float((found - value).abs().max()) for found in values)
    gradient_error = float((torch.cat(gradients, dim) - gradient).abs().max())
    return Vocabulary(value_error, gradient_error, collective_calls(run.events), ring_bytes(run.events))


def _logits(vocab: int, tokens: int, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    """All logits, the largest of size ``scale``, and the targets; the same in every process."""
    logits = drawn(3, tokens, vocab)
    targets = torch.randint(vocab, (tokens,), generator=torch.Generator().manual_seed(4))
    return (logits * scale / logits.abs().max()).requires_grad_(), targets


def _loss(loss: Callable[..., torch.Tensor], vocab: int, tokens: int, scale: float) -> tuple:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    logits, targets = _logits(vocab, tokens, scale)
    own = block_of(logits.detach(), 1, rank, ranks).clone().requires_grad_()
    losses = loss(own, targets)
    losses.sum().backward()
    return losses.detach(), gradient_of(own)


def _embedding(embedding: Callable[..., torch.Tensor], vocab: int, tokens: int, hidden: int) -> tuple:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    own = block_of(drawn(5, vocab, hidden), 0, rank, ranks).clone().requires_grad_()
    embedded = embedding(_logits(vocab, tokens, 1.0)[1], own)
    (embedded * drawn(6, tokens, hidden)).sum().backward()
    return embedded.detach(), gradient_of(own)


def two_ways(vocab: int, tokens: int, ranks: int, logit_bytes: float = 2, loss_bytes: float = 4) -> dict[str, float]:
    """Bytes one rank sends to compute the loss of a batch: gathering all logits, or reducing three numbers per token.

    Args:
        vocab: logits of a token.
        tokens: in the batch.
        ranks: over which the vocabulary is split.
        logit_bytes: bytes of one gathered logit.
        loss_bytes: bytes of one reduced number.
    """
    gathered = traffic("all_gather", logit_bytes * vocab * tokens, ranks, 0)[0]
    return {
        "gather all logits": gathered,
        "three reductions": 3 * traffic("all_reduce", loss_bytes * tokens, ranks, 0)[0],
    }
