"""A small but complete language model: it trains in seconds on one core, and every part of the course can run it.

    model = train(steps=100)
    logits = model(torch.tensor([ByteTokenizer().encode("Alice was ")]))

It has the architecture of a Llama: RMSNorm before each half of a block, rotary positions, grouped-query attention,
gated feed-forward blocks, and an output head separate from the embedding. Attention is written as plain matrix
products, so that counted FLOPs match the formula. In shapes, B is the number of sequences, T the number of new tokens
in each, and S the number of cached and new tokens together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn import functional

from rankzero import checks
from rankzero.tiny import layers
from rankzero.tiny.layers import Block, GPTConfig, Pass
from rankzero.tiny.text import ByteTokenizer, batches


class KVCache:
    """Keys and values of the tokens that a model, or a part of one, has processed; forward passes append in place.

    It stores detached tensors, so no gradient flows through it. To drop the newest tokens, reduce ``length``.

    Args:
        model: the model whose layers use it.
        batch: number of sequences, B.

    Attributes:
        length: number of tokens stored for each sequence.
        keys, values: [layers, B, kv_heads, context, head_dim], filled up to ``length``.
    """

    def __init__(self, model: Part, batch: int) -> None:
        config = model.config
        shape = (len(model.blocks), batch, config.kv_heads, config.context, config.head_dim)
        like = next(model.parameters())
        self.keys, self.values = like.new_zeros(shape), like.new_zeros(shape)
        self.length = 0

    @property
    def nbytes(self) -> int:
        """Bytes allocated, whether filled or not."""
        return self.keys.nbytes + self.values.nbytes

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store one layer's new keys and values [B, kv_heads, T, head_dim]; return all of them, with S in place of T.

        The model advances ``length`` once all of its layers have stored theirs.
        """
        stop = self.length + keys.shape[2]
        for held, new in ((self.keys, keys), (self.values, values)):
            held[layer, :, :, self.length : stop] = new.detach()
        return self.keys[layer, :, :, :stop], self.values[layer, :, :, :stop]


