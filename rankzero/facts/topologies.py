"""GPU topologies in the format of ``nvidia-smi topo -m``: stored samples, the codes, and this machine's own matrix.

Each stored sample says where its layout comes from; none describes the machine it is read on. Standard library only.

>>> nearness("SYS") < nearness("PIX") < nearness("NV4") < nearness("NV12")
True
>>> SAMPLES["single"].text.splitlines()[1].split()
['GPU0', 'X', 'PHB', '0-15', '0', 'N/A']
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

from rankzero import checks

#: Matches any code of the matrix.
CODE = re.compile(r"NV[1-9]\d*|PIX|PXB|PHB|NODE|SYS")

#: The meaning of each code, from the farthest to the nearest.
MEANINGS = {
    "SYS": "across NUMA nodes",
    "NODE": "between host bridges of one NUMA node",
    "PHB": "through a host bridge",
    "PXB": "through several PCIe bridges, no host bridge",
    "PIX": "through at most one PCIe bridge",
    "NV#": "a bonded set of # NVLinks",
}

#: Time limit for ``nvidia-smi``, seconds.
TIME_LIMIT = 10.0


@dataclass(frozen=True)
class Sample:
    """A stored matrix.

    Attributes:
        name: the kind of machine.
        text: the matrix in the format of ``nvidia-smi topo -m``, with its tabs, escape sequences and legend.
        note: a sentence that says it is a sample, and what the machine contains.
        source: where the layout is printed.
    """

    name: str
    text: str
    note: str
    source: str


def nearness(code: str) -> int:
    """How near two devices with this code of the matrix are: 0 for SYS (farthest), 4 for PIX, 4 + n for NVn."""
    checks.require(CODE.fullmatch(code) is not None, "be NV#, PIX, PXB, PHB, NODE or SYS", code=code)
    places = list(MEANINGS)
    return places.index("PIX") + int(code[2:]) if code.startswith("NV") else places.index(code)


def this_machine() -> str | None:
    """The output of ``nvidia-smi topo -m`` on this machine; None if the command is missing, fails or takes too long."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    try:
        done = subprocess.run([command, "topo", "-m"], capture_output=True, text=True, timeout=TIME_LIMIT, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def _command_output(
    matrix: str, columns: tuple[str, ...], more: str = "", gap: str = "\t", underlined: bool = False
) -> str:
    """The command's output for a matrix whose columns are separated by spaces.

    In the output tabs separate the columns, and ``gap`` separates the codes from the further ``columns``, in which only
    the rows of GPUs have entries.
    """
    (names, *rows) = [line.split() for line in matrix.strip().splitlines()]
    header = "\t".join(["", *names]) + gap + "\t".join(columns)
    lines = [f"\x1b[4m{header}\x1b[0m" if underlined else header]
    for name, *cells in rows:
        codes = [" X " if code == "X" else code for code in cells[: len(names)]]
        own = cells[len(names) :]
        if own and "GPU NUMA ID" in columns:
            own += ["", "N/A"]
        lines.append("\t".join([name, *codes]) + gap + "\t".join(own))
    legend = [f"  {code:4} = {meaning}" for code, meaning in {"X": "itself", **MEANINGS}.items()]
    return "\n".join([*lines, "", "Legend:", "", *legend]) + "\n" + more


_OLD_DRIVER_COLUMNS = ("CPU Affinity",)
_NUMA_COLUMNS = ("CPU Affinity", "NUMA Affinity")
_NEW_DRIVER_COLUMNS = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")

_DGX_A100 = """
        GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_6 mlx5_7 mlx5_8 mlx5_9
GPU0    X    NV12 NV12 NV12 NV12 NV12 NV12 NV12 PXB PXB SYS SYS SYS SYS SYS SYS 48-63,176-191   3
GPU1    NV12 X    NV12 NV12 NV12 NV12 NV12 NV12 PXB PXB SYS SYS SYS SYS SYS SYS 48-63,176-191   3
GPU2    NV12 NV12 X    NV12 NV12 NV12 NV12 NV12 SYS SYS PXB PXB SYS SYS SYS SYS 16-31,144-159   1
GPU3    NV12 NV12 NV12 X    NV12 NV12 NV12 NV12 SYS SYS PXB PXB SYS SYS SYS SYS 16-31,144-159   1
GPU4    NV12 NV12 NV12 NV12 X    NV12 NV12 NV12 SYS SYS SYS SYS PXB PXB SYS SYS 112-127,240-255 7
GPU5    NV12 NV12 NV12 NV12 NV12 X    NV12 NV12 SYS SYS SYS SYS PXB PXB SYS SYS 112-127,240-255 7
GPU6    NV12 NV12 NV12 NV12 NV12 NV12 X    NV12 SYS SYS SYS SYS SYS SYS PXB PXB 80-95,208-223   5
GPU7    NV12 NV12 NV12 NV12 NV12 NV12 NV12 X    SYS SYS SYS SYS SYS SYS PXB PXB 80-95,208-223   5
mlx5_0  PXB  PXB  SYS  SYS  SYS  SYS  SYS  SYS  X   PXB SYS SYS SYS SYS SYS SYS
mlx5_1  PXB  PXB  SYS  SYS  SYS  SYS  SYS  SYS  PXB X   SYS SYS SYS SYS SYS SYS
mlx5_2  SYS  SYS  PXB  PXB  SYS  SYS  SYS  SYS  SYS SYS X   PXB SYS SYS SYS SYS
mlx5_3  SYS  SYS  PXB  PXB  SYS  SYS  SYS  SYS  SYS SYS PXB X   SYS SYS SYS SYS
mlx5_6  SYS  SYS  SYS  SYS  PXB  PXB  SYS  SYS  SYS SYS SYS SYS X   PXB SYS SYS
mlx5_7  SYS  SYS  SYS  SYS  PXB  PXB  SYS  SYS  SYS SYS SYS SYS PXB X   SYS SYS
mlx5_8  SYS  SYS  SYS  SYS  SYS  SYS  PXB  PXB  SYS SYS SYS SYS SYS SYS X   PXB
mlx5_9  SYS  SYS  SYS  SYS  SYS  SYS  PXB  PXB  SYS SYS SYS SYS SYS SYS PXB X
"""

_DGX_H100 = """
     GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 NIC0 NIC1 NIC2 NIC3 NIC4 NIC5 NIC6 NIC7
GPU0 X    NV18 NV18 NV18 NV18 NV18 NV18 NV18 PXB  NODE NODE NODE SYS  SYS  SYS  SYS  0-55,112-167   0
GPU1 NV18 X    NV18 NV18 NV18 NV18 NV18 NV18 NODE PXB  NODE NODE SYS  SYS  SYS  SYS  0-55,112-167   0
GPU2 NV18 NV18 X    NV18 NV18 NV18 NV18 NV18 NODE NODE PXB  NODE SYS  SYS  SYS  SYS  0-55,112-167   0
GPU3 NV18 NV18 NV18 X    NV18 NV18 NV18 NV18 NODE NODE NODE PXB  SYS  SYS  SYS  SYS  0-55,112-167   0
GPU4 NV18 NV18 NV18 NV18 X    NV18 NV18 NV18 SYS  SYS  SYS  SYS  PXB  NODE NODE NODE 56-111,168-223 1
GPU5 NV18 NV18 NV18 NV18 NV18 X    NV18 NV18 SYS  SYS  SYS  SYS  NODE PXB  NODE NODE 56-111,168-223 1
GPU6 NV18 NV18 NV18 NV18 NV18 NV18 X    NV18 SYS  SYS  SYS  SYS  NODE NODE PXB  NODE 56-111,168-223 1
GPU7 NV18 NV18 NV18 NV18 NV18 NV18 NV18 X    SYS  SYS  SYS  SYS  NODE NODE NODE PXB  56-111,168-223 1
NIC0 PXB  NODE NODE NODE SYS  SYS  SYS  SYS  X    NODE NODE NODE SYS  SYS  SYS  SYS
NIC1 NODE PXB  NODE NODE SYS  SYS  SYS  SYS  NODE X    NODE NODE SYS  SYS  SYS  SYS
NIC2 NODE NODE PXB  NODE SYS  SYS  SYS  SYS  NODE NODE X    NODE SYS  SYS  SYS  SYS
NIC3 NODE NODE NODE PXB  SYS  SYS  SYS  SYS  NODE NODE NODE X    SYS  SYS  SYS  SYS
NIC4 SYS  SYS  SYS  SYS  PXB  NODE NODE NODE SYS  SYS  SYS  SYS  X    NODE NODE NODE
NIC5 SYS  SYS  SYS  SYS  NODE PXB  NODE NODE SYS  SYS  SYS  SYS  NODE X    NODE NODE
NIC6 SYS  SYS  SYS  SYS  NODE NODE PXB  NODE SYS  SYS  SYS  SYS  NODE NODE X    NODE
NIC7 SYS  SYS  SYS  SYS  NODE NODE NODE PXB  SYS  SYS  SYS  SYS  NODE NODE NODE X
"""

_H100_NETWORK_CARDS = ("mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11")

_CUBE_MESH = """
        GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 mlx5_0 mlx5_1 mlx5_2 mlx5_3
GPU0    X    NV1  NV1  NV2  NV2  SYS  SYS  SYS  PIX PHB SYS SYS 0-19,40-59
GPU1    NV1  X    NV2  NV1  SYS  NV2  SYS  SYS  PIX PHB SYS SYS 0-19,40-59
GPU2    NV1  NV2  X    NV2  SYS  SYS  NV1  SYS  PHB PIX SYS SYS 0-19,40-59
GPU3    NV2  NV1  NV2  X    SYS  SYS  SYS  NV1  PHB PIX SYS SYS 0-19,40-59
GPU4    NV2  SYS  SYS  SYS  X    NV1  NV1  NV2  SYS SYS PIX PHB 20-39,60-79
GPU5    SYS  NV2  SYS  SYS  NV1  X    NV2  NV1  SYS SYS PIX PHB 20-39,60-79
GPU6    SYS  SYS  NV1  SYS  NV1  NV2  X    NV2  SYS SYS PHB PIX 20-39,60-79
GPU7    SYS  SYS  SYS  NV1  NV2  NV1  NV2  X    SYS SYS PHB PIX 20-39,60-79
mlx5_0  PIX  PIX  PHB  PHB  SYS  SYS  SYS  SYS  X   PHB SYS SYS
mlx5_1  PHB  PHB  PIX  PIX  SYS  SYS  SYS  SYS  PHB X   SYS SYS
mlx5_2  SYS  SYS  SYS  SYS  PIX  PIX  PHB  PHB  SYS SYS X   PHB
mlx5_3  SYS  SYS  SYS  SYS  PHB  PHB  PIX  PIX  SYS SYS PHB X
"""

_PCIE = """
        GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 mlx5_0
GPU0    X    PIX  PHB  SYS  SYS  SYS  NODE 0-15,32-47  0
GPU1    PIX  X    PHB  SYS  SYS  SYS  NODE 0-15,32-47  0
GPU2    PHB  PHB  X    SYS  SYS  SYS  NODE 0-15,32-47  0
GPU3    SYS  SYS  SYS  X    PXB  NODE SYS  16-31,48-63 1
GPU4    SYS  SYS  SYS  PXB  X    NODE SYS  16-31,48-63 1
GPU5    SYS  SYS  SYS  NODE NODE X    SYS  16-31,48-63 1
mlx5_0  NODE NODE NODE SYS  SYS  SYS  X
"""

_SINGLE = """
     GPU0 NIC0
GPU0 X    PHB 0-15 0
NIC0 PHB  X
"""


def aligned(text: str) -> str:
    """The command's output with spaces for its tabs: each column of the matrix as wide as its widest entry."""
    lines = [line.split("\t") if line.count("\t") > 1 else [line] for line in text.splitlines()]
    rows = [row for row in lines if len(row) > 1]
    widths = [max(len(row[n]) for row in rows if n < len(row)) for n in range(max(map(len, rows), default=0))]
    return "\n".join(" ".join(map(str.ljust, row, widths)).rstrip() if len(row) > 1 else row[0] for row in lines)


_SAMPLE_NOTE = "Stored sample, not this machine. Written for the course in the command's format: "

SAMPLES: dict[str, Sample] = {
    "nvswitch": Sample(
        "DGX H100",
        _command_output(
            _DGX_H100,
            _NEW_DRIVER_COLUMNS,
            "\nNIC Legend:\n\n" + "".join(f"  NIC{n}: {name}\n" for n, name in enumerate(_H100_NETWORK_CARDS)),
        ),
        _SAMPLE_NOTE + "8 GPUs behind NVSwitch, and the network card of each; cards for storage are left out.",
        "NVIDIA DGX H100/H200 User Guide, network modules: which card belongs to which GPU and processor",
    ),
    "dgx-a100": Sample(
        "DGX A100",
        _command_output(_DGX_A100, _NUMA_COLUMNS),
        _SAMPLE_NOTE
        + "8 GPUs behind NVSwitch, two GPUs and two network cards to a PCIe switch; cards for storage left out.",
        "NVIDIA DGX A100 User Guide; printed alike in NVIDIA/DCGM issue 149",
    ),
    "cube-mesh": Sample(
        "DGX-1 with V100",
        _command_output(_CUBE_MESH, _OLD_DRIVER_COLUMNS),
        _SAMPLE_NOTE
        + "8 GPUs in a hybrid cube mesh, six NVLinks each, and 4 network cards; the columns of an old driver.",
        "NVIDIA DGX-1 With Tesla V100 System Architecture, white paper WP-08437 (2017)",
    ),
    "pcie": Sample(
        "6 PCIe GPUs on two sockets",
        _command_output(_PCIE, _NUMA_COLUMNS, gap="\t\t", underlined=True),
        _SAMPLE_NOTE + "no NVLink; two switches, two sockets, an underlined header and doubled tabs.",
        "made up: no machine printed it; the codes are those of the command's legend",
    ),
    "single": Sample(
        "one GPU and one network card",
        _command_output(_SINGLE, _NEW_DRIVER_COLUMNS, "\nNIC Legend:\n\n  NIC0: mlx5_0\n"),
        _SAMPLE_NOTE + "nothing to lay a ring over.",
        "made up: no machine printed it; the codes are those of the command's legend",
    ),
}
