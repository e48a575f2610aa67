# Generated from solutions/ch14/weight_sync.py by make stubs. Write the bodies; names and signatures stay.
"""Moving weights from a trainer to a generator: times, bytes, and which rank sends which rectangle to which.

Standard library only. Sizes in bytes, times in seconds. A box ``(row0, row1, col0, col1)`` is a part of a matrix, half
open: rows row0 to row1 - 1, columns col0 to col1 - 1. It may be empty.

>>> rows, halves = row_shards((8, 6), 4), row_shards((8, 6), 2)
>>> plan = reshard_plan(rows, [halves[rank % 2] for rank in range(4)])
>>> len([move for move in plan if move.source != move.destination]), moved_bytes(plan, itemsize=2)
(6, 144)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rankzero import checks

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Transition:
    """Bytes of one GPU when its actor changes from training to generation.

    Attributes:
        received: bytes that arrive from other GPUs.
        peak: bytes of the weights that it generates with; what is redundant comes on top.
        redundant: bytes of training weights that it keeps in addition to those that it generates with.
    """

    received: float
    peak: float
    redundant: float


@dataclass(frozen=True)
class Transfer:
    """A box that ``destination`` gets from ``source``; the two are equal where a rank keeps what it has."""

    source: int
    destination: int
    box: Box


def chain_broadcast_time(
    message_bytes: float, receivers: int, bandwidth: float, latency: float = 0.0, chunks: int = 1
) -> float:
    """Time until the last of ``receivers`` has the weights, in seconds: each receiver passes them on to the next.

    Every receiver passes a chunk on while the next one arrives. So the last chunk leaves the source after the others
    and then travels one hop per receiver. This is chapter 2's relay with as many hops as receivers.

    Args:
        message_bytes: size of the weights, bytes; not negative.
        receivers: ranks that receive them, without the source; at least 0. Without receivers it takes no time.
        bandwidth: of one link, one direction, bytes/s; positive.
        latency: start-up of one chunk on one link (alpha), seconds; not negative.
        chunks: equal parts of the message; at least 1.

    Source: Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001, section 2.
    """
    checks.count(0, receivers=receivers)
    checks.count(chunks=chunks)
    checks.amount(message_bytes=message_bytes, latency=latency)
    checks.positive(bandwidth=bandwidth)
    raise NotImplementedError("14-chain-broadcast-time: not written yet")


def bucketed_sync_time(
    message_bytes: float, bucket_bytes: float, bandwidths: Sequence[float], latencies: Sequence[float] | None = None
) -> float:
    """Time until the last bucket has passed the last stage, in seconds.

    The weights are cut into buckets of ``bucket_bytes``; the last one holds the rest. Each bucket passes the stages in
    order (gather, send, broadcast ...). A stage works on one bucket at a time, and all stages work at once: a stage
    starts on a bucket when it is done with the one before and the stage before is done with this one.

    Args:
        message_bytes: size of the weights, bytes; not negative. Nothing to send takes no time.
        bucket_bytes: size of a bucket, bytes; positive. It may be larger than the message.
        bandwidths: of each stage, of which there is at least one, bytes/s; positive.
        latencies: start-up of one bucket in each stage, as many as bandwidths, seconds; not negative. None: zeros.
    """
    checks.amount(message_bytes=message_bytes)
    checks.positive(bucket_bytes=bucket_bytes, bandwidths=bandwidths)
    checks.require(len(bandwidths) > 0, "have at least one entry", bandwidths=bandwidths)
    if latencies is not None:
        checks.amount(latencies=latencies)
        checks.require(len(latencies) == len(bandwidths), f"have {len(bandwidths)} entries", latencies=latencies)
    raise NotImplementedError("14-bucketed-sync-time: not written yet")


def transition_cost(
    model_bytes: float,
    train_tp: int,
    train_pp: int,
    train_dp: int,
    generate_tp: int,
    generate_pp: int,
    engine: str,
) -> Transition:
    """Bytes of one GPU for the change from a training layout to a generation layout of the same weights.

    Training cuts a model over ``train_tp * train_pp`` ranks, in ``train_dp`` replicas. An engine changes over in one of
    three ways:

    - ``"zero3"``: every rank of all replicas holds an equal shard and gathers the whole model.
    - ``"gather"``: every rank gathers the whole model from the ranks of its own replica.
    - ``"nested"``: slices are assigned to ranks so that each one's training slice lies inside its generation slice, one
      of ``generate_tp * generate_pp``; it receives what it lacks of that slice and keeps nothing twice.

    Args:
        model_bytes: size of the weights, bytes; positive.
        train_tp, train_pp, train_dp: sizes of the training layout's axes; at least 1.
        generate_tp, generate_pp: of the generation layout's; at least 1. Only ``"nested"`` uses them. There each one
            divides the training layout's: slices nest axis by axis.
        engine: ``"zero3"``, ``"gather"`` or ``"nested"``.

    Source: Sheng et al. (2024), HybridFlow, arXiv:2409.19256, section 5, on the overhead of the transition.
    """
    checks.positive(model_bytes=model_bytes)
    checks.count(train_tp=train_tp, train_pp=train_pp, train_dp=train_dp)
    checks.count(generate_tp=generate_tp, generate_pp=generate_pp)
    checks.one_of(("zero3", "gather", "nested"), engine=engine)
    raise NotImplementedError("14-transition-cost: not written yet")


def row_shards(shape: tuple[int, int], ranks: int) -> list[Box]:
    """The rows of a matrix over ``ranks``, as PyTorch cuts them: ceil(rows / ranks) each; the last may have fewer.

    >>> [box[1] - box[0] for box in row_shards((10, 1), 4)], [box[1] - box[0] for box in row_shards((5, 1), 4)]
    ([3, 3, 3, 1], [2, 2, 1, 0])
    """
    return [(low, high, 0, shape[1]) for low, high in _chunks(shape[0], ranks)]


def column_shards(shape: tuple[int, int], ranks: int) -> list[Box]:
    """The columns of a matrix over ``ranks``, cut as :func:`row_shards` cuts rows."""
    return [(0, shape[0], low, high) for low, high in _chunks(shape[1], ranks)]


def _chunks(size: int, ranks: int) -> list[tuple[int, int]]:
    width = -(-size // ranks)
    edges = [min(size, rank * width) for rank in range(ranks + 1)]
    return [(edges[rank], edges[rank + 1]) for rank in range(ranks)]


def shard_boxes(shape: tuple[int, int], layout: str) -> list[Box]:
    """The box of each rank in a layout that is given by its name.

    ``"rows4"``: four slices of rows, one for each rank. ``"columns2x2"``: two slices of columns in two copies, dealt in
    turn: rank r has slice r mod 2. ``"rows2:2"``: as many, each copied to neighbours: rank r has slice r div 2.

    Raises:
        ValueError: the word is not ``rows`` or ``columns``, a number from 1 to 99, and perhaps ``x`` or ``:`` and
            another.
    """
    match = re.fullmatch(r"(rows|columns)([1-9]\d?)(?:([x:])([1-9]\d?))?", layout)
    if not match:
        raise ValueError(f"layout must be a word like rows4, columns2x2 or rows2:2, got {layout!r}")
    kind, slices, order, copies = match[1], int(match[2]), match[3], int(match[4] or 1)
    boxes = (row_shards if kind == "rows" else column_shards)(shape, slices)
    return [box for box in boxes for _ in range(copies)] if order == ":" else boxes * copies


def moved_bytes(plan: Sequence[Transfer], itemsize: int) -> int:
    """Bytes that a plan sends from one rank to another; what a rank keeps is not sent."""
    return itemsize * sum(_area(move.box) for move in plan if move.source != move.destination)


def received(plan: Sequence[Transfer], rank: int) -> int:
    """Elements that ``rank`` gets from other ranks."""
    return sum(_area(move.box) for move in plan if move.destination == rank != move.source)


def reshard_plan(source: Sequence[Box], target: Sequence[Box]) -> list[Transfer]:
    """Who sends which box to whom, so that every rank that holds ``source[rank]`` comes to hold ``target[rank]``.

    Every element of every target box comes exactly once: from the destination itself where it has it, else from the
    lowest rank that has it. The boxes of a plan are not empty, and what a rank keeps is listed too.

    Args:
        source: the box that each rank holds; any two are equal (replicas) or have no element in common.
        target: the box that each rank is to hold, for as many ranks; boxes may overlap and leave gaps. No box, of
            either list, begins below 0 or ends before it begins.

    Returns:
        Transfers by destination; for each destination its own piece first, then by source.

    Raises:
        ValueError: a target needs an element that nobody holds.
    """
    _check_boxes(source, target)
    raise NotImplementedError("14-reshard-plan: not written yet")


def _area(box: Box) -> int:
    return (box[1] - box[0]) * (box[3] - box[2])


def _check_boxes(source: Sequence[Box], target: Sequence[Box]) -> None:
    checks.require(len(target) == len(source), f"have a box for each of {len(source)} ranks", target=target)
    for box in (*source, *target):
        checks.count(0, box=box)
        checks.require(box[0] <= box[1] and box[2] <= box[3], "be (row0, row1, col0, col1) in order", box=box)
