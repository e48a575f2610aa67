"""Reads the matrix of ``nvidia-smi topo -m`` and lays a ring over it. Standard library only.

>>> topology = parse_topology("\\tGPU0\\tGPU1\\tCPU Affinity\\nGPU0\\t X \\tNV4\\t0-7\\nGPU1\\tNV4\\t X \\t0-7\\n")
>>> topology.links["GPU0"]["GPU1"], best_ring(topology.links, ["GPU1", "GPU0"])
('NV4', ['GPU0', 'GPU1'])
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

from rankzero import checks

_COLUMNS = "CPU Affinity|NUMA Affinity|GPU NUMA ID"
_FAR_TO_NEAR = ("SYS", "NODE", "PHB", "PXB", "PIX")  # before any NVLink
_CODE = re.compile(r"NV[1-9]\d*|" + "|".join(_FAR_TO_NEAR))


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
    lines = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).splitlines()
    start = next((i for i, line in enumerate(lines) if _is_header(line.split())), None)
    if start is None:
        raise ValueError("text must hold the matrix of nvidia-smi topo -m, found no row of device names")
    columns = re.findall(_COLUMNS, lines[start])
    head = re.split(_COLUMNS, lines[start])[0]
    devices, gap = head.split(), len(head) - len(head.rstrip("\t"))
    rows: dict[str, str] = {}
    for line in lines[start + 1 :]:
        name, _, rest = " ".join(line.split(maxsplit=1)).partition(" ")
        rows.setdefault(name, rest)
    links: dict[str, dict[str, str]] = {}
    others: dict[str, dict[str, str]] = {}
    for name in devices:
        if name not in rows:
            raise ValueError(f"the matrix must have a row for each device, found none for {name}")
        codes, cells = _cells(rows[name], len(devices), gap)
        if len(codes) < len(devices):
            raise ValueError(f"the row of {name} must have {len(devices)} codes, got {len(codes)}")
        links[name] = dict(zip(devices, codes, strict=True))
        others[name] = {column: cell for column, cell in zip(columns, cells, strict=False) if cell}
    _check_pairs(links)
    return Topology(
        devices=tuple(devices),
        links={a: {b: code for b, code in row.items() if b != a} for a, row in links.items()},
        cpus={name: cells["CPU Affinity"] for name, cells in others.items() if "CPU Affinity" in cells},
        numa={name: cells["NUMA Affinity"] for name, cells in others.items() if "NUMA Affinity" in cells},
    )


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
    first, *rest = sorted(gpus, key=_number)
    speed = {(a, b): _nearness(links[a][b]) for a, b in permutations(gpus, 2)}

    def slowest_hop(order: tuple[str, ...]) -> int:
        return min(map(speed.__getitem__, zip((first, *order), (*order, first), strict=True)))

    if not rest:
        return [first]
    orders = permutations(rest)  # from the smallest to the largest
    return [first, *max(orders, key=slowest_hop)]  # of equals, the first


def _is_header(words: Sequence[str]) -> bool:
    """Whether a line names devices: a row of the matrix starts with one, too, but goes on with a code."""
    is_gpu = bool(words) and re.fullmatch(r"GPU\d+", words[0]) is not None
    return is_gpu and not (len(words) > 1 and (words[1] == "X" or _CODE.fullmatch(words[1])))


def _cells(row: str, count: int, gap: int) -> tuple[list[str], list[str]]:
    """The first ``count`` words of a row, and the cells after them: separated by tabs where there are any.

    Between tabs a cell may be empty; ``gap`` tabs come before the first.
    """
    words = list(islice(re.finditer(r"\S+", row), count))
    rest = row[words[-1].end() :].strip(" ").removeprefix("\t" * gap) if words else ""
    codes = [word.group() for word in words]
    return codes, [cell.strip() for cell in rest.split("\t")] if "\t" in rest else rest.split()


def _check_pairs(links: Mapping[str, Mapping[str, str]]) -> None:
    """Check that every code is known, the diagonal is X, and both directions of a pair have the same code."""
    pairs = [(a, b, code) for a, row in links.items() for b, code in row.items()]
    for a, b, code in pairs:
        if a == b and code != "X":
            raise ValueError(f"the code of {a} and itself must be X, got {code!r}")
        if a != b and not _CODE.fullmatch(code):
            raise ValueError(f"the code of {a} and {b} must be NV#, PIX, PXB, PHB, NODE or SYS, got {code!r}")
    for a, b, code in pairs:
        if links[b][a] != code:
            raise ValueError(f"the codes of {a} and {b} must agree, got {code!r} and {links[b][a]!r}")


def _number(gpu: str) -> int:
    return int(gpu.removeprefix("GPU"))


def _nearness(code: str) -> int:
    """The place of a code in the order from far to near."""
    return len(_FAR_TO_NEAR) - 1 + int(code[2:]) if code.startswith("NV") else _FAR_TO_NEAR.index(code)
