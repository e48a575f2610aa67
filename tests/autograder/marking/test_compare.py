"""The comparison: exact types, then lengths, then elements; NaN fails; no sentence holds the expected value."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.items import Array, Build, Case, Tensor
from autograder.marking.compare import Comparison, fault, matches, ratio
from autograder.marking.outcome import Outcome
from autograder.marking.values import Record

floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def compare(expected, got, tolerance=1e-9, tell=False):
    return matches(Outcome("value", expected), Outcome("value", got), tolerance, tell)


def item(**changes):
    return Build(**{
        "header": "91 m.f", "cases": (), "groups": (), "slips": (),
        "section": "1", "topic": "t", **changes,
    })  # fmt: skip


@given(plain)
def test_a_value_matches_itself(value):
    assert compare(value, value) is None


@given(floats.filter(lambda x: abs(x) > 1e-100), st.floats(2e-9, 1e3))
def test_a_float_outside_the_tolerance_fails(value, off):
    assert compare(value, value * (1 + off))
    assert compare(value, value * (1 - off))


def test_a_key_that_is_a_scalar_of_numpy_is_its_number():
    """As in Python, where ``{np.int64(0): 1.0} == {0: 1.0}``."""
    assert compare({0: 1.0}, {Array.of([0], "int64", ()): 1.0}) is None
    assert compare({0: 1.0}, {Array.of([1], "int64", ()): 1.0})


@given(floats)
def test_a_float_inside_the_tolerance_passes(value):
    assert compare(value, value * (1 + 1e-10)) is None


@pytest.mark.parametrize("got", [math.nan, math.inf, -math.inf, 10**400, None, "1", True, [1.0], (1.0,), {}, 1.1])
@pytest.mark.parametrize("expected", [1.0, 1e300, 5])
def test_what_is_never_right_for_a_number(expected, got):
    """Kills: a comparison that NaN passes, a bool taken for 1, an overflow in the grader."""
    assert compare(expected, got)
    assert Comparison(1e-6).difference(expected, got, others=[expected * 1.0000001, expected * 0.9999])


@pytest.mark.parametrize(
    ("expected", "got"),
    [(2.0, 2), (2, 2.0), (0.0, 0), (1.0, Tensor.of([1.0], shape=())), (3, Array.of([3], "int64", ()))],
)
def test_numbers_of_equal_value_match(expected, got):
    assert compare(expected, got) is None


def test_a_bool_is_never_a_number_and_a_number_never_a_bool():
    assert compare(1, True) == "returned a bool; return an int"
    assert compare(True, 1) == "returned an int; return a bool"


def test_counts_are_exact():
    """Kills: a tolerance for counts, which a large count would pass although it is one off."""
    assert compare(10**15, 10**15 + 1, tolerance=0.01)
    assert compare(10**15, float(10**15 + 1), tolerance=0.01)


def test_expected_nan_and_infinity_match_only_themselves():
    assert compare([math.inf, math.nan], [math.inf, math.nan]) is None
    assert compare(math.inf, 1e308)
    assert compare(math.nan, 0.0)


def test_zero_allows_rounding_and_nothing_more():
    assert compare(0.0, 1e-17) is None
    assert compare(0.0, 1e-12)


def test_elements_of_a_list_share_the_scale_of_the_largest():
    assert compare([1e9, 0.0], [1e9, 0.5]) is None
    assert compare((1e9, 1e-3), (1e9, 2e-3)), "a tuple mixes units: each element has its own scale"


@pytest.mark.parametrize(
    ("expected", "got", "sentence"),
    [
        (1.0, "1.0", "returned a str; return a float"),
        (1.0, None, "returned None where there is an answer; did you print instead of return?"),
        (None, 3, "returned an int; return None"),
        ([1.0], (1.0,), "returned a tuple; return a list"),
        (1.0, math.nan, "returned nan"),
        ([1.0, 2.0], [1.0], "returned another number of elements"),
        ([1.0, None], [1.0, 2.0], "element 1 is a float; it must be None"),
        ([[1.0]], [[2.0]], "element 0 of element 0 is wrong"),
        ({"a": 1}, {"b": 1}, "the dict has other keys than it should"),
        ({"a": 1}, {"a": 2}, "an entry is wrong"),
        (Tensor.of([1, 2]), Tensor.of([1, 2], "float64"), "returned a float64 tensor; return a float32 tensor"),
        (Tensor.of([1, 2]), [1.0, 2.0], "returned a list; return a float32 tensor"),
        (Tensor.of([1, 2]), Array.of([1, 2]), "returned a NumPy array; return a float32 tensor"),
        ([1, 2], Array.of([1, 2], "int64"), "returned a NumPy array; return a list"),
        ((1, 2), [1, Array.of([2], "int64", ())], "returned a list; return a tuple"),
        ("a", Array.of([2], "int64", ()), "returned a NumPy number; return a str"),
        (Tensor.of([1, 2]), Tensor.of([1, 2], shape=(1, 2)), "the tensor has another shape"),
        (Tensor.of([1, 2]), Tensor.of([1, 3]), "element 1 is wrong"),
    ],
)
def test_sentences_say_what_is_wrong_and_not_what_is_right(expected, got, sentence):
    assert compare(expected, got) == sentence


def test_ratios_are_told_for_public_cases_alone():
    assert compare(0.07, 0.14, tell=True) == "the value is 2x too large"
    assert compare(0.07, 0.035, tell=True) == "the value is 2x too small"
    assert compare(0.07, -0.07, tell=True) == "the value is of the wrong sign"
    assert compare(-1.0, -2.0, tell=True) == "the value is 2x too far below 0"
    assert compare(-1.0, -0.5, tell=True) == "the value is 2x too close to 0"
    assert compare(0.07, 0.14) == "the value is wrong"


@given(floats, floats)
def test_a_ratio_never_fails(expected, got):
    assert isinstance(ratio(expected, got), str)


@pytest.mark.parametrize(
    ("outcome", "hidden", "public"),
    [
        (Outcome("raised", error="KeyError", line=4, detail="'x'"), "raised KeyError at line 4", ": 'x'"),
        (Outcome("raised", error="E17", line=4, detail="17"), "raised an error of its own at line 4", "raised E17"),
        (
            Outcome("refused", detail="returned a Secret; return"),
            "returned something that is not a plain value",
            "Secret",
        ),
        (Outcome("deadlock", detail="deadlock: rank 0 waits"), "deadlock: the ranks wait for each other", "rank 0"),
        (Outcome("timeout"), "no answer in time", "no answer"),
    ],
)
def test_hidden_failures_show_class_and_line_alone(outcome, hidden, public):
    assert matches(Outcome("value", 1.0), outcome, 0.0) == hidden
    assert public in matches(Outcome("value", 1.0), outcome, 0.0, tell=True)


def test_an_expected_exception_is_matched_by_its_class_alone():
    wanted = Outcome("raised", error="ValueError")
    assert matches(wanted, Outcome("raised", error="ValueError", line=3), 0.0) is None
    assert matches(wanted, Outcome("value", 1), 0.0) == "returned a value; raise ValueError"
    assert (
        matches(wanted, Outcome("raised", error="KeyError", line=3), 0.0)
        == "raised KeyError at line 3; raise ValueError"
    )
    assert matches(wanted, Outcome("raised", error="ValueError on rank 0 only"), 0.0)
    assert matches(wanted, Outcome("raised", error="NotImplementedError"), 0.0) == "not implemented yet"
    some = Outcome("raised", error="NotImplementedError on rank 1 only")  # where a driver plays the other rank
    assert matches(wanted, some, 0.0) == "not implemented yet"


def test_answers_of_a_class_are_compared_one_by_one():
    case = Case(calls=(("add", (1,)), ("add", (-1,))))
    right = Outcome("value", [1, ("raises", "ValueError")])
    tally = item(grade="calls")
    assert fault(tally, case, right, Outcome("value", [1, ("raises", "ValueError")])) is None
    assert "answer 2, of add," in fault(tally, case, right, Outcome("value", [1, 0]))
    assert "answer 1, of add," in fault(tally, case, right, Outcome("value", [("raises", "KeyError"), 0]))
    assert fault(tally, case, right, Outcome("value", [1]))


def test_every_rank_counts_then_the_rule_then_the_arguments():
    case = Case((([1.0],), ([2.0],)))
    right = Outcome("value", (3.0, 3.0))
    world = item(grade="world", rule=lambda case, values, events: None if events else "nothing was sent")
    assert "rank 1" in fault(world, case, right, Outcome("value", (3.0, 4.0)))
    assert fault(world, case, right, Outcome("value", (3.0, 3.0))) == "nothing was sent"
    changed = Outcome("value", (3.0, 3.0), arguments=(([1.0],), ([9.0],)), events=("sent",))
    assert fault(world, case, right, changed) == "changed its arguments; leave them as they are"
    assert (
        fault(world, case, right, Outcome("value", (3.0, 3.0), arguments=(([1.0],), ([2.0],)), events=("sent",)))
        is None
    )


@given(plain, plain)
def test_the_comparison_never_fails_whatever_comes(expected, got):
    for tell in (False, True):
        sentence = Comparison(1e-9, tell).difference(expected, got)
        assert sentence is None or isinstance(sentence, str)


def place(name="Place", **fields):
    return Record(name, {"row": 3, "marks": {"a": (0.5,)}} | fields)


@pytest.mark.parametrize(
    ("got", "sentence"),
    [
        (place(), None),
        (place(row=3.0, marks={"a": (0.5 + 1e-12,)}), None),
        (place(row=4), "the field row is wrong"),
        (place(marks={"a": [0.5]}), "an entry of the field marks is a list; it must be a tuple"),
        (place(secret=1), "the value has other fields than a Place should"),
        (place("Secret7"), "the value is a dataclass of another name; it must be a Place"),
        ({"row": 3}, "returned a dict; return a Place"),
        (None, "returned None where there is an answer; did you print instead of return?"),
    ],
)
def test_a_dataclass_counts_by_its_name_and_fields(got, sentence):
    """Kills: a comparison that looks at the name alone, a sentence with a name or a value that a submission chose."""
    assert compare(place(), got) == sentence


def test_a_dataclass_in_place_of_a_number_is_not_named():
    assert compare(1.0, place("Secret7")) == "returned a dataclass; return a float"
    assert compare([place()], [{}]) == "element 0 is a dict; it must be a Place"
