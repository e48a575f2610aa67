"""Formulas: what is printed is what the function computes, and everything a reader needs is there."""

import math

import pytest

from autograder.sections import SECTIONS
from experiments.formula import Formula
from experiments.formulas import FORMULAS

IDS = [f"{formula.section} {formula.name}" for formula in FORMULAS]


@pytest.mark.parametrize("formula", FORMULAS, ids=IDS)
def test_the_law_gives_the_value_of_the_function(formula):
    """Kills a law with a wrong factor, and a function that has changed since the law was written."""
    assert math.isclose(formula.value, formula.by_law, rel_tol=1e-9)


@pytest.mark.parametrize("formula", FORMULAS, ids=IDS)
@pytest.mark.parametrize("symbol", ["first", "last"])
def test_the_law_follows_the_function_elsewhere(formula, symbol):
    """Kills a law that is right by accident at the example alone: one argument is changed by half or doubled."""
    name = list(formula.example)[0 if symbol == "first" else -1]
    value = formula.example[name]
    other = 2 * value if isinstance(value, int) else value / 2
    changed = Formula(**{**vars(formula), "example": {**formula.example, name: other}})
    assert math.isclose(changed.value, changed.by_law, rel_tol=1e-9)


@pytest.mark.parametrize("formula", FORMULAS, ids=IDS)
def test_every_symbol_is_an_argument_that_the_docstring_describes(formula):
    """Kills an argument that the example sets and the law ignores, and a symbol without a meaning."""
    assert set(formula.symbols.values()) == set(formula.example)
    assert all(formula.argument(name).endswith((".", ")")) for name in formula.example)
    assert formula.section in SECTIONS


def test_an_argument_that_is_not_described_is_an_error():
    with pytest.raises(KeyError):
        FORMULAS[0].argument("speed")


def test_names_are_said_once():
    assert len(set(IDS)) == len(IDS)
