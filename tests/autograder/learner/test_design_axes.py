"""The picture of a design has numbers on both axes, at the places of what they count."""

from __future__ import annotations

import itertools
import re

import pytest

from autograder import bank
from autograder.items import Design
from autograder.learner import design_cards
from autograder.marking import designs

ITEMS = [item for item in bank.items() if isinstance(item, Design)]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_both_axes_have_numbers(item):
    """Kills axes without numbers, a number outside the picture, and one that runs into the next."""
    svg = design_cards.picture(item)
    costs = [made.costs for made in designs.buildable(item).values()]
    for axis, anchor, coordinate in ((0, "middle", "x"), (1, "end", "y")):
        found = re.findall(rf'<text x="([\d.]+)" y="([\d.]+)" text-anchor="{anchor}">([\d.e+]+)</text>', svg)
        places = [float(one["xy".index(coordinate)]) for one in found]
        numbers = [float(one[2]) for one in found]
        assert 2 <= len(numbers) <= 6
        assert numbers == sorted(numbers)
        assert min(abs(a - b) for a, b in itertools.pairwise(places)) >= design_cards.LETTER
        low, high = min(one[axis] for one in costs), max(one[axis] for one in costs)
        assert low * 0.99 <= numbers[0] < numbers[-1] <= high * 1.01
        size = design_cards.WIDTH if axis == 0 else design_cards.HEIGHT
        assert all(0 < place < size for place in places)


@pytest.mark.parametrize(
    ("costs", "numbers"),
    [
        ([1.0, 1e6], [1, 100, 1e4, 1e6]),
        ([0.58, 0.605], [0.58, 0.59, 0.6]),
        ([3.0, 30.0], [5, 10, 20]),
        ([7.0, 7.0], [7]),
        ([7.001, 7.002], [7.001, 7.002]),
    ],
)
def test_numbers_are_round_where_they_can_be(costs, numbers):
    assert design_cards.ticks(costs) == pytest.approx(numbers)
