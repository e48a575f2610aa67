"""Corrections: each number shown is checked against an independent value, and none is typed where it is computed."""

import inspect
import re

import pytest
import torch
import torch.distributed as dist

from experiments import corrections
from experiments.ch03 import corrections as corrections_03
from experiments.corrections import every
from rankzero import world

#: What each correction of chapter 3 must show, worked out here with fractions of S and plain arithmetic.
SHOWN = (
    ("[sum(A)]", ["10, 20, 30, 40"]),
    ("After reduce", [str([1 + 2 + 3 + 4, 2 + 3 + 4, 3 + 4, 4])]),
    (
        "dividing by the world size",
        [f"{(100 * 0 + 100 * 1 + 100 * 2 + 50 * 3) / 350:.6g};", f"{(0 + 1 + 2 + 3) / 4:.6g}."],
    ),
    ("whole tensors around", [f"{8 - 1} S per rank", f"{2 * 7 / 8:.6g} S:", "4 times less"]),
    ("All-gather moves", [f"{7 / 8:.6g} S and {14 / 8:.6g} S"]),
    ("for any number of ranks", ["is 1 for 2 ranks", f"{2 * 999 / 1000:.6g} for 1,000"]),
    ("All-to-all moves", ["2 ranks 0.5 S", "8 ranks 0.875 S", f"64 ranks {63 / 64:.4g} S"]),
    ("2 S/B", ["factor is 1.75", f"{2 * 1023 * 5e-6 * 1e3:.4g} ms pass"]),
    ("bucketing", ["25 MiB", "1 MiB"]),
    ("barrier", ["after its own wait"]),
    ("1.71 ms", ["take 14 ms", "1.709 ms", "400 Gb/s 3.5 ms", "1 GB 140 ms", "64 ranks 15.75 ms"]),
)


def text_of(correction):
    return f"{correction.right} {correction.because}"


def test_chapter_3_has_its_eleven_in_the_order_of_the_page():
    claims = [correction.claim for correction in corrections.corrections("03")]
    assert len(claims) == len(SHOWN)
    assert all(key in claim for claim, (key, _) in zip(claims, SHOWN, strict=True))


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_shows_the_right_numbers(place):
    for number in SHOWN[place][1]:
        assert number in text_of(corrections.corrections("03")[place])


@pytest.mark.parametrize("correction", every(), ids=lambda correction: correction.claim[:30])
def test_says_all_its_things_in_sentences(correction):
    for part in (correction.claim, correction.right, correction.because, correction.source, correction.matters):
        assert part.strip() == part != ""
    assert all(
        sentence.endswith(".")
        for sentence in (correction.claim, correction.right, correction.because, correction.matters)
    )
    assert correction.right != correction.because
    assert not re.search(r"\d", correction.matters)  # a number would be a result that is typed


def test_no_corrections_for_a_chapter_without_any():
    assert corrections.corrections("99") == ()


def test_numbers_follow_the_cost_functions(monkeypatch):
    """Kills a typed number: with another cost function the texts must change."""
    before = [text_of(correction) for correction in (*corrections_03._volume(), *corrections_03._time())]
    monkeypatch.setattr(corrections_03, "traffic", lambda *_: (0.123, 0.123))
    monkeypatch.setattr(corrections_03, "ring_all_reduce_time", lambda *_: 0.000456)
    after = [text_of(correction) for correction in (*corrections_03._volume(), *corrections_03._time())]
    unchanged = [text for text, new in zip(before, after, strict=True) if text == new]
    assert all("DDP" in text or "barrier" in text for text in unchanged)
    assert len(unchanged) == 2


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for among the constants of the module."""
    results = ["1.75", "0.875", "1.998", "0.9844", "10.23", "1.2857", "1.709", "15.75", "140 ms", "3.5 ms", "14 ms"]
    source = inspect.getsource(corrections_03)
    assert [result for result in results if re.search(rf"(?<![\d.]){re.escape(result)}", source)] == []


def reduced():
    x = torch.tensor([float(dist.get_rank() + 1)])
    dist.reduce(x, dst=0)
    return x.item()


def test_gloo_leaves_partial_sums_behind_after_reduce():
    """The one observation among the corrections, observed."""
    values = [int(value) for value in world.run(reduced, ranks=4).values]
    assert f"leaves {values}" in text_of(corrections.corrections("03")[1])
