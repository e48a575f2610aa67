"""Chapter 3: wrong claims about collectives, and what is right. Standard library only."""

from __future__ import annotations

from itertools import accumulate

from rankzero.facts.units import GB, MB, Gbit, MiB, format_bytes, format_time, us
from solutions.ch03.collective_cost import ring_all_reduce_time, traffic
from solutions.ch03.collective_semantics import collective_outputs

from ..correction import FUNDAMENTALS, MLSYS, SENIOR_ENGINEER, Correction

_TORCH = "torch.distributed documentation"
_MPI = "MPI standard, collective communication"
_NCCL_TESTS = "NVIDIA/nccl-tests, doc/PERFORMANCE.md"
_RING = "Patarasuk and Yuan (2009), doi:10.1016/j.jpdc.2008.09.002"
_DDP = "Li et al. (2020), PyTorch Distributed, arXiv:2006.15704"


def _sent(operation: str, ranks: int) -> float:
    """Bytes that one rank sends, in units of the full tensor."""
    return traffic(operation, 1.0, ranks, 0)[0]


def _milliseconds(message_bytes: float, ranks: int, bandwidth: float) -> str:
    return format_time(ring_all_reduce_time(message_bytes, ranks, bandwidth))


def _semantics() -> tuple[Correction, ...]:
    """What the operations mean."""
    chunks = [1, 2, 3, 4]
    inputs = [[chunk * (rank + 1) for chunk in chunks] for rank in range(4)]
    scattered = [output[0] for output in collective_outputs("reduce_scatter", inputs) if output]
    left = list(accumulate(reversed(chunks)))[::-1]
    counts, values = (100, 100, 100, 50), (0, 1, 2, 3)
    mean = sum(count * value for count, value in zip(counts, values, strict=True)) / sum(counts)
    return (
        Correction(
            "3.2",
            "Reduce-scatter turns the ranks' tensors [A], [B], [C], [D] into [sum(A)], [sum(B)], [sum(C)], [sum(D)].",
            "Every rank contributes N chunks; rank r gets the sum of chunk r over all ranks.",
            f"Ranks that contribute {', '.join(map(str, inputs))} get {', '.join(map(str, scattered))}.",
            _MPI,
            matters="An implementation that follows it returns the wrong values on every rank.",
            places=(f"{MLSYS}, src/part1-distributed/chapter03.md",),
        ),
        Correction(
            "3.3",
            "After reduce, the other ranks still have their data.",
            "Only the root's buffer is defined; the others may be overwritten.",
            f"Gloo passes partial sums down a chain in place: reducing {chunks} to rank 0 leaves {left}.",
            _TORCH,
            matters="Code that goes on using the buffer works on one backend and is wrong on another.",
        ),
        Correction(
            "3.10",
            "Summing over ranks and dividing by the world size always gives the mean.",
            "Only if all ranks hold equally many values; otherwise, reduce both the sum and the count.",
            f"{counts} values equal to {values} have the mean {mean:.6g}; the mean of the means is "
            f"{sum(values) / len(values):.6g}.",
            _TORCH,
            matters="Losses and metrics are biased whenever the last batch is short.",
        ),
    )


