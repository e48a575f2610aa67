"""Formulas as a search shows them: a line of text that reads as the formula does."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from tools import search_index
from tools.plain_formulas import formula


def row(*parts: str) -> str:
    """Letters, numbers and signs as a row of MathML; what begins with ``<`` is taken as it is."""
    return f"<mrow>{''.join(map(_token, parts))}</mrow>"


def _token(part: str) -> str:
    name = "mi" if part.isalpha() else "mn" if part[0].isdigit() else "mo"
    return part if part.startswith("<") else f"<{name}>{part}</{name}>"


def made(name: str, *parts: str) -> str:
    return f"<{name}>{''.join(map(_token, parts))}</{name}>"


SHARE = made("mfrac", row("N", "−", "1"), "N")
VAR = "".join(f'<mi mathvariant="normal">{letter}</mi>' for letter in "Var")
APPLIED = "\u2061"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((SHARE, "S"), "(N − 1)/N S"),
        (("2", SHARE, "⋅", "6", "P"), "2(N − 1)/N ⋅ 6P"),
        ((made("mfrac", "S", row("N", "B")),), "S/(N B)"),
        ((made("msup", "s", "2"), "h"), "s² h"),
        ((made("msup", "10", row("−", "4")),), "10^(−4)"),
        ((made("msub", "n", row("k", "v")), "d"), "n_kv d"),
        ((made("msub", "A", row("t", "+", "1")), "=", "−", "1"), "A_(t + 1) = −1"),
        ((made("munder", "∑", "x"), "p", "(", "x", ")"), "∑_x p(x)"),
        ((made("munderover", "∑", row("i", "=", "1"), "n"), "i"), "∑_(i = 1)^n i"),
        (("max", f"<mo>{APPLIED}</mo>", "(", "c", ",", "s", ")"), "max(c, s)"),
        (("log", f"<mo>{APPLIED}</mo>", "N"), "log N"),
        (("<mo>−</mo>", "1", "+", "x"), "−1 + x"),
        ((VAR, "(", "G", ")"), "Var(G)"),
        ((made("msqrt", "2", "C", "M"),), "√(2C M)"),
        ((made("mover", "v", "^"), "/", "2"), "v/2"),
    ],
)
def test_a_formula_reads_as_a_line(parts, text):
    """Kills a fraction whose parts run together, factors that become a word, and a minus that looks like a sign."""
    node = BeautifulSoup(f"<math><semantics>{row(*parts)}</semantics></math>", "html.parser").math
    assert node is not None
    assert formula(node) == text


def test_a_search_shows_formulas_that_can_be_read():
    math = f'<span class="katex"><math>{row("2", SHARE, "S")}</math><span class="katex-html">2N−1NS</span></span>'
    ring = f'<section id="ring"><h2>A ring</h2><p>It sends {math} bytes.</p></section>'
    (section,) = search_index.sections(f'<article class="bd-article">{ring}</article>')
    assert section["text"] == "It sends 2(N − 1)/N S bytes."