class Part(nn.Module):
    """Consecutive layers of a model; :meth:`GPT.part` makes one.

    Attributes:
        config: configuration of the whole model.
        embedding, norm, head: None if the part does not have them.
        blocks: the blocks in order, under the names that they have in the whole model.
    """

    def __init__(
        self,
        config: GPTConfig,
        embedding: nn.Embedding | None,
        blocks: nn.ModuleList | nn.ModuleDict,
        norm: nn.RMSNorm | None,
        head: nn.Linear | None,
    ) -> None:
        super().__init__()
        self.config, self.embedding, self.blocks, self.norm, self.head = config, embedding, blocks, norm, head

    @property
    def matmul_parameters(self) -> int:
        """Elements of the matrices that tokens are multiplied with: the head counts, the embedding and norms do not."""
        return sum(module.weight.numel() for module in self.modules() if isinstance(module, nn.Linear))

    def forward(
        self,
        x: torch.Tensor,
        positions: torch.Tensor | None = None,
        cache: KVCache | None = None,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """One pass over T new tokens of each of B sequences.

        Args:
            x: tokens [B, T], int64; for a part without the embedding, the output [B, T, hidden] of the previous part.
            positions: positions of the new tokens, [B, T]; None continues after the cached tokens.
            cache: keys and values of earlier tokens; those of the new tokens are appended.
            mask: [B, T, S], True where a new token may attend; None is the causal mask. A token that may not attend to
                any gets a finite but meaningless output.

        Returns:
            Logits [B, T, outputs]; for a part without the head, hidden states [B, T, hidden].

        Raises:
            ValueError: there are more than ``config.context`` tokens, or the mask has the wrong shape or type.
        """
        length = 0 if cache is None else cache.length
        now = self._pass(x, length, positions, cache, mask)
        if self.embedding is not None:
            x = self.embedding(x)
        for layer, block in enumerate(self.blocks.children()):
            x = block(x, now, layer)
        if cache is not None:
            cache.length = length + x.shape[1]
        return x if self.norm is None or self.head is None else self.head(self.norm(x))

    def _pass(
        self,
        x: torch.Tensor,
        length: int,
        positions: torch.Tensor | None,
        cache: KVCache | None,
        mask: torch.Tensor | None,
    ) -> Pass:
        batch, new = x.shape[:2]
        total = length + new
        checks.require(total <= self.config.context, f"be at most context = {self.config.context}", tokens=total)
        if mask is None:
            mask = torch.ones(1, new, total, dtype=torch.bool, device=x.device).tril(length)
        elif mask.dtype != torch.bool or mask.shape != (batch, new, total):
            raise ValueError(
                f"mask must be bool of shape {(batch, new, total)}, got {mask.dtype} of shape {tuple(mask.shape)}"
            )
        if positions is None:
            positions = torch.arange(length, total, device=x.device).unsqueeze(0)
        angles = layers.angles(positions, self.config.head_dim).unsqueeze(1)
        dtype = next(self.parameters()).dtype
        return Pass(angles.cos().to(dtype), angles.sin().to(dtype), mask.unsqueeze(1), cache)


class GPT(Part):
    """The whole model. Its weights depend only on the configuration and the seed, not on torch's random state.

    Args:
        config: shape of the model.
        seed: seed of the weights.
    """

    embedding: nn.Embedding
    blocks: nn.ModuleList
    norm: nn.RMSNorm
    head: nn.Linear

    def __init__(self, config: GPTConfig, seed: int = 0) -> None:
        with torch.random.fork_rng(devices=[]):  # torch initializes weights too; they are replaced below
            super().__init__(
                config,
                nn.Embedding(config.vocab, config.hidden),
                nn.ModuleList(Block(config) for _ in range(config.layers)),
                layers.norm(config),
                nn.Linear(config.hidden, config.outputs or config.vocab, bias=False),
            )
        self._draw(torch.Generator().manual_seed(seed))

    def part(self, blocks: range, first: bool, last: bool) -> Part:
        """Some consecutive layers, sharing their parameters with the whole model.

        The parts of a model, applied one after the other, compute what the whole model computes. Parameters keep their
        names: ``blocks.2.attention.query.weight`` has the same name in the part.

        Args:
            blocks: the indices of the blocks; ``range(2, 4)`` is the third and the fourth.
            first: whether to include the embedding, so that the part takes tokens.
            last: whether to include the norm and the head, so that the part returns logits.
        """
        within = blocks.step == 1 and 0 <= blocks.start <= blocks.stop <= self.config.layers
        checks.require(within, f"be a range within range(0, {self.config.layers})", blocks=blocks)
        return Part(
            self.config,
            self.embedding if first else None,
            nn.ModuleDict({str(index): self.blocks[index] for index in blocks}),
            self.norm if last else None,
            self.head if last else None,
        )

    def _draw(self, generator: torch.Generator) -> None:
        """Draw the weights: matrices preserve the scale of their input, and more layers add less each."""
        nn.init.normal_(self.embedding.weight, std=1.0, generator=generator)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=module.in_features**-0.5, generator=generator)
        with torch.no_grad():
            for module in self.modules():
                if isinstance(module, Block):
                    module.attention.output.weight /= math.sqrt(2 * self.config.layers)
                    module.ffn.down.weight /= math.sqrt(2 * self.config.layers)


def loss(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy of the next token, in nats; ``inputs`` and ``targets`` [B, T] are as in :func:`batches`."""
    return functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


def train(
    text: str | Sequence[int] | None = None,
    steps: int = 100,
    seed: int = 0,
    config: GPTConfig | None = None,
    batch: int = 8,
    learning_rate: float = 1e-2,
) -> GPT:
    """Train a model on a text, for a few seconds on one core; the same arguments give the same model.

    Args:
        text: as in :func:`batches`; None means the bundled text.
        steps: steps of the optimizer, AdamW with a learning rate that decays to a tenth along a cosine; 0 gives the
            untrained model.
        seed: seed of the weights and of the batches.
        config: shape of the model; None means the default shape with the vocabulary of :class:`ByteTokenizer`.
        batch: sequences in one step, each of half the context.
        learning_rate: learning rate of the first step; positive.

    Raises:
        ValueError: the text is shorter than a sequence.
    """
    checks.count(0, steps=steps)
    config = config or GPTConfig(vocab=len(ByteTokenizer().vocabulary))
    model, pieces = GPT(config, seed), batches(text, batch, max(1, config.context // 2), seed)
    if not steps:  # and no optimizer, which takes a second to import what it is made of
        return model
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=learning_rate / 10)
    with one_thread():
        for _ in range(steps):
            optimizer.zero_grad()
            loss(model, *next(pieces)).backward()
            optimizer.step()
            schedule.step()
    return model


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the block on one thread: matrices this small gain nothing from more, and lose much if other processes run."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
