"""Corrections: the laws of every one, and its numbers beside those worked out in ``chNN/shown.py``."""

from __future__ import annotations

import ast
import importlib
import inspect
import re

import pytest

from experiments.ch11 import mask_corrections
from experiments.corrections import corrections, every
from rankzero.facts.chapters import CHAPTERS

FIGURE = r"\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?"
#: Names with figures in them.
NAMES = r"(fp|float|bf)\d+|Llama 3\.1|\b\d+[BK]\b|405 billion"
#: What a text quotes from elsewhere, or says of a claim without a computation, by a word of the claim.
QUOTED = {
    "24,000 GPUs": "24,576",
    "without end": "43 41",
    "480 GB hold": "320,000",
    "= 10.24 GB": "32",
    "from 50 % to 95 %": "20.4 38.2 96",
    "two-dimensional": "475",
    "hybrid engine": "89",
    "costs 6N": "12",
    "At TP8": "12",
    "2 x layers x hidden": "64",
    "actual configuration": "4,096",
    "40 to 50 % is good": "46.2 6,144",
    "N writers": "980",
}


def text_of(correction) -> str:
    return f"{correction.right} {correction.because}"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.package)
def test_each_shows_what_is_worked_out_beside_it(chapter):
    """One row for each correction, in the order of the page."""
    shown = importlib.import_module(f"tests.experiments.{chapter.package}.shown").SHOWN
    for (words, numbers), one in zip(shown.items(), corrections(chapter.prefix), strict=True):
        assert words in one.claim
        assert [number for number in numbers if number not in text_of(one)] == []
        assert one.chapter == chapter.prefix


@pytest.mark.parametrize("correction", every(), ids=lambda correction: correction.claim[:30])
def test_says_all_its_things_in_sentences(correction):
    sentences = (correction.claim, correction.right, correction.because, correction.matters)
    assert all(part.strip() == part != "" for part in (*sentences, correction.source))
    assert all(sentence.endswith(".") for sentence in sentences)
    assert len({*sentences}) == 4
    assert not re.search(r"\d", correction.matters)  # a number would be a result that is typed


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


def typed(source: str) -> dict[str, set[float]]:
    """By claim, the figures that are typed in a correction's text and are neither the claim's nor computed with."""
    tree = ast.parse(source)
    inputs = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    }
    found = {}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Correction":
            claim, right, because = (words(part) for part in call.args[1:4])
            quoted = " ".join(numbers for word, numbers in QUOTED.items() if word in claim)
            found[claim] = figures(right + because) - figures(f"{claim} {quoted}") - inputs
    return found


MODULES = [importlib.import_module(f"experiments.{chapter.package}.corrections") for chapter in CHAPTERS]


@pytest.mark.parametrize("module", [*MODULES, mask_corrections], ids=lambda module: module.__name__)
def test_no_result_is_typed(module):
    """Kills a number that goes stale: all that a text says beyond the claim is put in by a computation."""
    assert {claim: left for claim, left in typed(inspect.getsource(module)).items() if left} == {}


def test_a_typed_result_is_found():
    text = 'Correction("1.1", "It takes 80 GB.", f"It takes {hold(70)} GB on 16 of fp32.", "Not 80 but 70: 1,120.", "")'
    assert list(typed(text).values()) == [{16, 1120}]
