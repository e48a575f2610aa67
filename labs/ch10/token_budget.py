# Generated from solutions/ch10/token_budget.py by make stubs. Write the bodies; names and signatures stay.
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

from rankzero import checks


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
        raise NotImplementedError("10-token-budget-scheduler: not written yet")

    @property
    def waiting(self) -> list[str]:
        """Names of the requests in the queue, the next one first."""
        raise NotImplementedError("10-token-budget-scheduler: not written yet")

    @property
    def running(self) -> list[str]:
        """Names of the requests that run, in the order of admission."""
        raise NotImplementedError("10-token-budget-scheduler: not written yet")

    @property
    def preempted(self) -> list[str]:
        """Names of the requests that the last ``schedule`` preempted, in that order."""
        raise NotImplementedError("10-token-budget-scheduler: not written yet")

    @property
    def preemptions(self) -> int:
        """Preemptions since the start."""
        raise NotImplementedError("10-token-budget-scheduler: not written yet")

    @property
    def free_blocks(self) -> int:
        """Blocks that no request holds."""
        raise NotImplementedError("10-token-budget-scheduler: not written yet")

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
        raise NotImplementedError("10-token-budget-scheduler: not written yet")

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
        raise NotImplementedError("10-token-budget-scheduler: not written yet")

    def update(self) -> list[str]:
        """The step has run: its tokens are computed, and a request with none left to compute gets its next token.

        A prompt that is only partly computed generates nothing. A request that has ``max_new_tokens`` is finished: it
        stops running and gives back its blocks.

        Returns:
            The names of the requests that finished, in the order of the step.

        Raises:
            RuntimeError: no step has been scheduled.
        """
        raise NotImplementedError("10-token-budget-scheduler: not written yet")

    def finish(self, request: str) -> None:
        """End a request early: it said EOS or a stop string, or its client has left. Its blocks are free at once.

        Between ``schedule`` and ``update`` its part of the step is dropped: ``update`` does not name it.

        Raises:
            KeyError: no request of this name waits or runs.
        """
        raise NotImplementedError("10-token-budget-scheduler: not written yet")
