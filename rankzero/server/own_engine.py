"""A core that somebody has written, behind the HTTP front: the milestone's class serves real clients.

    with serve(model, ByteTokenizer(), parts, core=EngineCore) as server:
        print(server.url)

The core decides what each pass computes, in which blocks, and what may be sent, as in ``solutions/ch11/engine.py``. The
forward pass, the distribution of the next token and the log are the server's.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Protocol, TextIO, get_args

import torch

from rankzero import checks
from rankzero.server.engine import COUNTERS, Engine, Tokenizer
from rankzero.server.inbox import Inbox
from rankzero.server.jobs import JobRequest, Piece, checked
from rankzero.server.parts import Parts
from rankzero.server.pool import Piece as Rows
from rankzero.server.pool import Pool, forward
from rankzero.server.request import FinishReason, Request
from rankzero.server.trace import Log, Step
from rankzero.tiny import GPT

#: Steps in a row without a pass, while there are requests, after which the core has failed.
IDLE = 3


class Core(Protocol):
    """What the milestone asks for; created with a job."""

    def submit(self, request: JobRequest) -> None:
        """Take a request."""

    def cancel(self, name: str) -> None:
        """Forget a request."""

    def step(self) -> list[tuple[str, str, str]]:
        """Run at most one pass; returns ``(name, text, reason)``."""


class LiveJob:
    """The device of a core that serves: as :class:`rankzero.server.jobs.Job`, with the server's model and pool."""

    def __init__(self, engine: OwnEngine, block_size: int, budget: int, slots: int) -> None:
        self.blocks, self.block_size, self.budget, self.slots = engine.blocks, block_size, budget, slots
        self.vocabulary, self.eos = engine.tokenizer.vocabulary, engine.tokenizer.eos
        self._engine = engine

    def forward(self, pieces: Iterable[Piece]) -> torch.Tensor:
        """Run one pass; returns the logits after the last token of each piece [pieces, V]."""
        asked = list(pieces)
        checks.count(1, self.budget, tokens=sum(len(tokens) for _, tokens, _, _ in asked))
        checks.count(1, self.slots, pieces=len(asked))
        return self._engine.forward(asked)

    def choose(
        self, logits: torch.Tensor, request: JobRequest, number: int, allowed: Collection[int] | None = None
    ) -> int:
        """Token ``number`` of an answer, counted from 0; of the ``allowed`` ones, if that is not None."""
        return self._engine.choose(logits, request, number, allowed)


