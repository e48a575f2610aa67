"""The explorer of masks: every state is a chart that the grammar accepts, and its numbers are those of the masks."""

from __future__ import annotations

import json
import re

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch11.mask_explorers import EOS, PATTERNS, VOCABULARY, masks, shown
from rankzero.explore import VEGA_LITE

states = st.fixed_dictionaries(
    {"pattern": st.sampled_from(sorted(PATTERNS)), "picks": st.lists(st.integers(0, 200), min_size=1, max_size=40)}
)


def spec_of(spec):
    return spec, spec["vconcat"][0]["layer"][0]["data"]["values"], spec["vconcat"][1]["data"]["values"]


@settings(max_examples=4, deadline=None)
@given(states)
def test_every_state_is_a_chart(state):
    spec, steps, cells = spec_of(masks(**state))
    assert json.loads(json.dumps(spec)) == spec
    assert "<svg" in vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    assert 1 <= len(steps) <= len(state["picks"]) + 1
    assert steps[-1]["tokens"] == sum(cell["kind"] is not None for cell in cells)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_listed_is_what_may_follow(pattern):
    """Every step's choice stands in the list of the step before, and the text stays the beginning of one that fits."""
    picks: list[float] = []
    text = ""
    for pick in (0, 5, 1, 3, 0, 2, 7, 1, 0, 0, 4, 0):
        _, steps, cells = spec_of(masks(pattern, picks or [0]))
        if not picks:
            picks.append(0)
            continue
        names = [cell["token"] for cell in cells if cell["kind"]]
        if not names:
            break
        picks.append(pick)
        _, steps, _ = spec_of(masks(pattern, picks))
        assert steps[len(picks) - 1]["step"].partition(": ")[2] == names[pick % len(names)]
        text += "" if names[pick % len(names)] == "end" else names[pick % len(names)]
    assert text


def test_a_whole_text_ends():
    """A date is whole after ten characters: then only the end may follow, and after it nothing."""
    picks = [0] * 40
    spec, steps, cells = spec_of(masks("date", picks))
    assert "ended" in spec["description"]
    assert cells[0]["kind"] is None
    typed = "".join(step["step"].partition(": ")[2] for step in steps[:-2])
    assert re.fullmatch(PATTERNS["date"], typed)


def test_tokens_are_shown_so_that_blanks_can_be_seen():
    assert shown(EOS) == "end"
    assert shown(VOCABULARY.index(b" the")) == "␣the"
    assert len(set(VOCABULARY)) == len(VOCABULARY)
