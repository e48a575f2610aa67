"""Routing tokens to experts, and experts that live on different ranks.

weights, experts = route(logits, top_k=2)
y = expert_parallel_forward(x, weights, experts, local_experts, experts=8)  # on every rank
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from rankzero import checks


def route(logits: torch.Tensor, top_k: int, renormalize: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """The experts that each token visits, best first, and the weight of each.

    Probabilities are the softmax of a token's logits over all experts, in float32 or wider. The ``top_k`` largest are
    kept; with ``renormalize`` they are divided by their sum. Gradients flow through the weights.

    Args:
        logits: of the router, [tokens, experts].
        top_k: experts of one token, an integer from 1 to as many as there are.
        renormalize: the weights of a token add up to 1. With ``top_k=1`` every weight is then the constant 1, and the
            router learns nothing from what comes after it.

    Returns:
        ``(weights, experts)``, both [tokens, top_k]: float32 or wider, if the logits are wider, and int64.

    Source: Jiang et al. (2024), arXiv:2401.04088; Fedus et al. (2021), arXiv:2101.03961 (one expert, not renormalized).
    """
    checks.count(1, logits.shape[1], top_k=top_k)
    wide = torch.promote_types(logits.dtype, torch.float32)
    weights, experts = logits.softmax(dim=1, dtype=wide).topk(top_k, dim=1)
    return weights / weights.sum(dim=1, keepdim=True) if renormalize else weights, experts


def load_balancing_loss(probabilities: torch.Tensor, experts_chosen: torch.Tensor, experts: int) -> torch.Tensor:
    """The auxiliary loss that spreads tokens over experts: ``E * sum_i f_i P_i``.

    ``f_i`` is the share of all assignments that went to expert i (a count: no gradient), ``P_i`` the mean of its
    probability over the tokens (the gradient flows here). It is 1 when either is uniform, for every ``top_k``, and E
    when every token goes to one expert with certainty.

    Args:
        probabilities: the router's softmax over all experts, [tokens, experts]; at least one token.
        experts_chosen: the experts of each token, [tokens, top_k], int64.
        experts: E, how many there are.

    Returns:
        A scalar of the type of ``probabilities``.

    Source: Shazeer et al. (2017), arXiv:1701.06538; Fedus et al. (2021), arXiv:2101.03961, eq. 4 to 6.
    """
    checks.require(len(probabilities) > 0, "have at least one token", probabilities=tuple(probabilities.shape))
    checks.require(
        probabilities.shape[1] == experts, f"be [tokens, {experts}]", probabilities=tuple(probabilities.shape)
    )
    shares = torch.bincount(experts_chosen.flatten(), minlength=experts) / experts_chosen.numel()  # [experts]
    return experts * (shares.to(probabilities.dtype) * probabilities.mean(dim=0)).sum()


def expert_parallel_forward(
    x: torch.Tensor,
    weights: torch.Tensor,
    chosen: torch.Tensor,
    local_experts: Sequence[torch.nn.Module],
    experts: int,
) -> torch.Tensor:
    """The output of a mixture layer whose experts are spread over the ranks: E/R consecutive ones on each of R ranks.

    Every rank holds tokens of its own. A row travels to the rank of each of its experts; the result comes back and is
    added to its token with its weight. Ranks first tell each other how many rows to expect, in a tensor. Rows are
    exchanged by two uneven all-to-alls, and in the backward pass their gradients by two more: the exchange has to be an
    autograd function, whose backward is the same exchange with the two lists of splits swapped.

    Differentiable in ``x``, in ``weights`` and in the parameters of the experts, whose gradients hold what the tokens
    of all ranks contribute. ``x`` asks for a gradient on all ranks or on none.

    Args:
        x: the tokens of this rank, [tokens, hidden]; ranks may hold different numbers of them, also none.
        weights: of each token's experts, [tokens, top_k], of x's type.
        chosen: the experts of each token, numbers from 0 to E-1, [tokens, top_k], int64.
        local_experts: this rank's E/R experts, in the order of their numbers, each from [rows, hidden] to that shape.
        experts: E, how many there are on all ranks together; a multiple of the number of ranks.

    Returns:
        For each token the sum of its experts' outputs times their weights, [tokens, hidden].

    Source: Lepikhin et al. (2020), arXiv:2006.16668.
    """
    checks.require(experts % dist.get_world_size() == 0, "be a multiple of the number of ranks", experts=experts)
    checks.require(
        len(local_experts) * dist.get_world_size() == experts,
        f"be one equal share of {experts} experts",
        local_experts=len(local_experts),
    )
    ranks = dist.get_world_size()
    by_expert = chosen.flatten().argsort(stable=True)  # the place of every assignment, sorted by expert
    tokens = by_expert // chosen.shape[1]  # [tokens * top_k]
    counts = torch.bincount(chosen.flatten(), minlength=experts)  # [experts]
    coming = torch.empty_like(counts)  # [experts]: by source rank, then by expert of this rank
    dist.all_to_all_single(coming, counts)
    sent, received = (table.view(ranks, -1).sum(dim=1).tolist() for table in (counts, coming))
    rows = _AllToAllRows.apply(x[tokens], sent, received)  # [sum(received), hidden]
    results = _AllToAllRows.apply(_visited(rows, coming.view(ranks, -1), local_experts), received, sent)
    return torch.zeros_like(x).index_add(0, tokens, results * weights.flatten()[by_expert].unsqueeze(1))


class _AllToAllRows(torch.autograd.Function):
    """An uneven all-to-all of rows. The gradient of a row goes back the way the row came: the splits are swapped.

    Every rank takes part in every exchange, including those of the backward pass.
    """

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:
        ctx.sent, ctx.received = sent, received
        return _exchanged(rows, sent, received)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return _exchanged(gradients[0], ctx.received, ctx.sent), None, None


def _exchanged(rows: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:
    arrived = rows.new_empty(sum(received), *rows.shape[1:])
    dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
    return arrived


def _visited(rows: torch.Tensor, coming: torch.Tensor, local_experts: Sequence[torch.nn.Module]) -> torch.Tensor:
    """Every row through its expert. Rows come by source and then by expert, ``coming[source, expert]`` of each."""
    owners = torch.arange(len(local_experts)).repeat(len(coming)).repeat_interleave(coming.flatten())  # [rows]
    places = owners.argsort(stable=True)
    parts = rows[places].split(coming.sum(dim=0).tolist())
    results = torch.cat([expert(part) for expert, part in zip(local_experts, parts, strict=True)])
    return results[places.argsort()]
