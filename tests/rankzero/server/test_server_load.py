"""The load generator: it tells whole answers from cut ones, and adds up what it measured."""

from __future__ import annotations

import asyncio
import math
import socket
import threading
from contextlib import contextmanager, suppress

import pytest
from served import PARTS, TOKENIZER, model

from rankzero.server import serve
from rankzero.server.load import Answer, Query, Summary, goodput, load, percentile


@contextmanager
def replying(reply: bytes):
    """A server that sends ``reply`` to whoever connects, and closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk():
            with suppress(OSError):  # closed, when nobody comes any more
                for _ in range(2):
                    spoken, _ = listening.accept()
                    with spoken:
                        spoken.recv(65536)
                        spoken.sendall(reply)

        threading.Thread(target=talk, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
TEXT = b'data: {"choices": [{"text": "Hi", "finish_reason": null}]}\n\n'
LAST = b'data: {"choices": [{"text": "", "finish_reason": "stop"}]}\n\n'
COUNT = b'data: {"choices": [], "usage": {"completion_tokens": 2}}\n\n'
END = chunk(b"data: [DONE]\n\n") + chunk(b"")


@pytest.mark.parametrize(
    ("reply", "status", "whole", "text"),
    [
        (HEAD + chunk(TEXT) + chunk(TEXT) + chunk(LAST + COUNT) + END, 200, True, "HiHi"),
        (HEAD + chunk(TEXT[:20]) + chunk(TEXT[20:] + LAST + COUNT[:9]) + chunk(COUNT[9:]) + END, 200, True, "Hi"),
        (HEAD + chunk(TEXT) + chunk(LAST + COUNT) + chunk(b""), 200, False, "Hi"),
        (HEAD + chunk(TEXT) + END, 200, False, "Hi"),
        (HEAD + chunk(TEXT), 200, False, "Hi"),
        (HEAD + b"zz\r\n", 200, False, ""),
        (b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", 429, False, ""),
        (b"", 0, False, ""),
        (b"nonsense", 0, False, ""),
    ],
)
def test_an_answer_is_whole_or_it_is_not(reply, status, whole, text):
    """Kills a client that counts a stream as answered when it merely ended."""
    with replying(reply) as url:
        (answer,) = load(url, [Query("A")])
    assert (answer.status, answer.whole, answer.text) == (status, whole, text)
    assert answer.tokens == (2 if whole else answer.tokens)


def test_nobody_there_is_broken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    (answer,) = load(url, [Query("A")])
    assert (answer.status, answer.whole) == (0, False)
    assert Summary.of([answer]).broken == 1


def test_open_and_closed_loads_bring_every_answer_in_order():
    queries = [Query(f"{i}", 1 + i, options=(("temperature", 0), ("ignore_eos", True))) for i in range(12)]
    with serve(model(), TOKENIZER, PARTS, slots=4, queue=None) as server:
        found = [load(server.url, queries, concurrency=3), load(server.url, queries, rate=200.0, seed=1)]
    for answers in found:
        assert [answer.tokens for answer in answers] == [1 + i for i in range(12)]
        assert Summary.of(answers).tokens == 78
        assert all(answer.sent <= time <= answer.done for answer in answers for time in answer.times)
    assert [a.text for a in found[0]] == [b.text for b in found[1]]
    sent = [answer.sent for answer in found[1]]
    assert sent == sorted(sent)


def test_it_runs_beside_an_event_loop():
    """As in a notebook, whose thread has one."""

    async def cell(url):
        return load(url, [Query("A")])

    with replying(HEAD + chunk(TEXT + LAST + COUNT) + END) as url:
        assert asyncio.run(cell(url))[0].whole


def test_percentiles_are_values():
    assert [percentile(range(1, 101), share) for share in (0.5, 0.99, 1.0)] == [50, 99, 100]
    assert percentile([3.0], 0.99) == 3.0
    assert math.isnan(percentile([], 0.5))


def answer(status=200, sent=0.0, times=(0.25, 0.5, 1.0), reason="length"):
    return Answer(status, "abc", reason, 3, sent, times, times[-1])


def test_summary_and_goodput():
    """Two whole answers, one refused, one broken, within 2 s."""
    answers = [answer(), answer(sent=0.5, times=(1.0, 1.5, 2.0)), answer(429, reason=None), answer(reason=None)]
    found = Summary.of(answers)
    assert (found.answers, found.whole, found.refused, found.broken, found.tokens) == (4, 2, 1, 1, 6)
    assert (found.seconds, found.throughput) == (2.0, 3.0)
    assert (found.ttft_p50, found.ttft_p99, found.itl_p50, found.itl_p99) == (0.25, 0.5, 0.5, 0.5)
    assert goodput(answers, ttft=0.3, itl=1.0) == 0.5
    assert goodput(answers, ttft=1.0, itl=0.4) == 0.5
    assert goodput(answers, ttft=1.0, itl=1.0) == 1.0
    assert goodput(answers, ttft=0.1, itl=1.0) == 0.0
