"""The worked examples of chapter 2: each number that a text computes by hand is computed here."""

from __future__ import annotations

import pytest

from experiments.ch02.relay_steps import relay_states
from experiments.ch02.ring_policies import play_rounds, ring_programs
from rankzero.facts.units import GB, KB, MB, ms, us
from solutions.ch02.alpha_beta import relay_time
from tests.worked_examples import examples, missing

BANDWIDTH = 12.5 * GB
WHOLE = relay_time(1, 3, 1, 1.0)
WORDS = {2: "Two", 6: "six"}
COMPUTED = {
    "rounds-example": [f"{WORDS[len(play_rounds(ring_programs('parity', 4))[0])]} rounds"],
    "cost-example": [
        f"{1 * KB / BANDWIDTH / us:g} µs for its bytes",
        f"takes 10 µs and {1 * MB / BANDWIDTH / us:g} µs",
        f"it is 10 µs and {1 * GB / BANDWIDTH / ms:g} ms",
    ],
    "relay-example": [
        f"In four chunks it takes {WORDS[len(relay_states(4, 4)) - 1]} steps",
        {0.5: "half the time"}[relay_time(1, 3, 4, 1.0) / WHOLE],
        f"{100 * relay_time(1, 3, 100, 1.0):.0f} hundredths, about a third",
    ],
}


FOUND = examples("02-point-to-point")


@pytest.mark.parametrize("name", COMPUTED)
def test_the_numbers_of_an_example(name):
    """Kills a number that is typed and wrong."""
    assert missing(FOUND[name], COMPUTED[name]) == []
    assert abs(relay_time(1, 3, 100, 1.0) / WHOLE - 1 / 3) < 0.01


def test_every_example_with_a_number_is_computed():
    assert FOUND.keys() - COMPUTED.keys() == {"wait-example"}
