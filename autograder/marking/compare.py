"""Compares an answer with the right one: exact types, then shapes and lengths, then elements.

Rules for types: a bool is never a number; an int is accepted where a float is expected, and a whole float where an int
is (the value counts, and ``2 * GB`` is a float); a NumPy or torch scalar counts as its number; list and tuple differ;
two dataclass instances are compared by class name and fields, wherever the class was defined. NaN equals only NaN. The
tolerance of a float is relative to the expected value, or to the largest element of its list or tensor; where exactly 0
is expected, an absolute error of 1e-6 times the tolerance is allowed. If different rounding moves the reference itself
further than that (``stochastic``), the answer may be off by as much, and may lie on either side of a boundary that only
rounding decides.

No sentence contains an expected value, unless with ``tell``, for public cases: then it may contain the ratio to one,
and the value itself if the answer agrees with it in all digits that are shown as a rule.
"""

from __future__ import annotations

import builtins
import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.items import Array, Build, Case, Tensor
from autograder.marking import values, wording
from autograder.marking.outcome import Outcome
from autograder.marking.values import Record

#: How far a right answer may lie from the nearest of the reference's answers under different rounding, in units of the
#: mean distance between those answers.
MARGIN = 16
#: The scale that the tolerance refers to where exactly 0 is expected.
ZERO_SCALE = 1e-6
NUMBERS = (int, float)
#: The sentence for a stub.
UNWRITTEN = "not implemented yet"
CHANGED = "changed its arguments; leave them as they are"
#: The sentence for None, and what is added where no right answer is None.
NONE = "returned None where there is an answer"
PRINTED = "; did you print instead of return?"
#: What is said about a world that could not go on, by what stands in the sentence of its broker.
STUCK = {
    "never waited for": "a rank never waited for an operation that it had begun",
    "was never received": "a message was never received",
    "and not every rank of its group does": "not every rank of a group called its collective",
    " has finished": "a rank waits, and another has finished",
    " raised": "a rank waits, and another raised an exception",
    "deadlock: ": "deadlock: the ranks wait for each other",
}


def matches(expected: Outcome, outcome: Outcome, tolerance: float, tell: bool = False) -> str | None:
    """None if ``outcome`` matches ``expected``, else a sentence on how it differs that does not give the value away."""
    if outcome.kind == "value" and expected.kind == "value":
        return Comparison(tolerance, tell).difference(expected.value, outcome.value)
    if expected.kind == "raised":
        return _not_raised(expected.error, outcome, tell)
    return failure(outcome, tell)


def fault(
    item: Build, case: Case, expected: Outcome, outcome: Outcome, tell: bool = False, moved: Sequence[Outcome] = ()
) -> str | None:
    """As :func:`matches`, but with everything the item requires: each answer, each rank, the rule, the arguments.

    ``moved`` are the reference's outcomes under different rounding; an answer among them is right.
    """
    sentence = _fault(item, case, expected, outcome, tell, moved)
    others = (other for other in moved if other.kind in ("value", "raised"))
    if sentence and any(not _fault(item, case, other, outcome, False, (expected, *moved)) for other in others):
        return None
    return sentence


def _fault(
    item: Build, case: Case, expected: Outcome, outcome: Outcome, tell: bool, moved: Sequence[Outcome]
) -> str | None:
    if outcome.kind != "value" or expected.kind != "value":
        return matches(expected, outcome, item.tolerance, tell)
    sentence = wrong_value(item, case, expected, outcome, tell, moved)
    return sentence or broken_rule(item, case, outcome) or changed(item, case, outcome)


def wrong_value(
    item: Build, case: Case, expected: Outcome, outcome: Outcome, tell: bool = False, moved: Sequence[Outcome] = ()
) -> str | None:
    """How the values of two outcomes differ: compared call by call for a class, rank by rank for a world."""
    compare = Comparison(item.tolerance, tell)
    others = [other.value for other in moved if other.kind == "value"]
    if item.grade == "calls":
        return compare.answers([name for name, _ in case.calls], expected.value, outcome.value, others)
    if item.grade == "world":
        return compare.ranks(expected.value, outcome.value, others)
    return compare.difference(expected.value, outcome.value, others=others)


