"""Section 4.6, Two bandwidths: its questions."""

from __future__ import annotations

from collections.abc import Callable

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.hardware import NVLINK3
from rankzero.facts.units import GB, ms

bandwidths = lazily("solutions.ch04.bandwidth")


def _bus(size: float, seconds: float, ranks: int) -> Callable[[], float]:
    """Bus bandwidth of an all-reduce, GB/s."""
    return lambda: bandwidths.bus_bandwidth("all_reduce", size, seconds, ranks) / GB


QUESTIONS = (
    Question(
        id="04-utilization",
        kind="derive",
        title="How much of the link is used",
        section="4.6",
        parts=(
            Part(
                "bus bandwidth",
                "GB/s",
                _bus(4 * GB, 30 * ms, 8),
                slips=(Slip("That is the algorithm bandwidth, S/t.", value=4 / 0.03),),
            ),
            Part(
                "share of the link as a fraction",
                "",
                lambda: _bus(4 * GB, 30 * ms, 8)() * GB / NVLINK3.bandwidth,
                slips=(
                    Slip(
                        "That compares the algorithm bandwidth with the link.", value=4 * GB / 0.03 / NVLINK3.bandwidth
                    ),
                    Slip(
                        "That compares it with both directions together: 300 GB/s is the rate of one.",
                        value=lambda: _bus(4 * GB, 30 * ms, 8)() * GB / (2 * NVLINK3.bandwidth),
                    ),
                    Slip(
                        "That halves a rate that holds for one direction already, and gives an impossible share.",
                        value=lambda: 2 * _bus(4 * GB, 30 * ms, 8)() * GB / NVLINK3.bandwidth,
                    ),
                ),
            ),
        ),
        derivation="$\\frac{S}{t}\\cdot\\frac{2(N-1)}{N}$ with $S = 4$ GB, $t = 30$ ms and $N = 8$; then divide by the "
        "12 links of 25 GB/s in one direction.",
    ),
    Choice(
        id="04-busbw-above",
        kind="trace",
        title="Faster than the wire",
        section="4.6",
        options=(
            "the factor: it assumes a ring, and no ring was used",
            "the ports: NVLink's 450 GB/s and a port's 50 add up",
            "the directions: both together carry 900 GB/s",
            "the size: S is counted once on each of the nodes",
        ),
        correct=0,
        derivation="The tool knows S and t, not what traveled: it multiplies $S/t$ by $\\frac{2(N-1)}{N}$, what a "
        "ring of 16 would put on each wire. Over two nodes a tree sends one node's sum one way and the total the other "
        "way, $S$ each, whereas rings send nearly twice as much each way. And inside the node the switch that joins "
        "the GPUs can do the adding itself (NVIDIA calls this NVLink SHARP), so that a GPU sends its data once.",
        slips={
            1: "Even over all links at once, rings push nearly 2 S out of each node: 16 GiB would take at least 80 ms "
            "at 400 GB/s, and the table says 66.",
            2: "Bus bandwidth counts only what a GPU sends, which uses one direction. What it receives is not added.",
            3: "S is the tensor of one rank, counted once, and the time is right too.",
        },
    ),
)
