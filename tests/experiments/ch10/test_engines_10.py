"""The table of defaults: complete entries, one for each topic, and numbers that agree with their sentences."""

import pytest

from experiments.ch10 import engines
from solutions.ch10.scheduling import published_sizes


def test_every_entry_names_its_version_and_its_source():
    for entry in engines.DEFAULTS:
        assert entry.version[-1].isdigit()
        assert entry.source
        assert engines.said(entry.engine, entry.topic).startswith(f"{entry.engine} ({entry.version}): ")
    assert len({(entry.engine, entry.topic) for entry in engines.DEFAULTS}) == len(engines.DEFAULTS)
    with pytest.raises(KeyError):
        engines.default("vLLM", "weather")


def test_the_share_that_sglang_reserves():
    """0.7 at first, 0.7 x 0.14 = 0.098 from step 600 on."""
    assert engines.reserved(0, 1000) == pytest.approx(700)
    assert engines.reserved(300, 1000) == pytest.approx((700 + 98) / 2)
    assert engines.reserved(9000, 1000) == pytest.approx(98)
    assert "0.098" in engines.default("SGLang", "admission").says


def test_the_sizes_are_those_of_the_sentence():
    most = int(engines.default("vLLM", "graph sizes").value("most"))
    assert published_sizes(most)[-1] == most