def broken_rule(item: Build, case: Case, outcome: Outcome) -> str | None:
    """The sentence of the item's rule if the run broke it, else None."""
    try:
        return item.rule(case, outcome.value, outcome.events) if item.rule else None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # a rule may read any value
        return "the value is not of the requested kind"


def changed(item: Build, case: Case, outcome: Outcome) -> str | None:
    """A sentence if the call changed arguments that it must leave alone, else None."""
    if not item.unchanged or outcome.arguments is None or item.grade == "calls":
        return None
    world = item.grade == "world"
    if len(outcome.arguments) != len(case.args):
        return CHANGED
    pairs = zip(outcome.arguments, case.args, strict=True) if world else [(outcome.arguments, case.args)]
    same = all(left is None or _same(tuple(left), tuple(given)) for left, given in pairs)
    return None if same else CHANGED


def _same(left: tuple[Any, ...], given: tuple[Any, ...]) -> bool:
    return left == given or values.encode(left) == values.encode(given)  # encoded, nan equals nan


def failure(outcome: Outcome, tell: bool = False) -> str:
    """What is wrong with an outcome that is not a value. Only with ``tell`` does it quote the learner's code."""
    if outcome.kind == "raised":
        return _raised(outcome, tell)
    if outcome.kind == "refused":
        return outcome.detail if tell and outcome.detail else "returned something that is not a plain value"
    if outcome.kind == "deadlock":
        return outcome.detail if tell and outcome.detail else stuck(outcome)
    plain = {"timeout": "no answer in time", "died": "the process died", "missing": "is not in the submission"}
    return outcome.detail or plain.get(outcome.kind, "could not be loaded")


def stuck(outcome: Outcome) -> str:
    """Why a world could not go on, in one of a few fixed sentences: they name no rank, size or tag."""
    found = (sentence for words, sentence in STUCK.items() if words in outcome.detail)
    return next(found, "the calls of the ranks do not fit together" if outcome.detail else STUCK["deadlock: "])


def _raised(outcome: Outcome, tell: bool) -> str:
    if outcome.error.partition(" ")[0] == "NotImplementedError":  # on all ranks, or on those that call the program
        return UNWRITTEN
    known = tell or isinstance(getattr(builtins, outcome.error.split(" ")[0], None), type)
    text = f"raised {outcome.error if known else 'an error of its own'}"
    where = outcome.where or (f"line {outcome.line}" if outcome.line is not None else "")
    text += f" at {where}" if where else ""
    return f"{text}: {outcome.detail}" if tell and outcome.detail else text


def _not_raised(error: str, outcome: Outcome, tell: bool) -> str | None:
    if outcome.kind == "raised" and outcome.error == error:
        return None
    if outcome.kind == "value":
        return f"returned a value; raise {error}"
    done = failure(outcome, tell)
    return done if done == UNWRITTEN or outcome.kind != "raised" else f"{done}; raise {error}"


def kind_of(value: Any) -> str:
    """The type of a value with its article: ``"a float"``, ``"an int"``, ``"None"``.

    A dataclass is not named: the submission chose the name and could use it to reveal a hidden input.
    """
    if value is None:
        return "None"
    if isinstance(value, Array):
        return "a NumPy array" if value.shape else "a NumPy number"
    if isinstance(value, Tensor):
        return f"a {value.dtype} tensor"
    if isinstance(value, Record):
        return "a dataclass"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeio' else 'a'} {name}"


