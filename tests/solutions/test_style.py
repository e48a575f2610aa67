"""References are read beside a learner's own program: their functions are short, and their steps are plain."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tools.common import ROOT

FILES = sorted((ROOT / "solutions").rglob("*.py"))

#: Lines of a function without its docstring, and with it.
BODY, WHOLE = 35, 70

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(source: str) -> Iterator[Function]:
    return (node for node in ast.walk(ast.parse(source)) if isinstance(node, Function))


def lines(function: Function) -> tuple[int, int]:
    """Lines of a function's body without the docstring, and of the function as a whole."""
    documented = ast.get_docstring(function) is not None and len(function.body) > 1
    last = function.end_lineno or function.lineno
    return last - function.body[1 if documented else 0].lineno + 1, last - function.lineno + 1


def too_long(source: str) -> list[str]:
    sizes = {function.name: lines(function) for function in functions(source)}
    return [f"{name}: {body} of {whole} lines" for name, (body, whole) in sizes.items() if body > BODY or whole > WHOLE]


def truth(node: ast.expr) -> bool:
    """Whether it is seen to be a truth value."""
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def counts_truths(node: ast.AST) -> bool:
    """Whether it adds, subtracts, multiplies or divides a truth value, or sums up several."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Mod):
        return truth(node.left) or truth(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sum" and node.args:
        summed = node.args[0]
        return isinstance(summed, ast.GeneratorExp | ast.ListComp) and truth(summed.elt)
    return False


def riddles(source: str) -> list[str]:
    """Loops with an ``else``, and arithmetic on truth values."""
    nodes = list(ast.walk(ast.parse(source)))
    loops = [node for node in nodes if isinstance(node, ast.For | ast.AsyncFor | ast.While) and node.orelse]
    return [f"line {node.lineno}: a loop with an else" for node in loops] + [
        f"{ast.unparse(node)}: arithmetic on a truth value" for node in nodes if counts_truths(node)
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_functions_are_short_and_plain(file):
    source = file.read_text(encoding="utf-8")
    assert too_long(source) == []
    assert riddles(source) == []


def test_what_is_too_long_is_found():
    body = "    x = 1\n"
    assert too_long("def f():\n" + body * BODY) == []
    assert too_long("def f():\n" + body * (BODY + 1)) == [f"f: {BODY + 1} of {BODY + 2} lines"]
    assert too_long('def f():\n    """Words.\n' + "    More.\n" * WHOLE + '    """\n' + body) != []


@pytest.mark.parametrize(
    "source",
    [
        "for x in xs:\n    break\nelse:\n    y = 1",
        "while x:\n    x = f(x)\nelse:\n    y = 1",
        "n = 2 + (a == b)",
        "n = -3 * (not a)",
        "n = sum(x > 0 for x in xs)",
    ],
)
def test_riddles_are_found(source):
    assert len(riddles(source)) == 1


def test_masks_of_tensors_are_no_riddles():
    assert riddles("mask = (ids >= 0) & (ids < rows)\nn = sum(1 for x in xs if x > 0)") == []
