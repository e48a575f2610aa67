"""The scheduler once more, written as one class: which requests run in a step, with how many tokens, and which is
preempted when memory runs out. It decides as :mod:`.scheduler` does in three functions, for blocks that nobody shares.

Standard library only. The scheduler only counts tokens; it neither computes nor sees them. Its step has two halves:
``schedule`` says what to run, ``update`` says that it ran.

>>> scheduler = TokenBudgetScheduler(max_tokens=8, max_sequences=4, blocks=6, block_size=4)
>>> scheduler.add("x", prompt_tokens=10, max_new_tokens=3)
>>> scheduler.schedule(), scheduler.update()
([('x', 8)], [])
>>> scheduler.schedule(), scheduler.update()
([('x', 2)], [])
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from rankzero import checks


@dataclass(eq=False)
class _Request:
    """One request: its prompt, what it may still generate, the tokens whose KV is computed, and the blocks it holds."""

    name: str
    total: int  # prompt and generated so far
    end: int  # total at which it is finished
    computed: int = 0
    blocks: int = 0


class TokenBudgetScheduler:
    """Continuous batching with a budget of tokens per step, chunked prefill and preemption.

    A request has ``total`` tokens, its prompt and what it has generated, and ``computed`` of them have their KV in the
    cache. Both phases are the same work: compute what is missing. A prompt needs many tokens, a decode one. A request
    holds ``ceil(computed / block_size)`` blocks, counted with the tokens of the step that is being run.

    Args:
        max_tokens: budget, tokens of all requests in one step; at least 1.
        max_sequences: requests that run at once; at least 1.
        blocks: of the pool; at least 1.
        block_size: tokens in a block; at least 1.
        chunked_prefill: a prompt may be cut to what the budget leaves. Without it a prompt runs whole or waits.
        max_chunk: most tokens of one request in one step; at least 0, where 0 sets no limit. Any other needs
            ``chunked_prefill``.

    Source: Agrawal et al. (2024), arXiv:2403.02310; the scheduler of vLLM, ``vllm/v1/core/sched/scheduler.py``.
    """

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
        self._waiting: deque[_Request] = deque()
        self._running: list[_Request] = []
        self._step: list[tuple[_Request, int]] | None = None
        self._preempted: list[str] = []
        self._preemptions = 0
        self._free = blocks

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
    def preemptions(self) -> int:
        """Preemptions since the start."""
        return self._preemptions

    @property
    def free_blocks(self) -> int:
        """Blocks that no request holds."""
        return self._free

    def add(self, request: str, prompt_tokens: int, max_new_tokens: int) -> None:
        """Put a request at the end of the queue; also between ``schedule`` and ``update``.

        Args:
            request: its name.
            prompt_tokens: of its prompt; at least 1.
            max_new_tokens: tokens to generate; at least 1.

        Raises:
            ValueError: a request of this name waits or runs, or the request could never be served: it computes at most
                ``prompt_tokens + max_new_tokens - 1`` tokens, for its last token needs no KV, and these must fit into
                the pool, and without chunked prefill into one step's budget, because a preempted request computes them
                all at once.
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
        """The next step: requests and how many tokens each computes, in the order in which they were chosen.

        Running requests come first, in the order of admission. Each gets the tokens that it still has to compute, at
        most ``max_chunk`` and at most what is left of the budget, and takes the blocks for them. While blocks are
        missing, the request that runs last is preempted: it gives back all its blocks, has nothing computed any more,
        and goes to the head of the queue with its generated tokens as part of its prompt. A request that preempts
        itself ends this round.

        Then waiting requests are admitted from the head of the queue, while fewer than ``max_sequences`` run and budget
        is left. The blocks for all tokens of a request must be free; it takes those of its first chunk. Nobody
        overtakes: a head whose blocks are missing blocks the queue; without chunked prefill so does one that misses
        more tokens than the budget has left.

        Raises:
            RuntimeError: the step before has not been updated.
        """
        if self._step is not None:
            raise RuntimeError("schedule was called twice; update comes between")
        self._step, self._preempted = [], []
        self._admit(self._schedule_running(self.max_tokens))
        return [(request.name, tokens) for request, tokens in self._step]

    def update(self) -> list[str]:
        """The step has run: its tokens are computed, and a request with none left to compute gets its next token.

        A prompt that is only partly computed generates nothing. A request that has ``max_new_tokens`` is finished: it
        stops running and gives back its blocks.

        Returns:
            The names of the requests that finished, in the order of the step.

        Raises:
            RuntimeError: no step has been scheduled.
        """
        if self._step is None:
            raise RuntimeError("update was called without a step; schedule comes first")
        step, self._step, finished = self._step, None, []
        for request, tokens in step:
            request.computed += tokens
            request.total += request.computed == request.total
            if request.total == request.end:
                self._release(request)
                self._running.remove(request)
                finished.append(request.name)
        return finished

    def finish(self, request: str) -> None:
        """End a request early: it said EOS or a stop string, or its client has left. Its blocks are free at once.

        Between ``schedule`` and ``update`` its part of the step is dropped: ``update`` does not name it.

        Raises:
            KeyError: no request of this name waits or runs.
        """
        for queue in (self._running, self._waiting):
            for other in queue:
                if other.name == request:
                    self._release(other)
                    queue.remove(other)
                    self._step = self._step and [part for part in self._step if part[0] is not other]
                    return
        raise KeyError(request)

    def _schedule_running(self, budget: int) -> int:
        """Give running requests their tokens, preempting from the end; returns what is left of the budget."""
        turn = 0
        while turn < len(self._running) and budget:
            request = self._running[turn]
            want = self._want(request, budget)
            while request in self._running and not self._take(request, want):
                self._preempt(self._running.pop())
            if request not in self._running:
                break
            budget -= self._scheduled(request, want)
            turn += 1
        return budget

    def _admit(self, budget: int) -> None:
        """Let waiting requests in, strictly in order."""
        while self._waiting and budget and len(self._running) < self.max_sequences:
            request = self._waiting[0]
            if not self.chunked_prefill and request.total > budget:
                return
            if self._blocks_for(request.total) > self._free:
                return
            want = self._want(request, budget)
            self._take(request, want)
            self._running.append(self._waiting.popleft())
            budget -= self._scheduled(request, want)

    def _want(self, request: _Request, budget: int) -> int:
        """Tokens that a request computes in this step."""
        return min(request.total - request.computed, self.max_chunk or budget, budget)

    def _take(self, request: _Request, tokens: int) -> bool:
        """Give a request the blocks for ``tokens`` more; all of them or none."""
        missing = self._blocks_for(request.computed + tokens) - request.blocks
        if missing > self._free:
            return False
        self._free -= missing
        request.blocks += missing
        return True

    def _scheduled(self, request: _Request, tokens: int) -> int:
        """Write the request into the step; returns its tokens."""
        assert self._step is not None
        self._step.append((request, tokens))
        return tokens

    def _preempt(self, request: _Request) -> None:
        """Back to the head of the queue; what it has generated now counts as prompt."""
        self._release(request)
        request.computed = 0
        self._waiting.appendleft(request)
        self._preempted.append(request.name)
        self._preemptions += 1

    def _release(self, request: _Request) -> None:
        self._free += request.blocks
        request.blocks = 0

    def _blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.block_size)