@dataclass(frozen=True)
class Comparison:
    """Compares values within ``tolerance``; with ``tell``, its sentences contain ratios.

    ``others`` are the reference's values under different rounding. Each part of an answer is also compared with the
    same part of those among them that have the same structure.
    """

    tolerance: float
    tell: bool = False

    def answers(
        self, names: Sequence[str], expected: Sequence[Any], got: Sequence[Any], others: Sequence[Any] = ()
    ) -> str | None:
        """An object's answers to a list of calls; ``("raises", class name)`` records a call that raised."""
        if type(got) is not list or len(got) != len(expected):
            return "did not answer every call"
        for index, (name, right, given) in enumerate(zip(names, expected, got, strict=True)):
            rest = [other[index] for other in others]
            sentence = self._answer(right, given, f"answer {index + 1}, of {name},", rest)
            if sentence:
                return sentence
        return None

    def _answer(self, right: Any, given: Any, place: str, others: Sequence[Any]) -> str | None:
        right_error, given_error = error_of(right), error_of(given)
        if right_error or given_error:
            wanted = Outcome("raised", error=right_error) if right_error else Outcome("value", right)
            came = Outcome("raised", error=given_error) if given_error else Outcome("value", given)
            sentence = matches(wanted, came, self.tolerance)  # without ``tell``: the submission chose the class name
            return f"{place} {sentence}" if sentence else None
        return self.difference(right, given, place, others=others)

    def ranks(self, expected: Sequence[Any], got: Sequence[Any], others: Sequence[Any] = ()) -> str | None:
        """One value for each rank of a world."""
        for rank, (right, given) in enumerate(zip(expected, got, strict=True)):
            rest = [other[rank] for other in others]
            sentence = self.difference(right, given, f"the value of rank {rank}", others=rest)
            if sentence:
                return sentence
        return None

    def difference(
        self, expected: Any, got: Any, place: str = "", scale: float | None = None, others: Sequence[Any] = ()
    ) -> str | None:
        """How ``got`` differs from ``expected``: type, then length, then elements; None when it does not."""
        got = _number_in(got) if type(expected) in (*NUMBERS, bool) else got
        others = [other for other in others if type(other) is type(expected)]
        if type(expected) in NUMBERS and type(got) in NUMBERS:
            right = self.close(expected, got, scale) or self._among((expected, *others), got, scale)
            return None if right else self._wrong(expected, got, place)
        if type(expected) is not type(got):
            return _wrong_type(expected, got, place)
        if isinstance(expected, Record):
            return self._records(expected, got, place, others)
        if isinstance(expected, Tensor):
            return self._tensors(expected, got, place, others)
        if isinstance(expected, list | tuple):
            return self._sequences(expected, got, place, others)
        if isinstance(expected, dict):
            return self._dictionaries(expected, got, place, others)
        return None if expected == got or got in others else f"{place or 'the value'} is wrong"

    def close(self, expected: float, got: float, scale: float | None = None) -> bool:
        """Whether two numbers agree; an integer or an infinity agrees only with itself, NaN only with NaN."""
        if isinstance(expected, int) or (isinstance(got, int) and abs(got) > 2**1000):
            return expected == got
        if not math.isfinite(expected):
            return got == expected or (math.isnan(expected) and math.isnan(got))
        size = abs(expected) if scale is None else scale
        return math.isfinite(got) and abs(got - expected) <= self.tolerance * (size or ZERO_SCALE)

    def _among(self, right: Sequence[float], got: float, scale: float | None) -> bool:
        """Whether ``got`` is about as near to one of several right numbers as they are to each other.

        At a boundary the right numbers form a cluster on each side; a number between the clusters is wrong.
        """
        if len(right) < 2:
            return False
        slack = _slack([number for number in right if math.isfinite(number)]) if isinstance(right[0], float) else 0.0
        near = not isinstance(got, int) or abs(got) <= 2**1000
        return any(self.close(one, got, scale) or (near and abs(got - one) <= slack) for one in set(right))

    def _wrong(self, expected: float, got: float, place: str) -> str:
        subject = place or "the value"
        if isinstance(got, float) and math.isnan(got):
            return f"{place} is nan" if place else "returned nan"
        told = ratio(expected, got) if self.tell else ""
        pair = wording.apart(got, expected) if told and isinstance(expected, float) else None
        digits = f": {pair[0]} where {pair[1]} is expected" if pair else ""
        return f"{subject} is {told}{digits}" if told else f"{subject} is wrong"

    def _tensors(self, expected: Tensor, got: Tensor, place: str, others: Sequence[Tensor]) -> str | None:
        if expected.dtype != got.dtype:
            return _wrong_type(expected, got, place)
        if expected.shape != got.shape:
            found = f"shape {got.shape}; {expected.shape} is expected" if self.tell and got.data else "another shape"
            return f"{place or 'the tensor'} has {found}"
        if expected.data == got.data:
            return None
        rest = [o.tolist() for o in others if (o.dtype, o.shape) == (expected.dtype, expected.shape)]
        return self._elements(expected.tolist(), got.tolist(), place, rest)

    def _sequences(self, expected: Sequence[Any], got: Sequence[Any], place: str, others: Sequence[Any]) -> str | None:
        if len(expected) != len(got):
            subject = f"{place} has" if place else "returned"
            if not self.tell:  # by a length, a submission could reveal its input
                return f"{subject} another number of elements"
            return f"{subject} {len(got)} element{'' if len(got) == 1 else 's'}; {len(expected)} are expected"
        rest = [other for other in others if len(other) == len(expected)]
        return self._elements(expected, got, place, rest, isinstance(expected, list))

    def _elements(
        self, expected: Sequence[Any], got: Sequence[Any], place: str, others: Sequence[Any], alike: bool = True
    ) -> str | None:
        """Element by element; if they are ``alike``, their tolerance is relative to the largest."""
        finite = [abs(v) for v in expected if type(v) in NUMBERS and math.isfinite(v)] if alike else []
        scale = max(finite, default=None)
        for index, (right, given) in enumerate(zip(expected, got, strict=True)):
            if type(right) is type(given) and type(right) in NUMBERS and self.close(right, given, scale):
                continue  # nearly every element of nearly every answer
            where = f"element {index}" + (f" of {place}" if place else "")
            sentence = self.difference(right, given, where, scale, [other[index] for other in others])
            if sentence:
                return sentence
        return None

    def _records(self, expected: Record, got: Record, place: str, others: Sequence[Record]) -> str | None:
        if expected.name != got.name:
            return f"{place or 'the value'} is a dataclass of another name; it must be a {expected.name}"
        if set(expected.fields) != set(got.fields):
            return f"{place or 'the value'} has other fields than a {expected.name} should"
        for field, right in expected.fields.items():
            where = f"the field {field}" + (f" of {place}" if place else "")
            rest = [other.fields[field] for other in others]
            sentence = self.difference(right, got.fields[field], where, others=rest)
            if sentence:
                return sentence
        return None

    def _dictionaries(
        self, expected: dict[Any, Any], got: dict[Any, Any], place: str, others: Sequence[dict[Any, Any]]
    ) -> str | None:
        got = {_number_in(key) if isinstance(key, Array) else key: value for key, value in got.items()}
        if set(expected) != set(got):
            return f"{place or 'the dict'} has other keys than it should"
        for key, right in expected.items():
            where = f"the entry {key!r}" if self.tell else "an entry"
            rest = [other[key] for other in others if key in other]
            sentence = self.difference(right, got[key], where + (f" of {place}" if place else ""), others=rest)
            if sentence:
                return sentence
        return None