class OwnEngine(Engine):
    """Serves with a core; to the HTTP front it is an engine like any other.

    Args:
        model, tokenizer, parts, slots, blocks, block_size, budget, queue, file: as :class:`Engine` takes them; of the
            parts only ``probabilities`` and ``constraint`` are used.
        core: makes the core from a job.

    Raises:
        ValueError: the model does not match the tokenizer.
    """

    def __init__(
        self,
        model: GPT,
        tokenizer: Tokenizer,
        parts: Parts,
        core: Callable[[LiveJob], Core],
        slots: int = 4,
        blocks: int | None = None,
        block_size: int = 16,
        budget: int | None = None,
        queue: int | None = None,
        file: TextIO | None = None,
    ) -> None:
        known = len(tokenizer.vocabulary)
        checks.require(model.config.vocab <= known, f"be at most {known}, the tokenizer's", vocab=model.config.vocab)
        self.model, self.tokenizer, self.parts = model, tokenizer, parts
        self.context = model.config.context
        self.blocks = slots * -(-self.context // block_size) if blocks is None else blocks
        budget = self.context if budget is None else budget
        checks.count(slots=slots, block_size=block_size, blocks=self.blocks, budget=budget)
        self._capacities = {"the context": self.context, "the pool": self.blocks * block_size}
        self.log, self._inbox, self._held = Log(file), Inbox(queue), Pool(model, self.blocks, block_size)
        self._numbers, self._names, self._stale = itertools.count(1), set[str](), set[str]()
        self._live: dict[str, Request] = {}
        self._tables: dict[str, set[int]] = {}  # blocks that a request had when it last ran
        self._counts: Counter[str] = Counter()
        self._pass: list[Piece] = []
        self._decodes = 0  # of the requests in the pass
        self._idle = 0
        self._core = core(LiveJob(self, block_size, budget, slots))
        self._update_metrics()

    @property
    def pool(self) -> Pool:
        """The keys and values."""
        return self._held

    def close(self) -> None:
        """End the remaining requests; which blocks are free, only the core knows."""
        if self.error is None:
            self._receive()
            for request in list(self._live.values()):
                self._core.cancel(request.name)
                self._remove(request, "abort")
            self._update_metrics()

    def _receive(self) -> None:
        arrived, cancelled = self._inbox.take()
        for request in arrived:
            self._live[request.name] = request
            self._core.submit(_asked(request))
        for request in cancelled:
            if request.name in self._live:
                self._core.cancel(request.name)
                self._remove(request, "abort")

    def _compute(self) -> None:
        """Let the core run a pass, and hand out what it says."""
        start, self._pass = self.log.now(), []
        said = checked(self._core.step())
        self._idle = 0 if self._pass else self._idle + 1
        if self._idle == IDLE:
            raise RuntimeError(f"the core has {len(self._live)} requests, and ran no pass in {IDLE} steps")
        for one in said:
            self._hear(*one)
        if self._pass:
            names = tuple((name, len(tokens)) for name, tokens, _, _ in self._pass)
            decode, computed = self._decodes, sum(tokens for _, tokens in names)
            used = len(set[int]().union(*self._tables.values()))
            span = (self._counts["steps"], start, self.log.now())
            self.log.steps.append(Step(*span, names, computed - decode, decode, computed, (), used))
            self._counts.update(steps=1, computed_tokens=computed)

    def _hear(self, name: str, text: str, reason: str) -> None:
        """Hand on a piece of text; end the request if there is a reason.

        Raises:
            RuntimeError: the core speaks of a request that it does not have.
        """
        if name not in self._live:
            raise RuntimeError(f"the core returned text for {name}, which has ended or was never submitted")
        request = self._live[name]
        request.text += text
        if text and request.on_text is not None:
            request.on_text(request, text)
        if reason:
            checks.one_of(("stop", "length"), reason=reason)
            self._remove(request, "stop" if reason == "stop" else "length")

    def forward(self, pieces: list[Piece]) -> torch.Tensor:
        """Run one pass for the core; returns the logits after each piece [pieces, V]."""
        if self._pass:
            raise RuntimeError("step() called job.forward twice")
        start = self.log.now()
        self._pass = pieces
        self._decodes = sum(
            len(tokens) == 1 and first >= len(self._live[name].prompt) for name, tokens, first, _ in pieces
        )
        for name, tokens, first, table in pieces:
            request = self._live[name]
            if request.first_step is None:
                self._counts["cached_tokens"] += first
                request.cached_tokens = first
            request.preemptions += first < request.computed
            self._counts["preemptions"] += first < request.computed
            self._mark_running(request, start)
            request.computed, self._tables[name] = first + len(tokens), set(table)
        rows = [Rows(tokens, first, table) for _, tokens, first, table in pieces]
        logits = forward(self.model, self._held, rows)
        done = self.log.now()
        for name, *_ in pieces:
            self.log.add("runner", name, start, done)
        return logits

    def choose(self, logits: torch.Tensor, asked: JobRequest, number: int, allowed: Collection[int] | None) -> int:
        """Draw token ``number`` of an answer; a request that ignores the end of sequence never draws it.

        Raises:
            ValueError: no token is allowed.
        """
        request, how = self._live[asked.name], self._live[asked.name].sampling
        if allowed is not None or how.ignore_eos:
            found = range(len(logits)) if allowed is None else sorted(set(allowed))
            may = [token for token in found if token != self.tokenizer.eos or not how.ignore_eos]
            if not may:
                raise ValueError("no token is allowed")
            masked = torch.full_like(logits, float("-inf"))
            masked[may] = logits[may]
            logits = masked
        probabilities = self.parts.probabilities(logits, how.temperature, how.top_k, how.top_p)
        token = request.sample(probabilities, asked.uniforms[number])
        request.output.append(token)
        request.token_times.append(self.log.now())
        self._counts["generated_tokens"] += 1
        return token

    def _remove(self, request: Request, reason: FinishReason, scheduler_knows: bool = False) -> None:
        del self._live[request.name]
        self._tables.pop(request.name, None)
        if request.waiting_since is not None:
            self._inbox.count(-1)
        self._end(request, reason)

    def _update_metrics(self) -> None:
        used = len(set[int]().union(*self._tables.values()))
        counted = (*COUNTERS, *(f"finished_{reason}" for reason in get_args(FinishReason)))
        self._metrics = {
            "running": sum(request.waiting_since is None for request in self._live.values()),
            "blocks": self.blocks,
            "blocks_used": used,
            "blocks_cached": 0,
            "blocks_free": self.blocks - used,
            **{name: self._counts[name] for name in counted},
        }


def _asked(request: Request) -> JobRequest:
    """What the core is told about a request."""
    how, draws = request.sampling, request.draws
    return JobRequest(
        request.name,
        list(request.prompt),
        how.max_tokens,
        how.temperature,
        [draws.random() for _ in range(how.max_tokens)],
        how.stop,
        request.salt,
        request.constraint,
    )
