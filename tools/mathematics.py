"""Sets the mathematics of built pages once, at build: as HTML and, beside it, as MathML for screen readers.

KaTeX does it, run by node. Sphinx and the cards of the course (``autograder/markup.py``) write a formula as
``<span class="math …">\\(…\\)</span>`` or ``<div class="math …">\\[…\\]</div>``; the data of cards hold such spans too.
Where node or KaTeX is missing, pages keep the script that sets mathematics when they are read. sphinxcontrib-katex
would set what Sphinx itself reads as a formula, and neither the HTML nor the data of cards, which are outputs of
notebooks.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from html import escape, unescape
from pathlib import Path

from tools.common import ROOT, VENDOR

KATEX = VENDOR / "katex" / "katex.min.js"

Formula = tuple[str, bool]  # TeX, and whether it is displayed on a line of its own

_FORMULA = re.compile(
    r'(?P<open><(?P<tag>span|div) class="math\b[^>]*>(?:\s*<span class="eqno">.*?</span>)?)\s*'
    r"(?:\\\((?P<inline>.*?)\\\)|\\\[(?P<display>.*?)\\\])\s*(?=</(?P=tag)>)",
    re.DOTALL,
)
#: A short formula in a line, or code, with the bracket before it and the punctuation behind it. What is kept together
#: already is left alone.
_IN_LINE = re.compile(
    r"""(?<!rz-together">)(?<!rz-together">[(“])(?P<before>[(“]?)"""
    r"""(?P<kept><span\ class="math\b[^>]*>\\\((?:(?!\\\)).){1,24}\\\)</span>"""
    r"""|(?P<link><a\b[^>]*>)?(?P<code><code\ class="[^"]*\bliteral\b[^"]*">)(?P<words>(?:(?!</code>).)*\s)?"""
    r"""(?P<last><span\ class="pre">[^<]*</span></code>)(?(link)</a>))"""
    r"""(?P<behind>(?:[,.;:!?)”]+|’s\b)*)""",
    re.DOTALL | re.VERBOSE,
)
#: A formula that may be longer than a line of a small screen.
_LONG = re.compile(r'<span class="math\b[^>]*>\\\((?:(?!\\\)).){49,}\\\)</span>')
_TAG = re.compile(r"<[^>]*>")
SHORT = 12  # characters of code of several words that is not broken between them
_DATA = re.compile(r'(?P<name>\bdata-[a-z]+)="(?P<json>[^"]*class=\\&quot;math[^"]*)"')


def why_not() -> str:
    """Why mathematics cannot be set at build, as one clause; empty when it can."""
    if not shutil.which("node"):
        return "node is missing"
    return "" if KATEX.exists() else "KaTeX is not here (make vendor)"


def _formula(match: re.Match[str]) -> Formula:
    display = match["display"] is not None
    return unescape(match["display"] if display else match["inline"]).strip(), display


def _in_strings(data: object, change: Callable[[str], str]) -> object:
    """Data as JSON holds it, with every string changed."""
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [_in_strings(one, change) for one in data]
    if isinstance(data, dict):
        return {name: _in_strings(one, change) for name, one in data.items()}
    return data


def replaced(html: str, change: Callable[[Formula], str]) -> str:
    """``html`` with every formula, those in the data of cards included, replaced by what ``change`` makes of it."""

    def body(text: str) -> str:
        return _FORMULA.sub(lambda found: found["open"] + change(_formula(found)), text)

    def data(match: re.Match[str]) -> str:
        changed = _in_strings(json.loads(unescape(match["json"])), body)
        return f'{match["name"]}="{escape(json.dumps(changed, ensure_ascii=False))}"'

    return body(_DATA.sub(data, html))


def together(html: str) -> str:
    """``html`` in which no line begins with the punctuation behind a short formula or code, or ends with the bracket
    before it. Code of several words may still be broken between them, and a long formula between its parts."""

    def kept(match: re.Match[str]) -> str:
        if not match["before"] and not match["behind"]:
            return match[0]
        whole = match[0]
        if match["words"] and len(_TAG.sub("", match["kept"])) > SHORT:
            apart = f'{match["code"]}<span class="rz-apart">{match["words"]}</span>{match["last"]}'
            whole = whole.replace(f"{match['code']}{match['words']}{match['last']}", apart)
        return f'<span class="rz-together">{whole}</span>'

    return _LONG.sub(r'<span class="rz-broken">\g<0></span>', _IN_LINE.sub(kept, html))


def formulas(html: str) -> list[Formula]:
    """The formulas of a page that are not set yet, each once."""
    found: dict[Formula, None] = {}

    def note(formula: Formula) -> str:
        found[formula] = None
        return ""

    replaced(html, note)
    return list(found)


def typeset(wanted: Iterable[Formula], katex: Path = KATEX) -> dict[Formula, str]:
    """The HTML of each formula.

    Raises:
        ValueError: KaTeX refuses a formula, which the message shows, or node fails; the message says why.
    """
    asked = list(dict.fromkeys(wanted))
    if not asked:
        return {}
    command = ["node", str(ROOT / "tools" / "set_formulas.cjs"), str(katex)]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True)
    if done.returncode:
        said = re.search(r"^\w*Error: .*", done.stderr, re.MULTILINE)
        raise ValueError(f"node cannot set formulas: {said[0] if said else f'it ended with status {done.returncode}'}")
    made = dict(zip(asked, json.loads(done.stdout), strict=True))
    for (tex, _), answer in made.items():
        if "error" in answer:
            raise ValueError(f"the formula {tex!r} cannot be set: {answer['error']}")
    return {formula: answer["html"] for formula, answer in made.items()}
