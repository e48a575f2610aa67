"""Answers as they are typed: literals and arithmetic of literals, read from the syntax tree and never run."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
#: Largest exponent and largest integer operand. No answer in the course comes near.
EXPONENT_LIMIT, INTEGER_LIMIT = 400, 10**120
#: Longer texts are cut off: no answer is longer.
TEXT = 1000
#: An integer of more bits does not fit into a float, and takes long to calculate.
BITS = 1024


def literal(node: ast.expr, names: Mapping[str, Any] | None = None) -> Any:
    """The value of a literal or of arithmetic of literals; None when the expression is anything else.

    ``names``: values of names that may stand for a literal.

    >>> literal(ast.parse("2 * 7 / 8", mode="eval").body)
    1.75
    """
    try:
        return _value(node, names or {})
    except (ValueError, ArithmeticError, RecursionError):
        return None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=str(text)):
            return text[:TEXT]
        case ast.Constant(value=bool() | int() | float()):
            return node.value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Tuple() | ast.List():
            return [_value(element, {}) for element in node.elts]
        case ast.Dict():
            keys = [_value(key, {}) if key else None for key in node.keys]
            if not all(isinstance(key, str) for key in keys):
                raise ValueError("not choices by name")
            return dict(zip(keys, [_value(value, {}) for value in node.values], strict=True))
        case ast.UnaryOp(op=ast.USub()):
            return -_number(node.operand, names)
        case ast.UnaryOp(op=ast.UAdd()):
            return _number(node.operand, names)
        case ast.BinOp() if type(node.op) in OPERATORS:
            return _combined(OPERATORS[type(node.op)], _number(node.left, names), _number(node.right, names))
    raise ValueError("not a literal")


def _number(node: ast.expr, names: Mapping[str, Any]) -> float:
    """An operand: a number that is not a bool and not so large that arithmetic with it takes long."""
    value = _value(node, names)
    if type(value) not in (int, float) or (isinstance(value, int) and abs(value) > INTEGER_LIMIT):
        raise ValueError("not a number to calculate with")
    return value


def _bits(value: float) -> float:
    """The bits of an integer, which raising to a power multiplies; 0 for a float, which does not grow."""
    return max(0, abs(value).bit_length() - 1) if isinstance(value, int) else 0


def _combined(function: Any, left: float, right: float) -> float:
    if function is operator.pow and (abs(right) > EXPONENT_LIMIT or _bits(left) * right > BITS):
        raise ValueError("the exponent is too large")
    value = function(left, right)
    if isinstance(value, complex) or not math.isfinite(value):
        raise ValueError("not a finite real number")
    return value
