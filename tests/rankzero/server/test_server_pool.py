"""The pool: pieces of any length after any past give the logits of the plain model."""

from __future__ import annotations

import random

import pytest
import torch
from served import model

from rankzero.server.pool import Piece, Pool, forward, row_width


def tables(lengths, block_size, seed):
    """Shuffled blocks for sequences of these lengths; the number of blocks."""
    needs = [-(-length // block_size) for length in lengths]
    blocks = list(range(sum(needs) + 2))
    random.Random(seed).shuffle(blocks)
    return [[blocks.pop() for _ in range(need)] for need in needs], sum(needs) + 2


@pytest.mark.parametrize("block_size", [1, 3, 16])
@pytest.mark.parametrize("seed", range(4))
def test_pieces_give_the_logits_of_whole_sequences(block_size, seed):
    """Each sequence comes in random pieces, all sequences in the same passes, one of them up to the whole context."""
    draws = random.Random(seed)
    lengths = [96, 1, 40, 17, 5]
    sequences = [[draws.randrange(257) for _ in range(length)] for length in lengths]
    found, blocks = tables(lengths, block_size, seed)
    pool, done = Pool(model(), blocks, block_size), [0] * len(lengths)
    while done != lengths:
        chosen = [i for i, length in enumerate(lengths) if done[i] < length and draws.random() < 0.8]
        stops = {i: draws.randint(done[i] + 1, lengths[i]) for i in chosen}
        if not chosen:
            continue
        logits = forward(model(), pool, [Piece(sequences[i][done[i] : stops[i]], done[i], found[i]) for i in chosen])
        for row, i in enumerate(chosen):
            done[i] = stops[i]
            whole = model()(torch.tensor([sequences[i][: done[i]]]))[0, -1]
            assert torch.allclose(logits[row], whole, rtol=0, atol=1e-9)


def test_rows_fit_their_pieces():
    """Decoding alone needs rows of one token; one prompt is one row; a long prompt does not pad everybody."""
    assert row_width([1] * 16, 100) == 1
    assert row_width([64], 64) == 64
    assert row_width([100], 100) == 100
    width = row_width([1] * 7 + [64], 128)
    assert (7 + -(-64 // width)) * width < 8 * 64


def test_copies_read_before_they_write():
    pool = Pool(model(), 2, 4)
    pool.keys[:, :, 0, 0] = torch.arange(8.0)
    pool.copy([0, 1, 2], [1, 2, 3])
    assert pool.keys[0, :, 0, 0].tolist() == [0, 0, 1, 2, 4, 5, 6, 7]


def test_its_size_is_that_of_the_formula():
    """2 x layers x kv_heads x head_dim x bytes for each of blocks x block_size tokens."""
    assert Pool(model(), 10, 16).nbytes == 160 * 2 * 2 * 2 * 8 * 8
