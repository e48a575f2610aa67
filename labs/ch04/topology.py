# Generated from solutions/ch04/topology.py by make stubs. Write the bodies; names and signatures stay.
"""Reads the matrix of ``nvidia-smi topo -m`` and lays a ring over it. Standard library only.

>>> topology = parse_topology("\\tGPU0\\tGPU1\\tCPU Affinity\\nGPU0\\t X \\tNV4\\t0-7\\nGPU1\\tNV4\\t X \\t0-7\\n")
>>> topology.links["GPU0"]["GPU1"], best_ring(topology.links, ["GPU1", "GPU0"])
('NV4', ['GPU0', 'GPU1'])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankzero import checks


@dataclass(frozen=True)
class Topology:
    """How the devices of one machine are connected.

    Attributes:
        devices: GPUs and network cards, in the order of the matrix.
        links: ``links[a][b]`` is the code of the connection between two different devices: ``NV12``, ``PIX``, ``SYS``,
            ... A device has no entry for itself.
        cpus: the processor cores near a device, for the devices that have such a column: ``"0-31,64-95"``.
        numa: the memory node near a device, for the devices that have such a column: ``"0"``, or ``"N/A"``.
    """

    devices: tuple[str, ...]
    links: dict[str, dict[str, str]]
    cpus: dict[str, str]
    numa: dict[str, str]


def parse_topology(text: str) -> Topology:
    """The devices and links in what ``nvidia-smi topo -m`` prints.

    The header may be underlined with terminal escapes (ESC ``[4m`` before it, ESC ``[0m`` after), columns may be
    separated by tabs or blanks, and the columns after the devices, "CPU Affinity", "NUMA Affinity" and "GPU NUMA ID",
    may be missing; the last of them is not kept. Text before and after the matrix is skipped.

    Args:
        text: the command's output, with a whole matrix: a row for every device, with a code for every device, ``X``
            for itself; both codes of a pair agree.

    Source: NVIDIA System Management Interface, legend of ``nvidia-smi topo -m``.
    """
    raise NotImplementedError("04-parse-topology: not written yet")


def best_ring(links: Mapping[str, Mapping[str, str]], gpus: Sequence[str]) -> list[str]:
    """The order of GPUs in the ring whose slowest hop is fastest.

    A ring is as fast as its slowest hop, and the hop from the last GPU back to the first is one of them. From slow to
    fast: SYS, NODE, PHB, PXB, PIX, NV1, NV2, ... The ring starts with the GPU of the lowest number; of several best
    ones it is the smallest, number by number.

    Args:
        links: ``links[a][b]`` is the code of the connection between a and b, for every two of the GPUs.
        gpus: names as ``GPU0``, from 1 to 8 different ones.
    """
    checks.require(1 <= len(set(gpus)) == len(gpus) <= 8, "be from 1 to 8 different names", gpus=gpus)
    raise NotImplementedError("04-best-ring: not written yet")
