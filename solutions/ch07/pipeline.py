"""Pipelines: how long ranks idle, in which order they work, what they hold and what they send. Standard library only.

A pipeline has p ranks. Each holds one stage of the model, or v chunks of layers (virtual stages), and a step has m
micro-batches. An operation is a string of stage, kind and micro-batch, ``"2F5"``: ``F`` forward, ``B`` full backward,
``I`` and ``W`` its halves, the gradients of the input and of the weights.

>>> times = simulate_schedule(pipeline_schedule("1f1b", 4, 8), {"F": 1, "B": 2})
>>> max(end for _, end in times.values())
33.0
"""

from __future__ import annotations

import math
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
    return (stages - 1) / (virtual_stages * microbatches + stages - 1)


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
    return (stages - 1) / (virtual_stages * microbatches)


def debug_fraction(stages: int, microbatches: int, virtual_stages: int = 1) -> float:
    """Idle time over total time of a pipeline, after a reviewer has "corrected" the last line.

    Args:
        stages, microbatches, virtual_stages: p, m and v, each at least 1.
    """
    checks.count(stages=stages, microbatches=microbatches, virtual_stages=virtual_stages)
    idle, useful = stages - 1, microbatches * virtual_stages
    return idle / (idle + useful)


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
    forwards, backwards = ([f"{rank}{kind}{i}" for i in range(microbatches)] for kind in "FB")
    return _in_turn(forwards, backwards, min(microbatches, ranks - 1 - rank))


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
    if name == "interleaved":
        return [_interleaved(rank, ranks, microbatches, virtual_stages) for rank in range(ranks)]
    if name == "zb-h1":
        return [_zero_bubble(rank, ranks, microbatches) for rank in range(ranks)]
    orders = []
    for rank in range(ranks):
        forwards, backwards = ([f"{rank}{kind}{i}" for i in range(microbatches)] for kind in "FB")
        warm_up = microbatches if name == "gpipe" else min(microbatches, ranks - 1 - rank)
        orders.append(_in_turn(forwards, backwards, warm_up))
    return orders


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
    homes, microbatches, kinds = _complete(ops)
    seconds = {(stage, kind): durations.get(f"{stage}{kind}", durations.get(kind, 0.0)) for stage, kind in kinds}
    ends: dict[tuple[int, str], list[float]] = {
        (stage, phase): [math.nan] * microbatches for stage in homes for phase in "FBW"
    }
    inputs = {key: _inputs(*key, homes, ends, transfer_time) for key in seconds}
    times: dict[str, tuple[float, float]] = {}
    place, clock = [0] * len(ops), [0.0] * len(ops)
    waiting: dict[tuple[int, int], list[int]] = {}  # for each rank that waits, what its next operation is waiting for
    ready = list(range(len(ops) - 1, -1, -1))
    while ready:
        rank = ready.pop()
        while place[rank] < len(ops[rank]):
            stage, kind, i = ops[rank][place[rank]]
            needs = inputs[stage, kind]
            missing = next((row for row, _ in needs if math.isnan(row[i])), None)
            if missing is not None:
                waiting.setdefault((id(missing), i), []).append(rank)
                break
            start = max([clock[rank], *(row[i] + delay for row, delay in needs)])
            row = ends[stage, _PHASES[kind]]
            row[i] = clock[rank] = start + seconds[stage, kind]
            times[orders[rank][place[rank]]] = (start, row[i])
            place[rank] += 1
            ready += waiting.pop((id(row), i), ())
    stuck = [f"rank {r} waits at {order[place[r]]}" for r, order in enumerate(orders) if place[r] < len(order)]
    if stuck:
        raise ValueError(f"deadlock: {'; '.join(stuck)}")
    return times


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
    held: set[tuple[int, int]] = set()
    peak = 0
    for stage, kind, microbatch in ops:
        if kind == "F":
            held.add((stage, microbatch))
            peak = max(peak, len(held))
        elif (stage, microbatch) not in held:
            raise ValueError(f"a backward must come after its forward, and once, got {stage}{kind}{microbatch}")
        elif kind != "I":
            held.remove((stage, microbatch))
    return peak


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
    if ranks == 1:
        return 0.0
    first, last = rank == 0, rank == ranks - 1
    messages = 2 * virtual_stages - (1 if first else 0) - (1 if last else 0)
    return float(messages * microbatches * activation_bytes)


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


