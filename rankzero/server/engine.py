"""The engine: schedule, make room, one forward pass for everybody, one token each, text to whoever waits for it.

    engine = Engine(model, ByteTokenizer(), parts, slots=8)
    request = engine.submit(tokens, max_tokens=20)
    engine.run()

One thread calls :meth:`Engine.step`; any thread may call :meth:`Engine.submit` and :meth:`Engine.cancel`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TextIO

from rankzero.server.inbox import Inbox
from rankzero.server.memory import Memory
from rankzero.server.parts import Constraint, Parts
from rankzero.server.pool import Pool
from rankzero.server.request import Request, Sampling, check_constraint, check_numbers, check_prompt
from rankzero.server.runner import Runner
from rankzero.server.trace import Event, Log, Step
from rankzero.tiny import GPT, one_thread

#: Counted since the start, and shown with the metrics.
COUNTED = ("steps", "prompt_tokens", "generated_tokens", "computed_tokens", "cached_tokens", "preemptions")
REASONS = ("stop", "length", "abort", "error")


class Tokenizer(Protocol):
    """What the engine needs to know of a tokenizer."""

    eos: int
    vocabulary: list[bytes]


class Engine:
    """Serves many requests with one model.

    Args:
        model: the whole model, on the device where it is to run.
        tokenizer: of the model.
        parts: what the engine is built from.
        slots: the most requests that run at the same time.
        blocks: of keys and values; None takes as many as ``slots`` requests of the whole context need.
        block_size: tokens in a block.
        budget: the most tokens in one step; None takes the model's context.
        chunked_prefill: whether a long prompt may be spread over several steps.
        max_chunk: the most tokens of one request in one step; 0 sets no limit.
        prefix_cache: whether the keys and values of requests that ended are kept, as long as nobody needs the memory.
        queue: the most requests that may wait; None sets no limit.
        file: gets each event as a line of JSON.

    Attributes:
        log: events and steps.

    Raises:
        ValueError: an argument is outside its range, or model and tokenizer do not fit; the message says which.
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
        check_numbers(1, slots=slots, blocks=blocks, block_size=block_size, budget=budget)
        check_numbers(0, max_chunk=max_chunk, queue=queue)
        if model.config.vocab > len(tokenizer.vocabulary):
            raise ValueError(
                f"the tokenizer must know vocab = {model.config.vocab} tokens, got {len(tokenizer.vocabulary)}"
            )
        self.model, self.tokenizer, self.parts = model, tokenizer, parts
        self.context = model.config.context
        self.blocks = slots * -(-self.context // block_size) if blocks is None else blocks
        budget = self.context if budget is None else budget
        self._places = {"the context": self.context, "the pool": self.blocks * block_size}
        if not chunked_prefill:
            self._places["the budget of a step"] = budget
        self.log = Log(file)
        self._runner = Runner(model, parts, self.blocks, block_size, prefix_cache)
        self._scheduler = parts.scheduler(budget, slots, self.blocks, block_size, chunked_prefill, max_chunk)
        self._inbox = Inbox(queue)
        self._numbers = itertools.count(1)
        self._names: set[str] = set()  # that callers gave
        self._live: dict[str, Request] = {}  # with the scheduler
        self._ghosts: set[str] = set()  # ended, and the scheduler cannot be told
        self._counts: Counter[str] = Counter()
        self._metrics: dict[str, int] = {}
        self._measure()

    @property
    def memory(self) -> Memory:
        """The blocks, and who holds them."""
        return self._runner.memory

    @property
    def pool(self) -> Pool:
        """The keys and values."""
        return self._runner.pool

    @property
    def error(self) -> BaseException | None:
        """What ended the engine, if something did."""
        return self._inbox.error

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return self._inbox.empty and not self._busy

    @property
    def steps(self) -> list[Step]:
        """The steps so far."""
        return list(self.log.steps)

    def trace(self) -> list[Event]:
        """The events so far."""
        return list(self.log.events)

    def metrics(self) -> dict[str, int]:
        """Requests running and waiting, blocks, and counts since the start, as after the last step."""
        box = self._inbox
        return {"requests": box.received, "rejected": box.refused, **self._metrics, "waiting": box.waiting}

    def submit(
        self,
        prompt: Sequence[int],
        max_tokens: int,
        *,
        on_text: Callable[[Request, str], None] | None = None,
        on_end: Callable[[Request], None] | None = None,
        name: str | None = None,
        constraint: Constraint | None = None,
        **sampling: Any,
    ) -> Request:
        """Queue a request.

        Args:
            prompt: tokens, at least one.
            max_tokens: of the answer, at least 1; without the last one they fit the context behind the prompt.
            on_text: gets the request and its text, piece by piece, on the engine's thread.
            on_end: gets the request when it has ended, on the engine's thread.
            name: one that no other request of this engine has or had; None makes one.
            constraint: a new one, before its first token: the answer has its form, whatever ``max_tokens`` is.
            sampling: ``temperature``, ``top_k``, ``top_p``, ``stop``, ``seed``, ``ignore_eos`` and ``logprobs`` of
                :class:`rankzero.server.request.Sampling`; greedy without them.

        Raises:
            ValueError: an argument is outside its range, or the request never fits; the message says which.
            QueueFull: too many requests wait.
            RuntimeError: the engine has failed.
        """
        sampling["stop"] = tuple(sampling.get("stop", ()))
        how = Sampling(max_tokens, **sampling)
        self.check_room(prompt, max_tokens)
        if constraint is not None:
            check_constraint(constraint, how)
        words = self.parts.detokenizer(self.tokenizer.vocabulary, how.stop)
        request = Request(self._name(name), tuple(prompt), how, words, self.log.now(), on_text, on_end, constraint)
        self._inbox.put(request)
        return request

    def _name(self, wanted: str | None) -> str:
        if wanted is None:
            return f"request-{next(self._numbers)}"
        if wanted in self._names or wanted.startswith("request-"):
            raise ValueError(f"name must be new and not begin with request-, got {wanted!r}")
        self._names.add(wanted)
        return wanted

    def check_room(self, prompt: Sequence[int], max_tokens: int) -> None:
        """Raise ValueError when a request can never be served: a wrong prompt, or too many tokens for any place."""
        check_prompt(prompt, self.model.config.vocab)
        need = len(prompt) + max_tokens - 1
        for what, places in self._places.items():
            if need > places:
                raise ValueError(
                    f"a prompt of {len(prompt)} tokens and {max_tokens} new ones need {need} places, "
                    f"{what} has {places}"
                )

    def room(self, prompt: Sequence[int]) -> int:
        """The most tokens that an answer to ``prompt`` may have; below 1 when the prompt is too long."""
        return min(self._places.values()) - len(prompt) + 1

    def cancel(self, request: Request) -> None:
        """End a request at the next step; nothing happens when it has ended."""
        if request.finish_reason is None:
            self._inbox.cancel(request)

    def cancel_all(self) -> None:
        """End every request at the next step."""
        for request in self._inbox.arrived():
            self.cancel(request)
        for request in list(self._live.values()):
            self.cancel(request)

    def wait(self, stopped: Callable[[], bool]) -> None:
        """Sleep until there is something to do, or ``stopped()``; for the engine's thread."""
        self._inbox.wait(lambda: self._busy or stopped())

    def wake(self) -> None:
        """Let :meth:`wait` look again."""
        self._inbox.wake()

    def run(self) -> None:
        """Step until all requests have ended."""
        with one_thread():
            while not self.idle:
                self.step()

    def step(self) -> bool:
        """Take in what arrived, and compute one step; False when there was nothing to compute."""
        self._take_in()
        if self._busy:
            self._work()
        self._measure()
        return self._busy

    def fail(self, error: BaseException) -> None:
        """End every request with ``error``; later ones are refused. For the thread whose :meth:`step` raised."""
        self._inbox.fail(error)
        arrived, _ = self._inbox.take()
        left = [*arrived, *self._live.values()]
        self._live, self._ghosts = {}, set()
        for request in left:
            self._end(request, "error")
        self._metrics = {**self._metrics, "running": 0}

    def close(self) -> None:
        """End what is left, empty the cache, and count.

        Raises:
            RuntimeError: blocks were lost; the message says how many.
        """
        if self.error is not None:
            return
        self._take_in()
        for request in list(self._live.values()):
            self._leave(request, "abort")
        self.memory.clear()
        self.memory.check()
        self._measure()
        if self.memory.free != self.blocks:
            raise RuntimeError(f"{self.blocks - self.memory.free} of {self.blocks} blocks were never freed")

    @property
    def _busy(self) -> bool:
        return bool(self._live or self._ghosts)

    def _take_in(self) -> None:
        """Hand what arrived to the scheduler, and end what was cancelled."""
        arrived, cancelled = self._inbox.take()
        for request in arrived:
            self._live[request.name] = request
            self._scheduler.add(request.name, len(request.prompt), request.sampling.max_tokens)
        for request in cancelled:
            if request.name in self._live:
                self._leave(request, "abort")

    def _work(self) -> None:
        """One step of everybody who is scheduled."""
        start = self.log.now()
        plan = self._scheduler.schedule()
        planned = self.log.now()
        preempted = self._preempt()
        self._check_plan(plan, preempted)
        scheduled = [(self._live[name], tokens) for name, tokens in plan if name in self._live]
        for request, _ in scheduled:
            self._started(request, start)
            self.log.add("scheduler", request.name, start, planned)
        decode = sum(request.decodes for request, _ in scheduled)
        begun = self.log.now()
        computed = self._runner.run(scheduled)
        done = self.log.now()
        for request, _ in scheduled:
            self.log.add("runner", request.name, begun, done)
        finished = set(self._scheduler.update())
        self._ghosts -= finished
        for request, token in computed.sampled:
            self._deliver(request, token, request.name in finished)
        self._counts.update(
            generated_tokens=len(computed.sampled), computed_tokens=computed.tokens, cached_tokens=computed.reused
        )
        names = tuple((request.name, tokens) for request, tokens in scheduled)
        prefill = sum(tokens for _, tokens in names) - decode
        span = (self._counts["steps"], start, self.log.now())
        self.log.steps.append(Step(*span, names, prefill, decode, computed.tokens, preempted, self.memory.used))
        self._counts["steps"] += 1

    def _preempt(self) -> tuple[str, ...]:
        """Take the blocks from the requests that the scheduler sent back to the queue."""
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
        """A wrong scheduler ends in a sentence, not in an endless loop or in wrong text."""
        if not plan and not preempted and not self._ghosts:
            raise RuntimeError(f"the scheduler schedules nothing, and {len(self._live)} requests are not finished")
        for name, tokens in plan:
            missing = self._live[name].missing if name in self._live else tokens
            if not 1 <= tokens <= missing:
                raise RuntimeError(f"the scheduler gives {name} {tokens} tokens, and it has {missing} to compute")

    def _started(self, request: Request, now: float) -> None:
        """A request that waited runs."""
        if request.waiting_since is None:
            return
        self.log.add("queue", request.name, request.waiting_since, now)
        request.waiting_since = None
        self._inbox.count(-1)
        if request.first_step is None:
            request.first_step = self._counts["steps"]

    def _deliver(self, request: Request, token: int, last: bool) -> None:
        """Add a token to its request, and end the request where it ends."""
        start = self.log.now()
        reason = request.add(token, start, self.tokenizer.eos, last)
        self.log.add("detokenizer", request.name, start)
        if reason is not None:
            self._leave(request, reason, told=last)

    def _leave(self, request: Request, reason: str, told: bool = False) -> None:
        """Take a request out: its blocks are free now, and its slot, as soon as the scheduler has been told."""
        if not told:
            finish: Callable[[str], Any] = getattr(self._scheduler, "finish", self._ghosts.add)
            finish(request.name)
        self._runner.drop(request)
        del self._live[request.name]
        if request.waiting_since is not None:
            self._inbox.count(-1)
        self._end(request, reason)

    def _end(self, request: Request, reason: str) -> None:
        request.finish_reason, request.last_step = reason, self._counts["steps"] + 1
        self._counts[f"finished_{reason}"] += 1
        self._counts["prompt_tokens"] += len(request.prompt)
        if request.on_end is not None:
            request.on_end(request)

    def _measure(self) -> None:
        """Renew the numbers that other threads read."""
        memory = self.memory
        self._metrics = {
            "running": sum(request.waiting_since is None for request in self._live.values()),
            "blocks": self.blocks,
            "blocks_used": memory.used,
            "blocks_cached": memory.cached,
            "blocks_free": memory.free,
            **{name: self._counts[name] for name in (*COUNTED, *(f"finished_{reason}" for reason in REASONS))},
        }
