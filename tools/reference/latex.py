"""A law, written as a Python expression, as LaTeX."""

from __future__ import annotations

import ast

_GREEK = {"alpha", "beta", "eta", "tau"}
_FENCES = {"ceil": (r"\lceil ", r" \rceil"), "floor": (r"\lfloor ", r" \rfloor")}
_RANK: dict[type[ast.operator], int] = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1, ast.Pow: 2}


def latex(law: str) -> str:
    r"""The expression as LaTeX: ``latex("S/(N*B)")`` is ``\frac{S}{N\, B}``.

    Raises:
        ValueError: the expression holds something other than numbers, names, + - * / ** and calls.
    """
    return _node(ast.parse(law, mode="eval").body)


def _node(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.Name(id=name):
            return symbol(name)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, [_node(argument) for argument in arguments])
        case ast.BinOp():
            return _operation(node)
    raise ValueError(f"law must hold numbers, names, + - * / ** and calls, got {ast.unparse(node)!r}")


def symbol(name: str) -> str:
    """A name as a symbol: ``alpha_x`` is the Greek letter with an index."""
    letter, _, index = name.partition("_")
    text = f"\\{letter}" if letter in _GREEK else letter
    return f"{text}_{{{index}}}" if index else text


def _call(name: str, arguments: list[str]) -> str:
    inside = ", ".join(arguments)
    if name in _FENCES:
        return inside.join(_FENCES[name])
    if name == "sqrt":
        return f"\\sqrt{{{inside}}}"
    if name == "exp":
        return f"e^{{{inside}}}"
    return rf"\log_2 {inside}" if name == "log2" else rf"\{name}({inside})"


def _operation(node: ast.BinOp) -> str:
    left, right = node.left, node.right
    match node.op:
        case ast.Div():
            return rf"\frac{{{_node(left)}}}{{{_node(right)}}}"
        case ast.Pow():
            return f"{_within(left, 3)}^{{{_node(right)}}}"
        case ast.Mult():
            return _product(_within(left, 1), _within(right, 1))
        case ast.Add():
            return f"{_node(left)} + {_node(right)}"
        case ast.Sub():
            return f"{_node(left)} - {_within(right, 1)}"
    raise ValueError(f"law must hold + - * / and **, got {ast.unparse(node)!r}")


def _product(left: str, right: str) -> str:
    between = r" \cdot " if right[0].isdigit() else r"\, "
    return f"{left}{between}{right}"


def _within(node: ast.expr, rank: int) -> str:
    """The expression, in parentheses where it binds less than its surroundings."""
    loose = isinstance(node, ast.BinOp) and _RANK.get(type(node.op), 3) < rank
    fraction = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and rank < 3
    return rf"\left({_node(node)}\right)" if loose and not fraction else _node(node)
