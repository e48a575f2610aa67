"""Weights that really move: over four roads between two processes, by a plan on four ranks, in buckets to three.

>>> times = road_times((2**20, 2**22, 2**24))  # doctest: +SKIP
>>> {road: line_of(rows) for road, rows in times.items()}  # doctest: +SKIP

All clocks are this machine's one monotonic clock, which its processes share.
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from rankzero import world
from rankzero.events import Ledger
from rankzero.facts.units import MiB
from rankzero.tiny import GPT, GPTConfig
from rankzero.world import World
from solutions.ch04.bandwidth import fit_alpha_beta
from solutions.ch14.weight_push import execute_reshard, push_weights
from solutions.ch14.weight_sync import Box, Transfer, column_shards, received, reshard_plan, row_shards

#: Sizes of the weights that are sent, bytes.
SIZES = (1 * MiB, 4 * MiB, 16 * MiB, 64 * MiB)

#: A handle travels in a message of so many bytes; the first eight say how long it is.
ENVELOPE = 4096


# Four roads. Each is a generator that two ranks run together. The code before its first ``yield`` is preparation; the
# rest is timed, from the trainer's start until the receiver has read the last byte, which it then yields.

Road = Callable[[int, Path], Iterator[int | None]]


def disk(size: int, folder: Path) -> Iterator[int | None]:
    """The trainer saves a file and waits until it is on the disk; the receiver loads it."""
    weights, path, told = _weights(size), folder / "weights.pt", torch.zeros(1)
    yield None
    if dist.get_rank() == 0:
        with path.open("wb") as file:
            torch.save(weights, file)
            file.flush()
            os.fsync(file.fileno())
        dist.send(told, 1)
    else:
        dist.recv(told, 0)
        weights = torch.load(path)
    yield int(weights[-1])


def pipe(size: int, folder: Path) -> Iterator[int | None]:
    """The bytes go through a pipe of the operating system: one copy into it, one out of it.

    Where the system allows it, the pipe holds 1 MiB: with the usual 64 KiB, they take turns sixteen times as often.
    """
    mine, path = bytearray((b"\x07" if dist.get_rank() == 0 else b"\0") * size), folder / "pipe"
    if dist.get_rank() == 0:
        os.mkfifo(path)
    dist.barrier()
    with path.open("wb" if dist.get_rank() == 0 else "rb", buffering=0) as end:
        with contextlib.suppress(ImportError, AttributeError, OSError):  # Linux alone
            import fcntl

            fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, MiB)
        yield None
        rest = memoryview(mine)
        while rest:
            done = end.write(rest) if dist.get_rank() == 0 else end.readinto(rest)
            if not done:  # the other end was closed
                break
            rest = rest[done:]
        yield mine[-1]
    dist.barrier()
    if dist.get_rank() == 0:  # rank 0 also creates the next one, which the other rank must not delete
        path.unlink()


def gloo(size: int, folder: Path) -> Iterator[int | None]:
    """A broadcast of the library."""
    weights = _weights(size)
    yield None
    dist.broadcast(weights, 0)
    yield int(weights[-1])


def shared(size: int, folder: Path) -> Iterator[int | None]:
    """The trainer's weights are in shared memory; the receiver gets a handle and maps the same memory."""
    weights = _weights(size).share_memory_() if dist.get_rank() == 0 else None
    yield None
    weights = _handed(weights)
    yield int(weights[-1])


def cuda_ipc(size: int, folder: Path) -> Iterator[int | None]:
    """As ``shared``, on a GPU that both processes see; the trainer waits for its own writes before it publishes."""
    weights = _weights(size).cuda() if dist.get_rank() == 0 else None
    yield None
    if dist.get_rank() == 0:
        torch.cuda.synchronize()
    weights = _handed(weights)
    yield int(weights[-1])


ROADS: Mapping[str, Road] = {"disk": disk, "pipe": pipe, "gloo": gloo, "shared": shared}


def road_times(
    sizes: Sequence[int] = SIZES, roads: Mapping[str, Road] = ROADS, repeats: int = 3
) -> dict[str, dict[int, float]]:
    """Seconds that weights of each size take on each road from one process to another; the median of some repeats.

    Args:
        sizes: of the weights, bytes; positive.
        roads: by name.
        repeats: timed runs of each size on each road, after one of that size that is not timed; at least 1.
    """
    with tempfile.TemporaryDirectory() as folder:
        laps = world.run(_laps, Path(folder), dict(roads), tuple(sizes), repeats, ranks=2, backend="gloo").values
    begun, ended = laps
    spans = iter([end - start for (start, _), (_, end) in zip(begun, ended, strict=True)])
    times: dict[str, dict[int, float]] = {}
    for road in roads:
        laps_of = {size: [next(spans) for _ in range(1 + repeats)] for size in sizes}
        times[road] = {size: statistics.median(found[1:]) for size, found in laps_of.items()}
    return times


