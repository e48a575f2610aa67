"""The computation of a step: make room in memory, run one forward pass for all requests, sample their next tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from rankzero.server.memory import Memory
from rankzero.server.parts import Parts
from rankzero.server.pool import Piece, Pool, forward
from rankzero.server.request import Request
from rankzero.tiny import GPT


@dataclass(frozen=True)
class Computed:
    """The result of a step.

    Attributes:
        tokens: how many tokens went through the model.
        reused: how many tokens had their keys and values in the prefix cache.
        sampled: the requests that got their next token, each with that token.
    """

    tokens: int
    reused: int
    sampled: list[tuple[Request, int]]


class Runner:
    """A model with memory for the keys and values of many requests.

    Args:
        model: the model.
        parts: supplies the prefix pool and the distribution of the next token.
        blocks: blocks of keys and values.
        block_size: tokens in a block.
        prefix_cache: whether to keep the keys and values of full blocks for later requests.
    """

    def __init__(self, model: GPT, parts: Parts, blocks: int, block_size: int, prefix_cache: bool) -> None:
        self.pool = Pool(model, blocks, block_size)
        self.memory = Memory(parts, blocks, block_size, prefix_cache)
        self._model, self._probabilities = model, parts.probabilities

    def run(self, scheduled: Sequence[tuple[Request, int]]) -> Computed:
        """Compute the given number of tokens of each request; sample the next token of each that is then up to date."""
        pieces: list[Piece] = []
        owners: list[Request] = []
        prefilled = [request for request, _ in scheduled if not request.decodes]
        reused = 0
        for request, tokens in scheduled:
            goal = request.computed + tokens
            begin = self._make_room(request, goal)
            reused += begin - request.computed
            request.computed = goal
            if begin < goal:
                pieces.append(Piece(request.tokens[begin:goal], begin, self.memory.table(request.name)))
                owners.append(request)
        sampled = self._forward(pieces, owners)
        for request in prefilled:
            self.keep(request)
        return Computed(sum(len(piece.tokens) for piece in pieces), reused, sampled)

    def share(self, request: Request) -> int:
        """Let a request that begins share the cached prefix of its tokens; return how many tokens that saves.

        The request's last token is never taken from the cache, because its logits are needed for the next one.
        """
        request.computed = self.memory.share(request.name, request.tokens, request.salt)
        if not request.preemptions:
            request.cached_tokens += request.computed
        return request.computed

    def keep(self, request: Request) -> None:
        """Put the tokens that a request has computed into the prefix cache."""
        self.memory.remember(request.name, request.tokens[: request.computed], request.salt)

    def drop(self, request: Request) -> None:
        """Release a request's memory; what it has computed stays in the prefix cache while there is room."""
        self.keep(request)
        self.memory.release(request.name)
        request.computed = 0

    def _make_room(self, request: Request, goal: int) -> int:
        """Allocate blocks for the first ``goal`` tokens of a request; return how many of them are computed already.

        The request's last token is never taken from the cache, because its logits are needed for the next one.
        """
        begin = max(request.computed, self.memory.share(request.name, request.tokens[: goal + 1], request.salt))
        self.memory.grow(request.name, goal)
        if not request.preemptions:
            request.cached_tokens += begin - request.computed
        return begin

    def _forward(self, pieces: Sequence[Piece], owners: Sequence[Request]) -> list[tuple[Request, int]]:
        if not pieces:
            return []
        logits = forward(self._model, self.pool, pieces)  # [pieces, V]
        whole = [(request, row) for row, request in enumerate(owners) if request.missing == 0]
        return [(request, self._sample(request, logits[row])) for request, row in whole]

    def _sample(self, request: Request, logits: torch.Tensor) -> int:
        how = request.sampling
        return request.sample(self._probabilities(request.masked(logits), how.temperature, how.top_k, how.top_p))
