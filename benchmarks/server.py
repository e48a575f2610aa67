"""What batching brings: ``python -m benchmarks.server``.

A server in a process of its own answers the same questions one at a time and sixteen at a time, in turns, over real
connections. Sixteen at a time must bring at least three times the tokens per second. Every answer must be complete and
the same in both ways: then no piece of a stream was lost, doubled or exchanged. At the end every block must be free.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks._rows import Row, arguments, finish
from experiments.ch08.serving_runs import parts
from rankzero.server import serve
from rankzero.server.load import Answer, Query, Summary, load
from rankzero.tiny import GPT, ByteTokenizer, GPTConfig

STREAMS, LEAST_RATIO = 16, 3.0
CONFIG = GPTConfig(vocab=257)


def serve_until_interrupted() -> int:
    """The server: prints its address, and when it is interrupted what is left of its blocks."""
    # Without a prefix cache, so that the second time a question is asked costs what the first did.
    server = serve(GPT(CONFIG).double(), ByteTokenizer(), parts("solutions"), slots=STREAMS, prefix_cache=False)
    print(server.url, flush=True)
    server.run()
    print(json.dumps(server.metrics()))
    return 0


def questions(count: int, tokens: int) -> list[Query]:
    """Prompts of 8 to 40 tokens."""
    draws = random.Random(0)
    prompts = [[draws.randrange(256) for _ in range(draws.randint(8, 40))] for _ in range(count)]
    return [Query(prompt, tokens, options=(("temperature", 0), ("ignore_eos", True))) for prompt in prompts]


def measure(url: str, repeats: int, tokens: int) -> tuple[list[list[Answer]], list[list[Answer]]]:
    """The answers one at a time and all at a time, taking turns."""
    asked = questions(STREAMS, tokens)
    load(url, asked[:2])
    turns = [(load(url, asked, concurrency=1), load(url, asked, concurrency=STREAMS)) for _ in range(repeats)]
    return [one for one, _ in turns], [many for _, many in turns]


def throughput(runs: Sequence[Sequence[Answer]]) -> float:
    """Median tokens per second."""
    return statistics.median(Summary.of(run).throughput for run in runs)


def rows(row: dict[str, Any], end: dict[str, Any]) -> list[Row]:
    """All at a time beside one at a time, and whether every answer was whole."""
    one, many = "one at a time", f"{row['streams']} at a time"
    return [
        Row(
            f"tokens of all answers per second, {many}",
            *(row["tokens/s, all at a time"], "tokens/s", one, row["tokens/s, one at a time"]),
            fair="The same server, questions and connections, in turns; no prefix cache.",
            least=LEAST_RATIO,
            goal="ratio",
        ),
        Row(
            f"median gap between two tokens of one answer, {many}",
            *(row["median gap, all at a time, ms"], "ms", one, row["median gap, one at a time, ms"]),
            fair="The price of sharing, in the same runs.",
        ),
        Row(
            "answers that were not complete, or not the same in every run",
            row["answers not complete, or not the same"],
            f"of {row['answers']}",
            fair="Greedy sampling: an answer may not depend on who else is served.",
            most=0,
        ),
        Row("blocks of the cache not free at the end", end["blocks"] - end["blocks_free"], most=0),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when a figure is missed."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64, help="of each answer")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.serve:
        return serve_until_interrupted()
    command = [sys.executable, "-m", "benchmarks.server", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            alone, together = measure(server.stdout.readline().strip(), options.repeats, options.tokens)
        finally:
            server.send_signal(signal.SIGINT)
        end = json.loads(server.stdout.readline())
    runs = (*alone, *together)
    pairs = [pair for run in runs for pair in zip(run, runs[0], strict=True)]
    odd = sum(not answer.whole or (answer.text, answer.tokens) != (first.text, first.tokens) for answer, first in pairs)
    ratio = throughput(together) / throughput(alone)
    gaps = [Summary.of(run).itl_p50 for run in alone], [Summary.of(run).itl_p50 for run in together]
    row = {
        "streams": STREAMS,
        "tokens/s, one at a time": round(throughput(alone), 1),
        "tokens/s, all at a time": round(throughput(together), 1),
        "ratio": round(ratio, 2),
        "ratio aimed at": LEAST_RATIO,
        "median gap, one at a time, ms": round(1e3 * statistics.median(gaps[0]), 2),
        "median gap, all at a time, ms": round(1e3 * statistics.median(gaps[1]), 2),
        "answers": len(alone) * 2 * STREAMS,
        "answers not complete, or not the same": odd,
        "blocks free at the end": f"{end['blocks_free']} of {end['blocks']}",
    }
    print(json.dumps(row, indent=1))
    return finish(rows(row, end), options)


if __name__ == "__main__":
    sys.exit(main())
