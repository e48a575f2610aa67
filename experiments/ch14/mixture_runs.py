"""A small mixture of experts that is computed with two number formats, with and without the other's choice of experts.

Random weights, no training: whatever differs between two passes, rounding has done.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

#: Experts of a layer, of which two work for a token; width; words.
EXPERTS, WORKING, HIDDEN, WORDS = 16, 2, 32, 50


@dataclass(frozen=True)
class Mixture:
    """The weights: of each layer a router [H, E] and experts [E, H, H]; a head [H, V]."""

    layers: tuple[tuple[Tensor, Tensor], ...]
    head: Tensor


def mixture(layers: int, seed: int = 0) -> Mixture:
    """A model with random weights."""
    draw = torch.Generator().manual_seed(seed)

    def new(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draw) / shape[-2] ** 0.5

    made = tuple((new(HIDDEN, EXPERTS), new(EXPERTS, HIDDEN, HIDDEN)) for _ in range(layers))
    return Mixture(made, 2 * new(HIDDEN, WORDS))


def normed(x: Tensor) -> Tensor:
    """RMS norm without a gain."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True))


def log_probs(
    model: Mixture,
    x: Tensor,
    dtype: torch.dtype,
    replayed: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Log-probabilities [T, V] of the next word, and the experts that worked [L, T, 2].

    Weights, scores and what goes into a product are stored in ``dtype``; products, and
    the sum of the layers, are float32. With ``replayed``, the experts are not chosen but
    taken from there. Their gates are computed from this pass's own scores all the
    same, so that a router can learn.
    """

    def stored(values: Tensor) -> Tensor:
        return values.to(dtype).float()

    routes = []
    for place, (router, experts) in enumerate(model.layers):
        h = stored(normed(stored(x)))
        scores = stored(h @ stored(router))
        own = scores.topk(WORKING).indices
        working = own if replayed is None else replayed[place]
        gates = scores.gather(1, working).softmax(-1)
        every = torch.einsum("th,ehk->tek", h, stored(experts)).relu()
        index = working[..., None].expand(-1, -1, h.shape[1])
        x = x + (gates[..., None] * every.gather(1, index)).sum(1)
        routes.append(working)
    logits = stored(normed(x)) @ stored(model.head)
    return logits.log_softmax(-1), torch.stack(routes)


def other_routes(one: Tensor, other: Tensor) -> Tensor:
    """For each layer and token, whether another set of experts worked [L, T]."""
    return (one.sort(-1).values != other.sort(-1).values).any(-1)


def differences(one: Tensor, other: Tensor, words: Tensor) -> tuple[float, float]:
    """Mean and largest absolute difference of the log-probabilities of the words [T, 1]."""
    gaps = (one - other).gather(1, words).abs()
    return float(gaps.mean()), float(gaps.max())
