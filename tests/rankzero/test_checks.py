"""Checks of arguments: what each refuses, what it lets through, and the one form of its message."""

from __future__ import annotations

import math

import pytest

from rankzero import checks

NO_NUMBERS = (True, "1", None, 1j)
RIGHT = [
    (checks.count, (), [1, 8, 2**70, (1, 2), [[1], [2, 3]], {"a": 4}, range(1, 3), []]),
    (checks.count, (0,), [0, 7]),
    (checks.count, (2, 8), [2, 8]),
    (checks.amount, (), [0, 0.0, 1e308, [0.5, 1]]),
    (checks.positive, (), [5e-324, 3]),
    (checks.finite, (), [-1, 0.0, [-1e308]]),
    (checks.between, (0, 1), [0, 1, 0.5, (0.0, 1.0)]),
    (checks.one_of, (("young", "daly"),), ["young", "daly"]),
    (checks.one_of, ((None, True),), [None, True]),
]
WRONG = [
    (checks.count, (), "be an integer >= 1", [0, -1, 1.0, math.nan, *NO_NUMBERS]),
    (checks.count, (2, 8), "be an integer from 2 to 8", [1, 9, True]),
    (checks.amount, (), "be a finite number >= 0", [-1e-9, math.inf, math.nan, *NO_NUMBERS]),
    (checks.positive, (), "be a finite number > 0", [0, 0.0, -1, math.inf, math.nan, *NO_NUMBERS]),
    (checks.finite, (), "be a finite number", [math.inf, -math.inf, math.nan, *NO_NUMBERS]),
    (checks.between, (0, 0.5), "be from 0 to 0.5", [-1e-9, 0.51, math.nan, math.inf, *NO_NUMBERS]),
    (checks.one_of, (("young", "daly"),), "be one of young, daly", ["Young", "", None]),
    (checks.one_of, ((1, 2),), "be one of 1, 2", [True, 1.0, 3]),
    (checks.one_of, (("", "x"),), "be one of '', x", ["y"]),
]


@pytest.mark.parametrize(("check", "bounds", "values"), RIGHT)
def test_what_is_within_passes(check, bounds, values):
    for value in values:
        check(*bounds, x=value)


@pytest.mark.parametrize(("check", "bounds", "rule", "values"), WRONG)
def test_what_is_outside_is_named_with_the_rule_and_its_value(check, bounds, rule, values):
    for value in values:
        with pytest.raises(ValueError, match=r"^x must ") as refused:
            check(*bounds, y=next(iter(RIGHT_OF[check, bounds])), x=value)
        assert str(refused.value) == f"x must {rule}, got {value!r}"


RIGHT_OF = {(check, bounds): values for check, bounds, values in RIGHT} | {
    (checks.between, (0, 0.5)): [0.5],
    (checks.one_of, ((1, 2),)): [1],
    (checks.one_of, (("", "x"),)): ["x"],
}


@pytest.mark.parametrize(
    ("value", "name"), [([1, 2, 0], "x[2]"), (((1,), (2, 0)), "x[1][1]"), ({"tp": 2, "dp": 0}, "x['dp']")]
)
def test_the_entry_that_is_wrong_is_named(value, name):
    with pytest.raises(ValueError, match="must") as refused:
        checks.count(x=value)
    assert str(refused.value) == f"{name} must be an integer >= 1, got 0"


def test_a_rule_of_its_own_names_all_of_its_arguments():
    checks.require(True, "never be seen", x=1)
    with pytest.raises(ValueError, match=r"^heads must be divisible by ranks = 8, got 12$"):
        checks.require(12 % 8 == 0, "be divisible by ranks = 8", heads=12)
    with pytest.raises(ValueError, match=r"^a and b must differ, got 1 and '1'$"):
        checks.require(False, "differ", a=1, b="1")
