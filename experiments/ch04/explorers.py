"""The four explorers of chapter 4: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(two_trees, ranks=Range(2, 64, 8), ...)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.charts import COLOURS, Axis, Spec, below, chart, graph, lines, stacks, table
from rankzero.facts.units import GB, KB, billion, format_bytes, ms, us
from solutions.ch01.scaling import scaling_efficiency
from solutions.ch03.naive_all_reduce_costs import star_all_reduce_time
from solutions.ch04.all_reduce_algorithms import (
    all_reduce_time,
    crossover_bytes,
    double_binary_tree,
    hierarchical_all_reduce_time,
)

#: Sizes of the second explorer, bytes.
SMALLEST, LARGEST = 1 * KB, 100 * GB

#: The highlighted rank, ranks with children and ranks without, in the pictures of trees.
THIS, INNER, LEAF = COLOURS[0], COLOURS[1], "#b8b8b8"

#: FLOP/s that a GPU achieves in the last explorer: about half of an H100's dense bf16 peak.
RATE = 495e12

#: GPUs in a node of the last explorer.
NODE = 8

_NEVER_SLOWER = "the ring is never slower than the double tree"

Tree = Sequence[int | None]


def children(tree: Tree) -> list[int]:
    """How many children each rank has."""
    return [sum(parent == rank for parent in tree) for rank in range(len(tree))]


def depths(tree: Tree) -> list[int]:
    """Steps from each rank up to the root."""

    def depth(rank: int) -> int:
        parent = tree[rank]
        return 0 if parent is None else 1 + depth(parent)

    return [depth(rank) for rank in range(len(tree))]


def received_shares(trees: Sequence[Tree]) -> list[float]:
    """What each rank receives in an all-reduce of S over ``trees``, in units of S; every tree carries an equal part.

    It receives from each child once, on the way up, and from its parent once, on the way down.
    """
    counts = [[count + (parent is not None) for count, parent in zip(children(t), t, strict=True)] for t in trees]
    return [sum(column) / len(trees) for column in zip(*counts, strict=True)]


def two_trees(ranks: int = 8, rank: int = 3) -> Spec:
    """Both trees of a double binary tree, with one rank highlighted, and what every rank has to do in them.

    Args:
        ranks: N, 2 to 64.
        rank: the highlighted rank; a larger number means the last rank.
    """
    rank = min(rank, ranks - 1)
    trees = dict(zip(("tree 1", "tree 2"), double_binary_tree(ranks), strict=True))
    orders = {"tree 1": list(range(ranks)), "tree 2": _order(ranks)}
    pictures = [_drawn(tree, orders[name], rank, name) for name, tree in trees.items()]
    cells: list[Spec] = []
    for name, tree in trees.items():
        cells += [{"rank": r, "of": f"children, {name}", "number": count} for r, count in enumerate(children(tree))]
    shares = received_shares(list(trees.values()))
    cells += [{"rank": r, "of": "receives (S)", "number": share} for r, share in enumerate(shares)]
    for cell in cells:
        cell |= {"kind": THIS if cell["rank"] == rank else None, "text": f"{cell['number']:g}"}
    seen = ("rank", "of", "number")
    counts = table(cells, Axis("rank", "rank"), Axis("of", ""), colour="kind", label="text", tooltip=seen)
    mine = ", ".join(f"{children(tree)[rank]} in {name}" for name, tree in trees.items())
    return chart(
        below(*pictures, counts),
        f"Two trees over the same {ranks} ranks. Rank {rank} has children: {mine}. It receives {shares[rank]:g} S.",
    )


def which_wins(
    ranks: int = 8, latency: float = 5 * us, bandwidth: float = 50 * GB, among: str = "ring and trees"
) -> Spec:
    """Time of five all-reduces against the size of the tensor; the background has the color of the fastest candidate.

    Args:
        ranks: N, 2 to 4,096.
        latency: of one message, seconds.
        bandwidth: of one rank's port, one direction, bytes/s.
        among: the candidates: ``"ring and trees"``, or ``"all"``, which adds halving-doubling where N is a power of
            two.
    """
    names = {"ring": "ring", "tree": "tree", "double_tree": "double tree"}
    if ranks & (ranks - 1) == 0:
        names["halving_doubling"] = "halving-doubling"
    sizes = [SMALLEST * (LARGEST / SMALLEST) ** (step / 64) for step in range(65)]
    rows: list[Spec] = []
    for key, name in names.items():
        rows += [{"size": s, "seconds": all_reduce_time(key, s, ranks, bandwidth, latency), "way": name} for s in sizes]
    rows += [{"size": s, "seconds": star_all_reduce_time(s, ranks, bandwidth, latency), "way": "star"} for s in sizes]
    crossover = crossover_bytes(ranks, bandwidth, latency)
    said = f"the ring beats the double tree above {format_bytes(round(crossover))}" if crossover else _NEVER_SLOWER
    mark = crossover if SMALLEST <= crossover <= LARGEST else None
    edge = min(max(crossover, SMALLEST), LARGEST)
    winners = {"double tree": (SMALLEST, edge), "ring": (edge, LARGEST)}
    if among == "all" and "halving_doubling" in names and ranks > 2:  # with two ranks it is the same as the ring
        winners, mark = {"halving-doubling": (SMALLEST, LARGEST)}, None
        said = "halving-doubling is the fastest at every size"
    bands = [{"way": name, "start": low, "end": high} for name, (low, high) in winners.items() if low < high]
    x, y = Axis("size", "S, size of the tensor (bytes)", log=True), Axis("seconds", "time (seconds)", log=True)
    return chart(
        lines(rows, x, y, by="way", mark=mark, title=f"{ranks} ranks: {said}", bands=bands),
        f"Time of an all-reduce over {ranks} ranks against its size: {', '.join([*names.values(), 'star'])}; {said}.",
    )


def plans(
    message_bytes: float, nodes: int, ranks_per_node: int, intra_bandwidth: float, inter_bandwidth: float, rails: int
) -> dict[str, dict[str, float]]:
    """Seconds of three ways to all-reduce over a cluster, without start-ups, each split into its phases.

    The three are one flat ring over all ranks, through one port of each node; as many flat rings as there are ports,
    each with its share of the tensor; and two levels, in which the ranks of a node share all ports. A flat ring uses
    links inside and between nodes at the same time, so it is as fast as its slowest link.

    Args:
        message_bytes: S, bytes.
        nodes: n, at least 1.
        ranks_per_node: g, at least 1.
        intra_bandwidth: of one rank inside the node, one direction, bytes/s.
        inter_bandwidth: of one port of a node, one direction, bytes/s.
        rails: ports of a node, at least 1.
    """
    ranks = nodes * ranks_per_node
    inside = intra_bandwidth if ranks_per_node > 1 else float("inf")
    names = ("flat ring, one port", "flat rings, all ports", "two levels")
    ports = (inter_bandwidth, rails * inter_bandwidth) if nodes > 1 else (inside, inside)
    flat = [all_reduce_time("ring", message_bytes, ranks, min(inside, port, 1e30)) for port in ports]
    share = rails * inter_bandwidth / ranks_per_node  # of the node's ports, for one rank
    whole = hierarchical_all_reduce_time(message_bytes, nodes, ranks_per_node, intra_bandwidth, share)
    within = all_reduce_time("ring", message_bytes, ranks_per_node, intra_bandwidth)
    return {
        names[0]: {"all at once": flat[0]},
        names[1]: {"all at once": flat[1]},
        names[2]: {"inside nodes": within, "across nodes": whole - within},
    }


def node_bound(message_bytes: float, nodes: int, inter_bandwidth: float, rails: int) -> float:
    """A lower bound where the nodes do the adding, seconds: the busiest pushes at least ``2 (n-1)/n S`` through its
    ports."""
    return all_reduce_time("ring", message_bytes, nodes, rails * inter_bandwidth)


def levels(
    nodes: int = 8,
    ranks_per_node: int = 8,
    intra_bandwidth: float = 450 * GB,
    inter_bandwidth: float = 50 * GB,
    rails: int = 8,
    message_bytes: float = 20 * GB,
) -> Spec:
    """Time of three ways to all-reduce over a cluster, in phases, and the least time that its ports allow.

    Args:
        nodes: n, 1 to 256.
        ranks_per_node: g, the GPUs that fast links join, 1 to 72.
        intra_bandwidth: of one GPU inside the node, one direction, bytes/s.
        inter_bandwidth: of one port, one direction, bytes/s.
        rails: ports of a node, 1 to 72.
        message_bytes: S, bytes.
    """
    found = plans(message_bytes, nodes, ranks_per_node, intra_bandwidth, inter_bandwidth, rails)
    rows = [
        {"plan": plan, "phase": phase, "milliseconds": seconds / ms}
        for plan, parts in found.items()
        for phase, seconds in parts.items()
    ]
    bound = node_bound(message_bytes, nodes, inter_bandwidth, rails) / ms
    title = f"{nodes} x {ranks_per_node} GPUs, {format_bytes(message_bytes)}; the dashed line is the ports' bound"
    x, y = Axis("plan", "", category=True), Axis("milliseconds", "time (ms)")
    totals = ", ".join(f"{plan} {sum(parts.values()) / ms:.4g} ms" for plan, parts in found.items())
    return chart(
        stacks(rows, x, y, by="phase", title=title, mark=bound),
        f"Time of an all-reduce over {nodes} nodes of {ranks_per_node} GPUs: {totals}; the ports allow {bound:.4g} ms.",
    )


def will_it_scale(
    billion_parameters: float = 10.0,
    tokens: float = 2000.0,
    nodes: int = 8,
    rails: int = 8,
    intra_bandwidth: float = 450 * GB,
    inter_bandwidth: float = 50 * GB,
    hidden_percent: float = 0.0,
) -> Spec:
    """Efficiency of data parallelism against the number of GPUs, 8 in a node, for the three plans of :func:`plans`.

    The gradients have 2 bytes for each parameter, the step 6 FLOP for each parameter and token, and a GPU does
    :data:`RATE` FLOP/s.

    Args:
        billion_parameters: of the model, in units of 1e9.
        tokens: tokens that one GPU processes in a step.
        nodes: the marked number of nodes, 1 to 512.
        rails: ports of a node, 1 to 8.
        intra_bandwidth: of one GPU inside the node, one direction, bytes/s.
        inter_bandwidth: of one port, one direction, bytes/s.
        hidden_percent: share of the communication that overlaps with computation, 0 to 100, as far as there is so much
            computation.
    """
    parameters = billion_parameters * billion
    compute = 6 * parameters * tokens / RATE
    rows: list[Spec] = []
    for gpus in (1, 2, 4, *(NODE * 2**power for power in range(10))):
        size = (max(1, gpus // NODE), min(gpus, NODE))
        for plan, parts in plans(2 * parameters, *size, intra_bandwidth, inter_bandwidth, rails).items():
            whole = sum(parts.values())
            exposed = whole - min(hidden_percent / 100 * whole, compute)
            efficiency = scaling_efficiency(compute, compute + exposed, gpus, weak=True)
            rows.append({"gpus": gpus, "percent": 100 * efficiency, "plan": plan})
    x, y = Axis("gpus", "GPUs", log=True), Axis("percent", "efficiency (%)")
    title = f"compute {compute / ms:.4g} ms a step, gradients {format_bytes(2 * parameters)}"
    return chart(
        lines(rows, x, y, by="plan", mark=NODE * nodes, title=title),
        f"Efficiency of data parallelism from 1 to {rows[-1]['gpus']} GPUs, for a flat ring through one port of each "
        "node, flat rings over all ports, and two levels.",
    )


def _order(ranks: int) -> list[int]:
    """The position of each rank from left to right in the drawing of the second tree."""
    return [rank if ranks % 2 == 0 else (rank - 1) % ranks for rank in range(ranks)]


def _drawn(tree: Tree, order: Sequence[int], rank: int, title: str) -> Spec:
    """One tree: the root on top, every rank at its place in ``order``."""
    levels = depths(tree)
    own = children(tree)
    nodes: list[Spec] = []
    edges: list[Spec] = []
    for r, parent in enumerate(tree):
        colour = THIS if r == rank else INNER if own[r] else LEAF
        nodes.append({"name": f"rank {r}", "x": order[r], "y": -levels[r], "colour": colour, "label": str(r)})
        if parent is not None:
            place = {"x": order[r], "y": -levels[r], "x2": order[parent], "y2": -levels[parent]}
            edges.append(place | {"kind": ""})
    return graph(nodes, edges, title=f"{title}: rank {rank} blue, other inner ranks amber, leaves gray")
