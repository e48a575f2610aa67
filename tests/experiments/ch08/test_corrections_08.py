"""Chapter 8's corrections: each number shown is worked out here again, and none is typed where it is computed."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

from experiments.ch08 import corrections as corrections_08
from experiments.ch08.corrections import CORRECTIONS

READ_8B, KV_8B = 2 * 8_030_261_248, 2 * 32 * 8 * 128 * 2

#: A word of each claim, and what its correction must show: plain arithmetic, in the order of the page.
SHOWN = (
    ("41.8 ms", ["140 GB", "80 GB", f"{140 / 2 / 3.35:.4g} ms", f"{140 / 3.35:.4g} ms"]),
    (
        "has no effect",
        [f"{(READ_8B + 2048 * KV_8B) / 3.35e9:.4g} ms", f"{(READ_8B + 256 * 2048 * KV_8B) / 3.35e9:.4g} ms"],
    ),
    ("compute-bound", [f"{989.4 / 3.35:.0f} prompt tokens", f"{READ_8B / 3.35e9:.4g} ms"]),
    ("gen_len", ["50 tokens takes 49 steps"]),
    ("request rate times", [f"{500 * (0.01417 + 49 * 0.0209):.0f} for 500", "64 slots", "9 replicas"]),
    ("does not change", ["Mean finish 219 instead of 539", "50 requests on 8 slots"]),
    ("no waste", [f"{100 * (1 - 3266 / 542 / 8):.3g} %", f"{100 * (1 - 3266 / 977 / 8):.3g} %"]),
    ("occupancy", [f"{(READ_8B + 64 * n * KV_8B) / 3.35e9:.4g} ms" for n in (16, 8192)]),
    ("32K", [f"{32_768 * 2 * 80 * 8 * 128 * 2 / 1e9:.4g} GB", "327,680"]),
    ("/ 1e9", ["8 billion leave 64 of 80 GB", "70 billion lack 60"]),
    ("gradients", ["12 of 16 bytes"]),
    ("to load", ["68.98 GB", "34.49 GB"]),
    ("hash()", ["every process"]),
)


def text_of(correction) -> str:
    return f"{correction.right} {correction.because}"


def test_those_of_the_page():
    assert len(CORRECTIONS) == len(SHOWN)
    assert all(key in one.claim for one, (key, _) in zip(CORRECTIONS, SHOWN, strict=True))
    assert {one.chapter for one in CORRECTIONS} == {"08"}
    assert all(one.source for one in CORRECTIONS)


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_shows_the_right_numbers(place):
    text = text_of(CORRECTIONS[place])
    assert [number for number in SHOWN[place][1] if number not in text] == []


def test_hashes_of_strings_differ_from_process_to_process():
    def asked(seed: str) -> str:
        code = "print(hash('word'))"
        done = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        return done.stdout.decode()

    assert asked("1") != asked("2")


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for outside the claims."""
    source = inspect.getsource(corrections_08)
    for one in CORRECTIONS:
        source = source.replace(one.claim, "")
    results = ["20.9", "4.87", "25.3", "295", "4.79", "49", "519", "219", "539", "24.7", "58.2", "10.74", "60"]
    assert [r for r in results if re.search(rf"(?<![\d.,:]){re.escape(r)}(?![\d.]\d?)", source)] == []
