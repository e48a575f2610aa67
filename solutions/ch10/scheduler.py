"""A scheduler in three steps: share the budget of a pass, make room for its tokens, let new requests in.

Standard library only. Each step is a function of numbers; :class:`Scheduler`, the server's, calls them in turn. It only
counts tokens; it neither computes nor sees them. ``schedule`` says what the next pass computes, ``update`` says that it
has run.

>>> scheduler = Scheduler(max_tokens=8, max_sequences=4, blocks=6, block_size=4)
>>> scheduler.add("x", prompt_tokens=10, max_new_tokens=3)
>>> scheduler.schedule(), scheduler.update()
([('x', 8)], [])
>>> scheduler.schedule(), scheduler.update()
([('x', 2)], [])
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from rankzero import checks


def share_budget(
    running: Sequence[int], waiting: Sequence[int], budget: int, slots: int, max_chunk: int = 0
) -> list[int]:
    """The tokens that each request computes in the next pass, while memory is no limit.

    Running requests come first, then waiting ones, as many as there are slots left. Each gets the tokens that it still
    has to compute, at most ``max_chunk`` and at most what is left of the budget. The list ends with the last request
    that gets a token: nobody overtakes.

    Args:
        running: tokens that each running request still has to compute, in the order of admission; each at least 1.
        waiting: the same for the queue, the next one first; each at least 1.
        budget: tokens of the pass; at least 1.
        slots: requests that may run at once; at least 1.
        max_chunk: most tokens of one request; at least 0, where 0 sets no limit.

    Source: Agrawal et al. (2024), arXiv:2403.02310, algorithm 3; vLLM, ``vllm/v1/core/sched/scheduler.py``.
    """
    checks.count(running=running, waiting=waiting, budget=budget)
    checks.count(0, max_chunk=max_chunk)
    checks.count(slots=slots)
    shared = []
    for missing in [*running, *waiting[: max(0, slots - len(running))]]:
        tokens = min(missing, max_chunk or missing, budget)
        if tokens == 0:
            break
        shared.append(tokens)
        budget -= tokens
    return shared


def make_room(held: Sequence[int], need: Sequence[int], free: int) -> tuple[int, int]:
    """How many of the running requests go on, and how many blocks are free after they have taken theirs.

    The requests take the blocks that they need one after the other. While too few are free for one of them, the request
    that runs last is preempted and gives back what it holds; that may be the request itself, and then the round ends.

    Args:
        held: blocks that each running request would give back, in the order of admission; not negative.
        need: blocks that each needs for the tokens of the pass, as many numbers; not negative.
        free: blocks that nobody holds; not negative.

    Source: vLLM, ``vllm/v1/core/sched/scheduler.py``: the request at the end of ``running`` is preempted.
    """
    checks.count(0, held=held, need=need, free=free)
    checks.require(len(held) == len(need), "be as many", held=held, need=need)
    going = len(held)
    for turn, blocks in enumerate(need):
        while blocks > free and going > turn:
            going -= 1
            free += held[going]
        if going <= turn:
            break
        free -= blocks
    return going, free


def admit(
    waiting: Sequence[tuple[int, int, int]], budget: int, free: int, block_size: int, max_chunk: int = 0
) -> list[int]:
    """The tokens that each admitted request computes in its first pass; the list ends where the next one has to wait.

    A request is admitted if the blocks for all its tokens are free, and takes only those of its first chunk. Cached
    tokens are not computed again. Nobody overtakes: behind one that has to wait all others wait.

    Args:
        waiting: of each request ``(total, cached, shared)``, the next one first. ``total`` tokens, at least 1, are its
            prompt and what it generated before it was preempted. The keys and values of the first ``cached`` are in
            the pool: whole blocks, and fewer tokens than ``total``. ``shared`` of these blocks are held by running
            requests and cost nothing; the other cached blocks are counted among the free ones until they are taken.
        budget: tokens that are left of the pass; not negative.
        free: blocks that nobody holds; not negative.
        block_size: tokens in a block; at least 1.
        max_chunk: most tokens of one request; at least 0, where 0 sets no limit.

    Source: vLLM, ``vllm/v1/core/kv_cache_manager.py``: ``full_sequence_must_fit`` of ``allocate_slots``.
    """
    checks.count(0, budget=budget, free=free, max_chunk=max_chunk)
    checks.count(block_size=block_size)
    admitted = []
    for total, cached, shared in waiting:
        tokens = min(total - cached, max_chunk or budget, budget)
        if tokens == 0 or -(-total // block_size) - shared > free:
            break
        free -= -(-(cached + tokens) // block_size) - shared
        budget -= tokens
        admitted.append(tokens)
    return admitted


class PoolView(Protocol):
    """What a scheduler has to know of a pool whose blocks are shared."""

    def free(self) -> int:
        """Blocks that no request holds, cached ones among them."""

    def own(self, request: str) -> int:
        """Blocks that would be free if this running request left."""

    def cached(self, request: str) -> tuple[int, int]:
        """Of a waiting request: tokens whose keys and values are in the pool, and how many of their blocks are held.

        The tokens fill whole blocks, and the request's last token is not among them: its logits are needed.
        """


@dataclass(eq=False)
class _Request:
    """One request: its prompt, what it may still generate, the tokens whose KV is computed, and the blocks it holds."""

    name: str
    total: int  # prompt and generated so far
    end: int  # total at which it is finished
    computed: int = 0
    blocks: int = 0


class Scheduler:
    """Continuous batching with a budget of tokens for each pass, chunked prefill and preemption.

    A request has ``total`` tokens, its prompt and what it has generated, and ``computed`` of them have their keys and
    values in the pool. Prefill and decode are the same work: compute what is missing.

    Args:
        max_tokens: budget, tokens of all requests in one pass; at least 1.
        max_sequences: requests that run at once; at least 1.
        blocks: of the pool; at least 1.
        block_size: tokens in a block; at least 1.
        chunked_prefill: a prompt may be cut to what the budget leaves. Without it a prompt runs whole or waits.
        max_chunk: most tokens of one request in one pass; at least 0, where 0 sets no limit. Any other needs
            ``chunked_prefill``.

    Attributes:
        pool: a view of the pool if its blocks are shared; None if each request has its own, which are counted here.
        preemptions: since the start.
    """

    share_budget = staticmethod(share_budget)
    make_room = staticmethod(make_room)
    admit = staticmethod(admit)

    def __init__(
        self,
        max_tokens: int,
        max_sequences: int,
        blocks: int,
        block_size: int,
        chunked_prefill: bool = True,
        max_chunk: int = 0,
    ) -> None:
        checks.count(max_tokens=max_tokens, max_sequences=max_sequences, blocks=blocks, block_size=block_size)
        checks.count(0, max_chunk=max_chunk)
        checks.require(chunked_prefill or not max_chunk, "be 0 without chunked_prefill", max_chunk=max_chunk)
        self.max_tokens, self.max_sequences = max_tokens, max_sequences
        self.blocks, self.block_size = blocks, block_size
        self.chunked_prefill, self.max_chunk = chunked_prefill, max_chunk
        self.pool: PoolView | None = None
        self.preemptions = 0
        self._waiting: deque[_Request] = deque()
        self._running: list[_Request] = []
        self._step: list[tuple[_Request, int]] | None = None
        self._preempted: list[str] = []

    @property
    def waiting(self) -> list[str]:
        """Names of the requests in the queue, the next one first."""
        return [request.name for request in self._waiting]

    @property
    def running(self) -> list[str]:
        """Names of the requests that run, in the order of admission."""
        return [request.name for request in self._running]

    @property
    def preempted(self) -> list[str]:
        """Names of the requests that the last ``schedule`` preempted, in that order."""
        return list(self._preempted)

    @property
    def free_blocks(self) -> int:
        """Blocks that no request holds."""
        return self.pool.free() if self.pool else self.blocks - sum(request.blocks for request in self._running)

    def add(self, request: str, prompt_tokens: int, max_new_tokens: int) -> None:
        """Put a request at the end of the queue; also between ``schedule`` and ``update``.

        Raises:
            ValueError: a request of this name waits or runs, or the request could never be served: its tokens, without
                the last, which needs no KV, exceed the pool, or, without chunked prefill, the budget of one pass.
        """
        checks.count(prompt_tokens=prompt_tokens, max_new_tokens=max_new_tokens)
        if any(request == other.name for other in (*self._waiting, *self._running)):
            raise ValueError(f"request must be new, got {request!r}, which waits or runs")
        most = prompt_tokens + max_new_tokens - 1
        if self._blocks_for(most) > self.blocks:
            raise ValueError(f"prompt_tokens + max_new_tokens - 1 = {most} tokens never fit into {self.blocks} blocks")
        if most > self.max_tokens and not self.chunked_prefill:
            raise ValueError(f"prompt_tokens + max_new_tokens - 1 = {most} exceeds max_tokens = {self.max_tokens}")
        self._waiting.append(_Request(request, prompt_tokens, prompt_tokens + max_new_tokens))

    def schedule(self) -> list[tuple[str, int]]:
        """The next pass: requests and how many tokens each computes, in the order in which they were chosen.

        Raises:
            RuntimeError: the pass before has not been updated.
        """
        if self._step is not None:
            raise RuntimeError("schedule was called twice; update comes between")
        self._step = next_pass(self)
        return [(request.name, tokens) for request, tokens in self._step]

    def update(self) -> list[str]:
        """The pass has run: its tokens are computed, and a request with none left to compute gets its next token.

        Returns:
            The names of the requests that finished, in the order of the pass; their blocks are free.

        Raises:
            RuntimeError: no pass has been scheduled.
        """
        if self._step is None:
            raise RuntimeError("update was called without a step; schedule comes first")
        step, self._step, finished = self._step, None, []
        for request, tokens in step:
            request.computed += tokens
            request.total += request.computed == request.total
            if request.total == request.end:
                self._running.remove(request)
                finished.append(request.name)
        return finished

    def finish(self, request: str) -> None:
        """End a request early: it said EOS or a stop string, or its client has left. Its blocks are free at once.

        Between ``schedule`` and ``update`` its part of the pass is dropped: ``update`` does not name it.

        Raises:
            KeyError: no request of this name waits or runs.
        """
        for queue in (self._running, self._waiting):
            for other in queue:
                if other.name == request:
                    queue.remove(other)
                    self._step = self._step and [part for part in self._step if part[0] is not other]
                    return
        raise KeyError(request)

    def _admitted(self, budget: int, free: int) -> list[tuple[_Request, int]]:
        """Let waiting requests in, as many as have a slot."""
        heads = list(self._waiting)[: self.max_sequences - len(self._running)]
        queue = [(head.total, *self._cached(head)) for head in heads]
        if not self.chunked_prefill:  # only prompts that fit whole, one after the other
            sums = accumulate(total - cached for total, cached, _ in queue)
            queue = [one for one, tokens in zip(queue, sums, strict=True) if tokens <= budget]
        tokens = self.admit(queue, budget, free, self.block_size, self.max_chunk)
        for _, (_, cached, _) in zip(tokens, queue, strict=False):
            request = self._waiting.popleft()
            request.computed = cached
            self._running.append(request)
        return list(zip(heads, tokens, strict=False))

    def _preempt(self, request: _Request) -> str:
        """Back to the head of the queue; what it has generated now counts as prompt."""
        request.computed = request.blocks = 0
        self._waiting.appendleft(request)
        self.preemptions += 1
        return request.name

    def _own(self, request: _Request) -> int:
        return self.pool.own(request.name) if self.pool else request.blocks

    def _cached(self, request: _Request) -> tuple[int, int]:
        return self.pool.cached(request.name) if self.pool else (0, 0)

    def _more_blocks(self, request: _Request, tokens: int) -> int:
        """Blocks that a request takes for its next tokens."""
        return self._blocks_for(request.computed + tokens) - request.blocks

    def _blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.block_size)


def next_pass(scheduler: Scheduler) -> list[tuple[_Request, int]]:
    """Who computes how many tokens in the next pass: running requests first, then those who are let in.

    In a pass that preempts, nobody is let in: the pool does not know yet who has left.
    """
    running, budget, slots = scheduler._running, scheduler.max_tokens, scheduler.max_sequences
    missing = [request.total - request.computed for request in running]
    tokens = scheduler.share_budget(missing, [], budget, slots, scheduler.max_chunk)
    tokens += [0] * (len(running) - len(tokens))  # for these the budget was gone
    held = [scheduler._own(request) for request in running]
    need = [scheduler._more_blocks(request, own) for request, own in zip(running, tokens, strict=True)]
    going, free = scheduler.make_room(held, need, scheduler.free_blocks)
    step = [(request, own) for request, own in zip(running[:going], tokens, strict=False) if own]
    scheduler._preempted = [scheduler._preempt(running.pop()) for _ in running[going:]]
    if not scheduler._preempted:
        step += scheduler._admitted(budget - sum(tokens), free)
    for request, own in step:
        request.blocks += scheduler._more_blocks(request, own)
    return step
