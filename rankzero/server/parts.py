"""What the engine is built from, and what each part must be able to do. The course's exercises make all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch


class Detokenizer(Protocol):
    """Text of one answer while its tokens come; made by ``(vocabulary, stop)``."""

    finished: bool

    def push(self, token: int) -> str:
        """The text that may be sent after one more token."""

    def finish(self) -> str:
        """The text that was held back."""


class BlockManager(Protocol):
    """Blocks of sequences; made by ``(blocks, block_size)``."""

    def allocate(self, sequence: str, tokens: int) -> list[int]:
        """A table for a new sequence."""

    def append(self, sequence: str, tokens: int = 1) -> list[tuple[int, int]]:
        """Room for more tokens; the blocks to copy."""

    def fork(self, parent: str, child: str, tokens: int | None = None) -> list[int]:
        """A new sequence that shares the first tokens of another."""

    def free(self, sequence: str) -> None:
        """Forget a sequence."""

    def table(self, sequence: str) -> list[int]:
        """Its blocks."""

    def length(self, sequence: str) -> int:
        """Its tokens."""

    def free_queue(self) -> list[int]:
        """The free blocks."""

    def check(self) -> None:
        """Raise when the counts do not add up."""


class RadixCache(Protocol):
    """Slots of cached prefixes; made by ``(page_size)``."""

    @property
    def evictable_size(self) -> int:
        """Cached tokens that no request uses."""

    @property
    def protected_size(self) -> int:
        """Cached tokens in use."""

    def match(self, tokens: Sequence[int]) -> tuple[int, list[int]]:
        """The longest cached prefix and its slots."""

    def insert(self, tokens: Sequence[int], slots: Sequence[int]) -> int:
        """Cache the slots of tokens; how many were there already."""

    def lock(self, tokens: Sequence[int]) -> int:
        """Protect a prefix; a handle."""

    def unlock(self, handle: int) -> None:
        """Take the protection back."""

    def evict(self, count: int) -> list[int]:
        """Forget at least so many tokens, where possible; their slots."""

    def check(self) -> None:
        """Raise when the sizes do not add up."""


class Scheduler(Protocol):
    """Who runs in a step; made by ``(max_tokens, max_sequences, blocks, block_size, chunked_prefill, max_chunk)``.

    It may have ``finish(request)``, which ends a request early. Where it has not, a request that ends early keeps its
    place, without any computing, until it would have had all its tokens.
    """

    @property
    def preempted(self) -> list[str]:
        """Requests that the last ``schedule`` preempted."""

    def add(self, request: str, prompt_tokens: int, max_new_tokens: int) -> None:
        """Queue a request."""

    def schedule(self) -> list[tuple[str, int]]:
        """Requests and their tokens in the next step."""

    def update(self) -> list[str]:
        """The step has run; requests that have all their tokens."""


class Constraint(Protocol):
    """Which tokens may come next in one answer; made by ``(schema, vocabulary, eos)``."""

    finished: bool

    def allowed(self, remaining: int | None = None) -> list[int]:
        """The tokens that may come next; those after which the text can end within ``remaining`` tokens, ``eos`` not
        counted."""

    def distance(self) -> int:
        """Tokens within which the text can end, ``eos`` not counted."""

    def advance(self, token: int) -> None:
        """Take one token."""


@dataclass(frozen=True)
class Parts:
    """The parts, as classes and functions: what an exercise asks for fits here as it is.

    Attributes:
        detokenizer: ``(vocabulary, stop) -> Detokenizer``.
        probabilities: ``(logits [V], temperature, top_k, top_p) -> [V]``, the distribution of the next token.
        block_manager: ``(blocks, block_size) -> BlockManager``.
        radix_cache: ``(page_size) -> RadixCache``.
        scheduler: ``(max_tokens, max_sequences, blocks, block_size, chunked_prefill, max_chunk) -> Scheduler``.
        constraint: ``(schema, vocabulary, eos) -> Constraint``, for answers that must fit a JSON schema; ValueError for
            a schema that it does not know. Without it the server refuses such requests.
    """

    detokenizer: Callable[..., Detokenizer]
    probabilities: Callable[..., torch.Tensor]
    block_manager: Callable[..., BlockManager]
    radix_cache: Callable[..., RadixCache]
    scheduler: Callable[..., Scheduler]
    constraint: Callable[..., Constraint] | None = None
