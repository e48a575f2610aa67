"""A load generator: it sends real requests over real connections, and records when each piece of an answer came.

    answers = load(server.url, queries, concurrency=8)
    print(Summary.of(answers))

A closed load is ``concurrency`` clients, each of which sends its next request as soon as it has its answer. In an open
load, requests arrive at a given ``rate`` as a Poisson process, whether or not earlier ones have been answered, as those
of independent users do. Only the standard library is used, so that the client is not the bottleneck.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Query:
    """One request to ``/v1/completions``, streamed.

    Attributes:
        prompt: text or tokens.
        max_tokens: the token limit of the answer.
        model: the model's name.
        options: other fields of the body, as pairs of name and value.
    """

    prompt: str | Sequence[int]
    max_tokens: int = 16
    model: str = "tiny"
    options: tuple[tuple[str, Any], ...] = (("temperature", 0),)

    def body(self) -> bytes:
        """The body to send, as JSON."""
        prompt = self.prompt if isinstance(self.prompt, str) else list(self.prompt)
        fixed = {"model": self.model, "prompt": prompt, "max_tokens": self.max_tokens, "stream": True}
        return json.dumps({**fixed, "stream_options": {"include_usage": True}, **dict(self.options)}).encode()


@dataclass(frozen=True)
class Answer:
    """The answer to one query.

    Attributes:
        status: HTTP status code; 0 if the connection broke before there was one.
        text: the pieces of text, joined.
        reason: the finish reason; None if the answer is incomplete.
        tokens: tokens of the answer, as the server counts them.
        sent: when the request was sent, seconds.
        times: when each piece of text arrived, seconds.
        done: when the answer ended, seconds.
    """

    status: int
    text: str
    reason: str | None
    tokens: int
    sent: float
    times: tuple[float, ...]
    done: float

    @property
    def whole(self) -> bool:
        """Whether the answer is complete: status 200, a finish reason, and the mark at the end."""
        return self.status == 200 and self.reason is not None

    @property
    def ttft(self) -> float:
        """Seconds until the first text, or until the end if there was none."""
        return (self.times[0] if self.times else self.done) - self.sent

    @property
    def gaps(self) -> tuple[float, ...]:
        """Seconds between pieces of text."""
        return tuple(b - a for a, b in zip(self.times, self.times[1:], strict=False))


async def ask(url: str, query: Query) -> Answer:
    """Send one request on a connection of its own, and read the answer as it arrives."""
    place = urlsplit(url)
    sent = time.perf_counter()
    writer = None
    reading = _Reading()
    try:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        body = query.body()
        head = f"POST /v1/completions HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await reading.read(reader)
    except (OSError, asyncio.IncompleteReadError, ValueError):
        reading.reason = None
    finally:
        if writer is not None:
            writer.close()
    reason = reading.reason if reading.ended else None
    times = tuple(reading.times)
    return Answer(reading.status, "".join(reading.texts), reason, reading.tokens, sent, times, time.perf_counter())


class _Reading:
    """Reads an HTTP/1.1 response as it arrives."""

    def __init__(self) -> None:
        self.status, self.tokens, self.ended = 0, 0, False
        self.reason: str | None = None
        self.texts: list[str] = []
        self.times: list[float] = []
        self._left = b""

    async def read(self, reader: asyncio.StreamReader) -> None:
        """Read to the end. Raises ValueError for invalid HTTP, and asyncio's exceptions if the connection breaks."""
        first, *rest = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        self.status = int(first.split()[1])
        headers = dict(line.lower().split(b": ", 1) for line in rest if line)
        if self.status != 200 or headers.get(b"transfer-encoding") != b"chunked":
            return
        while size := int(await reader.readuntil(b"\r\n"), 16):
            self._feed((await reader.readexactly(size + 2))[:-2])

    def _feed(self, data: bytes) -> None:
        now = time.perf_counter()
        *events, self._left = (self._left + data).split(b"\n\n")
        for event in events:
            self._event(event.removeprefix(b"data: "), now)

    def _event(self, data: bytes, now: float) -> None:
        if data == b"[DONE]":
            self.ended = True
            return
        body = json.loads(data)
        if body.get("usage"):
            self.tokens = body["usage"]["completion_tokens"]
        for choice in body.get("choices", []):
            self.reason = choice["finish_reason"] or self.reason
            if choice["text"]:
                self.texts.append(choice["text"])
                self.times.append(now)


