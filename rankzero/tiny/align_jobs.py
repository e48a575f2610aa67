"""An RLHF job: models, prompts, random numbers and the plan that a loop is handed. See ``solutions/ch14/loop.py``.

>>> Plan(iterations=4, group_size=8).clip
0.2
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rankzero import checks
from rankzero.tiny.layers import GPTConfig
from rankzero.tiny.model import GPT, KVCache

#: Asks for the rewards [b] of finished rows: the number of the batch, which of its rows [b], prompts and responses
#: [b, P + T], and the log-probabilities with which the responses were drawn [b, T].
Score = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Plan:
    """How a job is run.

    Attributes:
        iterations: batches; each is written, scored and learned from.
        group_size: consecutive rows of a batch that answer the same prompt, G.
        clip: the ratio counts from ``1 - clip`` to ``1 + clip``.
        beta: price of the distance from the reference; 0 for none.
        temperature: by which logits are divided before tokens are drawn.
        eos: the token that ends a response; None if every response is as long as it may be.
        lag: 0: version i of the weights writes batch i. 1: version ``max(0, i - 1)`` does.
        cap: largest weight of a token that older weights wrote.
        bound: 0: the lag says who writes what. Else a batch is begun by any writer, at most so many versions ahead.
    """

    iterations: int
    group_size: int
    clip: float = 0.2
    beta: float = 0.0
    temperature: float = 1.0
    eos: int | None = None
    lag: int = 0
    cap: float = math.inf
    bound: int = 0

    def __post_init__(self) -> None:
        checks.count(iterations=self.iterations)
        checks.count(2, group_size=self.group_size)
        checks.count(0, lag=self.lag)
        checks.count(0, bound=self.bound)
        checks.amount(beta=self.beta)
        checks.positive(clip=self.clip, temperature=self.temperature)


@dataclass(frozen=True)
class Rollout:
    """A batch that is written and scored already. What stands behind the first ``<eos>`` of a row means nothing.

    Attributes:
        tokens: prompts and responses, int64 [B, P + T].
        log_probs: of each token of the responses when it was drawn, float64 [B, T].
        scores: float64 [B].
    """

    tokens: torch.Tensor
    log_probs: torch.Tensor
    scores: torch.Tensor


@dataclass(frozen=True)
class Job:
    """What one rank is handed.

    Attributes:
        model: the writer, in float64, the same on every rank; rank 0's is trained.
        reference: a frozen model; None where the price is 0.
        optimizer: of the model, on rank 0; None on the others.
        prompts: for each batch, int64 [B, P]; each prompt stands in ``group_size`` rows in a row.
        uniforms: for each batch, float64 [B, T], each at least 0 and below 1: one number for each token to draw.
        orders: for each batch, the minibatches in their order: the rows of each, int64.
        score: see :data:`Score`; each row of a batch may be asked for once, by the rank that has written it.
        plan: how the job is run.
        rollout: batch 0, if it is written already; else None.
    """

    model: GPT
    reference: GPT | None
    optimizer: torch.optim.Optimizer | None
    prompts: Sequence[torch.Tensor]
    uniforms: Sequence[torch.Tensor]
    orders: Sequence[Sequence[torch.Tensor]]
    score: Score
    plan: Plan
    rollout: Rollout | None = None

    def cache(self, rows: int) -> KVCache:
        """An empty cache for so many rows of the writer: ``job.model(tokens, cache=...)`` passes new tokens only."""
        return KVCache(self.model, rows)


def model_of(shape: Mapping[str, int], weights: int | Mapping[str, torch.Tensor]) -> GPT:
    """A model in float64 with weights drawn from a seed, or with these."""
    model = GPT(GPTConfig(**shape), weights if isinstance(weights, int) else 0).double()
    if not isinstance(weights, int):
        model.load_state_dict(weights)
    return model


def made(
    rank: int,
    shape: Mapping[str, int],
    weights: int | Mapping[str, torch.Tensor],
    reference: int | Mapping[str, torch.Tensor] | None,
    rate: float,
    adam: bool,
    plan: Mapping[str, Any],
    prompts: Sequence[torch.Tensor],
    uniforms: Sequence[torch.Tensor],
    orders: Sequence[Sequence[torch.Tensor]],
    score: Score,
    rollout: Sequence[torch.Tensor] | None = None,
) -> Job:
    """A rank's job from plain data, as the grader sends it.

    Args:
        rank: of this process.
        shape: of the models, as :class:`GPTConfig` takes it.
        weights: of the writer, by name, or the seed from which they are drawn.
        reference: the same of the reference; None without one.
        rate: learning rate.
        adam: AdamW; else plain SGD.
        plan: as :class:`Plan` takes it.
        prompts, uniforms, orders, score: as in :class:`Job`.
        rollout: tokens, log-probabilities and scores of batch 0, if it is written already.
    """
    model = model_of(shape, weights)
    kind = torch.optim.AdamW if adam else torch.optim.SGD
    return Job(
        model,
        None if reference is None else model_of(shape, reference).requires_grad_(False),
        kind(model.parameters(), lr=rate) if rank == 0 else None,
        prompts,
        uniforms,
        orders,
        score,
        Plan(**plan),
        Rollout(*rollout) if rollout else None,
    )
