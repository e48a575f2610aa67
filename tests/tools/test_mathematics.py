"""Mathematics is set at build: found wherever Sphinx and cards write it, and nothing else is taken for it."""

from __future__ import annotations

import json
import shutil
from html import escape, unescape

import pytest

from tools import mathematics
from tools.mathematics import KATEX, formulas, replaced, typeset

INLINE = r'<span class="math notranslate nohighlight">\(a &lt; b\)</span>'
DISPLAY = '<div class="math notranslate nohighlight">\n\\[\\frac{S}{N}\\]</div>'
NUMBERED = '<div class="math" id="e"><span class="eqno">(1)<a href="#e">#</a></span>\\[x\\]</div>'

needs_katex = pytest.mark.skipif(
    not (shutil.which("node") and KATEX.exists()), reason="node or KaTeX is not here (make vendor)"
)


def card(sentence: str) -> str:
    """A card whose data hold a sentence."""
    return f'<section data-card="{escape(json.dumps({"slips": [{"sentence": sentence}]}))}">'


def test_finds_every_form():
    """Inline, set apart, with a number, and in the data of a card; each once, without the escapes of HTML."""
    page = INLINE + DISPLAY + NUMBERED + INLINE + card(INLINE.replace("(a", "(c"))
    found = [("c < b", False), ("a < b", False), ("\\frac{S}{N}", True), ("x", True)]
    assert sorted(formulas(page)) == sorted(found)


def test_code_is_no_mathematics():
    r"""Kills a search for bare ``\(``: regular expressions in code and in cards hold it too."""
    page = r"<pre>re.compile(r'\(a\)')</pre>" + card(r"write \(a\) for a bracket")
    assert formulas(page) == []
    assert replaced(page, lambda formula: "?") == page


def test_data_stay_data():
    """Kills a replacement in the raw attribute: quotes in what was made would end the string, or the attribute."""
    page = replaced(card(f"so {INLINE}."), lambda formula: '<b class="set">"it\'s"</b>')
    data = json.loads(unescape(page.split('data-card="')[1].split('"')[0]))
    assert data["slips"][0]["sentence"].endswith('<b class="set">"it\'s"</b></span>.')


def test_a_finished_page_stays():
    """Nothing is left to set in a page that was set, so that the next build takes it as it is."""
    page = replaced(INLINE + DISPLAY + card(INLINE), lambda formula: "<math></math>")
    assert formulas(page) == []


@needs_katex
def test_mathml_stands_beside():
    """Who listens to the page gets MathML; what is drawn is hidden from her, and nothing is a tab stop."""
    html = typeset([("\\frac{S}{N}", True)])["\\frac{S}{N}", True]
    assert "<mfrac>" in html
    assert '<span class="katex-html" aria-hidden="true">' in html
    assert "katex-display" in html
    assert "tabindex" not in html


@needs_katex
def test_a_formula_that_cannot_be_set_is_named():
    """Kills a build that prints the source in red and goes on."""
    with pytest.raises(ValueError, match=r"the formula '\\\\fraq\{a\}' cannot be set: KaTeX parse error"):
        typeset([("\\fraq{a}", False)])


def test_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(mathematics.shutil, "which", lambda name: None)
    assert mathematics.why_not() == "node is missing"


@needs_katex
def test_micro_is_a_greek_letter():
    """Kills a build that stops at the sign of micro, which KaTeX does not know: times are printed with it."""
    formula = ("t = 10\\text{ µs}", True)
    assert "<mi>μ</mi>" in typeset([formula])[formula]


def test_punctuation_stays_with_a_short_formula():
    """Kills a line that begins with a comma, and a long formula that cannot be broken."""
    short = r'<span class="math notranslate">\(k\)</span>'
    assert mathematics.together(f"{short}, and {short} more") == (
        f'<span class="rz-together">{short},</span> and {short} more'
    )
    long = rf'<span class="math">\({"a + " * 8}b\)</span>.'
    assert mathematics.together(long) == long
    longer = rf'<span class="math">\({"a + " * 16}b\)</span>'
    assert mathematics.together(f"{longer}.") == f'<span class="rz-broken">{longer}</span>.'


def _code(text):
    words = " ".join(f'<span class="pre">{word}</span>' for word in text.split())
    return f'<code class="docutils literal notranslate">{words}</code>'


def test_no_line_begins_with_the_punctuation_behind_code():
    """Kills a line that begins with a comma or ends with a bracket, and a command that is wider than a small screen."""
    short, link = _code("3*7"), f'<a href="x">{_code("layers.py")}</a>'
    assert mathematics.together(f"({short}, {short} or {short}) {link}. {short}’s") == (
        f'<span class="rz-together">({short},</span> {short} or <span class="rz-together">{short})</span> '
        f'<span class="rz-together">{link}.</span> <span class="rz-together">{short}’s</span>'
    )
    assert mathematics.together(f"{_code('[-1, -1]')}.") == f'<span class="rz-together">{_code("[-1, -1]")}.</span>'
    broken = mathematics.together(f"{_code('python -m demos ring')},")
    assert '<span class="rz-apart"><span class="pre">python</span> ' in broken
    assert broken.endswith('</span> </span><span class="pre">ring</span></code>,</span>')


def test_what_is_kept_together_is_kept_once():
    """Kills a page whose every build puts one more wrapper around its code."""
    once = mathematics.together(f'({_code("a")}, {_code("python -m demos ring")}) <a href="x">see {_code("b")}</a>.')
    assert mathematics.together(once) == once


@pytest.mark.skipif(not shutil.which("node"), reason="node is not here")
def test_a_node_that_fails_is_one_sentence(tmp_path):
    """Kills a traceback that shows the command and not what node says."""
    with pytest.raises(ValueError, match=r"^node cannot set formulas: Error: Cannot find module '.*none\.js'$"):
        typeset([("x", False)], tmp_path / "none.js")
