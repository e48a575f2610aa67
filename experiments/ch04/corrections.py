"""Chapter 4: links and algorithms, as data sheets and textbooks print them. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import IB_NDR, NVLINK4
from rankzero.facts.units import GB, MB, Gbit, format_bytes, format_time, us
from solutions.ch02.alpha_beta import message_time
from solutions.ch04.all_reduce_algorithms import all_reduce_time, crossover_bytes
from solutions.ch04.bandwidth import bus_bandwidth

from ..ch03.published import BANDWIDTH, RING_16_GIB, SOURCE
from ..correction import Correction, worked

_SHEETS = "NVIDIA H100 and DGX H100 data sheets; InfiniBand Trade Association roadmap"
_TREES = (
    "NVIDIA, NCCL, [src/graph/trees.cc](https://github.com/NVIDIA/nccl/blob/"
    "18a07eeebe485ae00755615ced44739d20970560/src/graph/trees.cc); Sanders, Speck and Traeff (2009), "
    "doi:10.1016/j.parco.2009.09.001"
)

#: The link that the page computes with: bytes/s and seconds.
_LINK = (50 * GB, 5 * us)

_INSIDE, _ACROSS = (worked(message_time, 1 * GB, link.bandwidth) for link in (NVLINK4, IB_NDR))
_LEVELS, _PIPED, _LARGE = (worked(all_reduce_time, name, 4 * GB, 8, *_LINK) for name in ("tree", "double_tree", "ring"))
_TREE, _RING = (worked(all_reduce_time, name, 1 * MB, 1024, *_LINK) for name in ("double_tree", "ring"))
_CROSSINGS = {
    "4 ranks, 5 µs and 50 GB/s": worked(crossover_bytes, 4, *_LINK),
    "64 ranks on the same link": worked(crossover_bytes, 64, *_LINK),
    "8 ranks, 50 µs and 1.25 GB/s": worked(crossover_bytes, 8, 1.25 * GB, 50 * us),
}
_REACHED = worked(bus_bandwidth, "all_reduce", RING_16_GIB, 1.0, 8)

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "4.1",
        "Compare links in one direction and in one unit",
        "NVLink 4 is 900 and InfiniBand NDR 400, so leaving the node costs about half of the speed.",
        f"The first figure adds both directions of a GPU's {NVLINK4.links} links, in gigabytes; the second is one "
        f"direction of one port, in gigabits. In one direction a GPU sends {format_bytes(NVLINK4.bandwidth)}/s "
        f"({NVLINK4.bandwidth / Gbit:,.0f} Gb/s) over NVLink and {format_bytes(IB_NDR.bandwidth)}/s over its port, "
        f"{NVLINK4.bandwidth / IB_NDR.bandwidth:.3g} times less: 1 GB takes {format_time(_INSIDE.value)} or "
        f"{format_time(_ACROSS.value)}.",
        (_INSIDE, _ACROSS),
        _SHEETS,
    ),
    Correction(
        "4.4",
        "A pipelined tree does not send log N whole messages",
        "A tree all-reduce takes 2 log2 N full messages and half of its ranks are idle, so for large messages a ring "
        "is several times as fast.",
        "That holds if whole messages wait at every level. NCCL cuts them into chunks and uses two trees, so that all "
        f"levels work at once: 4 GB on 8 ranks take {format_time(_LEVELS.value)} level by level and "
        f"{format_time(_PIPED.value)} in two pipelined trees, and {format_time(_LARGE.value)} in a ring. Over 1,024 "
        f"nodes with one rank each, 1 MB takes {format_time(_TREE.value)}, and {format_time(_RING.value)} in a ring.",
        (_LEVELS, _PIPED, _LARGE, _TREE, _RING),
        _TREES,
    ),
    Correction(
        "4.4",
        "Ring and tree cross at no fixed size",
        "The ring overtakes the tree at 256 KB; or at 1 to 10 MB.",
        "There is no such constant: the size depends on the ranks, the start-up and the bandwidth: "
        + "; ".join(f"{format_bytes(round(size.value))} for {name}" for name, size in _CROSSINGS.items())
        + ". Measure your own before you force an algorithm.",
        tuple(_CROSSINGS.values()),
        _TREES,
    ),
    Correction(
        "4.6",
        "A healthy ring stays below the data sheet",
        "A ring uses nearly all of the link's bandwidth.",
        "The bus bandwidth of an ideal ring is the link's, and that is an upper bound. In a node of eight H200 NCCL's "
        f"ring reached {_REACHED.value / GB:.0f} of {BANDWIDTH / GB:.0f} GB/s at 16 GiB, "
        f"{_REACHED.value / BANDWIDTH:.0%}. Whoever expects the data sheet reports a good link as broken.",
        (_REACHED,),
        SOURCE,
    ),
)
