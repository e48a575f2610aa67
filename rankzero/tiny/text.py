"""Text for the tiny model: a bundled novel, byte and byte-pair tokenizers, and random batches.

>>> ByteTokenizer().encode("Rank")
[82, 97, 110, 107]

The text is *Alice's Adventures in Wonderland* (Lewis Carroll, 1865), in the public domain; ``data/README.md`` says
where the file comes from.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import pairwise

import torch

from rankzero import checks


@functools.cache
def bundled_text() -> str:
    """The bundled training text, about 150 kB of plain ASCII."""
    return (resources.files("rankzero") / "data" / "alice.txt").read_text(encoding="utf-8")


class Tokenizer:
    """The base of both tokenizers: tokens 0 to 255 are the bytes, token 256 ends a sequence.

    Attributes:
        vocabulary: the bytes of every token; ``eos`` has none.
        eos: the token that ends a sequence.
    """

    eos = 256

    def __init__(self) -> None:
        self.vocabulary: list[bytes] = [*(bytes([value]) for value in range(256)), b""]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of ``tokens``; bytes that are not valid UTF-8 become U+FFFD."""
        most = len(self.vocabulary) - 1
        checks.require(all(0 <= token <= most for token in tokens), f"be from 0 to {most}", tokens=tokens)
        return b"".join(self.vocabulary[token] for token in tokens).decode(errors="replace")


class ByteTokenizer(Tokenizer):
    """Every byte of the UTF-8 text is a token."""

    def encode(self, text: str) -> list[int]:
        """The tokens of ``text``, without ``eos``."""
        return list(text.encode())


class BpeTokenizer(Tokenizer):
    """Byte-pair encoding: frequent pairs of tokens become tokens of their own, numbered from 257 on.

    Args:
        merges: pairs of tokens in the order in which they were learned; None means 1,000 pairs that
            :func:`learn_merges` learned from the bundled text.

    Source: Sennrich, Haddow and Birch (2016), arXiv:1508.07909.
    """

    def __init__(self, merges: Sequence[tuple[int, int]] | None = None) -> None:
        super().__init__()
        self._tokens: dict[tuple[int, int], int] = {}  # pair -> the merged token
        for left, right in _bundled_merges() if merges is None else merges:
            self._tokens[left, right] = len(self.vocabulary)
            self.vocabulary.append(self.vocabulary[left] + self.vocabulary[right])

    def encode(self, text: str) -> list[int]:
        """The tokens of ``text``, without ``eos``."""
        pieces = PIECES.findall(text)
        tokens = {piece: self._piece(piece) for piece in set(pieces)}
        return [token for piece in pieces for token in tokens[piece]]

    def _piece(self, piece: str) -> list[int]:
        tokens = list(piece.encode())
        while pairs := [pair for pair in pairwise(tokens) if pair in self._tokens]:
            first = min(pairs, key=self._tokens.__getitem__)
            tokens = _merged(tokens, first, self._tokens[first])
        return tokens


#: Text is split into these pieces before merging, so that no token spans two of them: a word or punctuation, each with
#: the blank before it, or whitespace.
PIECES = re.compile(r" ?\w+| ?[^\w\s]+|\s+")


def learn_merges(text: str, merges: int) -> list[tuple[int, int]]:
    """The pairs that :class:`BpeTokenizer` merges: repeatedly the most frequent pair, or the smaller one of a tie."""
    pieces = [(list(piece.encode()), count) for piece, count in Counter(PIECES.findall(text)).items()]
    learned: list[tuple[int, int]] = []
    while len(learned) < merges:
        pairs: Counter[tuple[int, int]] = Counter()
        for tokens, count in pieces:
            for pair in pairwise(tokens):
                pairs[pair] += count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        pieces = [(_merged(tokens, best, 257 + len(learned)), count) for tokens, count in pieces]
        learned.append(best)
    return learned


def _merged(tokens: list[int], pair: tuple[int, int], token: int) -> list[int]:
    """``tokens`` with every ``pair`` replaced by ``token``, from left to right."""
    merged: list[int] = []
    for new in tokens:
        if merged and (merged[-1], new) == pair:
            merged[-1] = token
        else:
            merged.append(new)
    return merged


@functools.cache
def _bundled_merges() -> tuple[tuple[int, int], ...]:
    lines = (resources.files("rankzero") / "data" / "merges.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines)
    return tuple((int(left), int(right)) for left, right in pairs)


def batches(
    text: str | Sequence[int] | None = None, batch: int = 8, context: int = 64, seed: int = 0
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """An endless iterator of batches, drawn from random places of a text.

    Args:
        text: a string, read as bytes; or a sequence of tokens. None means the bundled text.
        batch: sequences in a batch, B; at least 1.
        context: tokens in a sequence, T; at least 1 and less than the length of the text.
        seed: seed of the random places; the same seed gives the same batches.

    Returns:
        An iterator of ``(inputs, targets)``, both int64 of shape [B, T]; a target is the token after its input.
    """
    text = bundled_text() if text is None else text
    tokens = torch.tensor(ByteTokenizer().encode(text) if isinstance(text, str) else list(text), dtype=torch.int64)
    checks.count(batch=batch, context=context)
    checks.require(context < len(tokens), f"be smaller than the text of {len(tokens)} tokens", context=context)
    return _drawn(tokens, batch, context, torch.Generator().manual_seed(seed))


def _drawn(
    tokens: torch.Tensor, batch: int, context: int, generator: torch.Generator
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    pieces = tokens.unfold(0, context + 1, 1)  # [places, T + 1]
    while True:
        drawn = pieces[torch.randint(len(pieces), (batch,), generator=generator)]
        yield drawn[:, :-1].contiguous(), drawn[:, 1:].contiguous()
