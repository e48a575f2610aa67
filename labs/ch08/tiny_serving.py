# Generated from solutions/ch08/tiny_serving.py by make stubs. Write the bodies; names and signatures stay.
"""The two tensor parts of a server: the next token's distribution, and a batch of prompts of unequal length.

>>> next_token_probabilities(torch.tensor([2.0, 1.0, 0.0, -1.0]), top_k=2)
tensor([0.7311, 0.2689, 0.0000, 0.0000])
"""

from __future__ import annotations

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
    raise NotImplementedError("08-next-token-probabilities: not written yet")


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
    raise NotImplementedError("08-generate-batch: not written yet")