def _laps(folder: Path, roads: Mapping[str, Road], sizes: Sequence[int], repeats: int) -> list[tuple[float, float]]:
    """When each lap began and ended on this rank; the first lap of a size on a road is a warm-up."""
    plan = [(road, size) for road in roads for size in sizes for _ in range(1 + repeats)]
    return [_lap(roads[road](size, folder)) for road, size in plan]


def _lap(steps: Iterator[int | None]) -> tuple[float, float]:
    next(steps)
    dist.barrier()
    start = time.perf_counter()
    arrived = next(steps)
    end = time.perf_counter()
    dist.barrier()  # the owner of the memory waits until the other has read it
    for _ in steps:
        pass
    if arrived != 7:
        raise ValueError(f"weights must arrive whole, got a last byte of {arrived}")
    return start, end


def _weights(size: int) -> torch.Tensor:
    """Weights as bytes [size]: sevens on the trainer, zeros on the receiver."""
    return torch.full((size,), 7 if dist.get_rank() == 0 else 0, dtype=torch.uint8)


def _handed(weights: torch.Tensor | None) -> torch.Tensor:
    """Rank 0's tensor, as the same memory on rank 1."""
    envelope = torch.zeros(ENVELOPE, dtype=torch.uint8)
    if weights is not None:
        handle = bytes(ForkingPickler.dumps(weights))
        letter = len(handle).to_bytes(8, "little") + handle
        envelope[: len(letter)] = torch.frombuffer(bytearray(letter), dtype=torch.uint8)
        dist.send(envelope, 1)
        return weights
    dist.recv(envelope, 0)
    letter = bytes(envelope.tolist())
    found: torch.Tensor = pickle.loads(letter[8 : 8 + int.from_bytes(letter[:8], "little")])
    return found


def handle_sizes(sizes: Sequence[int] = (4_000, 100_000_000)) -> dict[int, int]:
    """Bytes of the pickled handle of a tensor in shared memory, by the tensor's size in bytes."""
    found: tuple[dict[int, int], ...] = world.run(_handle_sizes, tuple(sizes), ranks=1).values
    return found[0]


def _handle_sizes(sizes: Sequence[int]) -> dict[int, int]:
    return {size: len(ForkingPickler.dumps(torch.zeros(size, dtype=torch.uint8).share_memory_())) for size in sizes}


@dataclass(frozen=True)
class Line:
    """A line through times: start-up ``alpha`` in seconds, ``bandwidth`` in bytes/s, infinite where it is flat."""

    alpha: float
    bandwidth: float

    def seconds(self, size: float) -> float:
        """The line's prediction for this many bytes."""
        return self.alpha + size / self.bandwidth


def line_of(rows: Mapping[int, float], flat: float = 2.0) -> Line:
    """The line through seconds by size; level if the largest takes less than ``flat`` times the smallest.

    Where the sizes are close to each other the square root of their ratio counts, when that is below ``flat``.
    """
    sizes = sorted(rows)
    if rows[sizes[-1]] <= min(flat, math.sqrt(sizes[-1] / sizes[0])) * rows[sizes[0]]:
        return Line(statistics.median(rows.values()), float("inf"))
    return Line(*fit_alpha_beta(sizes, [rows[size] for size in sizes]))


@dataclass(frozen=True)
class Span:
    """A bucket in a stage, both counted from 0, from ``start`` to ``end`` in seconds."""

    stage: int
    bucket: int
    start: float
    end: float


def bucket_spans(message_bytes: float, bucket_bytes: float, bandwidths: Sequence[float]) -> list[Span]:
    """When each bucket is in each stage: what ``bucketed_sync_time`` adds up, for a picture."""
    free, spans = [0.0] * len(bandwidths), list[Span]()
    for bucket in range(math.ceil(message_bytes / bucket_bytes)):
        size, ready = min(bucket_bytes, message_bytes - bucket * bucket_bytes), 0.0
        for stage, bandwidth in enumerate(bandwidths):
            begin = max(ready, free[stage])
            ready = free[stage] = begin + size / bandwidth
            spans.append(Span(stage, bucket, begin, ready))
    return spans


# A plan on real ranks.


@dataclass(frozen=True)
class Resharded:
    """What a run of a plan on real ranks did.

    Attributes:
        plan: that was carried out.
        right: whether every rank came to hold its box of the matrix.
        received: bytes that each rank received, by the run's event log.
        planned: bytes that each rank should receive, by the plan.
    """

    plan: tuple[Transfer, ...]
    right: bool
    received: tuple[int, ...]
    planned: tuple[int, ...]


def matrix(shape: tuple[int, int]) -> torch.Tensor:
    """A matrix of float32 whose elements are all different: row by row 0, 1, 2 ..."""
    return torch.arange(shape[0] * shape[1], dtype=torch.float32).view(shape)


