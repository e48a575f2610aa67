"""Checkpoints in the tiny model: the bytes stored, the bytes alive at the peak, and the time of a step.

>>> predicted(3) > checkpoint_run(3).peak  # doctest: +SKIP
True
"""

from __future__ import annotations

import time
import weakref
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import CheckpointFunction

from rankzero import checks
from rankzero.tiny import GPT, GPTConfig, one_thread
from rankzero.tiny.layers import Block, Pass

from .parallel_block import positions

#: Twelve layers; the batch of one step.
CONFIG = GPTConfig(vocab=16, layers=12, heads=4, head_dim=8, context=32)
BATCH = 2


@dataclass(frozen=True)
class Checkpointed:
    """A step of the model with a checkpoint before every ``segment`` layers.

    Attributes:
        segment: layers between two checkpoints; 0 means no checkpoints.
        stored: bytes that autograd keeps after the forward pass.
        peak: most bytes of saved tensors alive at any moment of the forward and backward pass.
        seconds: time of the fastest of several forward and backward passes, with the hooks that count them.
        gradient: of the first matrix.
    """

    segment: int
    stored: int
    peak: int
    seconds: float
    gradient: torch.Tensor


class LiveBytes:
    """Bytes of saved tensors, now and at the peak; a storage counts once, as long as any tensor needs it.

    Args:
        apart: tensors whose storage is not counted: parameters, and what all layers share.
    """

    def __init__(self, apart: Iterable[torch.Tensor]) -> None:
        self._apart = {_address(tensor) for tensor in apart}
        self._users: Counter[int] = Counter()
        self.now = self.peak = 0

    def watching(self) -> saved_tensors_hooks:
        """A context manager for the forward and the backward pass."""
        return saved_tensors_hooks(self._save, lambda held: held.tensor)

    def _save(self, tensor: torch.Tensor) -> _Held:
        held = _Held(tensor)
        address, size = _address(tensor), tensor.untyped_storage().nbytes()
        if address not in self._apart:
            self.now += 0 if self._users[address] else size
            self._users[address] += 1
            self.peak = max(self.peak, self.now)
            weakref.finalize(held, self._drop, address, size)
        return held

    def _drop(self, address: int, size: int) -> None:
        self._users[address] -= 1
        self.now -= 0 if self._users[address] else size


class _Held:
    """A saved tensor that autograd holds; when autograd drops it, its bytes are freed."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def checkpoint_run(segment: int, config: GPTConfig = CONFIG, repeats: int = 1) -> Checkpointed:
    """One step through the layers of the tiny model, in fp32.

    Args:
        segment: layers between two checkpoints, from 1 to all; 0 keeps everything.
        config: the model's shape.
        repeats: runs, of which the fastest is reported; at least 1.
    """
    checks.count(0, config.layers, segment=segment)
    model = GPT(config)
    blocks = [block for block in model.blocks if isinstance(block, Block)]
    x = torch.randn(BATCH, config.context, config.hidden, generator=torch.Generator().manual_seed(0)).requires_grad_()
    now = positions(config, config.context, x.dtype)
    seconds = []
    for _ in range(repeats):
        model.zero_grad()
        live = LiveBytes([*model.parameters(), now.cosine, now.sine, now.mask])
        start = time.perf_counter()
        with one_thread(), live.watching():
            y = _through(blocks, x, now, segment)
            stored = live.now
            y.sum().backward()
        seconds.append(time.perf_counter() - start)
    gradient = blocks[0].attention.query.weight.grad
    assert gradient is not None
    return Checkpointed(segment, stored, live.peak, min(seconds), gradient)


def _through(blocks: list[Block], x: torch.Tensor, now: Pass, segment: int) -> torch.Tensor:
    """All layers, with a checkpoint before every ``segment`` of them; 0 is none.

    It uses the autograd function behind ``torch.utils.checkpoint.checkpoint(use_reentrant=True)``, because the public
    call first imports the compiler. The function reruns a segment inside the backward pass, where our hooks see it.
    """
    for start in range(0, len(blocks), segment or len(blocks)):
        part = blocks[start : start + (segment or len(blocks))]
        x = CheckpointFunction.apply(_run, False, part, x, now) if segment else _run(part, x, now)
    return x


def _run(blocks: list[Block], x: torch.Tensor, now: Pass) -> torch.Tensor:
    for block in blocks:
        x = block(x, now, 0)
    return x


@lru_cache(maxsize=4)
def measured_sizes(config: GPTConfig = CONFIG) -> tuple[int, int]:
    """``(a, c)``: bytes that one layer keeps, measured as two layers minus one, and bytes of the layer's input."""
    one, two = (checkpoint_run(0, replace(config, layers=layers)).stored for layers in (1, 2))
    return two - one, 4 * BATCH * config.context * config.hidden


def predicted(segment: int, config: GPTConfig = CONFIG) -> int:
    """The formula's peak, ``ceil(L / k) c + k a`` bytes, with the measured ``a`` and ``c``."""
    layer, point = measured_sizes(config)
    return -(-config.layers // segment) * point + segment * layer
