"""A training job: the model, this rank's data and the plan that a trainer is handed. See ``solutions/ch07/trainer.py``.

>>> Plan(dp=2, tp=2).ranks
4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from rankzero import checks
from rankzero.tiny.layers import GPTConfig
from rankzero.tiny.model import GPT

#: One micro-batch: inputs and targets, int64, both [rows, tokens].
MicroBatch = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Plan:
    """How a job is laid out over ``dp * tp * pp`` ranks.

    Tensor-parallel ranks are neighbors, then come the replicas, then the stages: in the replica ``d``, the stage ``p``
    and the tensor-parallel place ``t`` works rank ``(p * dp + d) * tp + t``.

    Attributes:
        dp: replicas of the model; each has rows of its own.
        tp: ranks that share every matrix of a block.
        pp: stages of the pipeline; a divisor of the model's layers, so that every stage has as many blocks.
        zero: what the replicas shard: 0 nothing, 1 the optimizer state, 2 the gradients too.
        micro_batches: forward and backward passes in one step of the optimizer. One rank accumulates their gradients;
            a pipeline has several of them in flight.
        bucket_bytes: gradients are averaged in buckets that are full as soon as they hold so many bytes, each while the
            backward pass goes on; 0 averages all of them together after the last backward pass.
    """

    dp: int = 1
    tp: int = 1
    pp: int = 1
    zero: int = 0
    micro_batches: int = 1
    bucket_bytes: int = 0

    def __post_init__(self) -> None:
        checks.count(dp=self.dp, tp=self.tp, pp=self.pp, micro_batches=self.micro_batches)
        checks.count(0, zero=self.zero, bucket_bytes=self.bucket_bytes)
        checks.require(self.zero <= 2, "be 0, 1 or 2", zero=self.zero)

    @property
    def ranks(self) -> int:
        """How many ranks the plan takes."""
        return self.dp * self.tp * self.pp


@dataclass(frozen=True)
class Job:
    """What one rank is handed.

    Attributes:
        model: the whole model with its starting weights, in float64, the same on every rank. It is the trainer's own:
            it may be changed or cut. Passes begin in its embedding, where the grader looks at what a rank holds.
        steps: for each step of the optimizer, ``plan.micro_batches`` micro-batches ``(inputs, targets)``, both int64
            [rows, tokens]. All ranks of a replica have the same ones. Replicas may have different numbers of rows, in
            some steps none at all; then the tensors are [0, tokens].
        plan: how the job is laid out.
        learning_rate: of SGD.
        momentum: of SGD.
        saved: what the trainer returned on this rank when it was stopped; None at the beginning. ``steps`` are then
            those that are left.
    """

    model: GPT
    steps: Sequence[Sequence[MicroBatch]]
    plan: Plan
    learning_rate: float
    momentum: float
    saved: tuple[dict[str, torch.Tensor], Any] | None = None

    @staticmethod
    def loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The mean cross-entropy of a micro-batch, from logits [rows, tokens, vocab].

        Without a row it is nan, and its gradients are zero.
        """
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def made(
    shape: Mapping[str, int],
    seed: int,
    plan: Mapping[str, int],
    rows: Sequence[Sequence[torch.Tensor]],
    rates: tuple[float, float],
    saved: Any = None,
) -> Job:
    """A job from plain data, as the grader sends it.

    Args:
        shape: of the model, as :class:`GPTConfig` takes it.
        seed: of the starting weights.
        plan: as :class:`Plan` takes it.
        rows: for each step and micro-batch, sequences of tokens [rows, tokens + 1], int64.
        rates: learning rate and momentum.
        saved: as in :class:`Job`.
    """
    steps = [[(tokens[:, :-1], tokens[:, 1:]) for tokens in step] for step in rows]
    return Job(GPT(GPTConfig(**shape), seed).double(), steps, Plan(**plan), *rates, saved)