def cut(whole: torch.Tensor, box: Box) -> torch.Tensor:
    """A box of a matrix, a contiguous copy."""
    return whole[box[0] : box[1], box[2] : box[3]].contiguous()


def resharded(
    shape: tuple[int, int],
    source: Sequence[Box],
    target: Sequence[Box],
    execute: Callable[..., torch.Tensor] = execute_reshard,
    planner: Callable[..., Sequence[Transfer]] = reshard_plan,
) -> Resharded:
    """Carry out the plan from ``source`` to ``target`` on real ranks, and compare the result with slicing.

    Args:
        shape: of the matrix.
        source, target: a box for each rank.
        execute: what carries a plan out.
        planner: what makes it.
    """
    plan, whole = tuple(planner(source, target)), matrix(shape)
    run = world.run(_carry_out, execute, whole, source, target, plan, ranks=len(source), backend="gloo")
    right = all(torch.equal(got, cut(whole, box)) for got, box in zip(run.values, target, strict=True))
    size = whole.element_size()
    planned = tuple(size * received(plan, rank) for rank in range(len(source)))
    return Resharded(plan, right, _received(run), planned)


def _carry_out(
    execute: Callable[..., torch.Tensor],
    whole: torch.Tensor,
    source: Sequence[Box],
    target: Sequence[Box],
    plan: Sequence[Transfer],
) -> torch.Tensor:
    return execute(cut(whole, source[dist.get_rank()]), source, target, plan)


def _received(run: World) -> tuple[int, ...]:
    book = run.ledger()
    return tuple(book.received(rank) for rank in range(run.ranks))


def redistributed(
    shape: tuple[int, int], mesh: tuple[int, ...], source: Sequence[str], target: Sequence[str]
) -> tuple[list[torch.Tensor], Ledger]:
    """The same change by the library: DTensor on a mesh of ranks.

    Args:
        shape: of the matrix.
        mesh: ranks along each axis, the slowest first.
        source, target: along each axis ``"rows"``, ``"columns"`` or ``"copies"``.

    Returns:
        Each rank's block afterwards, and the ledger of what the change called. A collective counts a rank's own part
        among what it gets.
    """
    run = world.run(
        _redistribute, matrix(shape), mesh, tuple(source), tuple(target), ranks=math.prod(mesh), backend="gloo"
    )
    return list(run.values), run.ledger()


def _redistribute(
    whole: torch.Tensor, mesh: tuple[int, ...], source: tuple[str, ...], target: tuple[str, ...]
) -> torch.Tensor:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate, Shard

    kinds: dict[str, Any] = {"rows": Shard(0), "columns": Shard(1), "copies": Replicate()}
    devices = init_device_mesh("cpu", mesh, mesh_dim_names=tuple(f"axis{index}" for index in range(len(mesh))))
    local = whole
    for axis, (kind, size) in enumerate(zip(source, mesh, strict=True)):
        if kind != "copies":
            boxes = (row_shards if kind == "rows" else column_shards)((local.shape[0], local.shape[1]), size)
            local = cut(local, boxes[devices.get_local_rank(axis)])
    held = [kinds[kind] for kind in source]
    tensor = DTensor.from_local(local, devices, held, run_check=False, shape=whole.shape, stride=whole.stride())
    return tensor.redistribute(devices, [kinds[kind] for kind in target]).to_local().contiguous()


# Buckets from a trainer.


@dataclass(frozen=True)
class Pushed:
    """What a push did: broadcasts by the log, the bytes of each, and whether all ranks hold the trainer's weights."""

    sizes: tuple[int, ...]
    equal: bool
    model_bytes: int


def pushed(
    bucket_bytes: int, push: Callable[..., None] = push_weights, config: GPTConfig | None = None, ranks: int = 4
) -> Pushed:
    """Rank 0 trains, the others generate: push its weights to them, and compare.

    Args:
        bucket_bytes: the most that one broadcast carries.
        push: what does it.
        config: of the model that every rank has, each with other numbers in it.
        ranks: of them rank 0 is the trainer.
    """
    shape = config or GPTConfig(vocab=64, layers=2, heads=2, head_dim=16, context=24)
    run = world.run(_push, push, shape, bucket_bytes, ranks=ranks, backend="gloo")
    first = run.values[0]
    equal = all(torch.equal(first[name], state[name]) for state in run.values for name in first)
    sizes = tuple(event.sent for event in run.events if event.rank == 0 and event.operation == "broadcast")
    return Pushed(sizes, equal, sum(tensor.nbytes for tensor in first.values()))


def _push(push: Callable[..., None], config: GPTConfig, bucket_bytes: int) -> dict[str, torch.Tensor]:
    model = GPT(config, seed=dist.get_rank())
    push(model.state_dict(), 0, dist.group.WORLD, bucket_bytes)
    return dict(model.state_dict())
