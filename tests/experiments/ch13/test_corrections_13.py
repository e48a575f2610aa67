"""Chapter 13's corrections: each number shown is worked out here again, and none is typed."""

from __future__ import annotations

import inspect
import math
import re

import pytest

from experiments.ch13 import corrections as corrections_13
from experiments.ch13.corrections import CORRECTIONS, best_of_n_divergence
from solutions.ch13.beta_sweep import run_of

RATIOS = (-0.2, 0.2, -0.3, 0.1, -0.1, 0.1, 0.3, -0.3)
POSITIVE = sum(math.exp(-d) - 1 + d for d in RATIOS)
MORE = sum(math.exp(-d) - 1 + d for d in (-1, -1.5, -1))
KL = 0.5 * math.log(1.25) + 0.3 * math.log(0.75)

#: A word of each claim, and what its correction must show: plain arithmetic, in the order of the page.
SHOWN = (
    ("130 GB", [f"{7 * 36} GB", f"{7 * 28} without", "56 GB of weights, 28 of gradients and 168", "the sum is 36"]),
    ("exp(log pi)", [f"{0.25 * math.log(1.25) + 0.09 * math.log(0.75):.7f}", f"{KL:.7f}"]),
    ("-0.20", [f"k1 {sum(RATIOS):.2f}", f"k3 {POSITIVE:.6f}", "k1 -3.5", f"k3 {MORE:.5f}"]),
    ("rises with beta", [f"{0.45 + 0.5 * 0.2:.2f}"]),
    (".73 minus", [f"{0.02 * 128 * 0.23:.4f}"]),
    ("each response", ["(-1.318, -0.470, 0.424, 1.364), the same"]),
    ("score - beta", ["(-0.02, 0.00, 1.10) sums to 1.08", "(0.98, 1.00, 1.10) sums to 3.08"]),
    ("critic learns", ["(1.007, 1.065, 1.100)"]),
    ("one epoch", ["is 0.0", "0 tokens are clipped"]),
    ("k3 always", ["0.752 for k1 and 1.044 for k3", "(0.059, -0.225, 0.166)", "(0.022, -0.179, 0.157)"]),
    ("clip prevents", [f"judge {run_of(0.0, 2).end.judge:.1f}", f"judge {run_of(0.1, 2).end.judge:.1f}"]),
    ("best-of-n", [f"{math.log(16) - 15 / 16:.4f}"]),
    ("four models", ["36 bytes", "18 bytes"]),
)


def text_of(correction) -> str:
    return f"{correction.right} {correction.because}"


def test_those_of_the_page_in_its_order():
    assert len(CORRECTIONS) == len(SHOWN)
    assert all(key in one.claim for one, (key, _) in zip(CORRECTIONS, SHOWN, strict=True))
    assert {one.chapter for one in CORRECTIONS} == {"13"}


@pytest.mark.parametrize("correction", CORRECTIONS, ids=lambda correction: correction.claim[:30])
def test_says_all_in_short_sentences(correction):
    for part in (correction.claim, correction.right, correction.because, correction.source):
        assert part.strip() == part != ""
    assert all(sentence.endswith(".") for sentence in (correction.claim, correction.right, correction.because))


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_shows_the_right_numbers(place):
    text = text_of(CORRECTIONS[place])
    assert [number for number in SHOWN[place][1] if number not in text] == []


def test_the_run_without_a_price_ends_worse():
    """What the correction on the clip is about."""
    assert run_of(0.0, 2).end.score > run_of(0.1, 2).end.score
    assert run_of(0.0, 2).end.judge < run_of(0.1, 2).end.judge


@pytest.mark.parametrize("n", [2, 16, 256])
def test_best_of_n_stays_below_its_bound(n):
    """Over more and rarer outcomes it comes close."""
    bound = math.log(n) - (n - 1) / n
    few, many = (best_of_n_divergence((1 / size,) * size, n) for size in (4, 20_000))
    assert few < many < bound
    assert many == pytest.approx(bound, abs=2e-2)


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for outside the claims."""
    source = inspect.getsource(corrections_13)
    for one in CORRECTIONS:
        source = source.replace(one.claim, "")
    results = ["252", "196", "168", "0.0298", "0.0252", "0.1955", "3.418", "0.55", "0.588", "1.318", "0.470", "1.364"]
    results += ["1.08", "3.08", "1.007", "1.065", "0.752", "1.044", "0.059", "0.225", "0.179", "1.835", "1.330"]
    assert [r for r in results if re.search(rf"(?<![\d.,:]){re.escape(r)}(?![\d.]\d?)", source)] == []