def _slack(right: Sequence[float]) -> float:
    """How far an answer may lie from the nearest of several right numbers: a few times their typical distance.

    The largest distance is left out, since it may span a boundary.
    """
    ordered = sorted(right)
    gaps = sorted(after - before for before, after in itertools.pairwise(ordered))[:-1]
    return min(MARGIN * statistics.fmean(gaps), 2 * (ordered[-1] - ordered[0])) if gaps else 0.0


def error_of(answer: Any) -> str:
    """The class name in ``("raises", class name)``, ``Exception`` if it is no name; empty for any other answer."""
    if type(answer) is not tuple or len(answer) != 2 or type(answer[0]) is not str or answer[0] != "raises":
        return ""
    return answer[1] if type(answer[1]) is str and answer[1].isidentifier() else "Exception"


def _number_in(value: Any) -> Any:
    """The number in a scalar of NumPy or torch; anything else as it is."""
    return value.tolist()[0] if isinstance(value, Tensor) and value.shape == () else value


def _wrong_type(expected: Any, got: Any, place: str) -> str:
    wanted = f"a {expected.name}" if isinstance(expected, Record) else kind_of(expected)
    if place:
        return f"{place} is {kind_of(got)}; it must be {wanted}"
    if got is None:
        return NONE + PRINTED
    return f"returned {kind_of(got)}; return {wanted}"


def ratio(expected: float, got: float) -> str:
    """How far off a number is, such as ``"2x too large"``; empty when a ratio cannot express it."""
    try:
        factor = got / expected
    except (ZeroDivisionError, OverflowError):
        return ""
    if not math.isfinite(factor) or factor == 0:
        return ""
    if factor < 0:
        return "of the wrong sign"
    words = ("too large", "too small") if expected > 0 else ("too far below 0", "too close to 0")
    size = words[0] if factor > 1 else words[1]
    factor = factor if factor > 1 else 1 / factor
    return f"{100 * (factor - 1):.2g} % {size}" if factor < 1.1 else f"{factor:.4g}x {size}"
