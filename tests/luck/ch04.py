"""Further right programs for the items of chapter 4."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from tools.luck import Right


def along_the_tree(x):
    """The same tree by parents and children, the last child first on the way down."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    lowest = rank & -rank or ranks
    children = [rank + 2**level for level in range(ranks.bit_length()) if 2**level < lowest and rank + 2**level < ranks]
    total = x.flatten().clone()
    if total.numel():
        for child in children:
            arrived = torch.zeros_like(total)
            dist.recv(arrived, child)
            total = arrived + total
        if rank:
            dist.send(total, rank & (rank - 1))
            dist.recv(total, rank & (rank - 1))
        for child in reversed(children):
            dist.send(total, child)
    return total.reshape(x.shape)


def along_the_tree_in_float64(x):
    """Every sum is made in float64 and rounded for the way."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    total, bit = x.clone(), 1
    if not x.numel():
        return total
    while bit < ranks and rank % (2 * bit) == 0:
        if rank + bit < ranks:
            arrived = torch.empty_like(total)
            request: Any = dist.irecv(arrived, rank + bit)
            request.wait()
            total = (
                torch.add(total.double(), arrived.double()).to(x.dtype) if x.is_floating_point() else total + arrived
            )
        bit *= 2
    if rank:
        dist.send(total, rank - bit)
        dist.recv(total, rank - bit)
    while bit > 1:
        bit //= 2
        if rank + bit < ranks:
            dist.send(total, rank + bit)
    return total


def timed_after_a_warm_up(x, calls):
    buffer = x.clone()
    dist.all_reduce(buffer)
    dist.barrier()
    start = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(buffer)
    seconds = time.perf_counter() - start
    return seconds / calls


def timed_in_nanoseconds(x, calls):
    buffer = torch.empty_like(x).copy_(x)
    dist.barrier()
    start = time.perf_counter_ns()
    for _ in range(calls):
        dist.all_reduce(buffer)
    return (time.perf_counter_ns() - start) / 1e9 / calls


def fitted_by_least_squares(sizes, seconds):
    """Each row over its time, and a library's least squares."""
    scale = max(sizes)
    rows = np.array([[1 / time, size / scale / time] for size, time in zip(sizes, seconds, strict=True)])
    (latency, slope), *_ = np.linalg.lstsq(rows, np.ones(len(sizes)), rcond=None)
    return float(latency), float(scale / slope)


def fitted_in_fractions(sizes, seconds):
    """The normal equations, without rounding."""
    points = [(Fraction(size), Fraction(time)) for size, time in zip(sizes, seconds, strict=True)]
    w, wm, wmm = (sum(size**power / time**2 for size, time in points) for power in range(3))
    wt, wmt = (sum(size**power / time for size, time in points) for power in range(2))
    slope = (w * wmt - wm * wt) / (w * wmm - wm**2)
    return float((wt - slope * wm) / w), float(1 / slope)


DOUBLE_TREE = "return 2 * levels * latency + (2 * message_bytes / bandwidth if ranks > 1 else 0.0)"
HALVING = "return 2 * levels * latency + 2 * (ranks - 1) / ranks * message_bytes / bandwidth"
RING = "return ring_all_reduce_time(message_bytes, ranks, bandwidth, latency)"
TREE = "return 2 * levels * (latency + message_bytes / bandwidth)"
LEVELS = "return inside + ring_all_reduce_time(share, nodes, inter_bandwidth, inter_latency)"
BUS = "return factor * message_bytes / seconds"
RATIO = "return ring_all_reduce_time(gradient_bytes, ranks, bandwidth) / (flops / rate)"
GBIT = "return ring_all_reduce_time(size_mb * MB, ranks, bandwidth_gbps * Gbit)"

