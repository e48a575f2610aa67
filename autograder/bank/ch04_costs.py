"""Chapter 04: the questions about rings, trees, levels and what scales."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.hardware import DGX_H100, NVLINK3, NVLINK4, PCIE4
from rankzero.units import GB, MB, TFLOP, billion, ms, us

algorithms = lazily("solutions.all_reduce_algorithms")
link = lazily("solutions.alpha_beta")
bandwidths = lazily("solutions.bandwidth")

PORT = DGX_H100.port.bandwidth
RING = "$$T = 2(N-1)\\left(\\alpha + \\frac{S}{N B}\\right)$$"


def _ms(name: str, *arguments: float, times: float = 1.0) -> Callable[[], float]:
    """An all-reduce's time in milliseconds."""
    return lambda: times * algorithms.all_reduce_time(name, *arguments) / ms


def _pipelined() -> float:
    chunks = link.best_chunks(4 * GB, 3, 50 * GB, 5 * us)
    return 2 * link.relay_time(4 * GB, 3, chunks, 50 * GB, 5 * us) / ms


def _levels(inside: float) -> Callable[[], float]:
    """The hierarchical plan of 20 GB on 8 x 8 GPUs in milliseconds, with ``inside`` times its part inside the nodes."""
    within = _ms("ring", 20 * GB, 8, NVLINK4.bandwidth, 0.0, times=inside)
    return lambda: within() + _ms("ring", 20 * GB / 8, 8, PORT)()


def _children(tree: int, ranks: int, rank: int) -> list[int]:
    """The children of ``rank`` in one of the two trees."""
    return [child for child, parent in enumerate(algorithms.double_binary_tree(ranks)[tree]) if parent == rank]


def _child(place: int) -> int:
    """A child of rank 3 in the second tree of 8 ranks."""
    return _children(1, 8, 3)[place]


