"""Section 4.5: the design ``04-design-schedule``."""

from __future__ import annotations

from functools import cache

from autograder.items import Axis, Design, Knob, Simulated, lazily
from rankzero.facts.units import GB, KB, MB, ms, us

schedules = lazily("solutions.ch04.schedules")

NODES, PER_NODE = 12, 4
SMALL, LARGE, LIMIT = 64 * KB, 256 * MB, 150 * us


@cache
def _seconds(size: float, group: int, trees: int, chunks: int) -> float:
    cluster = schedules.Network(
        450 * GB, 1 * us, ranks_per_node=PER_NODE, inter_bandwidth=50 * GB, inter_latency=5 * us
    )
    return schedules.simulate_two_levels(size, NODES * PER_NODE, cluster, group, trees, chunks).seconds


def schedule(group: int, trees: int, chunks: int) -> Simulated:
    """A small and a large all-reduce on 12 nodes of 4 GPUs, both by the same schedule."""
    small, large = (_seconds(size, group, trees, chunks if trees else 1) for size in (SMALL, LARGE))
    told = f"{SMALL / KB:g} KB takes {small / us:.3g} µs, {LARGE / MB:g} MB takes {large / ms:.3g} ms."
    broken = ""
    if small > LIMIT:
        broken = f"But the small tensor may take {LIMIT / us:g} µs at most: too many messages follow one another."
    return Simulated(told, (small / us, large / ms), broken)


QUESTIONS = (
    Design(
        id="04-design-schedule",
        title="One schedule for two sizes",
        section="4.5",
        knobs=(
            Knob("group", "GPUs in a group (`group`)", (1, 2, 4, 8)),
            Knob("trees", "trees across the groups, 0 for a ring (`trees`)", (0, 2)),
            Knob("chunks", "chunks on the trees (`chunks`)", (2, 4, 8, 16)),
        ),
        axes=(Axis("time of 64 KB", "µs"), Axis("time of 256 MB", "ms")),
        simulate=schedule,
        derivation=(
            "Groups of four are the nodes themselves: the reduce-scatter stays on NVLink, and a quarter of the tensor "
            "goes across. Smaller groups send more over the slow links; groups of eight put slow links into every "
            "step of the reduce-scatter."
            "\n\n"
            "Across, a ring of 12 nodes takes 22 steps; trees take 12 with two chunks and 24 with eight, so trees with "
            "few chunks suit the small tensor. The large one wants all ports busy: many chunks, or the ring, whose "
            "busiest port sends least. No choice is best at both, so it pays to choose by size."
        ),
    ),
)