def load(
    url: str, queries: Sequence[Query], concurrency: int | None = None, rate: float | None = None, seed: int = 0
) -> list[Answer]:
    """Send all queries, and return their answers in the same order. The event loop runs on a thread of its own.

    Args:
        url: the address of the server.
        queries: the requests to send.
        concurrency: the most requests in flight at the same time; None sets no limit.
        rate: random arrivals per second; None sends each request as soon as ``concurrency`` allows.
        seed: determines the random arrivals.
    """
    with ThreadPoolExecutor(1) as pool:  # the caller's thread may have an event loop, as in a notebook
        return pool.submit(asyncio.run, _load(url, queries, concurrency, rate, seed)).result()


async def _load(
    url: str, queries: Sequence[Query], concurrency: int | None, rate: float | None, seed: int
) -> list[Answer]:
    places = asyncio.Semaphore(concurrency or max(1, len(queries)))
    draws = random.Random(seed)
    begin, due = time.perf_counter(), 0.0

    async def one(query: Query) -> Answer:
        async with places:
            return await ask(url, query)

    tasks = []
    for query in queries:
        if rate is not None:
            due += draws.expovariate(rate)
            await asyncio.sleep(max(0.0, begin + due - time.perf_counter()))
        tasks.append(asyncio.create_task(one(query)))
    return list(await asyncio.gather(*tasks))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least a fraction ``share`` of them do not exceed; nan if there are none."""
    ordered = sorted(values)
    place = max(0, -int(-share * len(ordered) // 1) - 1)
    return ordered[place] if ordered else float("nan")


@dataclass(frozen=True)
class Summary:
    """Statistics of many answers; times in seconds.

    Attributes:
        answers: the number of answers.
        whole, refused, broken: how many are complete, how many have status 429 or 503, and how many are left.
        seconds: from the first request to the end of the last answer.
        tokens: tokens of the complete answers.
        ttft_p50, ttft_p99: percentiles of the time to the first text.
        itl_p50, itl_p99: percentiles of the time between pieces of text.
    """

    answers: int
    whole: int
    refused: int
    broken: int
    seconds: float
    tokens: int
    ttft_p50: float
    ttft_p99: float
    itl_p50: float
    itl_p99: float

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> Summary:
        """The statistics of at least one answer."""
        whole = [answer for answer in answers if answer.whole]
        kinds = Counter(answer.status in (429, 503) for answer in answers if not answer.whole)
        first, gaps = [answer.ttft for answer in whole], [gap for answer in whole for gap in answer.gaps]
        span = max(answer.done for answer in answers) - min(answer.sent for answer in answers)
        tokens = sum(answer.tokens for answer in whole)
        percentiles = [percentile(values, share) for values in (first, gaps) for share in (0.5, 0.99)]
        return cls(len(answers), len(whole), kinds[True], kinds[False], span, tokens, *percentiles)

    @property
    def throughput(self) -> float:
        """Tokens per second."""
        return self.tokens / self.seconds


def goodput(answers: Sequence[Answer], ttft: float, itl: float) -> float:
    """Complete answers per second whose first text came within ``ttft`` seconds and whose gaps average at most ``itl``.

    ``answers`` holds at least one.
    """
    good = [
        answer
        for answer in answers
        if answer.whole and answer.ttft <= ttft and sum(answer.gaps) <= itl * max(1, len(answer.gaps))
    ]
    return len(good) / Summary.of(answers).seconds
