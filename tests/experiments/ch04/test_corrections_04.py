"""Chapter 4's corrections: each number shown is worked out here again, and none is typed where it is computed."""

from __future__ import annotations

import inspect
import re

import pytest

from experiments.ch04 import corrections as corrections_04
from experiments.corrections import corrections

#: A word of each claim, and what its correction must show: plain arithmetic, in the order of the page.
SHOWN = (
    (
        "NVLink 4 is",
        [f"{18 * 25} GB/s per direction", f"{2 * 18 * 25} GB/s", "18 links of 25", f"{12 * 25 * 2} GB/s is the"],
    ),
    (
        "InfiniBand",
        [f"{400 / 8:g} GB/s per direction", f"8 ports of a DGX H100 make {8 * 50} GB/s", f"{450 / 50:g} times"],
    ),
    ("PCIe 4", ["31.5 GB/s per direction", f"{2 * 31.5:g} GB/s", f"{8 * 450 / 1000:g} TB/s at once"]),
    ("2.2 ms", [f"{1.75 / 450 * 1e3:.4g} ms", f"{1.75 / 31.5 * 1e3:.4g} ms", f"{450 / 31.5:.3g} times", "1.75 S"]),
    ("nearly all", ["80 to 90", f"{4 / 0.03 * 1.75 / 300:.1%}"]),
    ("idle", [f"{2 * 3 * (4 / 50 * 1e3 + 0.005):.4g} ms level", f"{2 * 4 / 50 * 1e3:.4g} ms in two"]),
    ("always wins", [f"{8 * (8 - 1 - 3) * 5e-6 * 50e9 / 1e6:g} MB", f"{1024 * 1013 * 5e-6 * 50:.4g} GB"]),
    ("24,000", ["roots are 0 and 7", "[0, 2, 4, 6]", "[1, 3, 5, 7]", f"{20 * 5 + 2 * 20:g} µs", "10.27 ms"]),
    ("complete chunk 0", ["It owns chunk 1,", "rank 3 chunk 0"]),
    ("log N", [f"{1.75 / 50 * 1e3:g} ms", f"{2 * 1023 * 5e-3:.4g} ms", f"{2 * 3 * 5} µs and {2 * 10 * 5} µs"]),
    ("65.6", [f"{2 * 63 / 64 * 20 / 300 * 1e3:.4g} ms at 300", f"{2 * 63 / 64 * 20 / 50 * 1e3:g} ms"]),
    (
        "350 ms",
        [
            f"{1.75 * 2.5 / 50 * 1e3:g} ms across",
            f"{35 / 450 * 1e3:.4g} ms inside",
            f"{35 / 300 * 1e3:.4g} ms over NVLink 3",
        ],
    ),
    ("NODE", ["GPU0 has NV12 to GPU1", "NV12 to GPU7", "through several PCIe bridges"]),
    ("NCCL_DEBUG", ["unset", "INIT, BOOTSTRAP and ENV"]),
    ("256 KB", ["4 ranks, 5 µs, 50 GB/s: 1 MB", "8 MB", "912 MB", f"{8 * 4 * 50e-6 * 1.25e3:g} MB."]),
    (
        "L2",
        [
            "3.35 TB/s, NVLink 4 450 GB/s",
            "63 GB/s, a network port 50 GB/s",
            f"{31.5 / 4:g} GB/s",
            f"{50 / (31.5 / 4):.3g} times",
        ],
    ),
)


def text_of(correction) -> str:
    return f"{correction.right} {correction.because}"


def test_the_sixteen_of_the_page_in_its_order():
    claims = [correction.claim for correction in corrections("04")]
    assert len(claims) == len(SHOWN)
    assert all(key in claim for claim, (key, _) in zip(claims, SHOWN, strict=True))


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_shows_the_right_numbers(place):
    text = text_of(corrections("04")[place])
    assert [number for number in SHOWN[place][1] if number not in text] == []


def test_numbers_follow_the_functions(monkeypatch):
    """Kills a typed time: with other cost functions every text about time must change."""

    def texts() -> list[str]:
        return [text_of(c) for c in (*corrections_04._trees(), *corrections_04._levels(), *corrections_04._machine())]

    before = texts()
    monkeypatch.setattr(corrections_04, "all_reduce_time", lambda *_: 0.000456)
    monkeypatch.setattr(corrections_04, "crossover_bytes", lambda *_: 123.0)
    monkeypatch.setattr(corrections_04, "hierarchical_all_reduce_time", lambda *_: 0.123)
    monkeypatch.setattr(corrections_04, "complete_chunk", lambda *_, **__: 77)
    unchanged = [text for text, new in zip(before, texts(), strict=True) if text == new]
    assert [text.split()[0] for text in unchanged] == ["NODE", "NCCL_DEBUG", "Ordered"]  # words and rates alone


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for among the constants of the module."""
    results = [
        "450",
        "3,600",
        "31.5",
        "63",
        "3.889",
        "55.56",
        "14.3",
        "77.8",
        "259.3",
        "10.27",
        "131.2",
        "787.5",
        "87.5",
    ]
    results += ["77.78", "165.3", "116.7", "912", "7.875", "6.35", "3.35"]
    source = inspect.getsource(corrections_04)
    assert [result for result in results if re.search(rf"(?<![\d.,]){re.escape(result)}(?![\d])", source)] == []
