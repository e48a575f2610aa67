"""Peak figures of GPUs, links and nodes, each with its data sheet. Standard library only.

Every bandwidth is for *one direction*, in bytes/s; data sheets often print the sum of both. Every compute peak is
*dense*, in FLOP/s; data sheets often print twice as much, which holds for 2:4 sparse matrices. Sizes are in bytes.

>>> NVLINK4.bandwidth / IB_NDR.bandwidth
9.0
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.units import GB, TB, TFLOP, Gbit


@dataclass(frozen=True)
class Link:
    """A connection.

    Attributes:
        name: the vendor's name.
        bandwidth: bytes/s in one direction, all ``links`` together.
        source: data sheet or standard.
        links: parallel links bundled into one connection of a GPU (NVLink); 1 for a port or a slot.
    """

    name: str
    bandwidth: float
    source: str
    links: int = 1


@dataclass(frozen=True)
class Gpu:
    """An accelerator.

    Attributes:
        name: the vendor's name.
        peak_bf16: FLOP/s of dense bf16 (and fp16) matrix products.
        peak_fp8: FLOP/s of dense 8-bit floating-point products; None if the GPU has none.
        memory: bytes of on-package memory.
        memory_bandwidth: bytes/s of that memory.
        nvlink: connection to the other GPUs of the node.
        host: connection to the processor (on a GB200 the two GPUs of a superchip share it).
        power: maximum power, watts.
        source: data sheet.
    """

    name: str
    peak_bf16: float
    peak_fp8: float | None
    memory: float
    memory_bandwidth: float
    nvlink: Link
    host: Link
    power: float
    source: str


@dataclass(frozen=True)
class Node:
    """GPUs joined by NVLink switches, and the network ports through which they reach other nodes.

    Attributes:
        name: the vendor's name.
        gpu: the kind of GPU.
        gpus: number of GPUs.
        port: one network port.
        ports: number of ports for traffic between GPUs (storage ports are not counted).
        source: data sheet.
    """

    name: str
    gpu: Gpu
    gpus: int
    port: Link
    ports: int
    source: str

    @property
    def network_bandwidth(self) -> float:
        """Bytes/s in one direction, for the whole node."""
        return self.port.bandwidth * self.ports

    @property
    def network_bandwidth_per_gpu(self) -> float:
        """Bytes/s in one direction that each GPU gets when all of them send at once."""
        return self.network_bandwidth / self.gpus


_PCIE = "PCI-SIG, PCI Express Base Specification, x16, after line coding"
_PCIE_FLITS = "PCI-SIG, PCI Express Base Specification 6.0, x16, 242 of the 256 bytes of a flit"
_IB = "InfiniBand Trade Association roadmap, one port of four lanes"
_ETHERNET = "IEEE 802.3, one port"

# Bandwidth in one direction, all links of one GPU together.
NVLINK1 = Link("NVLink 1", 80 * GB, "NVIDIA Tesla P100 white paper (2016)", links=4)
NVLINK2 = Link("NVLink 2", 150 * GB, "NVIDIA Tesla V100 data sheet (2018)", links=6)
NVLINK3 = Link("NVLink 3", 300 * GB, "NVIDIA A100 80GB data sheet (2021)", links=12)
NVLINK4 = Link("NVLink 4", 450 * GB, "NVIDIA H100 data sheet (2023)", links=18)
NVLINK5 = Link("NVLink 5", 900 * GB, "NVIDIA Blackwell architecture technical brief (2024)", links=18)

PCIE3 = Link("PCIe 3 x16", 15.75 * GB, _PCIE)
PCIE4 = Link("PCIe 4 x16", 31.5 * GB, _PCIE)
PCIE5 = Link("PCIe 5 x16", 63.0 * GB, _PCIE)
PCIE6 = Link("PCIe 6 x16", 121.0 * GB, _PCIE_FLITS)
NVLINK_C2C = Link("NVLink-C2C", 450 * GB, "NVIDIA Grace Hopper Superchip architecture white paper (2023)")

IB_HDR = Link("InfiniBand HDR", 200 * Gbit, _IB)
IB_NDR = Link("InfiniBand NDR", 400 * Gbit, _IB)
IB_XDR = Link("InfiniBand XDR", 800 * Gbit, _IB)

ETHERNET_10G = Link("10 Gb Ethernet", 10 * Gbit, _ETHERNET)
ETHERNET_100G = Link("100 Gb Ethernet", 100 * Gbit, _ETHERNET)
ETHERNET_400G = Link("400 Gb Ethernet", 400 * Gbit, _ETHERNET)

A100_SXM = Gpu(
    "A100 SXM 80GB",
    peak_bf16=312 * TFLOP,
    peak_fp8=None,
    memory=80 * GB,
    memory_bandwidth=2.039 * TB,
    nvlink=NVLINK3,
    host=PCIE4,
    power=400,
    source="NVIDIA A100 80GB data sheet (2021)",
)
H100_SXM = Gpu(
    "H100 SXM",
    peak_bf16=989.4 * TFLOP,
    peak_fp8=1978.9 * TFLOP,
    memory=80 * GB,
    memory_bandwidth=3.35 * TB,
    nvlink=NVLINK4,
    host=PCIE5,
    power=700,
    source="NVIDIA H100 data sheet (2023), half of the sparse figures, and Hopper architecture white paper",
)
H200_SXM = Gpu(
    "H200 SXM",
    peak_bf16=989.4 * TFLOP,
    peak_fp8=1978.9 * TFLOP,
    memory=141 * GB,
    memory_bandwidth=4.8 * TB,
    nvlink=NVLINK4,
    host=PCIE5,
    power=700,
    source="NVIDIA H200 data sheet (2024), half of the sparse figures",
)
B200_SXM = Gpu(
    "B200 SXM",
    peak_bf16=2250 * TFLOP,
    peak_fp8=4500 * TFLOP,
    memory=180 * GB,
    memory_bandwidth=8.0 * TB,
    nvlink=NVLINK5,
    host=PCIE5,
    power=1000,
    source="NVIDIA DGX B200 data sheet (2024), an eighth of the system, and Blackwell architecture technical brief",
)
GB200 = Gpu(
    "GB200 (one of its two GPUs)",
    peak_bf16=2500 * TFLOP,
    peak_fp8=5000 * TFLOP,
    memory=186 * GB,
    memory_bandwidth=8.0 * TB,
    nvlink=NVLINK5,
    host=NVLINK_C2C,
    power=1200,
    source="NVIDIA GB200 NVL72 data sheet (2024), a seventy-second of the rack, half of the sparse figures",
)

DGX_A100 = Node("DGX A100", A100_SXM, 8, IB_HDR, 8, "NVIDIA DGX A100 data sheet (2020)")
DGX_H100 = Node("DGX H100", H100_SXM, 8, IB_NDR, 8, "NVIDIA DGX H100 data sheet (2022)")
DGX_H200 = Node("DGX H200", H200_SXM, 8, IB_NDR, 8, "NVIDIA DGX H200 data sheet (2024)")
DGX_B200 = Node("DGX B200", B200_SXM, 8, IB_NDR, 8, "NVIDIA DGX B200 data sheet (2024)")
GB200_NVL72 = Node("GB200 NVL72", GB200, 72, IB_NDR, 72, "NVIDIA DGX GB200 data sheet (2024)")

LINKS = (
    *(NVLINK1, NVLINK2, NVLINK3, NVLINK4, NVLINK5, NVLINK_C2C),
    *(PCIE3, PCIE4, PCIE5, PCIE6),
    *(IB_HDR, IB_NDR, IB_XDR),
    *(ETHERNET_10G, ETHERNET_100G, ETHERNET_400G),
)
GPUS = (A100_SXM, H100_SXM, H200_SXM, B200_SXM, GB200)
NODES = (DGX_A100, DGX_H100, DGX_H200, DGX_B200, GB200_NVL72)
