"""What one GPU really did: times that ``python -m benchmarks.gpu`` measured once, stored in ``data/h100.json``.

Each time is the median of thirty, in seconds, seen from the program that asks for the work and waits for it; those
called ``issue`` end when it has asked, and :func:`decoding` shares one such time among ten products.

>>> seconds = dict(copies("host to device, pinned"))
>>> round(2**30 / seconds[2**30] / 1e9)  # GB/s over PCIe 5.0 x16
55
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

STORED = Path(__file__).parent / "data" / "h100.json"
#: Ways to copy, by where the bytes are and where they go. Pinned memory stays where it is, so that the GPU can fetch
#: from it by itself; from pageable memory everything is first copied to a pinned buffer.
Way = Literal["host to device, pinned", "host to device, pageable", "device to host, pinned", "device to device"]
#: Formats of numbers in a product of matrices.
Format = Literal["fp32", "tf32", "bf16"]


@dataclass(frozen=True)
class Chain:
    """A chain of products of square bf16 matrices, launched one by one and as one CUDA graph; times in seconds.

    Attributes:
        rows: of a matrix.
        eager: until the last of the kernels, launched one by one, is done.
        eager_issue: until the host has asked for all of them.
        graph: until the graph is done.
        graph_issue: until the host has asked for the graph.
    """

    rows: int
    eager: float
    eager_issue: float
    graph: float
    graph_issue: float


@functools.cache
def _stored() -> dict[str, Any]:
    return json.loads(STORED.read_text(encoding="utf-8"))


def source() -> str:
    """What was measured with, in one line."""
    found = _stored()
    return f"{found['gpu']}, {found['link']}, torch {found['torch']}: {found['command']}"


def copies(way: Way) -> list[tuple[int, float]]:
    """Bytes and seconds of copies of 1 byte to 1 GiB.

    Raises:
        ValueError: nothing of this name was measured; the message lists what was.
    """
    return _pairs("copies", way, get_args(Way))


def products(form: Format) -> list[tuple[int, float]]:
    """The rows of a square matrix, and the seconds of a product of two such.

    Raises:
        ValueError: nothing of this name was measured; the message lists what was.
    """
    return _pairs("products", form, get_args(Format))


def _pairs(kind: str, name: str, names: tuple[str, ...]) -> list[tuple[int, float]]:
    if name not in names:
        raise ValueError(f"{kind} were measured of {', '.join(map(repr, names))}, got {name!r}")
    return [(size, seconds) for size, seconds in _stored()[kind][name]]


def decoding_width() -> int:
    """Rows and columns of the weights of :func:`decoding`."""
    return _stored()["decoding"]["width"]


def decoding() -> list[tuple[int, float]]:
    """Tokens in a batch, and the seconds of their product with bf16 weights that come from the GPU's memory."""
    return [(batch, seconds) for batch, seconds in _stored()["decoding"]["seconds"]]


def kernels() -> int:
    """How many products a chain of :func:`chains` has."""
    return _stored()["chains"]["kernels"]


def chains() -> list[Chain]:
    """Chains of products by size."""
    return [Chain(**run) for run in _stored()["chains"]["runs"]]
