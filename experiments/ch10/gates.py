"""Four ways to let requests in, in one small simulator of passes, blocks and preemption. Standard library only."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from solutions.ch10.scheduler import make_room


@dataclass(eq=False)
class Request:
    """A request: tokens of its prompt, of its answer, of the longest answer that it may write; and how far it is.

    Attributes:
        written: tokens of the answer so far.
        computed: tokens whose keys and values are in the pool.
    """

    prompt: int
    answer: int
    most: int
    written: int = 0
    computed: int = 0

    @property
    def total(self) -> int:
        """Its tokens so far."""
        return self.prompt + self.written


#: Tokens that must have room before a request enters, from the request, those that run, and its first chunk.
Gate = Callable[[Request, Sequence[Request], int], float]


@dataclass(frozen=True)
class Outcome:
    """What a gate leads to.

    Attributes:
        time: until all have finished; a token is a unit, and a pass takes at least ``read`` units.
        preemptions: how often a request lost its blocks.
        again: tokens computed again.
        used: mean share of the pool in use.
    """

    time: int
    preemptions: int
    again: int
    used: float


def gate_run(
    gate: Gate, requests: Sequence[tuple[int, int, int]], blocks: int, size: int, budget: int, read: int
) -> Outcome:
    """Serve ``(prompt, answer, most)`` requests that all wait at the start; a newcomer has to pass ``gate``.

    Args:
        gate: tokens that must have room before a request enters.
        requests: prompt, answer, and the longest answer that the request allows.
        blocks, size: of the pool.
        budget: tokens of a pass.
        read: the least time of a pass, in units of a token: the weights are read.
    """

    def held(tokens: int) -> int:
        return -(-tokens // size)

    waiting, running = deque(Request(*one) for one in requests), list[Request]()
    passes = time = preemptions = computed = taken = 0
    while waiting or running:
        left, plan = budget, dict[Request, int]()
        for request in running:
            plan[request] = min(request.total - request.computed, left)
            left -= plan[request]
        need = [held(r.computed + plan[r]) - held(r.computed) for r in running]
        going, free = make_room(
            [held(r.computed) for r in running], need, blocks - sum(held(r.computed) for r in running)
        )
        for request in reversed(running[going:]):
            request.computed = 0
            waiting.appendleft(request)
        preemptions += len(running) - going
        preempted, running = going < len(running), running[:going]
        while waiting and left and not preempted:
            head = waiting[0]
            chunk = min(head.total, left)
            if running and gate(head, running, chunk) > free * size:
                break
            plan[head], left, free = chunk, left - chunk, free - held(chunk)
            running.append(waiting.popleft())
        tokens = sum(plan[request] for request in running)
        computed, time = computed + tokens, time + max(read, tokens)
        for request in running:
            request.computed += plan[request]
            request.written += request.computed == request.total
        taken += sum(held(request.computed) for request in running)
        running = [request for request in running if request.written < request.answer]
        passes += 1
    once = sum(prompt + answer - 1 for prompt, answer, _ in requests)
    return Outcome(time, preemptions, computed - once, taken / passes / blocks)
