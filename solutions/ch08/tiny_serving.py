"""The two tensor parts of a server: the next token's distribution, and a batch of prompts of unequal length.

>>> next_token_probabilities(torch.tensor([2.0, 1.0, 0.0, -1.0]), top_k=2)
tensor([0.7311, 0.2689, 0.0000, 0.0000])
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.nn import functional

from rankzero import checks


def next_token_probabilities(
    logits: torch.Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
) -> torch.Tensor:
    """The distribution from which the next token is drawn: temperature first, then top-k, then top-p.

    Args:
        logits: [..., V].
        temperature: divides the logits; not negative. 0 gives all probability to the largest logit, to the one with the
            lowest index if several are equal.
        top_k: keep the k largest logits, of equal ones those with the lowest indices; not negative, and 0 keeps all.
        top_p: of the tokens that are left, rescaled to sum to 1, keep the most probable ones, of equal ones first those
            with the lowest indices, up to and including the one at which their sum reaches ``top_p``; above 0, at most
            1. 1 keeps all.

    Returns:
        [..., V], of the logits' type, half types too; the kept probabilities sum to 1, the others are 0.

    Source: Fan, Lewis and Dauphin (2018), arXiv:1805.04833 (top-k); Holtzman et al. (2020), arXiv:1904.09751 (top-p).
    """
    checks.amount(temperature=temperature)
    checks.count(0, top_k=top_k)
    checks.positive(top_p=top_p)
    checks.between(0, 1, top_p=top_p)
    if temperature == 0:
        return functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    ranked, order = (logits / temperature).sort(dim=-1, descending=True, stable=True)  # [..., V], [..., V]
    if top_k:
        ranked[..., top_k:] = -torch.inf
    probabilities = ranked.softmax(-1)
    if top_p < 1:
        before = probabilities.cumsum(-1) - probabilities  # the sum of all that are more probable
        probabilities = probabilities.masked_fill(before >= top_p, 0.0)
        probabilities = probabilities / probabilities.sum(-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, order, probabilities)


class GrowingCache:
    """Keys and values [B, kv_heads, S, head_dim] of every layer; each forward pass appends its own."""

    def __init__(self) -> None:
        self.length = 0  # S; the model advances it
        self._held: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store one layer's new keys and values; return all of them."""
        old = self._held.get(layer, (keys[:, :, :0], values[:, :, :0]))
        self._held[layer] = torch.cat((old[0], keys), dim=2), torch.cat((old[1], values), dim=2)
        return self._held[layer]


def generate_batch(
    model: torch.nn.Module, prompts: list[list[int]], max_new_tokens: int, eos: int | None = None
) -> list[list[int]]:
    """The most probable continuation of every prompt, all in one batch with one KV cache.

    Each row is what its prompt gives alone. A forward pass stores the keys and values of all rows in the same places,
    so shorter prompts are padded on the left: then every row's last token is in the last column. Padding does not count
    in positions, and no token attends to it. One forward pass gives the next token of all rows, and no token is
    computed twice.

    Args:
        model: ``model(tokens[B, T], positions[B, T], cache, mask[B, T, S]) -> logits [B, T, V]``; the mask is True
            where a new token may attend to one of the S cached and new ones. The cache is a :class:`GrowingCache`.
        prompts: tokens, at least one in each; of any lengths. Without prompts: ``[]``.
        max_new_tokens: of each row; at least 1. The longest prompt and all new tokens but the last fit the context.
        eos: a row ends before this token, and the others go on; with None every row has ``max_new_tokens``.

    Returns:
        The new tokens of every row, without ``eos``.
    """
    checks.require(all(prompts), "hold at least one token each", prompts=prompts)
    checks.count(max_new_tokens=max_new_tokens)
    rows: list[list[int]] = [[] for _ in prompts]
    if not prompts:
        return rows
    running = set(range(len(prompts)))
    for tokens in _greedy(model, prompts, max_new_tokens):
        running -= {row for row in running if tokens[row] == eos}
        for row in running:
            rows[row].append(tokens[row])
        if not running:
            break
    return rows


def _greedy(model: torch.nn.Module, prompts: list[list[int]], steps: int) -> Iterator[list[int]]:
    """The next token of every row, step after step."""
    longest = max(map(len, prompts))
    padding = torch.tensor([longest - len(prompt) for prompt in prompts]).unsqueeze(1)  # [B, 1]
    tokens = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])  # [B, T]
    cache = GrowingCache()
    for _ in range(steps):
        columns = torch.arange(cache.length + tokens.shape[1])  # [S]
        new = columns[cache.length :]  # [T]
        mask = (columns >= padding).unsqueeze(1) & (columns <= new.unsqueeze(1))  # [B, T, S]
        with torch.no_grad():
            logits = model(tokens, (new - padding).clamp(min=0), cache, mask)  # [B, T, V]
        tokens = logits[:, -1:].argmax(-1)  # [B, 1]
        yield tokens.squeeze(1).tolist()
