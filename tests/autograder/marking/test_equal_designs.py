"""A design that another one beats by a few bytes alone is not beaten, and the card says what was compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.items import Simulated
from autograder.marking import designs
from tests.autograder.learner.test_predict import PLAN

GB = 1e9
#: The costs of two designs, seconds and bytes, and whether the second one is right.
PAIRS = {
    "2 KB of 63 GB": ((7.0, 63 * GB), (7.0, 63 * GB + 2048), True),
    "a millisecond of 20 s": ((20.0, 40 * GB), (20.001, 40 * GB), True),
    "a little of both": ((7.0, 63 * GB), (7.001, 63.01 * GB), True),
    "a hundredth of the memory": ((7.0, 63 * GB), (7.0, 63.7 * GB), False),
    "a hundredth of the time": ((7.0, 63 * GB), (7.07, 63 * GB), False),
    "half a per mille less memory, a tenth more time": ((7.0, 63 * GB), (7.7, 62.97 * GB), False),
    "a hundredth less memory, a tenth more time": ((7.0, 63 * GB), (7.7, 62.3 * GB), True),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_a_few_bytes_are_no_difference(kind):
    """Kills: "another choice here is better" for one that needs a kilobyte less of 63 GB."""
    first, second, right = PAIRS[kind]
    knob = replace(PLAN.knobs[0], options=(1, 2))
    item = replace(
        PLAN,
        id=f"02-{kind}",
        knobs=(knob,),
        simulate=lambda **chosen: Simulated("It runs.", first if chosen[knob.name] == 1 else second),
    )
    assert designs.judged(item, (1,))[0]
    judged, said = designs.judged(item, (2,))
    assert judged is right
    assert f" {second[0]:.5g} " in said
    assert f" {second[1]:.5g} " in said
    assert said.endswith("differences below 0.1% do not count.")
