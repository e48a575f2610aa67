"""Corrections: the laws of every one, and its numbers beside those worked out in ``chNN/shown.py``."""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import re

import pytest

from experiments.correction import typed, worked
from experiments.corrections import corrections, every
from rankzero.facts.chapters import CHAPTERS

FIGURE = r"\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?"
#: Names with figures in them.
NAMES = r"(fp|float|bf)\d+|Llama 3\.1|\b\d+[BK]\b"
#: What a text quotes from a source, or says without a computation, by a word of the title.
QUOTED = {
    "A utilization": "405",
    "attention can be ignored": "24",
    "data sheet": "16",
    "subnormals": "24",
    "a K is": "1,024 32",
    "paging saves": "20.4 38.2 96",
    "layout of weights": "89",
}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.package)
def test_each_shows_what_is_worked_out_beside_it(chapter):
    """One row for each correction, in the order of its module."""
    shown = importlib.import_module(f"tests.experiments.{chapter.package}.shown").SHOWN
    for (words, numbers), one in zip(shown.items(), corrections(chapter.prefix), strict=True):
        assert words in one.title
        assert [number for number in numbers if number not in one.text] == []
        assert one.chapter == chapter.prefix


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?]) (?=[A-Z0-9])", text)


@pytest.mark.parametrize("correction", every(), ids=lambda correction: correction.title[:30])
def test_says_what_is_learned_in_two_to_five_sentences(correction):
    parts = (correction.title, correction.claim, correction.text, correction.source)
    assert all(part.strip() == part != "" for part in parts)
    assert correction.title[-1] not in ".?"
    assert correction.claim.endswith(".")
    assert correction.text.endswith(".")
    assert 2 <= len(sentences(correction.claim)) + len(sentences(correction.text)) <= 5


def test_no_two_have_one_title():
    titles = [one.title for one in every()]
    assert len(set(titles)) == len(titles)


def close(one, other) -> bool:
    """Whether two results are equal to six digits."""
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-6)
    if isinstance(one, list | tuple):
        return all(map(close, one, other))
    return one == other or repr(one) == repr(other)


@pytest.mark.parametrize("correction", every(), ids=lambda correction: correction.title[:30])
def test_the_calls_can_be_typed(correction):
    """Kills a call that is printed in a way that gives something else, and a correction without one."""
    assert correction.worked
    for one in correction.worked:
        types = {type(value).__name__: type(value) for value in one.arguments}
        assert close(one.value, eval(one.call, {**types, one.function.__name__: one.function}))


def test_values_as_they_are_typed():
    assert [typed(value) for value in (5e-6, 4.5e11, 0.01023, 1024, [2, 2, 2, 2], (1,), 2 / 3)] == [
        *("5e-6", "4.5e11", "0.01023", "1_024", "[2] * 4", "(1,)", "0.6666667")
    ]
    assert worked(dict, a=1.5, pick="a").call == "dict(a=1.5)['a']"
    assert (worked(complex, 1, 2, pick=".imag").call, worked(complex, 1, 2, pick=".imag").result) == (
        *("complex(1, 2).imag", "2"),
    )


def test_no_corrections_for_a_chapter_without_any():
    assert corrections("99") == ()


def figures(text: str) -> set[float]:
    """The numbers in a text that have two significant digits: "2 ranks" and "80 GB" are words."""
    found = (re.sub("[,_]", "", figure) for figure in re.findall(FIGURE, re.sub(NAMES, "", text)))
    return {float(figure) for figure in found if len(figure.partition("e")[0].replace(".", "").strip("0")) > 1}


def words(node: ast.AST) -> str:
    """What is typed in an expression: its strings, without the format specifications."""
    if isinstance(node, ast.FormattedValue):
        return words(node.value)
    if isinstance(node, ast.Constant):
        return f" {node.value} " if isinstance(node.value, str) else ""
    return "".join(map(words, ast.iter_child_nodes(node)))


def results(source: str) -> dict[str, set[float]]:
    """By title, the figures that are typed in a correction's text and are neither the claim's nor computed with."""
    tree = ast.parse(source)
    inputs = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    }
    found = {}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Correction":
            title, claim, text = (words(part) for part in call.args[1:4])
            quoted = " ".join(numbers for word, numbers in QUOTED.items() if word in title)
            found[title.strip()] = figures(text) - figures(f"{claim} {quoted}") - inputs
    return found


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.package)
def test_no_result_is_typed(chapter):
    """Kills a number that goes stale: all that a text says beyond the claim is put in by a computation."""
    module = importlib.import_module(f"experiments.{chapter.package}.corrections")
    assert {title: left for title, left in results(inspect.getsource(module)).items() if left} == {}


def test_a_typed_result_is_found():
    text = 'Correction("1.1", "Few", "It takes 80 GB.", f"It takes {hold(70)} GB on 16 of fp32. Not 80 but 70: 1,120.")'
    assert results(text) == {"Few": {16, 1120}}