def _volume() -> tuple[Correction, ...]:
    """What the operations move."""
    whole, ring = 8 - 1, _sent("all_reduce", 8)
    two, many = _sent("all_reduce", 2), _sent("all_reduce", 1000)
    return (
        Correction(
            "3.7",
            "The library's ring passes whole tensors around.",
            "It cuts the tensor into N chunks and runs a reduce-scatter, then an all-gather.",
            f"On 8 ranks a whole-tensor ring sends {whole} S per rank, a chunked one {ring:.6g} S: "
            f"{whole / ring:.3g} times less.",
            _NCCL_TESTS,
            matters="A ring written that way is several times too slow on many ranks.",
            places=(f"{MLSYS}, src/part1-distributed/chapter03.md, exercise 3",),
        ),
        Correction(
            "3.7",
            "All-gather moves D (N-1) per rank and all-reduce 2 D (N-1)/N.",
            "D is one rank's part in the first formula and the full tensor in the second. If S is the full tensor, a "
            "rank sends, and receives, (N-1)/N S and 2 (N-1)/N S.",
            f"On 8 ranks: {_sent('all_gather', 8):.6g} S and {ring:.6g} S.",
            _NCCL_TESTS,
            matters="Volumes of two operations are compared as if they were measured in the same unit.",
            places=(f"{MLSYS}, src/part1-distributed/chapter03.md",),
        ),
        Correction(
            "3.7",
            "All-reduce moves the same number of bytes for any number of ranks; in a star, the root sends N S.",
            "The bytes that a rank sends grow from S to 2 S; the root of a star sends (N-1) S.",
            f"2 (N-1)/N is {two:.6g} for 2 ranks and {many:.6g} for 1,000; a root does not send to itself.",
            _RING,
            matters="Small groups look more expensive than they are.",
            places=(
                f"{MLSYS}, src/part1-distributed/chapter03.md (the first half)",
                "torchedup.dev, Ring All-Reduce (the first half)",
                "cruxible.dev, Ring all reduce (the first half)",
            ),
        ),
        Correction(
            "3.16",
            "All-to-all moves the whole buffer, or a share that falls with the number of experts.",
            "A rank sends (N-1)/N of its buffer: almost all of it when there are many ranks.",
            f"2 ranks {_sent('all_to_all', 2):.4g} S, 8 ranks {_sent('all_to_all', 8):.4g} S, "
            f"64 ranks {_sent('all_to_all', 64):.4g} S: a rank's own block stays, the rest travels.",
            _NCCL_TESTS,
            matters="The cost of expert parallelism is underestimated where it matters most.",
        ),
    )


def _time() -> tuple[Correction, ...]:
    """What the operations cost."""
    latency = format_time(ring_all_reduce_time(0, 1024, 50 * GB, 5 * us))
    misread = format_time(_sent("all_reduce", 8) * (100 / 1024) * GB / (100 * GB))
    times = {
        "400 Gb/s": _milliseconds(100 * MB, 8, 400 * Gbit),
        "1 GB": _milliseconds(1 * GB, 8, 100 * Gbit),
        "64 ranks": _milliseconds(100 * MB, 64, 100 * Gbit),
    }
    return (
        Correction(
            "3.8",
            "An all-reduce takes 2 S/B.",
            "It takes 2 (N-1)/N S/B, plus one start-up for each of its 2 (N-1) steps.",
            f"On 8 ranks the factor is {_sent('all_reduce', 8):.6g}; on 1,024 ranks with 5 µs a step, {latency} pass "
            "before the size matters.",
            _RING,
            matters="For small messages on many ranks the estimate misses nearly all of the time.",
            places=(f"{SENIOR_ENGINEER}, lessons/mod-202-distributed-training/lecture-notes/04-nccl-networking.md",),
        ),
        Correction(
            "3.8",
            "Gradient bucketing means reduce-scatter.",
            "Buckets coalesce all-reduces; reduce-scatter belongs to sharding (ZeRO, FSDP).",
            f"DDP fills buckets of {format_bytes(25 * MiB, binary=True)}, the first of "
            f"{format_bytes(1 * MiB, binary=True)}, and all-reduces each.",
            _DDP,
            matters="A memory plan then counts savings that DDP does not bring.",
            places=(f"{MLSYS}, src/part1-distributed/chapter03.md",),
        ),
        Correction(
            "3.3",
            "A barrier makes the tensor ready.",
            "On a CPU a blocking collective returns ready, and an asynchronous one is ready after its own wait. On a "
            "GPU both are then ready for what is queued on the same stream, not for the CPU.",
            "A barrier is an all-reduce of nothing: it shows that all ranks have arrived, and says nothing about "
            "other handles.",
            _TORCH,
            matters="The tensor is read before it is complete, and the error appears only under load.",
        ),
        Correction(
            "3.8",
            "100 MB over 8 ranks at 100 Gb/s take 1.71 ms.",
            f"They take {_milliseconds(100 * MB, 8, 100 * Gbit)}.",
            f"Gigabits were read as gigabytes, and 100 MB as 100/1024 GB: {misread}. Changing one thing at a time "
            "gives " + ", ".join(f"{change} {time}" for change, time in times.items()) + ".",
            _NCCL_TESTS,
            matters="Errors of this size decide whether communication can be hidden.",
            places=(f"{FUNDAMENTALS} (what its program prints)",),
        ),
    )


CORRECTIONS: tuple[Correction, ...] = (*_semantics(), *_volume(), *_time())
