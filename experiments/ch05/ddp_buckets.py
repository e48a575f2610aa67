"""What DistributedDataParallel sends, and when: a communication hook records every bucket.

    [len(step.buckets) for step in ddp_steps()]

The event log contains the same reductions; the hook also knows the backward pass and the bucket that each belongs to.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from rankzero import world
from rankzero.events import Event
from rankzero.facts.units import MiB
from solutions.ch05.data_parallel import synchronize_gradients

#: Clock readings of one bucket: handed to the hook, reduced.
Reading = tuple[int, float, float]


@dataclass(frozen=True)
class Bucket:
    """One all-reduce of DDP.

    Attributes:
        size: bytes.
        start: seconds from the start of the backward pass until the bucket was full and DDP called the hook.
        end: seconds from the start of the backward pass to the end of the bucket's all-reduce.
    """

    size: int
    start: float
    end: float


@dataclass(frozen=True)
class Step:
    """One backward pass under DDP, as rank 0 saw it.

    Attributes:
        buckets: the buckets in the order in which they were sent.
        backward: seconds until this rank's last gradient was computed, when DDP calls the last hook.
        seconds: until the call of ``backward`` returned, all reductions included.
    """

    buckets: tuple[Bucket, ...]
    backward: float
    seconds: float

    @property
    def exposed(self) -> float:
        """Seconds of communication after the last gradient."""
        return max(0.0, max(bucket.end for bucket in self.buckets) - self.backward)

    @property
    def events(self) -> tuple[Event, ...]:
        """Computation in row 0 and communication in row 1, for ``figures.spacetime``."""
        rows = [Event(0, "backward pass", (), 0, 0, 0.0, self.backward)]
        rows += [Event(1, "all_reduce", (), b.size, b.size, b.start, b.end) for b in self.buckets]
        return tuple(rows)


def layers_of(layers: int, layer_bytes: int) -> torch.nn.Sequential:
    """Square linear layers without bias, each of about ``layer_bytes`` of float32."""
    width = max(1, round((layer_bytes / 4) ** 0.5))
    return torch.nn.Sequential(*(torch.nn.Linear(width, width, bias=False) for _ in range(layers)))


def ddp_steps(
    layers: int = 40, layer_bytes: int = MiB, ranks: int = 2, steps: int = 3, rows: int = 8, cap: float | None = None
) -> list[Step]:
    """Backward passes under DDP, with the buckets of each.

    Args:
        layers: of the model.
        layer_bytes: of the weights of each.
        ranks: processes.
        steps: backward passes.
        rows: of the batch of one rank.
        cap: ``bucket_cap_mb``, in bytes; None keeps DDP's own caps.
    """
    run = world.run(_hooked, layers, layer_bytes, steps, rows, cap, ranks=ranks)
    return [_step(*readings) for readings in run.values[0]]


def _hooked(
    layers: int, layer_bytes: int, steps: int, rows: int, cap: float | None
) -> list[tuple[float, list[Reading], float]]:
    """On each rank: for each backward pass its start, the readings of its buckets, and its end."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(layers_of(layers, layer_bytes), bucket_cap_mb=cap and cap / MiB)
    notes: list[list[Any]] = []

    # DDP checks a hook's annotations and rejects ones that are strings, so the hooks have none.
    def hook(_, bucket):  # type: ignore[no-untyped-def]
        note = [bucket.buffer().nbytes, time.monotonic(), 0.0]
        notes.append(note)
        work = dist.all_reduce(bucket.buffer().div_(dist.get_world_size()), async_op=True)

        def done(future: torch.futures.Future) -> torch.Tensor:
            note[2] = time.monotonic()
            return future.value()[0]

        return work.get_future().then(done)

    model.register_comm_hook(None, hook)
    x = torch.randn(rows, model.module[0].in_features)
    result = []
    for _ in range(steps):
        notes.clear()
        model.zero_grad()
        value = model(x).square().mean()
        dist.barrier()
        start = time.monotonic()
        value.backward()
        result.append((start, [(n[0], n[1], n[2]) for n in notes], time.monotonic()))
    return result


def _step(start: float, readings: Sequence[Reading], end: float) -> Step:
    buckets = tuple(Bucket(size, first - start, last - start) for size, first, last in readings)
    return Step(buckets, buckets[-1].start, end - start)


@dataclass(frozen=True)
class Sweep:
    """Time and number of reductions for one cap.

    Attributes:
        cap: of a bucket, bytes.
        reductions: all-reduces in one step, by hand and under DDP.
        seconds: median time from the start of the backward pass until all gradients are averaged, by hand and under
            DDP.
        backward: median time of a backward pass alone, seconds.
    """

    cap: float
    reductions: tuple[int, int]
    seconds: tuple[float, float]
    backward: float


def bucket_sweep(
    caps: Sequence[float],
    layers: int = 40,
    layer_bytes: int = MiB // 16,
    ranks: int = 2,
    steps: int = 3,
    rows: int = 32,
    synchronize: Callable[..., int] = synchronize_gradients,
) -> list[Sweep]:
    """Compare ``synchronize_gradients`` after the backward pass with DDP, which overlaps with it, for each cap.

    Args:
        caps: of a bucket, bytes.
        layers: of the model.
        layer_bytes: of the weights of each.
        ranks: processes.
        steps: timed steps, after two for warm-up.
        rows: of the batch of one rank.
        synchronize: called as ``synchronize(parameters, rows, cap)``.
    """
    values = world.run(_swept, tuple(caps), layers, layer_bytes, steps, rows, synchronize, ranks=ranks).values[0]
    return [Sweep(*row) for row in values]


def _swept(
    caps: tuple[float, ...], layers: int, layer_bytes: int, steps: int, rows: int, synchronize: Callable[..., int]
) -> list[tuple[float, tuple[int, int], tuple[float, float], float]]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model: Any = layers_of(layers, layer_bytes)
    x = torch.randn(rows, model[0].in_features)
    result = []
    for cap in caps:
        calls: list[int] = []
        reduce = functools.partial(_reduced, calls, synchronize, model, rows, cap)
        by_hand = _timed(model, x, steps, reduce)
        alone = _timed(model, x, steps, lambda: None)
        wrapped = DistributedDataParallel(model, bucket_cap_mb=cap / MiB)
        buckets: list[int] = []
        wrapped.register_comm_hook(buckets, _counted)
        under_ddp = _timed(wrapped, x, steps, buckets.clear, before=True)
        result.append((cap, (calls[-1], len(buckets)), (by_hand, under_ddp), alone))
    return result


def _reduced(calls: list[int], synchronize: Callable[..., int], model: Any, rows: int, cap: float) -> None:
    calls.append(synchronize(model.parameters(), rows, cap))


def _counted(buckets, bucket):  # type: ignore[no-untyped-def]
    """Average the bucket, as DDP does without a hook, and record its size."""
    buckets.append(bucket.buffer().nbytes)
    work = dist.all_reduce(bucket.buffer().div_(dist.get_world_size()), async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def _timed(model: Any, x: torch.Tensor, steps: int, call: Callable[[], Any], before: bool = False) -> float:
    """Median seconds of a backward pass followed by ``call``; with ``before``, the call comes first, untimed."""
    seconds = []
    for _ in range(steps + 2):
        model.zero_grad()
        value = model(x).square().mean()
        if before:
            call()
        dist.barrier()
        start = time.monotonic()
        value.backward()
        if not before:
            call()
        seconds.append(time.monotonic() - start)
    return statistics.median(seconds[2:])
