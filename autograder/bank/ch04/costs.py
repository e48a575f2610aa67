"""Chapter 04: the questions about rings, and about which algorithm wins."""

from __future__ import annotations

import math
from collections.abc import Callable

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.hardware import NVLINK4, PCIE4
from rankzero.facts.units import GB, MB, ms, us

algorithms = lazily("solutions.ch04.all_reduce_algorithms")

RING = "$$T = 2(N-1)\\left(\\alpha + \\frac{S}{N B}\\right)$$"


def all_reduce_ms(name: str, *arguments: float, times: float = 1.0) -> Callable[[], float]:
    """An all-reduce's time in milliseconds."""
    return lambda: times * algorithms.all_reduce_time(name, *arguments) / ms


RINGS = (
    Question(
        id="04-node-ring",
        kind="derive",
        title="A ring in one node",
        section="4.2",
        parts=(
            Part(
                "time",
                "ms",
                all_reduce_ms("ring", 1 * GB, 8, NVLINK4.bandwidth),
                slips=(
                    Slip(
                        "That adds both directions of the link, or counts one phase of two.",
                        value=all_reduce_ms("ring", 1 * GB, 8, 2 * NVLINK4.bandwidth),
                    ),
                    Slip("That is S/B: a ring's wire carries 2(N-1)/N of S.", value=1 * GB / NVLINK4.bandwidth / ms),
                ),
            ),
        ),
        derivation="Each of the $2(N-1)$ steps moves $S/N$ over one direction of a link:\n\n$$T = "
        "\\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$$\n\nwith $N = 8$, $S = 1$ GB, and $B$ the 18 links of 25 GB/s that "
        "NVLink 4 gives a GPU in each direction.",
    ),
    Question(
        id="04-nvlink-pcie",
        kind="derive",
        title="The same ring over PCIe",
        section="4.2",
        parts=(
            Part(
                "times slower",
                "x",
                lambda: NVLINK4.bandwidth / PCIE4.bandwidth,
                slips=(
                    Slip(
                        "That holds both directions of NVLink against one of PCIe.",
                        value=2 * NVLINK4.bandwidth / PCIE4.bandwidth,
                    ),
                    Slip(
                        "That holds one direction of NVLink against both of PCIe.",
                        value=NVLINK4.bandwidth / (2 * PCIE4.bandwidth),
                    ),
                ),
            ),
        ),
        derivation="Without latency a ring's time is proportional to $1/B$, so the ratio of the times is the ratio of "
        "the bandwidths, both of one direction.",
    ),
    Choice(
        id="04-best-of-both",
        kind="trace",
        title="Few start-ups and few bytes",
        section="4.5",
        options=(
            "distance and contention: half of the data goes to the farthest partner, over links that others use too; "
            "and numbers of ranks that are no powers of two",
            "bytes: it moves more of them than the ring",
            "start-ups: it has more of them than the double tree",
        ),
        correct=0,
        derivation="The model gives every pair of ranks a link of its own. In a real machine distant partners share "
        "links, and with $N$ not a power of two some ranks have no partner. Rings and trees talk to few, near "
        "neighbours.",
        slips={
            1: "It moves 2(N-1)/N of S, exactly as much as the ring.",
            2: "It starts up twice on each of ceil(log2 N) levels, exactly as often as the double tree.",
        },
    ),
)