def _received(rank: int) -> int:
    """How many messages a rank receives in both trees of 8 ranks, up and down."""
    trees = algorithms.double_binary_tree(8)
    return sum(len(_children(place, 8, rank)) + (tree[rank] is not None) for place, tree in enumerate(trees))


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
                _ms("ring", 1 * GB, 8, NVLINK4.bandwidth),
                slips=(
                    Slip(
                        "That adds both directions of the link, or counts one phase of two.",
                        value=_ms("ring", 1 * GB, 8, 2 * NVLINK4.bandwidth),
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

TREES = (
    Question(
        id="04-pipelined-tree",
        kind="derive",
        title="A pipelined tree",
        section="4.3",
        parts=(
            Part(
                "time",
                "ms",
                _pipelined,
                slips=(
                    Slip(
                        "That leaves out the filling: the first chunk has to pass every level before the last one can.",
                        value=_ms("double_tree", 4 * GB, 8, 50 * GB, 5 * us),
                    ),
                    Slip(
                        "That waits for the whole message on every level.",
                        value=_ms("tree", 4 * GB, 8, 50 * GB, 5 * us),
                    ),
                    Slip("That is one way: up and down.", value=lambda: _pipelined() / 2),
                ),
            ),
        ),
        derivation="A relay over $d$ levels in $k$ chunks takes\n\n$$(d + k - 1)\\left(\\alpha + \\frac{S}{k "
        "B}\\right),$$\n\nand its best $k$ is near $\\sqrt{(d-1)\\,S/(\\alpha B)}$. Twice that, with $d = 3$, $S = 4$ "
        "GB, $B = 50$ GB/s and $\\alpha = 5$ µs.",
    ),
    Question(
        id="04-ring-tree",
        kind="derive",
        title="Ring, tree, double tree",
        section="4.4",
        parts=(
            Part(
                "ring",
                "ms",
                _ms("ring", 4 * GB, 8, 50 * GB),
                slips=(
                    Slip("That is one phase.", value=_ms("ring", 4 * GB, 8, 50 * GB, times=0.5)),
                    Slip("That is 2 S/B: the own chunk does not travel.", value=_ms("double_tree", 4 * GB, 8, 50 * GB)),
                ),
            ),
            Part(
                "tree, whole messages",
                "ms",
                _ms("tree", 4 * GB, 8, 50 * GB),
                slips=(Slip("That is one way: up and down.", value=_ms("tree", 4 * GB, 8, 50 * GB, times=0.5)),),
            ),
            Part(
                "pipelined double tree",
                "ms",
                _ms("double_tree", 4 * GB, 8, 50 * GB),
                slips=(
                    Slip("That is one way: up and down.", value=_ms("double_tree", 4 * GB, 8, 50 * GB, times=0.5)),
                    Slip(
                        "That still waits on every level: chunks keep all levels busy.",
                        value=_ms("tree", 4 * GB, 8, 50 * GB),
                    ),
                ),
            ),
        ),
        derivation="Without latency the ring takes $\\frac{2(N-1)}{N}\\,S/B$. A tree that passes whole messages waits "
        "for one on each of its $d = \\lceil\\log_2 N\\rceil$ levels, up and down: $2 d\\,S/B$. Two pipelined trees "
        "with half of the data each bring no rank more than $2S$: $2\\,S/B$. Here $N = 8$, $S = 4$ GB, $B = 50$ GB/s.",
    ),
    Question(
        id="04-two-trees",
        kind="trace",
        title="Children in the second tree",
        section="4.4",
        parts=tuple(
            Part(
                f"{name} child",
                "rank",
                partial(_child, place),
                tolerance=0,
                slips=(Slip("Mirrored, rank 3 is rank 4 of the first tree: take that one's children.", value=wrong),),
            )
            for place, (name, wrong) in enumerate((("lower", 2), ("higher", 4)))
        ),
        derivation="For an even $N$ the second tree is the first with $N-1-r$ written for $r$. Rank 3 stands where "
        "rank 4 stands in the first tree, whose children are 2 and 6; write $7 - r$ for each of them.",
    ),
    Question(
        id="04-odd-root",
        kind="trace",
        title="Inner twice",
        section="4.4",
        parts=(
            Part(
                "rank",
                "",
                lambda: next(r for r in range(7) if _children(0, 7, r) and _children(1, 7, r)),
                tolerance=0,
                slips=(
                    Slip(
                        "That rank would be inner twice if odd numbers were mirrored: they are shifted by one.", value=3
                    ),
                    Slip(
                        "Rank 6 is inner in the first tree; in the second it stands where rank 5 stood, a leaf.",
                        value=6,
                    ),
                ),
            ),
        ),
        derivation="With $N = 7$ the second tree is the first with $(r+1) \\bmod 7$ for $r$. In the first tree the "
        "root has one child and the other inner ranks are even; shifted, they become odd, but for the last one, which "
        "wraps round.",
    ),
    Question(
        id="04-tree-bytes",
        kind="derive",
        title="The busiest rank of two trees",
        section="4.4",
        parts=(
            Part(
                "received",
                "times S",
                lambda: max(_received(rank) for rank in range(8)) / 2,
                tolerance=0,
                slips=(
                    Slip("That is one direction: sums come up and the total comes down.", value=1),
                    Slip("That is an inner rank of one tree that carries all of S: each tree carries half.", value=3),
                ),
            ),
        ),
        derivation="Each tree carries $S/2$. Where a rank is inner it receives from at most two children and from its "
        "parent, three times $S/2$; where it is a leaf, from its parent alone.",
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
                _ms("ring", 1 * MB, 1024, 50 * GB, 5 * us),
                slips=(
                    Slip("That leaves the start-ups out.", value=_ms("ring", 1 * MB, 1024, 50 * GB)),
                    Slip("That is one phase.", value=_ms("ring", 1 * MB, 1024, 50 * GB, 5 * us, times=0.5)),
                ),
            ),
            Part(
                "double tree",
                "ms",
                _ms("double_tree", 1 * MB, 1024, 50 * GB, 5 * us),
                slips=(
                    Slip("That leaves the start-ups out.", value=_ms("double_tree", 1 * MB, 1024, 50 * GB)),
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
                lambda: _ms("ring", 0.0, 24576, 1.0, 1.0)() / _ms("tree", 0.0, 24576, 1.0, 1.0)(),
                slips=(
                    Slip(
                        "That was measured, where hops inside a node are cheap; the question is the model.", value=180
                    ),
                    Slip("That is the number of ranks: a tree has start-ups too.", value=24576),
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

LEVELS = (
    Question(
        id="04-64-gpus-naive",
        kind="derive",
        title="64 GPUs, as if on one NVLink",
        section="4.6",
        parts=(
            Part(
                "time",
                "ms",
                _ms("ring", 20 * GB, 64, NVLINK3.bandwidth),
                slips=(
                    Slip(
                        "That adds both directions of the link: a ring sends in one.",
                        value=_ms("ring", 20 * GB, 64, 2 * NVLINK3.bandwidth),
                    ),
                ),
            ),
        ),
        derivation="Half of the advertised sum goes one way. Then $\\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$ with $N = 64$ "
        "and $S = 20$ GB. (64 GPUs in nodes of eight do not share one NVLink: that is the next question.)",
    ),
    Question(
        id="04-cross-node",
        kind="derive",
        title="Across nodes",
        section="4.6",
        parts=(
            Part(
                "time",
                "ms",
                _ms("ring", 20 * GB / 8, 8, PORT),
                slips=(
                    Slip(
                        "That sends everything over one link of 100 GB/s: each GPU sends an eighth over its own port.",
                        value=_ms("ring", 20 * GB, 8, 100 * GB),
                    ),
                    Slip(
                        "That sends the whole tensor through one port: each GPU sends an eighth over its own.",
                        value=_ms("ring", 20 * GB, 8, PORT),
                    ),
                ),
            ),
        ),
        derivation="After the reduce-scatter inside, each GPU holds $S/g$ and all-reduces it with $n - 1$ "
        "partners:\n\n$$\\frac{2(n-1)}{n}\\cdot\\frac{S/g}{B}, \\qquad n = 8,\\; g = 8,\\; S = 20\\text{ GB},\\; B = "
        "50\\text{ GB/s}.$$",
    ),
    Question(
        id="04-hierarchy-total",
        kind="derive",
        title="Both levels",
        section="4.6",
        parts=(
            Part(
                "total",
                "ms",
                _levels(inside=1.0),
                slips=(
                    Slip("The way back inside the node is missing.", value=_levels(inside=0.5)),
                    Slip("That is the step across nodes alone.", value=_levels(inside=0.0)),
                ),
            ),
            Part(
                "of it across nodes",
                "%",
                lambda: 100 * _levels(inside=0.0)() / _levels(inside=1.0)(),
                slips=(
                    Slip(
                        "That is the part inside the nodes.",
                        value=lambda: 100 - 100 * _levels(inside=0.0)() / _levels(inside=1.0)(),
                    ),
                ),
            ),
        ),
        derivation="Inside: a reduce-scatter and an all-gather of $S$ among $g$ GPUs, "
        "$\\frac{2(g-1)}{g}\\cdot\\frac{S}{B_1}$. Across: $\\frac{2(n-1)}{n}\\cdot\\frac{S/g}{B_2}$. With $S = 20$ "
        "GB, $n = g = 8$, and 450 and 50 GB/s.",
    ),
    Question(
        id="04-one-port",
        kind="derive",
        title="Flat rings over one port and over eight",
        section="4.6",
        parts=(
            Part(
                "one port",
                "ms",
                _ms("ring", 20 * GB, 64, PORT),
                slips=(
                    Slip(
                        "That is the part across nodes of the plan with levels.",
                        value=_ms("ring", 20 * GB / 8, 8, PORT),
                    ),
                ),
            ),
            Part(
                "eight rails",
                "ms",
                _ms("ring", 20 * GB, 64, DGX_H100.network_bandwidth),
                slips=(
                    Slip(
                        "That is the least that any plan needs: a ring of 64 moves a little more.",
                        value=_ms("ring", 20 * GB / 8, 8, PORT),
                    ),
                ),
            ),
        ),
        derivation="A ring over all 64 GPUs enters and leaves each node once, and is as fast as that hop: "
        "$\\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$ with $N = 64$, $S = 20$ GB and $B = 50$ GB/s. Eight rings, one for "
        "each rail, carry an eighth each at the same time.",
    ),
    Question(
        id="04-compute-ratio",
        kind="derive",
        title="Communication against compute",
        section="4.11",
        parts=(
            Part(
                "ratio",
                "",
                lambda: bandwidths.communication_ratio(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP),
                tolerance=0.01,
                slips=(
                    Slip(
                        "That is compute over communication.",
                        value=lambda: (
                            1 / bandwidths.communication_ratio(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP)
                        ),
                    ),
                ),
            ),
            Part(
                "efficiency",
                "",
                lambda: 1 / (1 + bandwidths.communication_ratio(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP)),
                slips=(
                    Slip(
                        "That is the share of communication.",
                        value=lambda: (
                            1 - 1 / (1 + bandwidths.communication_ratio(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP))
                        ),
                    ),
                ),
            ),
        ),
        derivation="Compute takes $\\frac{120\\cdot 10^{12}}{495\\cdot 10^{12}}$ s, the exposed all-reduce 350 ms. "
        "The ratio is $r = T_\\text{comm}/T_\\text{comp}$, and the efficiency $\\frac{1}{1 + r}$.",
    ),
    Question(
        id="04-tokens-to-balance",
        kind="design",
        title="Tokens that pay for the all-reduce",
        section="4.11",
        parts=(
            Part(
                "tokens per GPU and step",
                "tokens",
                lambda: _balanced(6),
                slips=(
                    Slip(
                        "That is the forward pass alone: forward and backward cost 6 FLOP.", value=lambda: _balanced(2)
                    ),
                ),
            ),
        ),
        derivation="A token costs $6P$ FLOP for $P$ parameters, forward and backward. Compute and communication are "
        "equal when $6 P\\,t / R = T$, with $P = 10^{10}$, $R = 495\\cdot 10^{12}$ FLOP/s and $T = 98.4$ ms.",
    ),
)


def _balanced(flops: int) -> float:
    """Tokens whose compute, at so many FLOP per token and parameter, takes as long as the eight flat rings."""
    seconds = algorithms.all_reduce_time("ring", 20 * GB, 64, DGX_H100.network_bandwidth)
    return seconds * 495 * TFLOP / (flops * 10 * billion)


COSTS = (*RINGS, *TREES, *WINNERS, *LEVELS)
