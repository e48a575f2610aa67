"""How far a reference moves when every rounding in it falls differently: stochastic arithmetic.

Two right programs for one formula round in different places: they sum in another order, rearrange the algebra, or call
a library function. How far apart their answers may be depends on the case, and the reference itself can show it: it is
run again with each inexact result moved by a few units in the last place, once all up, once all down, and several times
in pseudorandom directions. Exact results are never moved. A boundary that every program meets exactly (half of an even
number, a whole number of pages) therefore stays where it is, while one that only rounding decides is seen from both
sides.

This module does so for plain Python: it loads the module of a reference a second time, under another name and with
instrumented arithmetic. :mod:`autograder.marking.stochastic_torch` does so for tensors.

Source: Vignes (1993), A stochastic arithmetic for reliable scientific computation,
doi:10.1016/0378-4754(93)90003-D; Parker (1997), Monte Carlo Arithmetic.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.util
import math
import operator
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, Literal

from autograder import syntax

#: Prefix of the names of instrumented copies: ``stochastic_solutions.ch05.zero``.
COPY = "stochastic_"
#: The most by which a result is moved, in units in the last place.
STEPS = 4
#: A library function's result counts as exact if it has at most this many significant bits: sqrt(4), exp(0).
SIMPLE_BITS = 40


@dataclass(frozen=True)
class Rounding:
    """One way to round: ``direction`` 1 moves every inexact result up, -1 down, and 0 by random steps from ``seed``.

    ``precise``: operations on single-precision tensors are carried out in double precision instead.
    """

    direction: Literal[-1, 0, 1]
    seed: int = 0
    precise: bool = False


#: The ways to round in which a reference is run again, and one more for tensors.
RUNS = (Rounding(1), Rounding(-1), *(Rounding(0, seed) for seed in range(1, 7)))
PRECISE = Rounding(0, precise=True)


class _State(threading.local):
    rounding: Rounding | None = None
    random = Random()


_state = _State()


def use(rounding: Rounding | None) -> None:
    """Round this way from now on in this thread; None restores ordinary rounding."""
    _state.rounding = rounding
    _state.random = Random(rounding.seed if rounding else 0)


def program(reference: Callable[..., Any]) -> Any:
    """``reference``, a function or class at the top of an importable module, instrumented."""
    return getattr(importlib.import_module(f"{COPY}{reference.__module__}"), reference.__name__)


def moved(number: float) -> float:
    """``number``, an inexact result, moved as the current rounding says."""
    rounding = _state.rounding
    if rounding is None or not math.isfinite(number) or number == 0:
        return number
    steps = rounding.direction * STEPS if rounding.direction else _state.random.randint(-STEPS, STEPS)
    return number + steps * math.ulp(number)


# Helpers that instrumented code calls.


def _calculated(name: str, left: Any, right: Any) -> Any:
    """The result of the operator ``name``, moved if it had to be rounded."""
    if name in ("floordiv", "mod") and type(left) is float and not _exact("truediv", left, right):
        left = moved(left)  # only rounding decides whether the quotient reaches the next whole number
    result = getattr(operator, name)(left, right)
    return result if type(result) is not float or _exact(name, left, right, result) else moved(result)


def _updated(name: str, left: Any, right: Any) -> Any:
    """As :func:`_calculated`, for ``+=`` and the like, which change a list or a tensor in place."""
    if isinstance(left, int | float):
        return _calculated(name, left, right)
    return getattr(operator, f"i{name}")(left, right)


def _summed(terms: Iterable[Any], start: Any = 0) -> Any:
    """``sum``, with the terms shuffled if they are numbers and the directions are random."""
    terms = list(terms)
    if not all(type(term) in (int, float) for term in (start, *terms)) or all(type(term) is int for term in terms):
        return sum(terms, start)
    if _state.rounding and not _state.rounding.direction:
        _state.random.shuffle(terms)
    return functools.reduce(functools.partial(_calculated, "add"), terms, start)


def _function(result: Any) -> Any:
    """The result of a function of ``math``, moved unless it counts as exact."""
    return moved(result) if type(result) is float and not _simple(result) else result


def _simple(number: float) -> bool:
    return not math.isfinite(number) or number == 0 or not (math.frexp(number)[0] * 2**SIMPLE_BITS) % 1


def _exact(name: str, left: Any, right: Any, result: float | None = None) -> bool:
    """Whether the operation gives ``result`` without rounding; for ``truediv`` the result may be left out."""
    try:
        (p, q), (r, s) = left.as_integer_ratio(), right.as_integer_ratio()
        if name == "truediv" and result is None:
            result = left / right
        if name not in _RATIOS or result is None:
            return result is None or name in ("floordiv", "mod") or _simple(result)
        top, bottom = _RATIOS[name](p, q, r, s)
        u, v = result.as_integer_ratio()
        return top * v == u * bottom
    except (ArithmeticError, AttributeError, TypeError, ValueError):  # infinities, and operands that are not numbers
        return True


_RATIOS: dict[str, Callable[[int, int, int, int], tuple[int, int]]] = {
    "add": lambda p, q, r, s: (p * s + r * q, q * s),
    "sub": lambda p, q, r, s: (p * s - r * q, q * s),
    "mul": lambda p, q, r, s: (p * r, q * s),
    "truediv": lambda p, q, r, s: (p * s, q * r),
}


# Instrumenting.

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
}
_HELPERS = {"_calculated_": _calculated, "_updated_": _updated, "_summed_": _summed, "_function_": _function}


class _Instrument(ast.NodeTransformer):
    """Replaces operators, sums and functions of ``math`` by calls of the helpers above."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = _OPERATORS.get(type(node.op))
        return _call("_calculated_", ast.Constant(name), node.left, node.right) if name else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        name = _OPERATORS.get(type(node.op))
        if not name:
            return node
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return ast.Assign([node.target], _call("_updated_", ast.Constant(name), read, node.value))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "sum":
            node.func = ast.Name("_summed_", ast.Load())
        elif isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "math":
            return _call("_function_", node)
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


class _Copies(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads the instrumented copy of a module, from the module's own file."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        original = _spec(fullname.removeprefix(COPY)) if fullname.startswith(COPY) else None
        if original is None:
            return None
        if original.origin is None:  # a namespace package: a folder without ``__init__.py``
            return ModuleSpec(fullname, None, is_package=True)
        folder: list[str] | None = [] if original.submodule_search_locations is not None else None
        return importlib.util.spec_from_file_location(
            fullname, original.origin, loader=self, submodule_search_locations=folder
        )

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        assert module.__file__ is not None
        origin = Path(module.__file__)
        tree = _Instrument().visit(syntax.parse(origin.read_text(encoding="utf-8")))
        module.__dict__.update(_HELPERS)
        exec(compile(ast.fix_missing_locations(tree), str(origin), "exec"), module.__dict__)


sys.meta_path.insert(0, _Copies())
