"""The engine: each step schedules requests, runs one forward pass for all of them, samples, and delivers text.

    engine = Engine(model, ByteTokenizer(), parts, slots=8)
    request = engine.submit(tokens, max_tokens=20)
    engine.run()

One thread calls :meth:`Engine.step`; any thread may call :meth:`Engine.submit` and :meth:`Engine.cancel`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO, Unpack, get_args

from rankzero import checks
from rankzero.server.inbox import Inbox
from rankzero.server.memory import Memory
from rankzero.server.parts import Constraint, Parts
from rankzero.server.pool import Pool
from rankzero.server.request import (
    FinishReason,
    QueueFull,
    Request,
    Sampling,
    SamplingOptions,
    check_constraint,
    check_prompt,
)
from rankzero.server.runner import Runner
from rankzero.server.trace import Event, Log, Step
from rankzero.tiny import GPT, one_thread

#: Counters among the metrics; they start at 0 and never go down.
COUNTERS = ("steps", "prompt_tokens", "generated_tokens", "computed_tokens", "cached_tokens", "preemptions")


class Tokenizer(Protocol):
    """What the engine needs from a tokenizer: the bytes of each token, and which token ends a sequence."""

    eos: int
    vocabulary: list[bytes]


class Engine:
    """Serves many requests with one model.

    Args:
        model: the model, on the device where it is to run.
        tokenizer: the model's tokenizer.
        parts: what the engine is built from.
        slots: the most requests that run at the same time.
        blocks: blocks of keys and values; None takes as many as ``slots`` requests of full context length need.
        block_size: tokens in a block.
        budget: the most tokens in one step; None takes the model's context length.
        chunked_prefill: whether a long prompt may be spread over several steps.
        max_chunk: the most tokens of one request in one step; 0 sets no limit.
        prefix_cache: whether to keep the keys and values of ended requests until the memory is needed.
        queue: the most requests that may wait; None sets no limit.
        file: receives each event as a line of JSON.

    Attributes:
        log: events and steps.

    Raises:
        ValueError: the model does not match the tokenizer.
    """

    def __init__(
        self,
        model: GPT,
        tokenizer: Tokenizer,
        parts: Parts,
        slots: int = 4,
        blocks: int | None = None,
        block_size: int = 16,
        budget: int | None = None,
        chunked_prefill: bool = True,
        max_chunk: int = 0,
        prefix_cache: bool = True,
        queue: int | None = None,
        file: TextIO | None = None,
    ) -> None:
        checks.count(slots=slots, block_size=block_size)
        checks.count(0, max_chunk=max_chunk, queue=queue or 0)
        known = len(tokenizer.vocabulary)
        checks.require(model.config.vocab <= known, f"be at most {known}, the tokenizer's", vocab=model.config.vocab)
        self.model, self.tokenizer, self.parts = model, tokenizer, parts
        self.context = model.config.context
        self.blocks = slots * -(-self.context // block_size) if blocks is None else blocks
        budget = self.context if budget is None else budget
        checks.count(blocks=self.blocks, budget=budget)
        self._capacities = {"the context": self.context, "the pool": self.blocks * block_size}
        if not chunked_prefill:
            self._capacities["the budget of a step"] = budget
        self.log = Log(file)
        self._runner = Runner(model, parts, self.blocks, block_size, prefix_cache)
        self._scheduler = parts.scheduler(budget, slots, self.blocks, block_size, chunked_prefill, max_chunk)
        self._aware = prefix_cache and hasattr(self._scheduler, "pool")  # it knows what the cache holds
        if self._aware:
            setattr(self._scheduler, "pool", _PoolView(self))  # noqa: B010
        self._inbox = Inbox(queue)
        self._numbers = itertools.count(1)
        self._names: set[str] = set()  # those that callers chose
        self._live: dict[str, Request] = {}  # known to the scheduler, not ended
        self._stale: set[str] = set()  # ended, but still scheduled: the scheduler has no `finish`
        self._counts: Counter[str] = Counter()
        self._metrics: dict[str, int] = {}
        self._update_metrics()

    @property
    def memory(self) -> Memory:
        """The blocks and who holds them."""
        return self._runner.memory

    @property
    def pool(self) -> Pool:
        """The keys and values."""
        return self._runner.pool

    @property
    def error(self) -> BaseException | None:
        """The exception that ended the engine; None while it works."""
        return self._inbox.error

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return self._inbox.empty and not self._busy

    @property
    def steps(self) -> list[Step]:
        """The steps so far."""
        return list(self.log.steps)

    def found(self, name: str) -> tuple[int, int]:
        """Of a request that waits: its cached tokens without its last, and how many of their blocks are held."""
        return self.memory.found(self._live[name].tokens, self._live[name].salt)

    def trace(self) -> list[Event]:
        """The events so far."""
        return list(self.log.events)

    def metrics(self) -> dict[str, int]:
        """Running and waiting requests, blocks, and counters, as they were after the last step."""
        inbox = self._inbox
        return {"requests": inbox.received, "rejected": inbox.refused, **self._metrics, "waiting": inbox.waiting}

    def submit(
        self,
        prompt: Sequence[int],
        max_tokens: int,
        *,
        on_text: Callable[[Request, str], None] | None = None,
        on_end: Callable[[Request], None] | None = None,
        name: str | None = None,
        constraint: Constraint | None = None,
        salt: str = "",
        **sampling: Unpack[SamplingOptions],
    ) -> Request:
        """Queue a request.

        Args:
            prompt: tokens, at least one.
            max_tokens: the token limit of the answer, at least 1; prompt and answer, without the answer's last token,
                must fit the context.
            on_text: called with the request and each piece of its text, on the engine's thread.
            on_end: called with the request when it has ended, on the engine's thread.
            name: a name that no other request of this engine has ever had; None makes one up.
            constraint: a fresh constraint, before its first token; the answer satisfies it whatever ``max_tokens`` is.
            salt: the request shares cached blocks only with requests of the same salt.
            sampling: ``temperature``, ``top_k``, ``top_p``, ``stop``, ``seed``, ``ignore_eos`` and ``logprobs`` of
                :class:`rankzero.server.request.Sampling`; greedy without them.

        Raises:
            ValueError: an argument is outside its range, or the request can never fit; the message says which.
            QueueFull: too many requests are waiting.
            RuntimeError: the engine has failed.
        """
        sampling["stop"] = tuple(sampling.get("stop", ()))
        how = Sampling(max_tokens, **sampling)
        self.check_room(prompt, max_tokens)
        if constraint is not None:
            check_constraint(constraint, how)
        detokenizer = self.parts.detokenizer(self.tokenizer.vocabulary, how.stop)
        request = Request(
            self._name(name), tuple(prompt), how, detokenizer, self.log.now(), on_text, on_end, constraint, salt
        )
        try:
            self._inbox.put(request)
        except QueueFull:
            self._names.discard(request.name)  # it may be tried again
            raise
        return request

    def _name(self, wanted: str | None) -> str:
        if wanted is None:
            return f"request-{next(self._numbers)}"
        new = wanted not in self._names and not wanted.startswith("request-")
        checks.require(new, "be new and not begin with request-", name=wanted)
        self._names.add(wanted)
        return wanted

    def check_room(self, prompt: Sequence[int], max_tokens: int) -> None:
        """Raise ValueError for a request that can never be served: an invalid prompt, or too many tokens."""
        check_prompt(prompt, self.model.config.vocab)
        need = len(prompt) + max_tokens - 1
        for what, capacity in self._capacities.items():
            if need > capacity:
                raise ValueError(
                    f"a prompt of {len(prompt)} tokens and {max_tokens} new ones need room for {need} tokens, "
                    f"{what} has {capacity}"
                )

    def room(self, prompt: Sequence[int]) -> int:
        """The most tokens that an answer to ``prompt`` may have; below 1 if the prompt is too long."""
        return min(self._capacities.values()) - len(prompt) + 1

    def cancel(self, request: Request) -> None:
        """End a request at the next step; no effect on one that has ended."""
        if request.finish_reason is None:
            self._inbox.cancel(request)

    def cancel_all(self) -> None:
        """End every request at the next step."""
        for request in self._inbox.arrived():
            self.cancel(request)
        for request in list(self._live.values()):
            self.cancel(request)

    def wait(self, stopped: Callable[[], bool]) -> None:
        """Sleep until there is something to do or ``stopped()`` is true; called on the engine's thread."""
        self._inbox.wait(lambda: self._busy or stopped())

    def wake(self) -> None:
        """Make :meth:`wait` check its conditions again."""
        self._inbox.wake()

    def run(self) -> None:
        """Step until all requests have ended."""
        with one_thread():
            while not self.idle:
                self.step()

    def step(self) -> bool:
        """Accept new requests and cancellations, and compute one step; False once nothing is left to do."""
        self._receive()
        if self._busy:
            self._compute()
        self._update_metrics()
        return self._busy

    def fail(self, error: BaseException) -> None:
        """End every request with ``error`` and refuse new ones; called on the thread whose :meth:`step` raised."""
        self._inbox.fail(error)
        arrived, _ = self._inbox.take()
        left = [*arrived, *self._live.values()]
        self._live, self._stale = {}, set()
        for request in left:
            self._end(request, "error")
        self._metrics = {**self._metrics, "running": 0}

    def close(self) -> None:
        """End the remaining requests, empty the cache, and check that every block is free again.

        Raises:
            RuntimeError: some blocks were never freed; the message says how many.
        """
        if self.error is not None:
            return
        self._receive()
        for request in list(self._live.values()):
            self._remove(request, "abort")
        self.memory.clear()
        self.memory.check()
        self._update_metrics()
        if self.memory.free != self.blocks:
            raise RuntimeError(f"{self.blocks - self.memory.free} of {self.blocks} blocks were never freed")

    @property
    def _busy(self) -> bool:
        return bool(self._live or self._stale)

    def _receive(self) -> None:
        """Hand new requests to the scheduler, and end those that were canceled."""
        arrived, cancelled = self._inbox.take()
        for request in arrived:
            self._live[request.name] = request
            self._scheduler.add(request.name, len(request.prompt), request.sampling.max_tokens)
        for request in cancelled:
            if request.name in self._live:
                self._remove(request, "abort")

    def _compute(self) -> None:
        """Compute one step for the requests that the scheduler selects."""
        start = self.log.now()
        plan = self._scheduler.schedule()
        planned = self.log.now()
        preempted = self._preempt()
        self._check_plan(plan, preempted)
        scheduled = [(self._live[name], tokens) for name, tokens in plan if name in self._live]
        admitted = [request for request, _ in scheduled if request.waiting_since is not None]
        shared = sum(self._runner.share(request) for request in admitted) if self._aware else 0
        for request, _ in scheduled:
            self._mark_running(request, start)
            self.log.add("scheduler", request.name, start, planned)
        decode = sum(request.decodes for request, _ in scheduled)
        begun = self.log.now()
        computed = self._runner.run(scheduled)
        done = self.log.now()
        for request, _ in scheduled:
            self.log.add("runner", request.name, begun, done)
        finished = set(self._scheduler.update())
        self._stale -= finished
        for request, token in computed.sampled:
            self._deliver(request, token, request.name in finished)
        self._counts.update(
            generated_tokens=len(computed.sampled),
            computed_tokens=computed.tokens,
            cached_tokens=shared + computed.reused,
        )
        names = tuple((request.name, tokens) for request, tokens in scheduled)
        prefill = sum(tokens for _, tokens in names) - decode
        span = (self._counts["steps"], start, self.log.now())
        self.log.steps.append(Step(*span, names, prefill, decode, computed.tokens, preempted, self.memory.used))
        self._counts["steps"] += 1

    def _preempt(self) -> tuple[str, ...]:
        """Free the blocks of the requests that the scheduler has preempted, and return their names."""
        preempted = tuple(name for name in self._scheduler.preempted if name in self._live)
        for name in preempted:
            request = self._live[name]
            self._runner.drop(request)
            request.waiting_since = self.log.now()
            request.preemptions += 1
        self._inbox.count(len(preempted))
        self._counts["preemptions"] += len(preempted)
        return preempted

    def _check_plan(self, plan: Sequence[tuple[str, int]], preempted: Sequence[str]) -> None:
        """Raise RuntimeError for an impossible schedule, which would mean an endless loop or wrong text."""
        if not plan and not preempted and not self._stale:
            raise RuntimeError(f"the scheduler schedules nothing, but {len(self._live)} requests are not finished")
        for name, tokens in plan:
            missing = self._live[name].missing if name in self._live else tokens
            if not 1 <= tokens <= missing:
                raise RuntimeError(f"the scheduler gives {name} {tokens} tokens, but it has {missing} to compute")

    def _mark_running(self, request: Request, now: float) -> None:
        """Record that a request has left the queue, if it was waiting."""
        if request.waiting_since is None:
            return
        self.log.add("queue", request.name, request.waiting_since, now)
        request.waiting_since = None
        self._inbox.count(-1)
        if request.first_step is None:
            request.first_step = self._counts["steps"]

    def _deliver(self, request: Request, token: int, last: bool) -> None:
        """Append a token to its request, and end the request if this was its last token."""
        start = self.log.now()
        reason = request.add(token, start, self.tokenizer.eos, last)
        self.log.add("detokenizer", request.name, start)
        if reason is not None:
            self._remove(request, reason, scheduler_knows=last)

    def _remove(self, request: Request, reason: FinishReason, scheduler_knows: bool = False) -> None:
        """End a request and free its blocks; its slot is free once the scheduler knows that it has ended."""
        if not scheduler_knows:
            finish: Callable[[str], object] = getattr(self._scheduler, "finish", self._stale.add)
            finish(request.name)
        self._runner.drop(request)
        del self._live[request.name]
        if request.waiting_since is not None:
            self._inbox.count(-1)
        self._end(request, reason)

    def _end(self, request: Request, reason: FinishReason) -> None:
        request.finish_reason, request.last_step = reason, self._counts["steps"] + 1
        self._counts[f"finished_{reason}"] += 1
        self._counts["prompt_tokens"] += len(request.prompt)
        if request.on_end is not None:
            request.on_end(request)

    def _update_metrics(self) -> None:
        """Update the numbers that other threads read."""
        memory = self.memory
        self._metrics = {
            "running": sum(request.waiting_since is None for request in self._live.values()),
            "blocks": self.blocks,
            "blocks_used": memory.used,
            "blocks_cached": memory.cached,
            "blocks_free": memory.free,
            **{
                name: self._counts[name]
                for name in (*COUNTERS, *(f"finished_{reason}" for reason in get_args(FinishReason)))
            },
        }


class _PoolView:
    """What a scheduler asks about the engine's pool."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def free(self) -> int:
        """Blocks that no request holds, cached ones among them."""
        return self._engine.memory.free + self._engine.memory.cached

    def own(self, request: str) -> int:
        """Blocks that would be free if this request left."""
        return self._engine.memory.own(request)

    def cached(self, request: str) -> tuple[int, int]:
        """Of a waiting request: its cached tokens without its last, and how many of their blocks are held."""
        return self._engine.found(request)
