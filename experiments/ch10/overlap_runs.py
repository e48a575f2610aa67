"""A live engine of two threads: the main one schedules and reads results, the other one computes.

The model, its memory and its forward pass are the server's; the scheduler, the placeholders and the detokenizer are the
course's. Running in turn and overlapped gives the same tokens.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch

from rankzero import checks
from rankzero.server.pool import Piece, Pool, forward
from rankzero.tiny import GPT, ByteTokenizer, GPTConfig, bundled_text, train
from solutions.ch08.detokenizer import StreamingDetokenizer
from solutions.ch10.future_map import FutureMap
from solutions.ch10.scheduler import Scheduler
from solutions.ch10.scheduling import overlap_time

from .timelines import Span

BLOCK = 16
BUDGET = 256  # tokens of a pass


@cache
def small_model(steps: int = 50) -> GPT:
    """A byte-level model that trains in a few seconds; double precision keeps batching from changing the text."""
    config = GPTConfig(vocab=len(ByteTokenizer().vocabulary), layers=2, heads=2, head_dim=16, context=192)
    return train(steps=steps, config=config).double().eval()


def prompts(count: int, length: int = 24) -> list[list[int]]:
    """Pieces of the bundled text, as bytes."""
    text = bundled_text().encode()
    return [list(text[start : start + length]) for start in range(2000, 2000 + 997 * count, 997)]


@dataclass
class _Stream:
    """One request on the CPU's side: its tokens, of which the last may be a placeholder."""

    tokens: list[int]
    table: list[int]
    words: Any
    computed: int = 0
    ended: bool = False
    sampled: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Work:
    """A step for the device."""

    pieces: list[Piece]
    rows: list[int]  # indices of the pieces that end with a sampled token
    placeholders: list[int]
    streams: list[str]  # the requests that these tokens belong to
    done: queue.SimpleQueue[list[int] | BaseException]


class _Device:
    """A thread that runs one step after another, as a GPU runs the work in its stream."""

    def __init__(self, model: GPT, pool: Pool, futures: Any, log: list[Span]) -> None:
        self._model, self._pool, self._futures, self._log = model, pool, futures, log
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def launch(self, work: _Work) -> None:
        """Hand over a step, and return at once."""
        self._queue.put(work)

    def close(self) -> None:
        """Stop the thread when all its work is done."""
        self._queue.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (work := self._queue.get()) is not None:
            try:
                start = time.perf_counter()
                tokens = self._step(work)
                self._log.append(("compute", start, time.perf_counter()))
                work.done.put(tokens)
            except Exception as error:
                work.done.put(error)

    def _step(self, work: _Work) -> list[int]:
        """Replace placeholders by tokens, compute, sample, and fill the slots for the next step."""
        pieces = [Piece(self._futures.resolve(piece.tokens), piece.start, piece.table) for piece in work.pieces]
        logits = forward(self._model, self._pool, pieces)
        tokens = [int(logits[row].argmax()) for row in work.rows]
        if tokens:
            self._futures.store(work.placeholders, tokens)
        return tokens


@dataclass(frozen=True)
class OverlapRun:
    """The results of a run.

    Attributes:
        texts: of the requests, in order.
        ended: requests that ended with the end token.
        wasted: tokens that were sampled and discarded.
        sampled: all tokens that were sampled.
        steps: of the engine.
        seconds: from the first schedule to the last text.
        cpu, device: spans, seconds from the start.
        load: the machine's load: processes that want to run.
        overlap: whether the threads worked at the same time.
    """

    texts: tuple[str, ...]
    ended: int
    wasted: int
    sampled: int
    steps: int
    seconds: float
    cpu: tuple[Span, ...]
    device: tuple[Span, ...]
    load: float
    overlap: bool

    def mean(self, name: str) -> float:
        """Mean seconds of a step's part: ``schedule``, ``compute`` or ``process``."""
        spans = [end - start for what, start, end in (*self.cpu, *self.device) if what == name]
        return sum(spans) / len(spans)

    @property
    def predicted(self) -> float:
        """Seconds that the formula predicts from this run's measured parts."""
        return overlap_time(self.steps, self.mean("schedule"), self.mean("compute"), self.mean("process"), self.overlap)


