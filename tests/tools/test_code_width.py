"""Code of the house, written for 120 columns, within the 88 of a page."""

from __future__ import annotations

import ast

from tools.code_width import WIDTH, fitted, wrapped

FUNCTION = '''def relay(value: float, amount: float, device: str | None = None, tensor: object = None) -> float:
    """Pass a number around, and let every rank that receives it add its amount, with messages alone and in order.

    The first paragraph has lines that are filled again because one of them is longer than the page is wide, as this one
    is: ``message_bytes / ranks`` stays in one piece.

    - A point of a list keeps its mark, and what does not fit on its first line is hung below the text of the point.
    - Another.

    >>> relay(42.0, 10.0, device=None, tensor=None)  # an example is not filled, it is left alone

    Args:
        value: the number that the first rank sends, the same on every rank, positive and finite, of any type at all.
        amount: what is added.

    Returns:
        The number that this rank has received, or the first rank's own number where nothing was received at all by it.
    """
    raise NotImplementedError("02-relay: not written yet")
'''
DOCSTRING = '''    """Pass a number around, and let every rank that receives it add its amount, with
    messages alone and in order.

    The first paragraph has lines that are filled again because one of them is longer
    than the page is wide, as this one is: ``message_bytes / ranks`` stays in one piece.

    - A point of a list keeps its mark, and what does not fit on its first line is hung
      below the text of the point.
    - Another.

    >>> relay(42.0, 10.0, device=None, tensor=None)  # an example is not filled, it is left alone

    Args:
        value: the number that the first rank sends, the same on every rank, positive
            and finite, of any type at all.
        amount: what is added.

    Returns:
        The number that this rank has received, or the first rank's own number where
        nothing was received at all by it.
    """'''


def test_a_docstring_is_filled_by_paragraphs():
    """Kills: entries that run together, a head that takes its text into the line, a list without its marks."""
    assert DOCSTRING in wrapped(FUNCTION)


def test_what_fits_is_not_touched():
    """Kills a filling of paragraphs whose lines are short on purpose."""
    source = 'def f(x):\n    """One line.\n\n    Short\n    lines.\n    """\n'
    assert wrapped(source) == source


def test_a_summary_of_two_lines_has_its_quotes_below():
    source = f'def f(x):\n    """{"word " * 18}end."""\n'
    assert wrapped(source).splitlines()[-1] == '    """'


def test_code_means_the_same():
    """Kills a layout that changes what is computed, or what ``help`` says beyond its line ends."""
    (found,) = fitted([FUNCTION])
    assert " ".join(ast.get_docstring(ast.parse(found).body[0]).split()) == " ".join(
        ast.get_docstring(ast.parse(FUNCTION).body[0]).split()
    )
    assert ast.dump(ast.parse(found).body[0].args) == ast.dump(ast.parse(FUNCTION).body[0].args)
    assert [line for line in found.splitlines() if len(line) > WIDTH and ">>>" not in line] == []


def test_every_cell_comes_back():
    assert fitted([]) == []
    assert fitted(["a  = 1", "b = {'x':1}"]) == ["a = 1", 'b = {"x": 1}']


def test_fitting_twice_changes_nothing():
    assert fitted(fitted([FUNCTION])) == fitted([FUNCTION])
