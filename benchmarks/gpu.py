"""What one GPU really does: ``python -m benchmarks.gpu FILE.json``, on a machine with a GPU.

Copies between the host and the GPU by size, products of matrices by size and number format, a layer's decoding step by
batch size, and the same chain of kernels launched one by one and as a CUDA graph. Times are medians, in seconds.
The results of one such run are stored in ``rankzero/facts/data/h100.json`` (:mod:`rankzero.facts.measured`); chapters
show them beside the reader's own formulas. Host and GPU are connected as ``nvidia-smi -q`` says, under "GPU Link Info".
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

COPIES = [2**power for power in range(0, 31, 2)]
MATRICES = (256, 512, 1024, 2048, 4096, 8192)
WIDTH = 8192
BATCHES = [2**power for power in range(12)]
CHAIN = 100
CHAINED = (32, 128, 256, 512, 1024, 2048, 4096)


def median_seconds(work: Callable[[], Any], repeats: int = 30, warm_up: int = 3) -> float:
    """The median time until ``work`` has been done on the GPU, seen from the program that asks for it."""
    times = []
    for _ in range(warm_up + repeats):
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times[warm_up:])


def issue_seconds(work: Callable[[], Any], repeats: int = 30, warm_up: int = 3) -> float:
    """The median time in which the host has asked for ``work``, whether or not the GPU is done."""
    times = []
    for _ in range(warm_up + repeats):
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    torch.cuda.synchronize()
    return statistics.median(times[warm_up:])


def copies() -> dict[str, list[tuple[int, float]]]:
    """For each way of copying, bytes and seconds."""
    largest = COPIES[-1]
    pinned = torch.empty(largest, dtype=torch.uint8, pin_memory=True)
    pageable = torch.ones(largest, dtype=torch.uint8)
    here, there = (torch.ones(largest, dtype=torch.uint8, device="cuda") for _ in range(2))
    ways = {
        "host to device, pinned": (here, pinned),
        "host to device, pageable": (here, pageable),
        "device to host, pinned": (pinned, here),
        "device to device": (there, here),
    }
    return {
        name: [
            (size, median_seconds(lambda target=target, source=source, size=size: target[:size].copy_(source[:size])))
            for size in COPIES
        ]
        for name, (target, source) in ways.items()
    }


def products() -> dict[str, list[tuple[int, float]]]:
    """For each number format, the rows of a square matrix and the seconds of a product of two."""
    found: dict[str, list[tuple[int, float]]] = {}
    for name, dtype, tf32 in (
        ("fp32", torch.float32, False),
        ("tf32", torch.float32, True),
        ("bf16", torch.bfloat16, False),
    ):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        found[name] = []
        for rows in MATRICES:
            a, b = (torch.randn(rows, rows, device="cuda", dtype=dtype) for _ in range(2))
            found[name].append((rows, median_seconds(lambda a=a, b=b: a @ b)))
    return found


def decoding() -> list[tuple[int, float]]:
    """Tokens in the batch, and the seconds of one product with a matrix of ``WIDTH`` squared weights in bf16.

    Ten matrices take turns, so that none is still in the cache. One CUDA graph holds the ten, so that no launch counts.
    """
    weights = [torch.randn(WIDTH, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(10)]
    found = []
    for batch in BATCHES:
        x = torch.randn(batch, WIDTH, device="cuda", dtype=torch.bfloat16)
        graph = captured(lambda x=x: [x @ weight for weight in weights])
        found.append((batch, median_seconds(graph.replay) / len(weights)))
    return found


def captured(work: Callable[[], Any]) -> torch.cuda.CUDAGraph:
    """A CUDA graph of ``work``, after a warm-up on a stream of its own."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


def chains() -> list[dict[str, float]]:
    """A chain of ``CHAIN`` products of square matrices, launched one by one and as a graph, by their rows."""
    found = []
    for rows in CHAINED:
        x, weight = (torch.randn(rows, rows, device="cuda", dtype=torch.bfloat16) / rows**0.5 for _ in range(2))

        def chain(x: torch.Tensor = x, weight: torch.Tensor = weight) -> torch.Tensor:
            for _ in range(CHAIN):
                x = x @ weight
            return x

        graph = captured(chain)
        found.append(
            {
                "rows": rows,
                "eager": median_seconds(chain),
                "eager_issue": issue_seconds(chain),
                "graph": median_seconds(graph.replay),
                "graph_issue": issue_seconds(graph.replay),
            }
        )
    return found


def rounded(found: Any) -> Any:
    """The same with all times rounded to four digits."""
    if isinstance(found, dict):
        return {name: rounded(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(value) for value in found]
    return float(f"{found:.4g}") if isinstance(found, float) else found


def main(arguments: list[str]) -> int:
    """Measure, and write the file."""
    if len(arguments) != 1 or not torch.cuda.is_available():
        print("usage: python -m benchmarks.gpu FILE.json, on a machine with a GPU", file=sys.stderr)
        return 2
    about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
    found = {
        "command": "python -m benchmarks.gpu",
        **about,
        "copies": copies(),
        "products": products(),
        "decoding": {"width": WIDTH, "seconds": decoding()},
        "chains": {"kernels": CHAIN, "runs": chains()},
    }
    Path(arguments[0]).write_text(json.dumps(rounded(found), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