class _Engine:
    """The loop around the model."""

    def __init__(
        self,
        model: GPT,
        requests: Sequence[Sequence[int]],
        new_tokens: int,
        eos: int | None,
        scheduler: Callable[..., Any],
        futures: Callable[[int], Any],
    ) -> None:
        vocabulary, most = ByteTokenizer().vocabulary, max(map(len, requests)) + new_tokens
        blocks = -(-most // BLOCK)
        self.streams = {
            str(i): _Stream(list(prompt), list(range(i * blocks, (i + 1) * blocks)), _words(vocabulary))
            for i, prompt in enumerate(requests)
        }
        self.scheduler = scheduler(BUDGET, len(requests), blocks * len(requests), BLOCK)
        for name, stream in self.streams.items():
            self.scheduler.add(name, len(stream.tokens), new_tokens)
        self.futures, self.eos = futures(len(requests)), eos
        self.cpu: list[Span] = []
        self.spans: list[Span] = []
        self.device = _Device(model, Pool(model, blocks * len(requests), BLOCK), self.futures, self.spans)
        self.steps = self.wasted = self.ended = 0
        self.finished: set[str] = set()

    def run(self, overlap: bool) -> None:
        """Step until all have ended; with ``overlap`` the results of a step are read while the next one runs."""
        before: _Work | None = None
        while self.scheduler.waiting or self.scheduler.running:
            work = self._launch()
            if not overlap:
                self._process(work)
            elif before is not None:
                self._process(before)
            before = work
        if overlap and before is not None:
            self._process(before)

    def _launch(self) -> _Work:
        """Schedule a step, write placeholders for its tokens, and hand it to the device."""
        start = time.perf_counter()
        pieces, rows, names = [], [], []
        for name, tokens in self.scheduler.schedule():
            stream = self.streams[name]
            goal = stream.computed + tokens
            pieces.append(Piece(stream.tokens[stream.computed : goal], stream.computed, stream.table))
            stream.computed = goal
            if goal == len(stream.tokens):
                rows.append(len(pieces) - 1)
                names.append(name)
        placeholders = self.futures.reserve(len(names)) if names else []
        for name, placeholder in zip(names, placeholders, strict=True):
            self.streams[name].tokens.append(placeholder)
        work = _Work(pieces, rows, placeholders, names, queue.SimpleQueue())
        self.finished |= set(self.scheduler.update())  # uses only counts: no token is known yet
        self.steps += 1
        self.cpu.append(("schedule", start, time.perf_counter()))
        self.device.launch(work)
        return work

    def _process(self, work: _Work) -> None:
        """Wait for a step, and read its tokens: text, and perhaps the end of a request."""
        tokens = work.done.get()
        if isinstance(tokens, BaseException):
            raise tokens
        start = time.perf_counter()
        for name, placeholder, token in zip(work.streams, work.placeholders, tokens, strict=True):
            stream = self.streams[name]
            if placeholder in stream.tokens:
                stream.tokens[stream.tokens.index(placeholder)] = token
            if stream.ended:
                self.wasted += 1
                continue
            stream.sampled.append(token)
            if token == self.eos:
                self.ended, stream.ended = self.ended + 1, True
                if name not in self.finished:
                    self.scheduler.finish(name)
            elif not stream.words.finished:  # what follows a stop string is not shown
                stream.words.push(token)
        self.cpu.append(("process", start, time.perf_counter()))


def overlap_run(
    overlap: bool,
    requests: Sequence[Sequence[int]] | None = None,
    new_tokens: int = 24,
    eos: int | None = None,
    model: GPT | None = None,
    scheduler: Callable[..., Any] = Scheduler,
    futures: Callable[[int], Any] = FutureMap,
) -> OverlapRun:
    """Serve some requests greedily, with two threads that take turns or work at the same time.

    Args:
        overlap: whether the threads work at the same time.
        requests: prompts; None takes 12 pieces of the bundled text.
        new_tokens: of each answer, at most.
        eos: the token that ends an answer; None if there is no such token.
        model: None takes the small trained one.
        scheduler, futures: classes, the course's or yours.
    """
    model, requests = model or small_model(), requests or prompts(12)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    engine = _Engine(model, requests, new_tokens, eos, scheduler, futures)
    start = time.perf_counter()
    try:
        engine.run(overlap)
    finally:
        engine.device.close()
        torch.set_num_threads(threads)
    end = time.perf_counter()
    for stream in engine.streams.values():
        stream.words.finish()
    cpu, device = ([(name, a - start, b - start) for name, a, b in spans] for spans in (engine.cpu, engine.spans))
    sampled = sum(len(stream.sampled) for stream in engine.streams.values()) + engine.wasted
    texts = tuple(stream.words.text for stream in engine.streams.values())
    counts = engine.ended, engine.wasted, sampled, engine.steps
    return OverlapRun(texts, *counts, end - start, tuple(cpu), tuple(device), os.getloadavg()[0], overlap)


def _words(vocabulary: Sequence[bytes]) -> StreamingDetokenizer:
    return StreamingDetokenizer(vocabulary, ("THE END", "\n\n\n"))


def placeholder_trace(steps: int = 4, streams: int = 2, model: GPT | None = None) -> list[dict[str, list[int]]]:
    """The inputs of decode steps as the CPU wrote them and as the device read them.

    Raises:
        ValueError: there are more streams than prompts fit in the first pass.
    """
    checks.count(1, BUDGET // len(prompts(1)[0]), streams=streams)
    model = model or small_model()
    seen: list[dict[str, list[int]]] = []

    class Watched(FutureMap):
        def resolve(self, tokens: Sequence[int]) -> list[int]:
            found = super().resolve(tokens)
            if len(tokens) == 1:
                seen.append({"written": list(tokens), "read": found})
            return found

    overlap_run(True, prompts(streams), steps + 1, None, model, futures=Watched)
    pairs = [seen[index : index + streams] for index in range(0, len(seen), streams)]
    return [{key: [row[key][0] for row in step] for key in ("written", "read")} for step in pairs]
