"""Keys and values of all sequences in one pool of equal-sized blocks, and one forward pass over many sequences at once.

A *slot* holds one token; its number is ``block * block_size + offset``. A forward pass takes one *piece* of each
sequence: new tokens that follow those whose keys and values are in the pool. Pieces of different lengths become rows of
equal width. A long piece is split into several rows, so that one long prompt does not force padding on all the others.
All rows write to the pool before any of them reads, so the rows of a piece see each other as far as the mask allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from rankzero.tiny import GPT

#: Computing one token costs about as much as gathering the keys and values of this many cached tokens.
GATHERED_PER_TOKEN = 8


@dataclass(frozen=True)
class Piece:
    """New tokens of one sequence.

    Attributes:
        tokens: the tokens to compute; at least one.
        start: the position of the first of them; all earlier positions are in the pool.
        table: the sequence's blocks, enough to hold the new tokens too.
    """

    tokens: Sequence[int]
    start: int
    table: Sequence[int]


class Pool:
    """Memory for the keys and values of ``blocks`` blocks of ``block_size`` tokens each.

    Attributes:
        keys, values: [layers, slots, kv_heads, head_dim].
    """

    def __init__(self, model: GPT, blocks: int, block_size: int) -> None:
        config, like = model.config, next(model.parameters())
        shape = (config.layers, blocks * block_size, config.kv_heads, config.head_dim)
        self.block_size = block_size
        self.keys, self.values = (torch.zeros(shape, dtype=like.dtype, device=like.device) for _ in range(2))

    @property
    def nbytes(self) -> int:
        """Bytes that the pool occupies, filled or not."""
        return self.keys.nbytes + self.values.nbytes

    def copy(self, sources: Sequence[int], destinations: Sequence[int]) -> None:
        """Copy slots; all sources are read before any destination is written."""
        for held in (self.keys, self.values):
            held[:, list(destinations)] = held[:, list(sources)]

    def slots(self, table: Sequence[int], start: int, stop: int) -> list[int]:
        """The slots of the positions ``start`` to ``stop - 1`` of a sequence."""
        size = self.block_size
        return [table[position // size] * size + position % size for position in range(start, stop)]


class _Rows:
    """The cache of one forward pass, in the form that :class:`rankzero.tiny.GPT` expects.

    It writes the new tokens' keys and values to the pool, and gathers those that each row sees.

    Args:
        pool: the memory.
        slots: the slots of the first S tokens of each row's sequence, [B, S].
        written: the slot of every new token that is not padding, [N].
        real: the positions of those tokens among all B * T, [N].
        width: the number of tokens in a row, T.
    """

    def __init__(self, pool: Pool, slots: torch.Tensor, written: torch.Tensor, real: torch.Tensor, width: int) -> None:
        self.length = slots.shape[1] - width  # the model takes S for length + T
        self._pool, self._shape, self._slots = pool, slots.shape, slots.flatten()
        self._written, self._real = written, real

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store the new keys and values [B, kv_heads, T, head_dim], and return those of S tokens of each row."""
        held_keys, held_values = self._pool.keys[layer], self._pool.values[layer]
        return self._stored(held_keys, keys), self._stored(held_values, values)

    def _stored(self, held: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        held[self._written] = new.transpose(1, 2).flatten(0, 1)[self._real]
        return held.index_select(0, self._slots).unflatten(0, self._shape).transpose(1, 2)


def row_width(lengths: Sequence[int], context: int) -> int:
    """The best width of rows for pieces of these lengths when the longest sequence has ``context`` tokens.

    It minimizes rows x (width + context / GATHERED_PER_TOKEN) over powers of two and the length of the longest piece.
    """
    longest = max(lengths)
    widths = [longest, *(2**power for power in range(longest.bit_length()) if 2**power < longest)]

    def cost(width: int) -> float:
        return sum(-(-length // width) for length in lengths) * (width + context / GATHERED_PER_TOKEN)

    return min(widths, key=cost)


@torch.no_grad()
def forward(model: GPT, pool: Pool, pieces: Sequence[Piece]) -> torch.Tensor:
    """Run one pass over all pieces, and store their keys and values in the pool.

    Returns:
        The logits after the last token of every piece, [pieces, V].
    """
    stops = [piece.start + len(piece.tokens) for piece in pieces]
    width = row_width([len(piece.tokens) for piece in pieces], max(stops))
    tokens: list[list[int]] = []
    positions: list[list[int]] = []
    tables: list[Sequence[int]] = []
    written: list[int] = []
    real: list[int] = []
    for piece, stop in zip(pieces, stops, strict=True):
        written += pool.slots(piece.table, piece.start, stop)
        for first in range(0, len(piece.tokens), width):
            row = piece.tokens[first : first + width]
            padding = [0] * (width - len(row))
            begin = piece.start + first
            real += range(len(tokens) * width, len(tokens) * width + len(row))
            tokens.append([*row, *padding])
            positions.append([*range(begin, begin + len(row)), *padding])
            tables.append(piece.table)
    device = pool.keys.device
    seen = max(*stops, width)
    where = torch.tensor(positions, device=device)  # [B, T]
    mask = torch.arange(seen, device=device) <= where.unsqueeze(-1)  # [B, T, S]
    places = torch.tensor(real, device=device)
    rows = _Rows(pool, _slots(tables, seen, pool), torch.tensor(written, device=device), places, width)
    logits = model(torch.tensor(tokens, device=device), where, rows, mask)  # type: ignore[arg-type]
    last = torch.tensor([len(piece.tokens) for piece in pieces], device=device).cumsum(0) - 1
    return logits.flatten(0, 1)[places[last]]


def _slots(tables: Sequence[Sequence[int]], seen: int, pool: Pool) -> torch.Tensor:
    """The slots of the first ``seen`` tokens of every row, [B, S]; those past the end of its table are masked out."""
    count = -(-seen // pool.block_size)
    padded = [[*table[:count], *[0] * (count - len(table))] for table in tables]
    blocks = torch.tensor(padded, device=pool.keys.device).unsqueeze(-1)
    offsets = torch.arange(pool.block_size, device=pool.keys.device)
    return (blocks * pool.block_size + offsets).flatten(1)[:, :seen]
