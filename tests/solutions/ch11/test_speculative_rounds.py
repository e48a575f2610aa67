"""The rounds of speculation, against the closed form and against the course's simulator."""

from __future__ import annotations

from random import Random

import pytest

from rankzero.sim.speculation import Rounds
from solutions.ch11.speculative import expected_tokens
from solutions.ch11.speculative_rounds import speculative_rounds


@pytest.mark.parametrize("alpha", [0.3, 0.7, 0.9])
@pytest.mark.parametrize("drafts", [1, 3, 6])
def test_the_mean_is_the_closed_form(alpha, drafts):
    rng = Random(11)
    rounds = speculative_rounds([rng.random() < alpha for _ in range(60_000)], drafts)
    assert sum(rounds) / len(rounds) + 1 == pytest.approx(expected_tokens(alpha, drafts), rel=0.03)


def test_every_token_is_written_once():
    """The accepted drafts and one token a round are the text, but for what is left at its end."""
    rng = Random(3)
    for _ in range(50):
        right = [rng.random() < 0.6 for _ in range(rng.randint(0, 80))]
        drafts = rng.randint(0, 6)
        found = speculative_rounds(right, drafts)
        counts = tuple(found.count(number) for number in range(drafts + 1))
        assert len(right) - Rounds(counts).tokens in range(drafts + 1)
        assert sum(counts) == len(found)


def test_by_hand():
    """Two right; one right, the next one wrong and replaced by the target: five tokens in two rounds."""
    assert speculative_rounds([True, True, True, True, False, True], 2) == [2, 1]
    assert speculative_rounds([True] * 10, 4) == [4, 4]
    assert speculative_rounds([False] * 5, 2) == [0, 0, 0]
