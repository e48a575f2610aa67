"""Chapter 3: what collectives promise, and the units of their volume. Standard library only."""

from __future__ import annotations

from itertools import accumulate

from rankzero.facts.units import GB, format_time, us
from solutions.ch03.collective_cost import ring_all_reduce_time, traffic
from solutions.ch03.collective_semantics import collective_outputs

from ..correction import Correction, worked

_TORCH = "[torch.distributed](https://docs.pytorch.org/docs/2.13/distributed.html), collective functions"
_NCCL_TESTS = (
    "NVIDIA, nccl-tests, [PERFORMANCE.md](https://github.com/NVIDIA/nccl-tests/blob/"
    "dcf818955fa6e279e03263c984e95384164c24ad/doc/PERFORMANCE.md)"
)
_RING = "Patarasuk and Yuan (2009), doi:10.1016/j.jpdc.2008.09.002"

_INPUTS = [[1], [2], [3], [4]]
_REDUCED = worked(collective_outputs, "reduce", _INPUTS)
#: What Gloo leaves on each rank: partial sums, passed down a chain in place.
_LEFT = list(accumulate(reversed([value for (value,) in _INPUTS])))[::-1]

_GATHER, _REDUCE = (worked(traffic, name, 1.0, 8, 0, pick=0) for name in ("all_gather", "all_reduce"))
_TWO, _MANY = (worked(traffic, "all_reduce", 1.0, ranks, 0, pick=0) for ranks in (2, 1000))
_START_UPS = worked(ring_all_reduce_time, 0, 1024, 50 * GB, 5 * us)
_BYTES = worked(ring_all_reduce_time, 1_000_000, 1024, 50 * GB, 0.0)

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "3.3",
        "After a reduce only the root's buffer is defined",
        "After a reduce the other ranks still have their own data.",
        "The contract says nothing about their buffers, and a backend may use them. Gloo passes partial sums down a "
        f"chain in place: reducing {', '.join(str(value) for (value,) in _INPUTS)} to rank 0 leaves {_LEFT}. Code that "
        "goes on using such a buffer is right on one backend and wrong on another, without an error.",
        (_REDUCED,),
        _TORCH,
    ),
    Correction(
        "3.7",
        "Two formulas compare only if their S is the same",
        "All-gather moves D (N-1) per rank and all-reduce 2 D (N-1)/N, so on many ranks an all-gather costs far more.",
        "D is one rank's part in the first formula and the whole tensor in the second. With S for the whole tensor a "
        f"rank sends (N-1)/N S and 2 (N-1)/N S: on 8 ranks {_GATHER.value:g} S and {_REDUCE.value:g} S, half as much "
        "and not more.",
        (_GATHER, _REDUCE),
        _NCCL_TESTS,
    ),
    Correction(
        "3.7",
        "A rank's bytes in a ring grow to twice the tensor, and stop there",
        "A ring all-reduce moves the same number of bytes for any number of ranks.",
        f"A rank sends 2 (N-1)/N S: {_TWO.value:g} S on 2 ranks, {_REDUCE.value:g} S on 8 and {_MANY.value:g} S on "
        "1,000. The sentence is nearly true of large groups and wrong by a factor of two for the smallest; and it is "
        "about bytes only, because the number of steps keeps growing with N.",
        (_TWO, _REDUCE, _MANY),
        _RING,
    ),
    Correction(
        "3.8",
        "2 S/B leaves out the start-ups",
        "An all-reduce takes 2 S/B.",
        "That is the limit for many ranks and a large tensor. A ring takes 2 (N-1)/N S/B and a start-up for each of "
        f"its 2 (N-1) steps: on 1,024 ranks with 5 µs a step, {format_time(_START_UPS.value)} pass before the size "
        f"matters, while the bytes of 1 MB over 50 GB/s take {format_time(_BYTES.value)}.",
        (_START_UPS, _BYTES),
        _RING,
    ),
)
