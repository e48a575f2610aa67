"""The numbers of the prose: which are found, which formulas fail, and that no reader sees a formula."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import page_cells, pages, takeaways
from tools.edit import to_notebook, to_text
from tools.prose_numbers import failures, numbers, stripped

IMPORTS = "from solutions.ch05.zero import zero_memory\nfrom experiments.ch05 import zero_steps as steps"


def page(*texts: str) -> list:
    return [new_code_cell(IMPORTS), *(new_markdown_cell(text, id="text") for text in texts)]


@pytest.mark.parametrize(
    "text",
    [
        "They add up to 24<!-- = sum([4, 1, 7, 12]) -->, so ...",
        "It takes 48 GB<!-- = zero_memory(3e9, 0, 1) / GB -->.",
        "From -2 and 3 to 0 and 3<!-- = [-2, 3, 0, 3] -->.",
        "A third is 0.33<!-- = 1 / 3 -->, or 33<!-- = 100 / 3 --> percent.",
        "In symbols $4 \\cdot 800 = 3{,}200$<!-- = 4 * 800 -->.",
        "It does $12 \\times 10^{12}$<!-- = 11.6 * TFLOP --> FLOP in 3.0 · 10⁵ s<!-- = 303e3 -->.",
        "The least is $2^{-24}$<!-- = (2, -24) -->, about 6e-8<!-- = 2**-24 -->.",
        "After `step-6`<!-- = 6 --> of 1,248<!-- = 1248 -->, E1<!-- = 1 -->.",
        "There are 6<!-- = steps.WEIGHTS --> and 3<!-- = experiments.ch05.zero_steps.RANKS -->.",
        "About 2.8<!-- = math.sqrt(max(2 * 20 / 5, 1)) -->.",
        "| 1 | 31 | 20<!-- = (1, 31, 20) --> |",
    ],
)
def test_right_numbers(text):
    assert failures(page(text)) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("25<!-- = 4 * 6 -->", "25 is printed for 24"),
        ("2.4<!-- = 2.46 -->", "2.4 is printed for 2.46"),
        ("3 and 4<!-- = (4, 3) -->", "3 is printed for 4.0, 4 is printed for 3.0"),
        ("3 · 10⁵<!-- = 3.6e5 -->", "3 · 10⁵ is printed for 360000.0"),
        ("step-6<!-- = -6 -->", "6 is printed for -6.0"),
        ("three<!-- = 3 -->", "must stand right behind a number or its unit"),
        ("3 of the ranks<!-- = 3 -->", "must stand right behind a number or its unit"),
        ("3 <!-- = 3 -->", "must stand right behind a number or its unit"),
        ("3<!-- = 3 --> and<!-- = 3 -->", "must stand right behind a number or its unit"),
        ("3\n\nranks<!-- = 3 -->", "must stand right behind a number or its unit"),
        ("3<!-- = (3, 3) -->", "gives 2 numbers, and 1 stand before it"),
        ("3<!-- = () -->", "gives 0 numbers, and 1 stand before it"),
        ("3<!-- = 3 / 0 -->", "raises ZeroDivisionError: division by zero"),
        ("3<!-- = 3 +  -->", "raises SyntaxError"),
        ("3<!-- = nobody -->", "raises NameError: name 'nobody' is not defined"),
        ("3<!-- = experiments.ch05.nowhere.RANKS -->", "raises"),
        ("3<!-- = tests.RANKS -->", "raises NameError"),
        ("3<!-- = math.inf -->", "3 is printed for inf"),
        ("3<!-- = math.nan -->", "3 is printed for nan"),
    ],
)
def test_wrong_numbers(text, sentence):
    (found,) = failures(page(f"There are {text}."))
    assert found.startswith("text: ")
    assert sentence in found


def test_all_failures_of_a_page_are_named():
    assert len(failures(page("1<!-- = 2 -->, 2<!-- = 2 -->", "3<!-- = 4 -->, 5<!-- = 6 -->"))) == 3


def test_what_counts_as_a_number():
    found = numbers("H100, 4-6 of 1,024; (3) −2, 1/3, 3{,}200, 10,000.5 and 7.")
    assert [number.value for number in found] == [100, 4, 6, 1024, 3, -2, 1, 3, 3200, 10_000.5, 7]


TEXT = "They hold 48<!-- = 3 * 16 > 2 --> GB."


def test_no_reader_sees_a_formula():
    """Kills a formula in the built page, in the count of words, and in a summary."""
    (cell,) = page_cells.shown(new_notebook(cells=[new_markdown_cell(TEXT)])).cells
    assert cell.source == stripped(TEXT) == "They hold 48 GB."
    assert pages.count_words(TEXT) == 4
    assert takeaways.sentence(f"> **Remember:** {TEXT}") == "They hold 48 GB."


def test_an_edit_keeps_formulas():
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    text = nbformat.writes(new_notebook(cells=page(TEXT), metadata=kernel)) + "\n"
    assert TEXT in to_notebook(to_text(text))
