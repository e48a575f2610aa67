"""The notebooks as they stand in git: text that people can read, review and merge."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import nbformat
import pytest

from autograder import bank
from autograder.items import Build, Item
from autograder.sections import DEEPER
from rankzero.facts import chapters
from tools import takeaways
from tools.code_width import WIDTH
from tools.common import ROOT, notebooks
from tools.edit import to_notebook, to_text
from tools.install_cells import address, install_cell, renewed
from tools.page_cells import shown
from tools.prose_numbers import stripped
from tools.veil import AFTER

NOTEBOOKS = notebooks()
TAGS = {"install", "hide-input", "exercise", "predict", "source", AFTER}
TAGS |= {"nbval-ignore-output", "raises-exception", "gpu", "any-ranks", "library", "example", takeaways.TAG}
#: A heading, or the word that begins a question or a task: text with one of these has to stay in sight.
HIDDEN = re.compile(r"^#+ |^On the command line:|\*\*(Predict|Build|Debug|Design|Trace|Explain)\b", re.MULTILINE)
STATEMENTS = 12
MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
DIRECTIVE = re.compile(r"^\s*(```\{|:::|\(\S+\)=$)|\{(ref|numref|cite\w*|doc|eq|term)\}`", re.MULTILINE)
TAG = re.compile(r"</?([a-zA-Z]+)[^<>]*>")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)

pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)


def cells(path: Path, kind: str | None = None) -> list:
    return [cell for cell in nbformat.read(path, as_version=4).cells if kind in (None, cell.cell_type)]


def prose(path: Path) -> str:
    """The Markdown of a notebook without its code and without the formulas of its numbers."""
    return CODE.sub("", stripped("\n\n".join(cell.source for cell in cells(path, "markdown"))))


def own_items(path: Path) -> list[Item]:
    """The items whose sections are on a page."""
    (chapter,) = (one for one in chapters.CHAPTERS if path.stem in (one.page, f"{one.page}-deeper"))
    deeper = path.stem != chapter.page
    return [item for item in bank.of_chapter(chapter.package) if (item.section in DEEPER) == deeper]


def test_form(path):
    """Valid, in nbformat's own layout, with one newline at the end: a diff shows what was changed and nothing else."""
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert text == nbformat.writes(notebook).rstrip("\n") + "\n"
    assert notebook.metadata.kernelspec.name == "python3"


def test_no_outputs(path):
    """Nothing of a run stands in git."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    for cell in raw["cells"]:
        assert cell.get("execution_count") is None, cell["id"]
        assert cell.get("outputs", []) == [], cell["id"]
        assert set(cell["metadata"]) <= {"tags", "rankzero"}, cell["id"]
    assert set(raw["metadata"]) <= {"kernelspec", "language_info"}


def test_names_of_cells(path):
    """Words, not random digits, and each once."""
    names = [cell["id"] for cell in cells(path)]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name)] == []
    assert [name for name in names if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]+)*", name)] == []


def test_tags(path):
    """From the closed set, each with what belongs to it."""
    for cell in cells(path):
        tags = set(cell.metadata.get("tags", ()))
        assert tags <= TAGS, cell["id"]
        assert ("exercise" in tags) == ("rankzero" in cell.metadata), cell["id"]
        assert ("predict" in tags) == (cell.cell_type == "code" and cell.source.startswith(("predict(", "design("))), (
            cell["id"]
        )


def statements(source: str) -> int:
    """How many statements a cell has, those inside others included and imports left out."""
    nodes = ast.walk(ast.parse(MAGIC.sub(r"\1pass", source)))
    return sum(isinstance(node, ast.stmt) and not isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)


def test_cells_are_short(path):
    """A cell does one thing, in at most a dozen statements; stubs, which are generated, may be longer."""
    written = [cell for cell in cells(path, "code") if "exercise" not in cell.metadata.get("tags", ())]
    assert [cell["id"] for cell in written if statements(cell.source) > STATEMENTS] == []


def test_code_fits_the_column(path):
    """Kills a line that the page would cut off: code of every kind, stubs included, has at most 88 columns."""
    lines = [(cell["id"], line) for cell in cells(path, "code") for line in cell.source.splitlines()]
    assert [(name, line) for name, line in lines if len(line) > WIDTH] == []


@pytest.mark.proof(part="guides")
def test_a_source_can_be_shown(path):
    """A cell with the tag ``source`` names a function that the page imports and that stands in its file."""
    shown(nbformat.read(path, as_version=4))


def test_what_waits_can_wait(path):
    """Kills: text that waits for a question where none was asked, a question or a task that nobody sees, and a heading
    that opens inside the veil and closes outside."""
    asked = False
    for cell in cells(path):
        tags = cell.metadata.get("tags", ())
        asked = "predict" in tags or (asked and not re.search(r"^## ", cell.source, re.MULTILINE))
        if AFTER in tags:
            assert (cell.cell_type, asked) == ("markdown", True), cell["id"]
            assert not HIDDEN.search(cell.source), cell["id"]


def test_every_item_stands_in_its_section(path):
    """Kills a question that no page asks, and a section number in the bank that points elsewhere."""
    section, found = "", {}
    for cell in cells(path):
        headings = re.findall(r"^## (\d+\.\d+) ", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else []
        section = headings[-1] if headings else section
        asked = re.findall(r"^(?:predict|design)\(\"([\w-]+)\"\)$", cell.source) if cell.cell_type == "code" else []
        for identifier in [*asked, *([cell.metadata.rankzero.id] if "rankzero" in cell.metadata else [])]:
            assert identifier not in found, identifier
            found[identifier] = section
    assert found == {item.id: item.section for item in own_items(path)}


def test_what_lies_deeper_is_a_bonus(path):
    """Kills an item of a deeper page that a course's total counts, and a question of the path that it does not."""
    if path.parent.name == "deeper":
        assert [item.id for item in own_items(path) if not item.bonus] == []
    else:
        assert [item.id for item in own_items(path) if item.bonus and not isinstance(item, Build)] == []


