"""Chapter 2's corrections: each number shown is worked out here in plain arithmetic; the module types none."""

import inspect
import random
import re

import pytest

from experiments.ch02 import corrections as corrections_02
from experiments.ch02.corrections import CORRECTIONS
from experiments.corrections import corrections


def mean(seed):
    generator = random.Random(seed)
    return sum(generator.gauss(0, 1) for _ in range(1000)) / 1000


#: What each correction must show.
SHOWN = (
    ("42 + 10 (W-1)", ["42 + 10 (W-2)", f"gives {42 + 10 * 3}, the second {42 + 10 * 2};"]),
    ("wait forever", ["Without buffers 0 rounds complete and 2 ranks", "with buffers 2 rounds complete and 0 ranks"]),
    ("isend copies", ["until then the buffer belongs to the transport", "as all zeros"]),
    (
        "50 ms, and 40 %",
        [
            f"forward pass takes {12 * 10 + 2 * 5} ms",
            f"takes {3 * 12 * 10 + 4 * 5} ms",
            f"{100 * 360 / (3 * 380):.1f} %",
            f"{2 * 12 * 10 + 4 * 5} ms, and the devices are busy {100 * 240 / (3 * 260):.1f} %",
        ],
    ),
    ("pipeline bubble", ["1 - 1/P", f"{100 / 4:.1f} % of the time on 4 stages and {100 / 8:.1f} % on 8"]),
    ("calls are faster", [f"message of {(5e-6 + 64e6 / 50e9) * 1e3:.4g} ms", "hides 1 ms"]),
    (
        "stage 0 chunk 2",
        [
            f"take {3 + 2 * 7} rounds, not {3 + 8 - 1}",
            f"{17 * (5e-6 + 8e6 / 50e9) * 1e3:.4g} ms against {10 * (5e-6 + 8e6 / 50e9) * 1e3:.4g} ms",
        ],
    ),
    ("same means", [f"mean {mean(1):.3g} with one seed and {mean(2):.3g} with another"]),
)


def text_of(correction):
    return f"{correction.right} {correction.because}"


def test_the_chapter_has_its_eight_in_the_order_of_the_page():
    assert corrections("02") == CORRECTIONS
    claims = [correction.claim for correction in CORRECTIONS]
    assert len(claims) == len(SHOWN)
    assert all(key in claim for claim, (key, _) in zip(claims, SHOWN, strict=True))


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_shows_the_right_numbers(place):
    for number in SHOWN[place][1]:
        assert number in text_of(CORRECTIONS[place])


def test_numbers_follow_the_functions(monkeypatch):
    """Kills a typed number: with other functions the texts must change."""
    monkeypatch.setattr(corrections_02, "message_time", lambda *_: 0.000456)
    monkeypatch.setattr(corrections_02, "relay_time", lambda *_: 0.000789)
    monkeypatch.setattr(corrections_02, "naive_step", lambda *_: (0.0123, 0.456))
    monkeypatch.setattr(corrections_02, "simulate", lambda *_, **__: (77, {}))
    changed = [text_of(one) != text_of(new) for one, new in zip(CORRECTIONS, corrections_02._in_order(), strict=True)]
    assert changed == [False, True, False, True, True, True, True, False]


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for among the constants of the module."""
    results = ["62", "72", "130", "380", "31.6", "260", "30.8", "12.5", "25.0", "1.285", "17", "2.805", "1.65"]
    source = inspect.getsource(corrections_02)
    assert [result for result in results if re.search(rf"(?<![\d.]){re.escape(result)}(?!\d)", source)] == []
