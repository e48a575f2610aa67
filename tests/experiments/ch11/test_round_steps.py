"""The stepper of rounds draws each token once, and stretches cost what the mean of rounds says."""

from __future__ import annotations

import pytest

from experiments.ch11 import round_steps
from rankzero.explore import Box
from solutions.ch11.speculative import expected_tokens


def test_every_written_token_stands_in_one_round():
    scene = round_steps.rounds_scene(3)
    written = [mark.text for mark in scene.marks if isinstance(mark, Box) and mark.text.isdigit()]
    assert written == [str(place) for place in range(9)]
    assert "Round 3 begins at token 8: the first draft is wrong" in scene.says
    assert "all 3 drafts are right" in round_steps.rounds_scene(1).says


@pytest.mark.parametrize("drafts", [1, 4, 8])
def test_stretches_take_the_mean_of_rounds(drafts):
    """A token takes 1/E rounds in each stretch; kills the belief that stretches help."""
    rounds = 2 / 3 / expected_tokens(0.9, drafts) + 1 / 3 / expected_tokens(0.3, drafts)
    assert round_steps.in_stretches(drafts) == pytest.approx(1 / rounds, rel=0.04)
    assert round_steps.in_stretches(drafts) < expected_tokens(0.7, drafts)