def _in_turn(first: Sequence[str], second: Sequence[str], warm_up: int) -> list[str]:
    """``warm_up`` of the first kind, then one of each kind in turn, then what is left of the second."""
    order = list(first[:warm_up])
    for one, other in zip(first[warm_up:], second, strict=False):
        order += [one, other]
    return order + list(second[len(first) - warm_up :])


def _interleaved(rank: int, ranks: int, microbatches: int, chunks: int) -> list[str]:
    forwards, backwards = [], []
    for k in range(microbatches * chunks):
        chunk, microbatch = k % (ranks * chunks) // ranks, k // (ranks * chunks) * ranks + k % ranks
        forwards.append(f"{rank + chunk * ranks}F{microbatch}")
        backwards.append(f"{rank + (chunks - 1 - chunk) * ranks}B{microbatch}")
    return _in_turn(forwards, backwards, min(len(forwards), 2 * (ranks - 1 - rank) + (chunks - 1) * ranks))


def _zero_bubble(rank: int, ranks: int, microbatches: int) -> list[str]:
    forwards, inputs, weights = ([f"{rank}{kind}{i}" for i in range(microbatches)] for kind in "FIW")
    warm_up = min(microbatches, ranks - 1 - rank)
    order, done = forwards[:warm_up], 0  # done: weight gradients
    for number, one in enumerate(forwards[warm_up:]):
        order += [one, inputs[number]]
        if number + 1 - done > rank:
            order.append(weights[done])
            done += 1
    return order + _in_turn(inputs[microbatches - warm_up :], weights[done:], 0)


#: The kind under which an operation's end is recorded: to the stage before, an I is as good as a B.
_PHASES = {"F": "F", "B": "B", "I": "B", "W": "W"}


def _inputs(
    stage: int, kind: str, homes: Mapping[int, int], ends: Mapping[tuple[int, str], list[float]], transfer_time: float
) -> list[tuple[list[float], float]]:
    """When the operations that an operation waits for end, by micro-batch, and how long each result takes to arrive."""
    sources = {"F": [(stage - 1, "F")], "W": [(stage, "B")]}.get(kind, [(stage, "F"), (stage + 1, "B")])
    sources = [source for source in sources if source in ends]
    return [(ends[source], transfer_time if homes[source[0]] != homes[stage] else 0.0) for source in sources]


def _complete(ops: Sequence[Sequence[_Op]]) -> tuple[dict[int, int], int, set[tuple[int, str]]]:
    """The rank of every stage, the number of micro-batches, and the kinds that each stage runs, once they are valid."""
    homes: dict[int, int] = {}
    runs: dict[tuple[int, str], list[int]] = {}
    for rank, order in enumerate(ops):
        for stage, kind, microbatch in order:
            runs.setdefault((stage, kind), []).append(microbatch)
            if homes.setdefault(stage, rank) != rank:
                raise ValueError(f"a stage must be on one rank, got stage {stage} on two")
    every = list(range(1 + max(map(max, runs.values()), default=-1)))
    backwards = every if any(kind != "F" for _, kind in runs) else []
    for stage in range(1 + max(homes, default=-1)):
        forwards, whole, inputs, weights = (sorted(runs.get((stage, kind), [])) for kind in "FBIW")
        if forwards != every or sorted(whole + inputs) != backwards or inputs != weights:
            raise ValueError(f"stage {stage} must run {len(every)} micro-batches once, F and B or F, I and W")
    return homes, len(every), set(runs)
