"""Chapter 4's bandwidths, fits and bounds beside published all-reduces. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.facts import measured
from rankzero.facts.units import GB, GiB, format_bytes, ms, us
from solutions.ch03.collective_cost import ring_all_reduce_time
from solutions.ch04.bandwidth import bus_bandwidth, fit_alpha_beta

from ..comparison import Compared, Comparison
from . import published
from .link_fits import Row, fit_rows

SOURCE = "AWS, awsome-distributed-training, micro-benchmarks/nccl-tests/README.md, commit 27b7d49"
#: Nodes, GPUs of a node, and what the network carries of each in one direction, bytes/s.
NODES, GPUS, PORT = 2, 8, 50 * GB
TIMES: list[Row] = [(row.size, row.microseconds * us) for row in published.TWO_NODES]


def held_out(rows: Sequence[Row]) -> tuple[Compared, ...]:
    """Every second size, by a line fitted to the others."""
    fit = fit_rows(rows, fit_alpha_beta)
    return tuple(
        Compared(format_bytes(row.size, binary=True), row.measured / us, row.predicted / us, "µs")
        for row in fit.held_out
    )


COMPARISONS = (
    Comparison(
        "4.5",
        "Least time of an all-reduce over two nodes: each node pushes the tensor through its ports",
        "ch03.collective_cost.ring_all_reduce_time",
        "measured",
        SOURCE,
        tuple(
            Compared(
                format_bytes(size, binary=True), seconds / ms, ring_all_reduce_time(size / GPUS, NODES, PORT) / ms, "ms"
            )
            for size, seconds in TIMES
            if size >= GiB
        ),
        "A bound: the ring inside the node, the start-ups and the ports' protocol come on top.",
        "what no program can beat; plan with a measured share of the ports",
    ),
    Comparison(
        "4.6",
        "Bus bandwidth from size and time",
        "ch04.bandwidth.bus_bandwidth",
        "computed",
        SOURCE,
        tuple(
            Compared(
                format_bytes(row.size, binary=True),
                row.bus,
                bus_bandwidth("all_reduce", row.size, row.microseconds * us, published.RANKS) / GB,
                "GB/s",
            )
            for row in published.TWO_NODES
            if row.bus > 1
        ),
        "The printed time is rounded.",
        "a definition: it cannot be wrong, and says nothing about a network by itself",
    ),
    Comparison(
        "4.7",
        "An all-reduce over two nodes by a line fitted to every second size",
        "ch04.bandwidth.fit_alpha_beta",
        "measured",
        SOURCE,
        held_out(TIMES),
        "NCCL changes its algorithm and protocol with the size, so no one line fits.",
        "the order of magnitude; in the middle the true time is longer",
    ),
    Comparison(
        "4.7",
        "A copy over PCIe by a line fitted to every second size",
        "ch04.bandwidth.fit_alpha_beta",
        "recorded",
        measured.source(),
        held_out(measured.copies("host to device, pinned")),
        "16 KiB took longer than 64 KiB, which no line can follow.",
        "copies of 64 KiB and more on that machine",
    ),
)
