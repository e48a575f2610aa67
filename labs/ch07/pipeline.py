# Generated from solutions/ch07/pipeline.py by make stubs. Write the bodies; names and signatures stay.
"""Pipelines: how long ranks idle, in which order they work, what they hold and what they send. Standard library only.

A pipeline has p ranks. Each holds one stage of the model, or v chunks of layers (virtual stages), and a step has m
micro-batches. An operation is a string of stage, kind and micro-batch, ``"2F5"``: ``F`` forward, ``B`` full backward,
``I`` and ``W`` its halves, the gradients of the input and of the weights.

>>> times = simulate_schedule(pipeline_schedule("1f1b", 4, 8), {"F": 1, "B": 2})
>>> max(end for _, end in times.values())
33.0
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rankzero import checks

#: What :func:`pipeline_schedule` knows.
SCHEDULES = ("gpipe", "1f1b", "interleaved", "zb-h1")


def bubble_fraction(stages: int, microbatches: int, virtual_stages: int = 1) -> float:
    """The idle time of a pipeline as a share of the total time: ``(p - 1) / (v m + p - 1)``.

    Exact under GPipe, 1F1B and interleaving, for equal stages and free transfers; with several chunks, m must be a
    multiple of p.

    Args:
        stages: p, ranks in the pipeline; at least 1. One rank never idles: 0.0.
        microbatches: m, of one step; at least 1.
        virtual_stages: v, chunks on each rank; at least 1.

    Source: Huang et al. (2019), arXiv:1811.06965, section 2.3, where it is called "bubble overhead".
    """
    checks.count(stages=stages, microbatches=microbatches, virtual_stages=virtual_stages)
    raise NotImplementedError("07-bubble-fraction: not written yet")


def bubble_overhead(stages: int, microbatches: int, virtual_stages: int = 1) -> float:
    """The idle time of a pipeline over its useful time: ``(p - 1) / (v m)``. It may be more than 1.

    Exact under GPipe, 1F1B and interleaving, for equal stages and free transfers; with several chunks, m must be a
    multiple of p.

    Args:
        stages: p, ranks in the pipeline; at least 1. One rank never idles: 0.0.
        microbatches: m, of one step; at least 1.
        virtual_stages: v, chunks on each rank; at least 1.

    Source: Narayanan et al. (2021), arXiv:2104.04473, section 2.2, where it is called "bubble time fraction"; Llama
    Team (2024), arXiv:2407.21783, section 3.3.2.
    """
    checks.count(stages=stages, microbatches=microbatches, virtual_stages=virtual_stages)
    raise NotImplementedError("07-bubble-overhead: not written yet")


def debug_fraction(stages: int, microbatches: int, virtual_stages: int = 1) -> float:
    """Idle time over total time of a pipeline, after a reviewer has "corrected" the last line.

    Args:
        stages, microbatches, virtual_stages: p, m and v, each at least 1.
    """
    checks.count(stages=stages, microbatches=microbatches, virtual_stages=virtual_stages)
    idle, useful = stages - 1, microbatches * virtual_stages
    return idle / useful  # reviewed: idle over the useful time


def one_f_one_b(rank: int, ranks: int, microbatches: int) -> list[str]:
    """The order in which one rank of a pipeline works under 1F1B; rank r holds stage r.

    First a warm-up of ``min(m, p - 1 - r)`` forwards. Then a forward and a backward in turn, until the forwards run
    out. Then the remaining backwards. Forwards and backwards both take the micro-batches in ascending order.

    Args:
        rank: r, from 0 to p - 1.
        ranks: p, at least 1.
        microbatches: m, at least 1.

    Returns:
        The operations in the order of execution, as ``"2F5"``: stage, F or B, micro-batch.

    Source: Narayanan et al. (2021), arXiv:2104.04473, section 2.2.
    """
    checks.count(ranks=ranks, microbatches=microbatches)
    checks.count(0, ranks - 1, rank=rank)
    raise NotImplementedError("07-one-f-one-b: not written yet")


def pipeline_schedule(name: str, ranks: int, microbatches: int, virtual_stages: int = 1) -> list[list[str]]:
    """The order in which every rank of a pipeline works.

    ``gpipe``: all forwards, then all backwards, both ascending.
    ``1f1b``: on rank r ``min(m, p - 1 - r)`` forwards; then a forward and a backward in turn until the forwards run
    out; then the remaining backwards.
    ``interleaved``: rank r holds stages r, r + p, r + 2p, ... Its k-th forward (k from 0) is of chunk
    ``(k mod p v) // p`` and micro-batch ``(k // (p v)) p + k mod p``; its k-th backward is of chunk v - 1 minus that.
    First ``min(m v, 2 (p - 1 - r) + (v - 1) p)`` forwards, then in turn as in 1F1B.
    ``zb-h1``: on rank r ``min(m, p - 1 - r)`` forwards; then, while forwards remain, F, I, and a W when more than r
    micro-batches wait for theirs; then I and W in turn until the I's run out; then the remaining W's.

    Args:
        name: ``"gpipe"``, ``"1f1b"``, ``"interleaved"`` or ``"zb-h1"``.
        ranks: p, at least 1.
        microbatches: m, at least 1; for ``interleaved`` a multiple of p.
        virtual_stages: v, chunks on each rank; at least 1: 2 or more for ``interleaved``, 1 for the others.

    Returns:
        One list per rank: its operations in the order of execution, as ``"2F5"`` (stage, kind, micro-batch).

    Source: Huang et al. (2019), arXiv:1811.06965; Narayanan et al. (2021), arXiv:2104.04473; Qi et al. (2024),
    arXiv:2401.10241.
    """
    checks.one_of(SCHEDULES, name=name)
    checks.count(ranks=ranks, microbatches=microbatches, virtual_stages=virtual_stages)
    if name == "interleaved":
        checks.count(2, virtual_stages=virtual_stages)
        checks.require(microbatches % ranks == 0, f"be a multiple of {ranks} ranks", microbatches=microbatches)
    else:
        checks.require(virtual_stages == 1, f"be 1 for {name}", virtual_stages=virtual_stages)
    raise NotImplementedError("07-pipeline-schedule: not written yet")


def simulate_schedule(
    orders: Sequence[Sequence[str]], durations: Mapping[str, float], transfer_time: float = 0.0
) -> dict[str, tuple[float, float]]:
    """When every operation of a schedule starts and ends.

    A rank runs its list in order, one operation at a time, each as early as possible. F(s, i) of stage s and
    micro-batch i waits for F(s-1, i). B(s, i), or I(s, i), waits for F(s, i), and for B or I(s+1, i) unless s is the
    last stage. W(s, i) waits for I(s, i): a backward is one operation B, or two, I for the gradient of its input and W
    for that of its weights. What comes from another rank arrives ``transfer_time`` after its end; the sender goes on at
    once.

    Every stage is on one rank and runs every micro-batch once: F and B, or F, I and W; or no stage runs any backward.

    Args:
        orders: one list of operations per rank, in the order of execution, each written as ``"2F5"``: stage, one of F,
            B, I and W, micro-batch, both numbers counted from 0.
        durations: seconds by stage and kind, ``"3F"``, or else by kind, ``"F"``, for every operation; not negative.
        transfer_time: of a message between ranks, seconds; not negative.

    Returns:
        ``{op: (start, end)}``, seconds from the first start at 0.

    Raises:
        ValueError: an operation appears twice or is missing; a stage is on two ranks; or ranks wait for each other, and
            the message names all that have not ended: ``deadlock: rank 0 waits at 0B0; rank 1 waits at 1F1``.

    Source: Huang et al. (2019), arXiv:1811.06965; Qi et al. (2024), arXiv:2401.10241.
    """
    checks.amount(durations=durations, transfer_time=transfer_time)
    ops = _check_schedule(orders, durations)
    raise NotImplementedError("07-simulate-schedule: not written yet")


def peak_in_flight(order: Sequence[str]) -> int:
    """The most micro-batches whose activations one rank holds at once.

    A forward F stores them. A full backward B, or the gradient of the weights W, frees them: both need the inputs. The
    gradient of the input alone, I, frees nothing. With several chunks on a rank, micro-batches of each chunk count.

    Args:
        order: the rank's operations, in the order of execution, each written as ``"2F5"``; may be empty.

    Raises:
        ValueError: an operation is a backward of a micro-batch that is not held.
    """
    ops = _check_ops(order)
    raise NotImplementedError("07-peak-in-flight: not written yet")


def pipeline_bytes_sent(
    rank: int, ranks: int, microbatches: int, activation_bytes: float, virtual_stages: int = 1
) -> float:
    """Bytes that one rank sends in one step: activations to the next stage, their gradients to the one before.

    Rank r holds stages r, r + p, r + 2p, ... For every micro-batch and every stage that it holds it sends an activation
    forward, unless the stage is the last of all, and a gradient back, unless it is the first.

    Args:
        rank: r, from 0 to p - 1.
        ranks: p, at least 1. One rank sends nothing: its chunks lie on one device.
        microbatches: m, at least 1.
        activation_bytes: of one micro-batch at one boundary, bytes; not negative.
        virtual_stages: v, chunks on each rank; at least 1.
    """
    checks.count(ranks=ranks, microbatches=microbatches, virtual_stages=virtual_stages)
    checks.count(0, ranks - 1, rank=rank)
    checks.amount(activation_bytes=activation_bytes)
    raise NotImplementedError("07-pipeline-bytes-sent: not written yet")


_Op = tuple[int, str, int]


def _check_ops(order: Sequence[str]) -> list[_Op]:
    """Stage, kind and micro-batch of each operation."""
    parts = [re.split("([FBIW])", op) for op in order]
    for op, part in zip(order, parts, strict=True):
        written = [one.isdecimal() for one in part] == [True, False, True]
        checks.require(written, "be a stage, one of F, B, I and W, and a micro-batch, as 2F5", operation=op)
    return [(int(stage), kind, int(microbatch)) for stage, kind, microbatch in parts]


def _check_schedule(orders: Sequence[Sequence[str]], durations: Mapping[str, float]) -> list[list[_Op]]:
    """Stage, kind and micro-batch of each operation of each rank; every one has a duration."""
    ops = [_check_ops(order) for order in orders]
    for stage, kind in {(stage, kind) for order in ops for stage, kind, _ in order}:
        known = f"{stage}{kind}" in durations or kind in durations
        checks.require(known, f"hold {stage}{kind} or {kind}", durations=sorted(durations))
    return ops
