"""Chapter 4: wrong claims about links, algorithms and their cost, and what is right. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import (
    DGX_H100,
    H100_SXM,
    IB_NDR,
    NVLINK3,
    NVLINK4,
    PCIE4,
    PCIE5,
)
from rankzero.facts.topologies import MEANINGS, SAMPLES
from rankzero.facts.units import GB, MB, Gbit, format_bytes, format_time, us
from solutions.ch03.ring_walk import complete_chunk
from solutions.ch04.all_reduce_algorithms import (
    all_reduce_time,
    crossover_bytes,
    double_binary_tree,
    hierarchical_all_reduce_time,
)
from solutions.ch04.bandwidth import bus_bandwidth
from solutions.ch04.topology import parse_topology

from ..ch03.published import BANDWIDTH, RING_BUS, SOURCE
from ..correction import FUNDAMENTALS, MLSYS, TRAINING_BOOK, Correction

_SHEETS = "NVIDIA A100, H100 and DGX H100 data sheets"
_IB = "InfiniBand Trade Association roadmap"
_PCIE = "PCI-SIG, PCI Express Base Specification"
_NCCL_TESTS = "NVIDIA/nccl-tests, doc/PERFORMANCE.md"
_TREES = "NVIDIA NCCL, src/graph/trees.cc; Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001"
_RING = "Patarasuk and Yuan (2009), doi:10.1016/j.jpdc.2008.09.002"
_SMI = "NVIDIA System Management Interface, legend of nvidia-smi topo -m"
_ENVIRONMENT = "NVIDIA NCCL documentation, environment variables"

#: The link that the page computes with: bytes/s and seconds.
_LINK = (50 * GB, 5 * us)


def _rate(bandwidth: float) -> str:
    return f"{format_bytes(bandwidth)}/s"


def _gbit(bandwidth: float) -> str:
    return f"{bandwidth / Gbit:,.0f} Gb/s"


def _ring(message_bytes: float, ranks: int, bandwidth: float) -> str:
    return format_time(all_reduce_time("ring", message_bytes, ranks, bandwidth))


def _links() -> tuple[Correction, ...]:
    """What a link carries."""
    node, port = DGX_H100, DGX_H100.port
    return (
        Correction(
            "4.1",
            "NVLink 4 is 600, 900 or 400 GB/s.",
            f"{_rate(NVLINK4.bandwidth)} per direction and GPU, {_rate(2 * NVLINK4.bandwidth)} when both are added.",
            f"{NVLINK4.links} links of {_rate(NVLINK4.bandwidth / NVLINK4.links)}; {_rate(2 * NVLINK3.bandwidth)} is "
            f"the sum for the previous generation. In bits it is {_gbit(NVLINK4.bandwidth)} per direction.",
            _SHEETS,
            matters="The wrong factor enters every estimate inside a node.",
            places=(
                f"{MLSYS}, src/part1-distributed/chapter04.md (900)",
                f"{TRAINING_BOOK}, docs/foundations/03-cluster-memory-hierarchy.md (900) and "
                "synthesis/34-case-study-llama3.md (600)",
            ),
        ),
        Correction(
            "4.1",
            "InfiniBand NDR is 400 GB/s, or 100 per link.",
            f"A port is {_gbit(IB_NDR.bandwidth)}, {_rate(IB_NDR.bandwidth)} per direction.",
            f"The {node.ports} ports of a {node.name} make {_rate(node.network_bandwidth)} for the node and "
            f"{_rate(node.network_bandwidth_per_gpu)} for a GPU, {NVLINK4.bandwidth / port.bandwidth:.3g} times less "
            "than its NVLink.",
            f"{_IB}; {_SHEETS}",
            matters="The wrong factor enters every estimate across nodes, where links are slowest.",
        ),
        Correction(
            "4.1",
            "PCIe 4 x16 is 32 GB/s in total, and a node has 900 GB/s.",
            f"PCIe 4 x16 is {_rate(PCIE4.bandwidth)} per direction, {_rate(2 * PCIE4.bandwidth)} when both are "
            "added; the second figure is that of one GPU, both directions added.",
            f"All {node.gpus} GPUs of a node send {_rate(node.gpus * NVLINK4.bandwidth)} at once.",
            f"{_PCIE}; {_SHEETS}",
            matters="Adding directions or devices makes a slow bus look fast.",
            places=(f"{MLSYS}, src/part1-distributed/chapter04.md",),
        ),
        Correction(
            "4.2",
            "All-reducing 1 GB on 8 GPUs takes 2.2 ms on NVLink 4 and 62 ms on PCIe 4, 28 times as long.",
            f"{_ring(1 * GB, 8, NVLINK4.bandwidth)} and {_ring(1 * GB, 8, PCIE4.bandwidth)}, "
            f"{NVLINK4.bandwidth / PCIE4.bandwidth:.3g} times as long.",
            f"A link's rate is not the algorithm bandwidth: S/B is {format_time(1 * GB / NVLINK4.bandwidth)}, and the "
            f"wire carries {bus_bandwidth('all_reduce', 1.0, 1.0, 8):.3g} S. The ratio counted both directions of one "
            "link and only one of the other.",
            _NCCL_TESTS,
            matters="The measured time then looks like a fault of the machine.",
            places=(f"{MLSYS}, src/part1-distributed/chapter04.md",),
        ),
        Correction(
            "4.6",
            "A ring uses nearly all of the link's bandwidth.",
            "That is an upper bound. Measured rings reach about 80 percent of it.",
            f"In a node of eight H200, NCCL's ring reached {RING_BUS / BANDWIDTH:.0%} of NVLink's rate. An A100 has "
            f"{_rate(NVLINK3.bandwidth)} per direction; 4 GB all-reduced by 8 of them in 30 ms are "
            f"{bus_bandwidth('all_reduce', 4 * GB, 0.03, 8) / NVLINK3.bandwidth:.1%} of it.",
            f"{_NCCL_TESTS}; {SOURCE}",
            matters="A healthy link is reported as broken because it does not reach its data sheet.",
            places=(f"{MLSYS}, src/part1-distributed/chapter04.md",),
        ),
    )


def _trees() -> tuple[Correction, ...]:
    """What a tree costs."""
    whole, double = (format_time(all_reduce_time(name, 4 * GB, 8, *_LINK)) for name in ("tree", "double_tree"))
    first, second = double_binary_tree(8)
    inner = [sorted(p for p in set(tree) if p is not None) for tree in (first, second)]
    roots = [tree.index(None) for tree in (first, second)]
    times = [format_time(all_reduce_time(name, 1 * MB, 1024, *_LINK)) for name in ("double_tree", "ring")]
    few, many = crossover_bytes(8, *_LINK), crossover_bytes(1024, *_LINK)
    return (
        Correction(
            "4.3",
            "In a tree all-reduce half of the GPUs are idle.",
            "Only while whole messages wait on every level. When they are cut into chunks, all levels work at once, "
            "and the only loss is that leaves never forward anything.",
            f"4 GB on 8 ranks take {whole} level by level and {double} in two pipelined trees.",
            _TREES,
            matters="It suggests that trees waste half of the machine, which rules them out for the wrong reason.",
            places=(f"{MLSYS}, src/part1-distributed/chapter04.md",),
        ),
        Correction(
            "4.4",
            "A tree all-reduce takes 2 log2 N full messages, so for large messages the ring always wins.",
            "The library's tree is pipelined and double: over N nodes with one rank each it takes 2 log2 N start-ups "
            "and 2 S/B, and the ring wins above N (N - 1 - log2 N) alpha B. Inside a node it is a chain, with as many "
            "start-ups as a ring.",
            f"That is {format_bytes(few)} on 8 nodes and {format_bytes(many)} on 1,024, with 5 µs and 50 GB/s.",
            _TREES,
            matters="Forcing a ring on a large job multiplies the time of its small messages.",
            places=(
                f"{FUNDAMENTALS} (the first half)",
                f"{TRAINING_BOOK}, docs/collectives/12-ring-tree-algorithms.md",
            ),
        ),
        Correction(
            "4.10",
            "Double binary trees are for 24,000 GPUs, and the second tree holds some of the ranks.",
            "The library's ordinary tree algorithm joins nodes in this way, few or many, and both trees hold all of "
            "them; 24,576 GPUs is where it was shown.",
            f"With one rank in each of 8 nodes the roots are {roots[0]} and {roots[1]}, {len(first) - 1} ranks have a "
            f"parent in each tree, and {inner[0]} have children in one, {inner[1]} in the other. Over 1,024 such nodes "
            f"1 MB takes {times[0]}, and {times[1]} in a ring.",
            _TREES,
            matters="Large jobs are tuned without the algorithm that suits them.",
            places=(
                f"{MLSYS}, src/part1-distributed/chapter04.md",
                f"{TRAINING_BOOK}, docs/collectives/12-ring-tree-algorithms.md (the second half)",
            ),
        ),
        Correction(
            "4.2",
            "After the first phase of a ring GPU 0 sends its complete chunk 0.",
            f"It owns chunk {complete_chunk(4, 0, first=0)}, if rank i first sends chunk i.",
            "On 4 ranks the owners hold "
            + ", ".join(f"rank {rank} chunk {complete_chunk(4, rank, first=0)}" for rank in range(4))
            + ".",
            _RING,
            matters="An all-gather that starts from there sends chunks that are not complete.",
            places=(
                f"{MLSYS}, src/part1-distributed/chapter04.md",
                f"{TRAINING_BOOK}, docs/collectives/12-ring-tree-algorithms.md",
            ),
        ),
        Correction(
            "4.3",
            "The time of an all-reduce grows with log N.",
            "A tree's start-ups do. A ring's grow with N, while its bytes hardly grow at all.",
            f"From 8 to 1,024 ranks 1 GB without start-ups takes {_ring(1 * GB, 8, 50 * GB)} and "
            f"{_ring(1 * GB, 1024, 50 * GB)} in a ring; its start-ups alone, 5 µs each, take "
            f"{format_time(all_reduce_time('ring', 0, 8, *_LINK))} and "
            f"{format_time(all_reduce_time('ring', 0, 1024, *_LINK))}, a tree's "
            f"{format_time(all_reduce_time('tree', 0, 8, *_LINK))} and "
            f"{format_time(all_reduce_time('tree', 0, 1024, *_LINK))}.",
            f"{_RING}; {_TREES}",
            matters="Rings on many ranks look cheaper than they are.",
            places=(FUNDAMENTALS,),
        ),
    )


def _levels() -> tuple[Correction, ...]:
    """Several nodes."""
    port = DGX_H100.port.bandwidth
    across = _ring(20 * GB / 8, 8, port)
    inside = {link.name: _ring(20 * GB, 8, link.bandwidth) for link in (NVLINK4, NVLINK3)}
    total = hierarchical_all_reduce_time(20 * GB, 8, 8, NVLINK4.bandwidth, port)
    return (
        Correction(
            "4.5",
            "64 GPUs on NVLink at 600 GB/s all-reduce 20 GB in 65.6 ms.",
            f"{_ring(20 * GB, 64, NVLINK3.bandwidth)} at {_rate(NVLINK3.bandwidth)}, the rate in one direction; and "
            "64 GPUs in nodes of 8 do not share one NVLink.",
            f"Over one port of {_rate(port)} per node the same ring takes {_ring(20 * GB, 64, port)}.",
            _SHEETS,
            matters="The plan is too fast, on a link that these GPUs do not share.",
        ),
        Correction(
            "4.5",
            "The ring across nodes takes 350 ms for 20 GB, and the part inside nodes adds perhaps 10.",
            f"With a port of {_rate(port)} for each of 8 GPUs in 8 nodes, {across} across and {inside[NVLINK4.name]} "
            f"inside, {format_time(total)} together.",
            f"Each GPU sends an eighth over its own port; inside it is {inside[NVLINK3.name]} over {NVLINK3.name}. "
            f"With one link of 100 GB/s per node it takes {_ring(20 * GB, 8, 100 * GB)}.",
            _NCCL_TESTS,
            matters="It hides that the ports, and not NVLink, set the pace between nodes.",
        ),
    )


def _machine() -> tuple[Correction, ...]:
    """What tools print, and their default settings."""
    links = parse_topology(SAMPLES["dgx-a100"].text).links
    same, other = links["GPU0"]["GPU1"], links["GPU0"]["GPU7"]
    sizes = {
        "4 ranks, 5 µs, 50 GB/s": crossover_bytes(4, *_LINK),
        "8 ranks, 5 µs, 50 GB/s": crossover_bytes(8, *_LINK),
        "64 ranks, 5 µs, 50 GB/s": crossover_bytes(64, *_LINK),
        "8 ranks, 50 µs, 1.25 GB/s": crossover_bytes(8, 1.25 * GB, 50 * us),
    }
    disk = PCIE4.bandwidth / 4
    order = (
        ("a GPU's memory", H100_SXM.memory_bandwidth),
        ("NVLink 4", NVLINK4.bandwidth),
        ("the processor's memory through PCIe 5", PCIE5.bandwidth),
        ("a network port", IB_NDR.bandwidth),
        ("a disk on four lanes of PCIe 4", disk),
    )
    return (
        Correction(
            "4.11",
            "In nvidia-smi topo, NODE means no NVLink and PXB the same switch, and pairs on one PCIe switch are "
            "faster.",
            f"NODE is {MEANINGS['NODE']}, PXB {MEANINGS['PXB']}, PIX {MEANINGS['PIX']}. Behind NVSwitch all traffic "
            "between GPUs takes NVLink.",
            f"In the stored matrix of a DGX A100, GPU0 has {same} to GPU1, on the same PCIe switch, and {other} to "
            "GPU7, on another processor.",
            _SMI,
            matters="A ring that is chosen with it crosses the slowest links.",
            places=(f"{MLSYS}, src/part1-distributed/chapter04.md and chapter04-topology.md",),
        ),
        Correction(
            "4.12",
            "NCCL_DEBUG is WARN by default, and NCCL_DEBUG_SUBSYS is all.",
            "NCCL_DEBUG is unset by default, and the subsystems are a short list.",
            "Unset, the library prints nothing. With INFO it prints what INIT, BOOTSTRAP and ENV say, unless you name "
            "others.",
            _ENVIRONMENT,
            matters="The log that would explain a hang is not written.",
            places=(f"{MLSYS}, src/part1-distributed/chapter04.md",),
        ),
        Correction(
            "4.4",
            "The ring overtakes the tree at 256 KB, or at 1 to 10 MB.",
            "There is no such constant: it depends on the ranks, the start-up and the bandwidth.",
            "; ".join(f"{name}: {format_bytes(round(size))}" for name, size in sizes.items()) + ".",
            _TREES,
            matters="A threshold copied from another machine picks the slower algorithm.",
            places=(
                f"{MLSYS}, src/part1-distributed/chapter04-benchmark.md (256 KB) and "
                "benchmark_algorithms.py (1 to 10 MB)",
                f"{TRAINING_BOOK}, docs/collectives/12-ring-tree-algorithms.md (256 KB)",
            ),
        ),
        Correction(
            "4.1",
            "The L2 cache delivers 90 TB/s, and in order of speed the network comes last, after the disk.",
            "Ordered by rate: "
            + ", ".join(f"{name} {_rate(rate)}" for name, rate in order)
            + ". No L2 is near 90 TB/s.",
            f"A port is {IB_NDR.bandwidth / disk:.3g} times as fast as a disk, and the processor's memory is reached "
            "through the GPU's PCIe slot.",
            f"{_SHEETS}; {_PCIE}; {_IB}",
            matters="Data is placed on the wrong side of the bottleneck.",
        ),
    )


CORRECTIONS: tuple[Correction, ...] = (*_links(), *_trees(), *_levels(), *_machine())
