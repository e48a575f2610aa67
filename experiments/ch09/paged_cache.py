"""Keys and values of a tiny model in a pool of blocks, driven by a block manager and a radix cache.

    pool = PagedPool(model, BlockManager(16, 8), blocks=16, block_size=8)
    logits = model(tokens, cache=pool.cache("a"))           # the model's own attention, over what the pool gathers
    logits = paged_step(model, pool, "a", token, attend)    # one token, attention by ``attend`` straight from the pool

Slots that were never written hold NaN, so reading one shows up in the result. A *slot* is ``block * block_size +
offset``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from rankzero.tiny import GPT, layers
from rankzero.tiny.layers import Block, Pass

#: Attention of one new token over a pool: query [heads, d], both pools of a layer, table, length -> [heads, d].
Attend = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, list[int], int], torch.Tensor]


class PagedPool:
    """Memory for the keys and values of every layer, in blocks that a manager gives out.

    Args:
        model: whose cache it is.
        manager: a new :class:`.block_manager.BlockManager`, or one with the same methods.
        blocks, block_size: the numbers that the manager was made with.

    Attributes:
        keys, values: [layers, blocks, block_size, kv_heads, head_dim]; NaN where nothing was written yet.
        manager: as given.
        copied: blocks that were copied before a write, as ``(source, destination)``, in order.
    """

    def __init__(self, model: GPT, manager: Any, blocks: int, block_size: int) -> None:
        config = model.config
        shape = (config.layers, blocks, block_size, config.kv_heads, config.head_dim)
        like = next(model.parameters())
        self.keys, self.values = (like.new_full(shape, torch.nan) for _ in range(2))
        self.manager, self.block_size = manager, block_size
        self.copied: list[tuple[int, int]] = []

    @property
    def nbytes(self) -> int:
        """Bytes that it takes, filled or not."""
        return self.keys.nbytes + self.values.nbytes

    def slots(self, sequence: str) -> list[int]:
        """The slots of a sequence's tokens, in their order."""
        table, size = self.manager.table(sequence), self.block_size
        return [table[index // size] * size + index % size for index in range(self.manager.length(sequence))]

    def grow(self, sequence: str, tokens: int) -> None:
        """Make room for more tokens, and do the copy that the manager asks for; a new sequence starts empty.

        Raises:
            RuntimeError: the manager has too few blocks; the manager raises its own subclass.
        """
        try:
            self.manager.length(sequence)
        except KeyError:
            self.manager.allocate(sequence, 0)
        for source, destination in self.manager.append(sequence, tokens):
            self.keys[:, destination], self.values[:, destination] = self.keys[:, source], self.values[:, source]
            self.copied.append((source, destination))

    def cache(self, sequence: str) -> PagedCache:
        """The cache of one sequence, as the model takes it."""
        return PagedCache(self, sequence)


class PagedCache:
    """One sequence of a pool, usable in place of the model's own cache for batches of one.

    Attributes:
        length: tokens of the sequence whose keys and values are stored.
    """

    def __init__(self, pool: PagedPool, sequence: str) -> None:
        self._pool, self._sequence = pool, sequence
        pool.grow(sequence, 0)
        self.length = pool.manager.length(sequence)

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store one layer's new keys and values [1, kv_heads, T, head_dim]; return all of them, gathered in order."""
        pool, stop = self._pool, self.length + keys.shape[2]
        if layer == 0:
            pool.grow(self._sequence, keys.shape[2])
        slots = pool.slots(self._sequence)[:stop]
        return (
            _stored(pool.keys[layer], slots, self.length, keys),
            _stored(pool.values[layer], slots, self.length, values),
        )


def _stored(blocks: torch.Tensor, slots: Sequence[int], start: int, new: torch.Tensor) -> torch.Tensor:
    """Write ``new`` [1, kv_heads, T, d] into the slots from ``start`` on; all slots' contents, [1, kv_heads, S, d]."""
    flat = blocks.flatten(0, 1)  # [blocks * block_size, kv_heads, d], the same memory
    flat[list(slots[start:])] = new[0].transpose(0, 1)
    return flat[list(slots)].transpose(0, 1).unsqueeze(0)


@torch.inference_mode()
def paged_step(model: GPT, pool: PagedPool, sequence: str, token: int, attend: Attend) -> torch.Tensor:
    """Logits [V] after one more token of a sequence; keys and values are never gathered, ``attend`` reads the pool.

    Args:
        model: in evaluation.
        pool: of this model.
        sequence: whose tokens so far are in the pool.
        token: the next one.
        attend: as :func:`.cached_attention.paged_attention`.
    """
    place = pool.manager.length(sequence)
    pool.grow(sequence, 1)
    table, x = pool.manager.table(sequence), model.embedding(torch.tensor([[token]]))
    block, offset = table[place // pool.block_size], place % pool.block_size
    angles = layers.angles(torch.tensor([[place]]), model.config.head_dim).unsqueeze(1)
    now = Pass(angles.cos().to(x.dtype), angles.sin().to(x.dtype), torch.ones(1, 1, 1, 1, dtype=torch.bool), None)
    for layer, part in enumerate(cast("Iterable[Block]", model.blocks)):
        attention, inner = part.attention, part.attention_norm(x)
        query, key = (
            now.rotate(linear(inner).unflatten(2, (-1, model.config.head_dim)).transpose(1, 2))[0, :, 0]
            for linear in (attention.query, attention.key)
        )  # [heads, d], [kv_heads, d]
        pool.keys[layer, block, offset] = key
        pool.values[layer, block, offset] = attention.value(inner).view_as(key)
        seen = attend(query, pool.keys[layer], pool.values[layer], table, place + 1)
        x = x + attention.output(seen.reshape(1, 1, -1))
        x = x + part.ffn(part.ffn_norm(x))
    return model.head(model.norm(x))[0, 0]


@dataclass(frozen=True)
class Answered:
    """One prompt that went through :class:`PrefixReuse`.

    Attributes:
        matched: tokens whose keys and values were in the pool already.
        computed: tokens that went through the weights.
        slots: the slots of all its tokens.
        logits: after the last token, [V].
    """

    matched: int
    computed: int
    slots: list[int]
    logits: torch.Tensor


class PrefixReuse:
    """Runs prompts one after another and computes each from where its longest cached prefix ends.

    Whole blocks are cached. Sequences stay in the manager and so keep their blocks; a new prompt that matches is a fork
    of the sequence that computed the prefix.

    Args:
        model: in evaluation.
        pool: of this model; its manager knows no sequence yet.
        cache: a new :class:`.radix_cache.RadixCache` whose page is a block of the pool, or one with the same methods.

    Attributes:
        locks: handle of the lock of each sequence.
    """

    def __init__(self, model: GPT, pool: PagedPool, cache: Any) -> None:
        self._model, self._pool, self._cache = model, pool, cache
        self.locks: dict[str, int] = {}

    @torch.inference_mode()
    def run(self, sequence: str, prompt: Sequence[int]) -> Answered:
        """Compute the part of a prompt that is not cached, at least its last token, and cache its whole blocks."""
        matched, slots = self._cache.match(prompt[:-1])
        if matched:
            self._pool.manager.fork(self._owner(slots), sequence, matched)
        new = torch.tensor([prompt[matched:]])
        logits = self._model(new, cache=self._pool.cache(sequence))[0, -1]
        self._cache.insert(prompt, self._pool.slots(sequence))
        self.locks[sequence] = self._cache.lock(prompt)
        return Answered(matched, new.shape[1], self._pool.slots(sequence), logits)

    def _owner(self, slots: Sequence[int]) -> str:
        """A sequence that begins with these slots."""
        return next(name for name in self.locks if self._pool.slots(name)[: len(slots)] == list(slots))
