"""The milestone's example: what the page's table says is what an engine does."""

from __future__ import annotations

import inspect
import re

from experiments.ch11 import engine_steps
from rankzero.figures import engine_passes
from tests.autograder import another_server
from tools.common import BOOK


def table() -> list[list[tuple[str, str, str, str]]]:
    """The pieces of each pass, as the page prints them."""
    text = (BOOK / "11-decoding.ipynb").read_text(encoding="utf-8")
    rows = re.findall(r'"\| (\d) \| (.+?) \| .+? \|\\n"', text)
    return [re.findall(r"(\w), `(\w+)`, (\d), \[([\d, ]+)\]", row) for _, row in rows if "`, " in row]


def test_the_page_prints_what_the_engine_does():
    found = [
        [(name, tokens, str(start), ", ".join(map(str, table))) for name, tokens, start, table in one.pieces]
        for one in engine_steps.passes()
    ]
    assert table() == found


def test_another_engine_computes_the_same_tokens():
    """It may take other blocks."""
    program: dict = {}
    exec(inspect.getsource(another_server), program)
    found, mine = engine_steps.passes(program["EngineCore"]), engine_steps.passes()
    assert [[piece[:3] for piece in one.pieces] for one in found] == [[p[:3] for p in one.pieces] for one in mine]
    assert [one.said for one in found] == [one.said for one in mine]


def test_the_picture_tells_what_it_shows():
    picture = engine_passes.served([one.computed for one in engine_steps.passes()], engine_steps.PROMPTS)
    assert "pass 4: ks of c" in picture.alt
    letters = [text.get_text() for text in picture.axes[0].texts if len(text.get_text()) == 1]
    assert "".join(letters) == "stormsraeinsngstorksu"