RIGHT = {
    "04-tree-all-reduce": (
        Right("by parents and children", program=along_the_tree),
        Right("sums in float64", program=along_the_tree_in_float64),
    ),
    "04-all-reduce-time": (
        Right(
            "step by step",
            edits=(
                (RING, "return 2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * message_bytes / bandwidth"),
                (TREE, "return levels * (2 * latency) + levels * (2 * message_bytes) / bandwidth"),
                (DOUBLE_TREE, "return 2 * (levels * latency + min(levels, 1) * message_bytes / bandwidth)"),
                (
                    HALVING,
                    "return 2 * sum(latency + message_bytes / 2 ** (k + 1) / bandwidth for k in range(levels))",
                ),
            ),
        ),
        Right(
            "levels by the logarithm of the library",
            edits=(
                ("levels = (ranks - 1).bit_length()", "from math import ceil, log2\n\n    levels = ceil(log2(ranks))"),
                (HALVING, "return 2 * (levels * latency + (message_bytes - message_bytes / ranks) / bandwidth)"),
            ),
        ),
    ),
    "04-crossover-bytes": (
        Right(
            "the two times set equal",
            edits=(
                (
                    "return ranks * more_steps * latency * bandwidth",
                    "return more_steps * latency / (1 / bandwidth - (ranks - 1) / ranks / bandwidth)",
                ),
                (
                    "return more_steps * latency * bandwidth / (levels - (ranks - 1) / ranks)",
                    "return more_steps * latency / (levels / bandwidth - (1 - 1 / ranks) / bandwidth)",
                ),
            ),
        ),
        Right(
            "whole numbers under the line",
            edits=(
                (
                    "return ranks * more_steps * latency * bandwidth",
                    "return bandwidth * latency * (more_steps * ranks)",
                ),
                (
                    "return more_steps * latency * bandwidth / (levels - (ranks - 1) / ranks)",
                    "return bandwidth * latency * ranks * more_steps / (levels * ranks - ranks + 1)",
                ),
            ),
        ),
    ),
    "04-hierarchical-all-reduce-time": (
        Right(
            "phase by phase",
            edits=(
                (
                    LEVELS,
                    "steps, part = nodes - 1, share / nodes\n"
                    "    return inside / 2 + 2 * steps * inter_latency + 2 * steps * (part / inter_bandwidth)"
                    " + inside / 2",
                ),
            ),
        ),
        Right(
            "the whole over all ports",
            edits=(
                (
                    LEVELS,
                    "ports = ranks_per_node * inter_bandwidth\n"
                    "    return ring_all_reduce_time(message_bytes, nodes, ports, inter_latency) + inside",
                ),
            ),
        ),
    ),
    "04-bus-bandwidth": (
        Right("the rate first", edits=((BUS, "return message_bytes / seconds * factor"),)),
        Right("the share that stays", edits=(("others = (ranks - 1) / ranks", "others = 1 - 1 / ranks"),)),
    ),
    "04-debug-gbit": (
        Right("in bits", edits=((GBIT, "return 2 * (ranks - 1) / ranks * (size_mb * 8e6) / (bandwidth_gbps * 1e9)"),)),
        Right("in gigabytes", edits=((GBIT, "return (size_mb / 1000) * (2 - 2 / ranks) / (bandwidth_gbps / 8)"),)),
    ),
    "04-fit-alpha-beta": (
        Right("a library's least squares", program=fitted_by_least_squares),
        Right("normal equations without rounding", program=fitted_in_fractions),
    ),
    "04-debug-barrier": (
        Right("a warm-up first", program=timed_after_a_warm_up),
        Right("in nanoseconds", program=timed_in_nanoseconds),
    ),
    "04-communication-ratio": (
        Right(
            "multiplied out",
            edits=((RATIO, "return 2 * (ranks - 1) * gradient_bytes * rate / (ranks * bandwidth * flops)"),),
        ),
        Right(
            "the share that travels",
            edits=((RATIO, "return 2 * (gradient_bytes - gradient_bytes / ranks) / bandwidth * (rate / flops)"),),
        ),
    ),
}
