"""GPUs, links and nodes, as the course computes with them."""

from __future__ import annotations

from rankzero.facts.hardware import GPUS, LINKS, NODES, Gpu, Link, Node
from rankzero.facts.units import GB, TB, TFLOP

from .markup import sources, table


def _rate(bandwidth: float) -> str:
    return f"{bandwidth / GB:,.6g}"


def _gpu(gpu: Gpu) -> tuple[str, ...]:
    return (
        gpu.name,
        f"{gpu.peak_bf16 / TFLOP:,.6g}",
        "–" if gpu.peak_fp8 is None else f"{gpu.peak_fp8 / TFLOP:,.6g}",
        f"{gpu.memory / GB:.6g}",
        f"{gpu.memory_bandwidth / TB:.4g}",
        _rate(gpu.nvlink.bandwidth),
        f"{gpu.peak_bf16 / gpu.memory_bandwidth:.3g}",
        f"{gpu.power:,.4g}",
    )


def _link(link: Link) -> tuple[str, ...]:
    return link.name, str(link.links), _rate(link.bandwidth)


def _node(node: Node) -> tuple[str, ...]:
    ratio = node.gpu.nvlink.bandwidth / node.network_bandwidth_per_gpu
    rates = (_rate(node.network_bandwidth), _rate(node.network_bandwidth_per_gpu), f"{ratio:.3g}")
    return node.name, str(node.gpus), node.gpu.name, f"{node.ports} x {node.port.name}", *rates


def text() -> str:
    """The page's generated part."""
    head = ("GPU", "bf16, TFLOP/s", "fp8, TFLOP/s", "memory, GB", "memory, TB/s", "NVLink, GB/s", "FLOP per byte", "W")
    gpus = table(head, map(_gpu, GPUS))
    links = table(("link", "links bundled", "GB/s"), map(_link, LINKS))
    ratio = "NVLink : network"
    nodes = table(("node", "GPUs", "of type", "ports", "network, GB/s", "per GPU, GB/s", ratio), map(_node, NODES))
    parts = (("GPUs", gpus, GPUS), ("Links", links, LINKS), ("Nodes", nodes, NODES))
    return "\n".join(f"## {name}\n\n{rows}\n{sources(records)}" for name, rows, records in parts)
