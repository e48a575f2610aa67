"""Load on a server: clients that keep asking, or random arrivals; without --url it starts a server of its own.

python -m demos load --requests 40 --rate 20 --max-tokens 32
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, show, verdict, whole
from demos.serving import reach
from rankzero.facts.units import ms
from rankzero.server.load import Query, Summary, goodput, load
from rankzero.tiny import bundled_text


def queries(count: int, prompt: int, tokens: int, seed: int) -> list[Query]:
    """Questions that begin anywhere in the bundled text; greedy, of unequal lengths.

    Args:
        count: how many.
        prompt: the longest prompt, bytes.
        tokens: the longest answer.
        seed: of the draws.
    """
    draws, text = random.Random(seed), bundled_text()
    places = [(draws.randrange(len(text) - prompt), draws.randint(1, prompt)) for _ in range(count)]
    return [Query(text[index : index + size], draws.randint(1, tokens)) for index, size in places]


def positive(text: str) -> float:
    """An argparse type: positive and finite."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number > 0, got {text}")
    return value


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--url", help="address of a server; by default one is started here")
    options.add_argument("--requests", type=whole(1, 100_000), default=40)
    options.add_argument("--concurrency", type=whole(1, 1000), default=8, help="clients; ignored with --rate")
    options.add_argument("--rate", type=positive, help="arrivals per second, at random")
    options.add_argument("--prompt", type=whole(1, 1000), default=100, help="the longest prompt, bytes")
    options.add_argument("--max-tokens", type=whole(1, 1000), default=32, help="the longest answer")
    options.add_argument("--slots", type=whole(1, 64), default=8, help="slots of the server that is started here")
    options.add_argument("--queue", type=whole(0, 100_000), default=64, help="requests that may wait there")
    options.add_argument("--ttft", type=positive, default=0.2, help="target, s")
    options.add_argument("--itl", type=positive, default=0.05, help="target, s")
    options.add_argument("--seed", type=whole(0, 10**9), default=0)
    asked = options.parse_args(argv)
    count, tokens = (6, 6) if asked.quick else (asked.requests, asked.max_tokens)
    wanted = queries(count, asked.prompt, tokens, asked.seed)
    with reach(asked.url, asked.code, slots=asked.slots, queue=asked.queue) as url:
        answers = load(url, wanted, None if asked.rate else asked.concurrency, asked.rate, asked.seed)
    found = Summary.of(answers)
    times = {"ttft_p50", "ttft_p99", "itl_p50", "itl_p99"}
    rows = [(f"{k} (ms)", v / ms) if k in times else (k, v) for k, v in dataclasses.asdict(found).items()]
    rows += [("tokens/s", found.throughput), ("goodput (answers/s)", goodput(answers, asked.ttft, asked.itl))]
    show(asked, Table(("what", "value"), rows))
    return verdict(found.broken == 0, "every request was answered in full or refused because the queue was full")


if __name__ == "__main__":
    sys.exit(main())
