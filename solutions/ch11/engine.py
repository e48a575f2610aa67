"""The engine of an inference server, whole: the milestone of Part III, graded level by level.

    python -m autograder milestone labs --only 11-server

Begin with one request at a time: a pass for its prompt, then a pass for each token. Parts that you built in earlier
chapters may be imported or written anew.
"""

from __future__ import annotations

import codecs
import hashlib
from collections import deque
from itertools import takewhile
from typing import Any


class EngineCore:
    """Decides what every pass of a device computes, in which blocks, and which text may be sent.

    Args:
        job: has ``blocks`` and ``block_size`` of the pool, ``budget`` and ``slots`` (the most tokens and the most
            requests of a pass), ``vocabulary`` (the bytes of each token) and ``eos``. ``job.forward(pieces)`` runs a
            pass. A piece is ``(name, tokens, start, table)``: tokens of one request, which follow ``start`` others
            whose keys are in the blocks of ``table``; ``table`` has room for the new ones, too. It returns the logits
            after the last token of each piece. ``job.choose(logits, request, number, allowed=None)`` is token
            ``number`` of the answer, counted from 0; with ``allowed``, one of these tokens.
    """

    def __init__(self, job: Any) -> None:
        self.job, self.pool, self.waiting = job, _Pool(job.blocks), deque[_Answer]()
        self.running: list[_Answer] = []  # oldest first

    def submit(self, request: Any) -> None:
        """Take a request: it is computed by later steps.

        Args:
            request: has ``name``, ``prompt`` (tokens, at least one), ``max_tokens`` (of the answer, ``eos`` included),
                ``stop`` (strings that end the answer and are not sent), ``salt`` (only requests with the same salt may
                share blocks) and ``constraint``: None, or an object with ``allowed(remaining)``, the tokens that may
                come next if ``remaining`` are left, the next one included and ``eos`` not, and ``advance(token)``.
        """
        self.waiting.append(_Answer(request))

    def cancel(self, name: str) -> None:
        """The client of this request has left: nothing more is computed or sent, and its blocks are free."""
        for queue in (self.waiting, self.running):
            for answer in [one for one in queue if one.request.name == name]:
                self._release(answer)
                queue.remove(answer)

    def step(self) -> list[tuple[str, str, str]]:
        """Run at most one pass, and return what can be sent: ``(name, text, reason)``, at most one for each request.

        The reason is ``"stop"`` if the answer ends here by ``eos`` or a stop string, ``"length"`` if it has
        ``max_tokens`` tokens, and otherwise empty. Text is sent in the step that makes it, except half a character and
        what may turn out to begin a stop string.
        """
        plan = self._schedule()
        if not plan:
            return []
        pieces = [(a.request.name, a.tokens[a.computed : a.computed + n], a.computed, a.table) for a, n in plan]
        rows = self.job.forward(pieces)
        said = []
        for (answer, tokens), row in zip(plan, rows, strict=True):
            answer.computed += tokens
            for block, name in zip(answer.table, self._chain(answer, answer.computed), strict=False):
                self.pool.name(block, name)
            if answer.missing == 0:
                said.append(self._next_token(answer, row))
        return said

    def _schedule(self) -> list[tuple[_Answer, int]]:
        """Requests of the next pass, each with its number of tokens: those that run, oldest first, then new ones."""
        budget, plan, preempted = self.job.budget, [], False
        for answer in list(self.running):
            tokens = min(answer.missing, budget)
            while answer in self.running and self._lacks(answer, answer.computed + tokens) > len(self.pool.free):
                self._preempt()
                preempted = True
            if answer in self.running and tokens:
                self._grow(answer, tokens)
                plan.append((answer, tokens))
                budget -= tokens
        while self.waiting and budget and not preempted and len(self.running) < self.job.slots:
            answer = self.waiting[0]
            shared = self._cached(answer)
            idle = sum(1 for block in shared if not self.pool.holders[block])
            if self._lacks(answer, len(answer.tokens), len(shared)) + idle > len(self.pool.free):
                break
            self.running.append(self.waiting.popleft())
            for block in shared:
                self.pool.share(block)
            answer.table, answer.computed = shared, len(shared) * self.job.block_size
            tokens = min(answer.missing, budget)
            self._grow(answer, tokens)
            plan.append((answer, tokens))
            budget -= tokens
        return plan

    def _lacks(self, answer: _Answer, goal: int, held: int | None = None) -> int:
        """Blocks that are missing for the first ``goal`` tokens."""
        return max(0, -(-goal // self.job.block_size) - (len(answer.table) if held is None else held))

    def _grow(self, answer: _Answer, tokens: int) -> None:
        """Blocks for the tokens of the next pass."""
        answer.table += [self.pool.take() for _ in range(self._lacks(answer, answer.computed + tokens))]

    def _preempt(self) -> None:
        """The youngest request loses its blocks and waits, first in the queue; what was chosen for it stays chosen."""
        answer = self.running.pop()
        self._release(answer)
        self.waiting.appendleft(answer)

    def _chain(self, answer: _Answer, upto: int) -> list[str]:
        """The names of the full blocks among the first ``upto`` tokens: hashes of their tokens and of all before."""
        size = self.job.block_size
        for first in range(len(answer.names) * size, upto - size + 1, size):
            before = answer.names[-1] if answer.names else answer.request.salt
            text = f"{before} {answer.tokens[first : first + size]}"
            answer.names.append(hashlib.sha256(text.encode()).hexdigest())
        return answer.names[: upto // size]

    def _cached(self, answer: _Answer) -> list[int]:
        """The blocks that hold a beginning of the text; its last token has to be computed, for its logits."""
        names = takewhile(self.pool.found.__contains__, self._chain(answer, len(answer.tokens) - 1))
        return [self.pool.found[name] for name in names]

    def _release(self, answer: _Answer) -> None:
        """Give back the blocks, the last one first: without its beginning, a text is not found."""
        for block in reversed(answer.table):
            self.pool.give_back(block)
        answer.table, answer.computed = [], 0

    def _next_token(self, answer: _Answer, row: Any) -> tuple[str, str, str]:
        """Choose the next token of an answer, and end it if it is the last."""
        request, constraint = answer.request, answer.request.constraint
        allowed = None if constraint is None else constraint.allowed(request.max_tokens - 1 - answer.drawn)
        token = self.job.choose(row, request, answer.drawn, allowed)
        if constraint is not None:
            constraint.advance(token)
        answer.drawn += 1
        reason = "stop" if token == self.job.eos else "length" if answer.drawn == request.max_tokens else ""
        answer.tokens.append(token)
        data = b"" if token == self.job.eos else self.job.vocabulary[token]
        text, stopped = answer.text(data, final=bool(reason))
        reason = "stop" if stopped else reason
        if reason:
            self.running.remove(answer)
            self._release(answer)
        return request.name, text, reason


class _Answer:
    """One request on its way.

    Attributes:
        tokens: of the prompt and of the answer so far.
        computed: how many of them have keys in the blocks of ``table``.
        names: of its first full blocks.
        drawn: tokens of the answer that have been chosen; never fewer, whatever becomes of its blocks.
    """

    def __init__(self, request: Any) -> None:
        self.request, self.tokens, self.computed, self.drawn = request, list(request.prompt), 0, 0
        self.table, self.names = list[int](), list[str]()
        self.decoder, self.held = codecs.getincrementaldecoder("utf-8")("replace"), ""

    @property
    def missing(self) -> int:
        return len(self.tokens) - self.computed

    def text(self, data: bytes, final: bool) -> tuple[str, bool]:
        """Take the bytes of a token; return what can be sent now, and whether a stop string has ended the answer."""
        self.held += self.decoder.decode(data, final)
        ends = [self.held.find(stop) for stop in self.request.stop if stop in self.held]
        keep = 0 if final else max(map(self._tail, self.request.stop), default=0)
        cut = min(ends) if ends else len(self.held) - keep
        sent, self.held = self.held[:cut], self.held[cut:]
        return sent, bool(ends)

    def _tail(self, stop: str) -> int:
        """Characters at the end of what is held that begin ``stop``."""
        return max((n for n in range(1, len(stop)) if self.held.endswith(stop[:n])), default=0)


class _Pool:
    """Blocks: how many requests hold each, and which of them has a name; ``free`` has the next one to take first.

    A block that nobody holds can be found by its name until it is taken for something else.
    """

    def __init__(self, blocks: int) -> None:
        self.free, self.holders = deque(range(blocks)), [0] * blocks
        self.names, self.found = [""] * blocks, dict[str, int]()

    def take(self) -> int:
        block = self.free.popleft()
        if self.found.get(self.names[block]) == block:
            del self.found[self.names[block]]
        self.names[block], self.holders[block] = "", 1
        return block

    def share(self, block: int) -> None:
        if not self.holders[block]:
            self.free.remove(block)
        self.holders[block] += 1

    def name(self, block: int, name: str) -> None:
        if not self.names[block]:
            self.names[block] = name
            self.found.setdefault(name, block)

    def give_back(self, block: int) -> None:
        """A block with a name goes to the end of the queue, one without to its head."""
        self.holders[block] -= 1
        if not self.holders[block]:
            (self.free.append if self.names[block] else self.free.appendleft)(block)
