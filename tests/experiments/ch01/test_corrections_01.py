"""Chapter 1's corrections: each number shown is worked out here in plain arithmetic; the module types none."""

import inspect
import re
from dataclasses import replace

import pytest

from experiments.ch01 import corrections as corrections_01
from experiments.ch01.corrections import CORRECTIONS
from experiments.ch01.launching import launched
from experiments.corrections import corrections
from rankzero.facts.hardware import A100_SXM

#: A year and an hour in seconds, and GPT-3's training: FLOP, and A100-hours at half of 312 TFLOP/s.
YEAR, HOUR = 365.25 * 24 * 3600, 3600
GPT3 = 6 * 175e9 * 300e9
HOURS = GPT3 / (0.5 * 312e12) / HOUR

#: What each correction must show.
SHOWN = (
    ("355 years", [f"takes {GPT3 / 156e12 / YEAR:.1f} years", f"{3.14e23 / 28e12 / YEAR:.2f} years", "3.15e+23 FLOP"]),
    ("20,833 hours", ["3e+08 s", f"{3e8 / HOUR:,.0f} hours", f"{3e8 / 86_400:,.0f} days", "1.05 PFLOP/s", "3.4 times"]),
    (
        "26,280 USD",
        [f"{HOURS:,.0f} A100-hours", "1.68 million", f"{8760 / HOURS:.1%}".replace("%", " %"), "1.87 million"],
    ),
    ("12 bytes", ["keeps 16:", "copy of the weight 4", "moments 8", "2.8 TB on 35 devices of 80 GB", "2.1 TB on 27"]),
    (
        "too big for one device",
        [f"{70e9 * 16 / 1e12:.3g} TB as a full copy", f"{70e9 * 16 / 8 / 1e9:.0f} GB as"],
    ),
    ("interpreter's lock", ["release the lock", "a crash is confined to one rank"]),
    ("spawn helper", ["none of the 5", "RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT"]),
    (
        "Twenty tokens per parameter",
        [
            "6e+18 to 3e+21 FLOP",
            "196 times",
            f"GPT-3 {300 / 175:.2f}",
            f"405B {15_600 / 405.8533888:.1f}",
            f"8B {15_000 / 8.030261248:,.0f}",
        ],
    ),
    (
        "2 d s²",
        [
            f"{100 * 2048 / (6 * 12_288):.1f} %",
            f"{2048**2 / (12 * 12_288):.0f} times",
            f"{100 * 131_072 / (6 * 16_384):.0f} %",
        ],
    ),
    ("Amdahl's", ["7.2 or 4.8", f"{1 / (0.1 + 0.9 / 8):.2f} or {1 / (0.4 + 0.6 / 8):.2f}"]),
    ("time of an epoch", [f"{51_200 // 32:,} steps on one rank", f"{51_200 // 1024} on 32"]),
    ("60 % is excellent", ["reached 56 %", f"{100 * 380 / 989.4:.0f} to {100 * 430 / 989.4:.0f} %"]),
)


def text_of(correction):
    return f"{correction.right} {correction.because}"


def test_the_chapter_has_its_twelve_in_the_order_of_the_page():
    assert corrections("01") == CORRECTIONS
    claims = [correction.claim for correction in CORRECTIONS]
    assert len(claims) == len(SHOWN)
    assert all(key in claim for claim, (key, _) in zip(claims, SHOWN, strict=True))


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_shows_the_right_numbers(place):
    for number in SHOWN[place][1]:
        assert number in text_of(CORRECTIONS[place])


def texts() -> list[str]:
    groups = ("_time", "_memory", "_processes", "_work", "_speed")
    return [text_of(correction) for group in groups for correction in getattr(corrections_01, group)()]


def test_numbers_follow_the_course_s_functions(monkeypatch):
    """Kills a typed number: with other functions, every text that has a result must change."""
    before = texts()
    flops = corrections_01.training_flops_per_token
    monkeypatch.setattr(corrections_01, "training_flops_per_token", lambda *a: 1.5 * flops(*a) + a[0])
    time = corrections_01.training_time
    monkeypatch.setattr(corrections_01, "training_time", lambda *a: 1.5 * time(*a))
    monkeypatch.setattr(corrections_01, "STATES", corrections_01.STATES | {"fp32 moments": 12})
    for name in ("amdahl_speedup", "scaling_efficiency"):
        monkeypatch.setattr(corrections_01, name, lambda *_, **__: 0.321)
    monkeypatch.setattr(corrections_01, "shard_indices", lambda *_: [0] * 64)
    monkeypatch.setattr(corrections_01, "VARIABLES", ("A", "B"))
    monkeypatch.setattr(corrections_01, "LLAMA3_8B", replace(corrections_01.LLAMA3_8B, tokens=1e12))
    changed = [place for place, (old, new) in enumerate(zip(before, texts(), strict=True)) if old != new]
    words_alone = [place for place, (key, _) in enumerate(SHOWN) if key == "interpreter's lock"]
    assert sorted({*range(12)} - {*changed}) == words_alone


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for among the constants of the module."""
    results = [
        "64.0",
        "355.36",
        "83,333",
        "83_333",
        "3,472",
        "560,897",
        "1.68",
        "1.87",
        "2.8 TB",
        "2.1 TB",
        "1.12 TB",
        "140 GB",
    ]
    results += ["38.4", "1,868", "1868", "1.71", "133", "7.2", "4.8", "4.71", "2.11", "1,600", "56 %", "43 %"]
    source = inspect.getsource(corrections_01)
    assert [result for result in results if re.search(rf"(?<![\d.,_]){re.escape(result)}", source)] == []


def test_the_published_step_is_that_of_the_paper():
    """71.49 s a step, by the paper's own formula, is its MFU of 56.3 %: Korthikanti et al. (2022), equation A1."""
    layers, width, sequence, vocabulary, batch = 128, 25_600, 2048, 51_200, 512
    attention, head = sequence / (6 * width), vocabulary / (12 * layers * width)
    flops = 72 * batch * layers * sequence * width**2 * (1 + attention + head)
    assert flops / (71.49 * 512 * A100_SXM.peak_bf16) == pytest.approx(0.563, abs=5e-4)


def test_a_spawned_process_finds_none_of_the_variables():
    """The observation among the corrections, observed."""
    assert all(value is None for seen in launched("spawn", ranks=2) for value in seen.values())
