"""The parts that the engine is built from, as interfaces. The exercises of the course implement all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch


class Detokenizer(Protocol):
    """Turns the tokens of one answer into text as they arrive; created with ``(vocabulary, stop)``."""

    finished: bool

    def push(self, token: int) -> str:
        """Add a token, and return the text that may now be sent."""

    def finish(self) -> str:
        """Return the text that was held back."""


class PrefixPool(Protocol):
    """Assigns blocks to sequences, and finds the blocks of known beginnings; created with ``(blocks, block_size)``.

    Attributes:
        holders: how many sequences hold each block.
        named: the name of each block, or None.
        found: the block of each name.
    """

    holders: list[int]
    named: list[Hashable]
    found: dict[Hashable, int]

    def allocate(self, sequence: str, tokens: int) -> list[int]:
        """Create a sequence, and return its block table."""

    def append(self, sequence: str, tokens: int = 1) -> list[int]:
        """Make room for more tokens, and return the block table."""

    def share(self, sequence: str, tokens: Sequence[int], salt: str = "") -> int:
        """Create a sequence from the blocks of its longest known beginning, and return how many tokens these hold."""

    def match(self, tokens: Sequence[int], salt: str = "") -> list[int]:
        """The blocks of the longest known beginning, without the block of the last token."""

    def keep(self, sequence: str, tokens: Sequence[int], salt: str = "") -> None:
        """Name the full blocks of a sequence's first tokens, which are computed."""

    def free(self, sequence: str) -> None:
        """Delete a sequence."""

    def table(self, sequence: str) -> list[int]:
        """The blocks of a sequence, in order."""

    def free_queue(self) -> list[int]:
        """The free blocks, next one first."""


class PoolView(Protocol):
    """What a scheduler may ask about a pool whose blocks are shared."""

    def free(self) -> int:
        """Blocks that no request holds, cached ones among them."""

    def own(self, request: str) -> int:
        """Blocks that would be free if this running request left."""

    def cached(self, request: str) -> tuple[int, int]:
        """Of a waiting request: tokens whose keys and values are in the pool, and how many of their blocks are held."""


class Scheduler(Protocol):
    """Decides which requests run in each step.

    It is created with ``(max_tokens, max_sequences, blocks, block_size, chunked_prefill, max_chunk)``. It may have a
    method ``finish(request)``, which ends a request early. Without it, a request that ends early keeps its slot, though
    nothing is computed for it, until it would have had all its tokens.

    It may have an attribute ``pool``, which the engine then sets to a :class:`PoolView`: the tokens that it schedules
    for a new request are those that follow the cached ones. A scheduler without ``pool`` counts blocks as if each
    request had its own, and its budget pays for cached tokens too, although they are not computed.
    """

    @property
    def preempted(self) -> list[str]:
        """The requests that the last ``schedule`` preempted."""

    def add(self, request: str, prompt_tokens: int, max_new_tokens: int) -> None:
        """Queue a request."""

    def schedule(self) -> list[tuple[str, int]]:
        """The requests of the next step, each with the number of tokens to compute."""

    def update(self) -> list[str]:
        """Record that the step has run, and return the requests that have all their tokens."""


class Constraint(Protocol):
    """Decides which tokens may come next in one answer; created with ``(schema, vocabulary, eos)``."""

    finished: bool

    def allowed(self, remaining: int | None = None) -> list[int]:
        """The tokens that may come next.

        With ``remaining``, only those that leave the text able to end within that many tokens, not counting ``eos``.
        """

    def distance(self) -> int:
        """The fewest tokens within which the text can end, not counting ``eos``."""

    def advance(self, token: int) -> None:
        """Append one token."""


@dataclass(frozen=True)
class Parts:
    """The parts, as classes and functions; the classes and functions of the exercises fit without adapters.

    Attributes:
        detokenizer: ``(vocabulary, stop) -> Detokenizer``.
        probabilities: ``(logits [V], temperature, top_k, top_p) -> [V]``, the distribution of the next token.
        prefix_pool: ``(blocks, block_size) -> PrefixPool``.
        scheduler: ``(max_tokens, max_sequences, blocks, block_size, chunked_prefill, max_chunk) -> Scheduler``.
        constraint: ``(schema, vocabulary, eos) -> Constraint``, for answers that must fit a JSON schema; it raises
            ValueError for a schema that it does not support. Without it the server refuses such requests.
    """

    detokenizer: Callable[..., Detokenizer]
    probabilities: Callable[..., torch.Tensor]
    prefix_pool: Callable[..., PrefixPool]
    scheduler: Callable[..., Scheduler]
    constraint: Callable[..., Constraint] | None = None
