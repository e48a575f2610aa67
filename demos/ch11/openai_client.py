"""Concurrent requests to a server with the real `openai` package; without --url it starts a server of its own.

python -m demos openai_client --url http://127.0.0.1:8000 --requests 8 --concurrency 8 --stream
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import openai

from demos.common import Table, demo, parser, show, verdict, whole
from demos.serving import reach
from rankzero.facts.units import ms
from rankzero.server.load import percentile


class Reply(NamedTuple):
    """One answer, with the seconds from the request to each of its pieces."""

    text: str
    tokens: int
    times: list[float]


def ask(client: Any, stream: bool, prompt: str, **fields: Any) -> Reply:
    """One chat of one message, greedy; piece by piece, or whole."""
    said = {"messages": [{"role": "user", "content": prompt}], "temperature": 0, **fields}
    asked = time.perf_counter()
    if not stream:
        found = client.chat.completions.create(**said)
        return Reply(found.choices[0].message.content, found.usage.completion_tokens, [time.perf_counter() - asked])
    times, texts, counted = [], [], 0
    for chunk in client.chat.completions.create(**said, stream=True, stream_options={"include_usage": True}):
        counted = chunk.usage.completion_tokens if chunk.usage else counted
        if chunk.choices and chunk.choices[0].delta.content:
            times.append(time.perf_counter() - asked)
            texts.append(chunk.choices[0].delta.content)
    return Reply("".join(texts), counted, times or [time.perf_counter() - asked])


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--url", help="address of a server; by default one is started here")
    options.add_argument("--requests", type=whole(1, 1000), default=8)
    options.add_argument("--concurrency", type=whole(1, 256), default=8)
    options.add_argument("--tokens", type=whole(1, 10_000), default=32, help="the most tokens in an answer")
    options.add_argument("--stream", action="store_true", help="receive answers piece by piece instead of whole")
    asked = options.parse_args(argv)
    count, tokens = (3, 6) if asked.quick else (asked.requests, asked.tokens)
    prompts = [f"Tell me about number {i}." for i in range(count)]
    with reach(asked.url, asked.code, slots=8, queue=None) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="none")
        try:
            fields = {"model": client.models.list().data[0].id, "max_tokens": tokens}
            with ThreadPoolExecutor(asked.concurrency) as pool:
                replies = list(pool.map(lambda prompt: ask(client, asked.stream, prompt, **fields), prompts))
            alone = ask(client, asked.stream, prompts[0], **fields)
        except openai.APIError as error:
            options.error(f"{client.base_url}: {error}")
    gaps = [[after - before for before, after in pairwise(reply.times)] for reply in replies]
    means = [sum(of) / len(of) / ms if of else "-" for of in gaps]
    rows = [(i, r.tokens, r.times[0] / ms, means[i], r.tokens / r.times[-1]) for i, r in enumerate(replies)]
    show(asked, Table(("request", "tokens", "TTFT (ms)", "mean ITL (ms)", "tokens/s"), rows))
    for name, values in (("TTFT", [reply.times[0] for reply in replies]), ("ITL", [gap for of in gaps for gap in of])):
        if values:
            print(f"{name}: p50 {percentile(values, 0.5) / ms:.2f} ms, p99 {percentile(values, 0.99) / ms:.2f} ms")
    return verdict(alone.text == replies[0].text, "the first answer is the same when it is asked alone")


if __name__ == "__main__":
    sys.exit(main())
