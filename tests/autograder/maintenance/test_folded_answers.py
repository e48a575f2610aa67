"""In the learner's copy a text that says how a question comes out is folded below it."""

from __future__ import annotations

import json

import nbformat
import pytest

from autograder.maintenance import releasing
from tools.common import ROOT, notebooks

HEAD = "<details><summary>After your answer and the run</summary>\n\n"


def released(tmp_path, *cells) -> list[str]:
    """The texts of the cells of a page, as they are released."""
    page = tmp_path / "01-page.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), page)
    return ["".join(cell["source"]) for cell in json.loads(releasing.cleared(page))["cells"]]


def text(source: str, *tags: str):
    return nbformat.v4.new_markdown_cell(source, metadata={"tags": list(tags)})


def test_what_comes_after_a_question_is_folded_and_nothing_else(tmp_path):
    """Kills: the answer open right below its question; code in a fold, which would not run."""
    code = nbformat.v4.new_code_cell("x = 1", metadata={"tags": ["after"]})
    said = released(tmp_path, text("Before."), text("It is 8.\n\n$$a = b$$\n", "after"), text("Next.", "other"), code)
    assert said == ["Before.", f"{HEAD}It is 8.\n\n$$a = b$$\n\n</details>", "Next.", "x = 1"]


@pytest.mark.parametrize("page", notebooks()[:2], ids=lambda page: page.stem)
def test_every_such_cell_of_a_page_is_folded(page):
    before = json.loads(page.read_text(encoding="utf-8"))["cells"]
    after = json.loads(releasing.cleared(page))["cells"]
    tagged = [cell["cell_type"] == "markdown" and "after" in cell["metadata"].get("tags", ()) for cell in before]
    assert [("".join(cell["source"])).startswith(HEAD) for cell in after] == tagged
    assert page.is_relative_to(ROOT)
    assert any(tagged) or "deeper" in page.stem