WINNERS = (
    Question(
        id="04-small-big-world",
        kind="derive",
        title="A small message in a big world",
        section="4.5",
        parts=(
            Part(
                "ring",
                "ms",
                all_reduce_ms("ring", 1 * MB, 1024, 50 * GB, 5 * us),
                slips=(
                    Slip("That leaves the start-ups out.", value=all_reduce_ms("ring", 1 * MB, 1024, 50 * GB)),
                    Slip("That is one phase.", value=all_reduce_ms("ring", 1 * MB, 1024, 50 * GB, 5 * us, times=0.5)),
                ),
            ),
            Part(
                "double tree",
                "ms",
                all_reduce_ms("double_tree", 1 * MB, 1024, 50 * GB, 5 * us),
                slips=(
                    Slip("That leaves the start-ups out.", value=all_reduce_ms("double_tree", 1 * MB, 1024, 50 * GB)),
                    Slip(
                        "That starts up once: every level does, up and down.", value=(5 * us + 2 * MB / (50 * GB)) / ms
                    ),
                ),
            ),
        ),
        derivation=RING + "\n\nagainst $2\\lceil\\log_2 N\\rceil\\,\\alpha + 2\\,S/B$, with $N = 1024$, $S = 1$ MB, "
        "$B = 50$ GB/s and $\\alpha = 5$ µs. The ring starts up about a hundred times as often.",
    ),
    Question(
        id="04-crossover",
        kind="derive",
        title="Where the ring takes over",
        section="4.5",
        parts=(
            Part(
                "size",
                "MB",
                lambda: algorithms.crossover_bytes(64, 50 * GB, 5 * us) / MB,
                slips=(
                    Slip(
                        "That is against the tree that passes whole messages.",
                        value=lambda: algorithms.crossover_bytes(64, 50 * GB, 5 * us, "tree") / MB,
                    ),
                    Slip(
                        "The factor N is missing.",
                        value=lambda: algorithms.crossover_bytes(64, 50 * GB, 5 * us) / 64 / MB,
                    ),
                    Slip("The tree's own start-ups are missing.", value=64 * 63 * 5 * us * 50 * GB / MB),
                ),
            ),
        ),
        derivation="Set the two times equal:\n\n$$2(N-1)\\alpha + \\frac{2(N-1)}{N}\\cdot\\frac{S}{B} = 2 d\\,\\alpha "
        "+ \\frac{2S}{B} \\quad\\Rightarrow\\quad S^* = N(N - 1 - d)\\,\\alpha B$$\n\nwith $N = 64$, $d = 6$, "
        "$\\alpha = 5$ µs and $B = 50$ GB/s.",
    ),
    Choice(
        id="04-never-slower",
        kind="trace",
        title="The ring, never slower",
        section="4.5",
        options=("for 1, 2 and 3 ranks", "for no number of ranks", "for every number of ranks", "for 1 and 2 ranks"),
        correct=0,
        derivation="The crossover is $N(N-1-d)\\,\\alpha B$ with $d = \\lceil\\log_2 N\\rceil$. It is zero while $N - "
        "1 = d$; from $N = 4$ on the ring has more steps than the tree has levels.",
        slips={
            1: "Two ranks exchange halves in two steps: no tree is faster.",
            2: "For small messages and many ranks the ring's start-ups decide.",
            3: "Three ranks: two steps each way, and two levels, because 3 is no power of two.",
        },
    ),
    Question(
        id="04-latency-24576",
        kind="derive",
        title="Start-ups on 24,576 ranks",
        section="4.5",
        parts=(
            Part(
                "ring over tree",
                "x",
                lambda: all_reduce_ms("ring", 0.0, 24576, 1.0, 1.0)() / all_reduce_ms("tree", 0.0, 24576, 1.0, 1.0)(),
                slips=(
                    Slip(
                        "That was measured, where hops inside a node are cheap; the question is the model.", value=180
                    ),
                    Slip("That is the number of ranks: a tree has start-ups too.", value=24576),
                    Slip("A tree has a whole number of levels: round log2 N up.", value=24575 / math.log2(24576)),
                    Slip("14 levels hold 16,384 ranks: one more is needed.", value=24575 / 14),
                ),
            ),
        ),
        derivation="$2(N-1)\\alpha$ against $2\\lceil\\log_2 N\\rceil\\alpha$, with $N = 24576$, which lies between "
        "$2^{14}$ and $2^{15}$.",
    ),
    Choice(
        id="04-tree-or-ring",
        kind="design",
        title="Three sizes, two algorithms",
        section="4.5",
        options=(
            "1 KB double tree, 1 MB double tree, 100 MB ring",
            "1 KB double tree, 1 MB ring, 100 MB ring",
            "the ring for all three",
            "the double tree for all three",
        ),
        correct=0,
        derivation="$S^* = N(N-1-d)\\,\\alpha B$ with $N = 8$, $d = 3$, $\\alpha = 5$ µs and $B = 50$ GB/s; below it "
        "the double tree wins, above it the ring.",
        slips={
            1: "The crossover is no constant such as 256 KB: put in N, alpha and B.",
            2: "For a kilobyte start-ups are everything: 14 of them against 6.",
            3: "For large messages bytes count: the ring moves an eighth less.",
        },
    ),
)

COSTS = (*RINGS, *WINNERS)
