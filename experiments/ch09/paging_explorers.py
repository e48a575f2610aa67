"""The explorers of paged memory and of shared prefixes: pure functions that return charts. Standard library only.

A page shows one with ``explore(fragmentation, block_size=Choice(1, 2, 4, 8, 16, ...), ...)``.
"""

from __future__ import annotations

import math
from random import Random

from rankzero.charts import Axis, Spec, chart, lines
from solutions.ch09.kv_cache import paged_waste, prefix_sharing_saving

#: Block sizes that are drawn, tokens.
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)

#: Requests that are drawn, from one to a thousand.
COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)


def drawn_lengths(median: int, spread: float, longest: int, requests: int) -> list[int]:
    """Request lengths, log-normal and cut at ``longest``; the same arguments give the same lengths.

    Args:
        median: tokens.
        spread: standard deviation of the logarithm; 0 makes all of them equal.
        longest: upper limit of a length, tokens.
        requests: how many.
    """
    rng = Random(9)
    return [min(longest, max(1, round(rng.lognormvariate(math.log(median), spread)))) for _ in range(requests)]


def fragmentation(
    block_size: int = 16, median: int = 200, spread: float = 0.8, longest: int = 4096, requests: int = 200
) -> Spec:
    """The share of the held memory that contains tokens, against the size of a block.

    Args:
        block_size: the block size that is marked, tokens.
        median: length of a request, tokens.
        spread: standard deviation of the logarithm of the length.
        longest: the most tokens a request may have, which a reservation takes.
        requests: at the same time.
    """
    lengths = drawn_lengths(median, spread, longest, requests)
    mean = sum(lengths) / requests
    rows: list[Spec] = []
    for size in SIZES:
        rows.append({"size": size, "percent": 100 - 100 * paged_waste(lengths, size)[1], "memory": "blocks"})
        rows.append({"size": size, "percent": 100 * mean / longest, "memory": "the longest is reserved"})
    wasted, share = paged_waste(lengths, block_size)
    blocks = (sum(lengths) + wasted) / block_size / requests
    used, waste = 100 - 100 * share, wasted / requests
    said = f"blocks of {block_size}: {used:.3g} % used; a request takes {blocks:.3g} and wastes {waste:.3g} tokens"
    x, y = Axis("size", "block size (tokens)", log=True, plain=True), Axis("percent", "held slots with a token (%)")
    return chart(
        lines(rows, x, y, by="memory", mark=block_size, title=said),
        f"Share of the held memory that is used, for blocks of 1 to 256 tokens and for whole reservations; "
        f"requests of {mean:.4g} tokens on average, {said}.",
    )


def capacities(prefix: int, unique: int, page: int, memory: int) -> tuple[int, int]:
    """Requests that fit into ``memory`` tokens, each with a copy of the prefix, and with one copy for all of them."""
    shared = prefix // page * page
    alone = -(-(prefix + unique) // page) * page
    return memory // alone, max(0, memory - shared) // max(page, alone - shared)


def prefix_sharing(
    prefix: int = 500, unique: int = 100, requests: int = 100, page: int = 16, memory: int = 100_000
) -> Spec:
    """The share of memory and of prompt computation that a common prefix saves, against the number of requests.

    Args:
        prefix: tokens that all prompts begin with.
        unique: further tokens of each.
        requests: the marked number.
        page: tokens of a page; only whole pages are shared.
        memory: tokens that fit.
    """
    shared, whole = prefix // page * page, prefix + unique
    rows: list[Spec] = []
    for count in COUNTS:
        saved = prefix_sharing_saving(count, prefix, unique, page)
        rows.append({"requests": count, "percent": 100 * saved, "what": "memory"})
        rows.append({"requests": count, "percent": 100 * (count - 1) * shared / count / whole, "what": "prefill"})
        rows.append({"requests": count, "percent": 100 * prefix / whole, "what": "prefix / (prefix + unique)"})
    here = 100 * prefix_sharing_saving(requests, prefix, unique, page)
    alone, together = capacities(prefix, unique, page, memory)
    said = f"{requests} requests save {here:.3g} %; {memory:,} tokens hold {alone} alone, {together} shared"
    x, y = Axis("requests", "requests", log=True, plain=True), Axis("percent", "saved (%)")
    return chart(
        lines(rows, x, y, by="what", mark=requests, title=said),
        f"Memory and prefill that sharing {prefix} of {whole} prompt tokens saves, for 1 to 1,000 requests: {said}.",
    )
