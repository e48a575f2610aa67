"""The small model with experts, trained with and without the balancing loss, and which experts its tokens visit.

>>> with_loss, without = moe_runs([0.01, 0.0])  # doctest: +SKIP
>>> with_loss.hottest[-1], without.hottest[-1]  # doctest: +SKIP

Each setting trains on its own rank: the settings share the machine but no data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

from rankzero import world
from rankzero.tiny import GPT, GPTConfig, batches
from rankzero.tiny import loss as token_loss
from solutions.ch07.experts import expert_capacity, keep_within_capacity
from solutions.ch07.moe import load_balancing_loss, route

#: The model: two layers, each with a mixture instead of its feed-forward block.
CONFIG = GPTConfig(layers=2, heads=4, head_dim=16, context=64)
SEQUENCES = 8
EXPERT_FFN = 64
RATE = 1e-2


@dataclass(frozen=True)
class MoeRun:
    """One training run.

    Attributes:
        balance: the weight of the balancing loss.
        losses: loss of the next token, by step, nats.
        loads: assignments to each expert, by step, over all layers, before any are dropped.
        dropped: share of the assignments that found their expert full, by step.
    """

    balance: float
    losses: tuple[float, ...]
    loads: tuple[tuple[int, ...], ...]
    dropped: tuple[float, ...]

    @property
    def hottest(self) -> list[float]:
        """Load of the hottest expert over the mean load, by step; 1 is even."""
        return [max(load) * len(load) / sum(load) for load in self.loads]

    def shares(self, last: int = 10) -> list[float]:
        """Each expert's share of the assignments of the last steps, the most visited one first."""
        sums = [sum(column) for column in zip(*self.loads[-last:], strict=True)]
        return sorted((load / sum(sums) for load in sums), reverse=True)


class Expert(nn.Module):
    """One expert: a gated feed-forward block."""

    def __init__(self, hidden: int, ffn: int) -> None:
        super().__init__()
        self.gate, self.up, self.down = (
            nn.Linear(*shape, bias=False) for shape in ((hidden, ffn), (hidden, ffn), (ffn, hidden))
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Mixture(nn.Module):
    """A router and its experts, all on one rank. A full expert skips further tokens; only the residual carries them on.

    Attributes:
        balance: the balancing loss of the last pass.
        load: assignments to each expert in the last pass.
        dropped: share of them that found their expert full.
    """

    def __init__(self, hidden: int, experts: int, top_k: int, capacity_factor: float | None) -> None:
        super().__init__()
        self.router = nn.Linear(hidden, experts, bias=False)
        self.experts = nn.ModuleList(Expert(hidden, EXPERT_FFN) for _ in range(experts))
        self.top_k, self.capacity_factor = top_k, capacity_factor
        self.balance, self.load, self.dropped = torch.zeros(()), [0] * experts, 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.flatten(0, -2)  # [tokens, hidden]
        logits = self.router(tokens)
        weights, chosen = route(logits, self.top_k)
        experts = len(self.experts)
        self.balance = load_balancing_loss(logits.softmax(dim=1), chosen, experts)
        self.load = torch.bincount(chosen.flatten(), minlength=experts).tolist()
        kept = self._kept(chosen)
        self.dropped = 1 - float(kept.float().mean())
        result = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            token, slot = ((chosen == number) & kept).nonzero(as_tuple=True)
            result = result.index_add(0, token, expert(tokens[token]) * weights[token, slot].unsqueeze(1))
        return result.view_as(x)

    def _kept(self, chosen: torch.Tensor) -> torch.Tensor:
        if self.capacity_factor is None:
            return torch.ones_like(chosen, dtype=torch.bool)
        slots = expert_capacity(len(chosen), len(self.experts), self.top_k, self.capacity_factor)
        return torch.tensor(keep_within_capacity(chosen.tolist(), len(self.experts), slots))


def moe_runs(
    balances: Sequence[float] = (0.01, 0.0),
    steps: int = 40,
    experts: int = 8,
    top_k: int = 2,
    capacity_factor: float | None = None,
) -> list[MoeRun]:
    """Train the small model once for each weight of the balancing loss, from the same weights, on the same text.

    Args:
        balances: weights of the balancing loss; 0 leaves it out.
        steps: of the optimizer.
        experts: in each layer.
        top_k: experts of one token.
        capacity_factor: an expert's capacity as a multiple of an even share; None drops nothing.
    """
    settings = (tuple(balances), steps, experts, top_k, capacity_factor)
    run = world.run(_train, *settings, ranks=len(balances), timeout=300.0, backend="gloo")
    return [MoeRun(balance, *value) for balance, value in zip(balances, run.values, strict=True)]


def mixture_model(experts: int, top_k: int, capacity_factor: float | None = None, seed: int = 0) -> GPT:
    """The small model with a mixture in every layer; the same seed gives the same weights."""
    model = GPT(CONFIG, seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for block in model.blocks:
            block.ffn = Mixture(CONFIG.hidden, experts, top_k, capacity_factor)
    return model


def _train(
    balances: Sequence[float], steps: int, experts: int, top_k: int, capacity_factor: float | None
) -> tuple[Any, ...]:
    """Train this rank's setting; return losses, loads and dropped shares of every step."""
    balance = balances[dist.get_rank()]
    model = mixture_model(experts, top_k, capacity_factor)
    mixtures = [module for module in model.modules() if isinstance(module, Mixture)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)
    losses, loads, dropped = [], [], []
    for inputs, targets in islice(batches(None, SEQUENCES, CONFIG.context, seed=0), steps):
        optimizer.zero_grad()
        value = token_loss(model, inputs, targets)
        (value + balance * torch.stack([mixture.balance for mixture in mixtures]).sum()).backward()
        optimizer.step()
        losses.append(value.item())
        loads.append(tuple(sum(column) for column in zip(*(mixture.load for mixture in mixtures), strict=True)))
        dropped.append(sum(mixture.dropped for mixture in mixtures) / len(mixtures))
    return tuple(losses), tuple(loads), tuple(dropped)