def test_optional_exercises_say_so(path):
    """Kills: an exercise that is called optional and counts, and one that is not and does not."""
    text, wrong = "", []
    for cell in cells(path):
        text = cell.source if cell.cell_type == "markdown" else text
        if "rankzero" in cell.metadata and ("(optional)" in text) != bank.find(cell.metadata.rankzero.id).bonus:
            wrong.append(cell.metadata.rankzero.id)
    assert wrong == [], "the text above says (optional) and the exercise in the bank bonus=True, or neither does"


def test_reads_the_same_everywhere(path):
    """CommonMark, mathematics, folds, formulas of numbers: no directive, no other HTML, no picture from the network."""
    text = prose(path)
    assert DIRECTIVE.findall(text) == []
    assert {name.lower() for name in TAG.findall(text)} <= {"details", "summary", "br"}
    assert "<!--" not in text
    assert re.findall(r"!\[[^\]]*\]\(https?:", text) == []
    assert re.findall(r"\w!(?=\s|$)", text) == []


def test_opens_and_closes(path):
    """A title with what you will be able to do, what it needs and how long; a short summary; real systems; sources."""
    markdown = [cell.source for cell in cells(path, "markdown")]
    assert markdown[0].startswith("# ")
    assert "minutes" in markdown[0]
    headings = re.findall(r"^## (.+)$", "\n".join(markdown), re.MULTILINE)
    assert headings[-1] == "Sources"
    assert "Summary" in headings or path.parent.name == "deeper"


def test_links_stay(path):
    """A link into someone's code names a commit, so that it shows tomorrow what it shows today."""
    ours = address()
    links = re.findall(r"https://github\.com/[^\s)\"'>]+", prose(path))
    moving = [link for link in links if "/blob/" in link and not re.search(r"/blob/[0-9a-f]{40}/", link)]
    assert [link for link in moving if not link.startswith(ours)] == []
    for link in links:
        if link.startswith(f"{ours}/blob/"):
            assert (ROOT / link.split("/", 7)[-1].split("#")[0]).exists(), link


def test_first_code_cell_installs(path):
    """It is generated from the address in _config.yml, and there is one."""
    code = cells(path, "code")
    assert [i for i, cell in enumerate(code) if "install" in cell.metadata.get("tags", ())] == [0]
    assert code[0].source == install_cell(address(), path.stem)


def test_address_can_move(path):
    """Kills an address typed elsewhere: with another one in _config.yml no page keeps the old one."""
    moved = renewed(path.read_text(encoding="utf-8"), "https://example.org/someone/course", path.stem)
    assert address() not in moved
    assert renewed(moved, address(), path.stem) == path.read_text(encoding="utf-8")


def test_text_and_back(path):
    """Editing as text loses nothing: ids, tags, magics and blank lines come back byte for byte."""
    text = path.read_text(encoding="utf-8")
    assert to_notebook(to_text(text)) == text
