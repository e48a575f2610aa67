"""What a page shows of a notebook: which code is left out, folded or open, sources of functions, headings of tasks."""

from __future__ import annotations

import inspect

import nbformat
import pytest

from tools.common import ROOT
from tools.execute import with_outputs, without_folders
from tools.page_cells import FEW, SCREEN, headed, listing, located, named, shown, treatment


def notebook(*cells: tuple[str, str] | tuple[str, str, list[str]]) -> nbformat.NotebookNode:
    """A notebook of ``(kind, source, tags)``."""
    made = []
    for number, (kind, source, *tags) in enumerate(cells):
        new = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        made.append(new(source, id=f"cell-{number}", metadata={"tags": tags[0] if tags else []}))
    return nbformat.v4.new_notebook(cells=made)


def tags(*cells) -> list[list[str]]:
    return [cell.metadata.get("tags", []) for cell in shown(notebook(*cells)).cells]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ('predict("03-ring-ms")', "remove-input"),
        ("relay = check(relay)", "remove-input"),
        ('scorecard("03")', "remove-input"),
        ('explore(\n    explorers.ring,\n    title="A ring",\n    ranks=Range(2, 8, 4),\n)', "remove-input"),
        ('stepper(\n    ring_steps.scene,\n    steps=6,\n    title="A ring",\n)', "remove-input"),
        ("from rankzero import world\n\n# A comment.\nworld.prepare()", "remove-input"),
        ("import torch\nfrom rankzero import figures", "hide-input"),
        ("import torch\n\ntorch.set_num_threads(1)  # small matrices", "hide-input"),
        ("plots.bars(shares, x='rank', y='bytes')", "hide-input"),
        ("alt = f'{most} bytes'\nfigures.matrix(rows, alt=alt)", "hide-input"),
        ("run = world.run(relay, 42, ranks=4)\nfigures.spacetime(run.events)", ""),
        ("for rank in range(4):\n    print(rank)\nplots.bars(shares)", ""),
        ("print(shares)\nplots.bars(shares)", ""),
        ("def step(rank):\n    return rank + 1\n\n\nplots.bars(step(1))", ""),
        ("relay = check(relay)\nprint(relay(42))", ""),
        ("x = 1", ""),
        ("# only a comment", ""),
        ("%pip list", ""),
    ],
)
def test_what_becomes_of_a_cell(source, wanted):
    """Kills: a program that is folded away, a run that hides behind its picture, a call that stands open."""
    assert treatment(source) == wanted


def test_tags_are_added_and_none_is_lost():
    """An exercise stays open whatever its stub holds; the install cell and a cell's own tags stay."""
    assert tags(("code", 'predict("a-b")', ["predict"])) == [["predict", "remove-input"]]
    assert tags(("code", "import torch", ["exercise"])) == [["exercise"]]
    assert tags(("code", "%pip list", ["install", "hide-input"])) == [["install", "hide-input", "remove-input"]]
    assert tags(("markdown", 'predict("a-b")')) == [[]]


def test_a_source_is_taken_from_its_file():
    """The listing is the function as it stands in its file, within 88 columns, with a link to its lines."""
    text = listing("tools.page_cells.treatment")
    path, first, last = located("tools.page_cells.treatment")
    lines = inspect.getsource(treatment).splitlines()
    assert f"/{path.as_posix()}#L{first}-L{last})" in text
    assert last - first + 1 == len(lines)
    assert lines[0] in text
    assert lines[-1] in text
    assert "<details>" not in text
    assert max(map(len, text.split("```")[1].splitlines())) <= 88


def test_a_long_source_is_folded_after_the_first_screen(tmp_path):
    """Kills a page of code that nobody asked for, and a fold that hides a few lines only."""
    (tmp_path / "_config.yml").write_text("repository: {url: 'https://example.org/course', branch: main}")
    for count, folded in ((SCREEN + FEW - 1, False), (SCREEN + FEW, True)):
        body = "".join(f"    x{n} = {n}\n" for n in range(count))
        (tmp_path / "long.py").write_text(f"def f():\n{body}")
        text = listing("long.f", tmp_path)
        assert ("<details>" in text) == folded
        assert all(f"x{n} = {n}\n" in text for n in range(count))
        if folded:
            head, rest = text.split("<details>")
            assert head.count("\n    x") == SCREEN - 1
            assert f"<summary>{count + 1 - SCREEN} more lines</summary>" in rest


def test_a_docstring_is_not_cut(tmp_path):
    """Kills a fold in the middle of a docstring: neither part would be Python."""
    (tmp_path / "_config.yml").write_text("repository: {url: 'https://example.org/course', branch: main}")
    words = "".join(f"    line {n}\n" for n in range(SCREEN))
    body = "".join(f"    x{n} = {n}\n" for n in range(FEW + 1))
    (tmp_path / "told.py").write_text(f'def f():\n    """What it does.\n\n{words}    """\n{body}')
    head, rest = listing("told.f", tmp_path).split("<details>")
    assert head.count('"""') == 2
    assert all(f"x{n} = {n}\n" in rest for n in range(FEW + 1))


def test_a_source_cell_becomes_its_listing():
    """The cell is there for a notebook; the page has the listing in its place, and every other cell."""
    page = notebook(
        ("code", "from tools import page_cells"),
        ("code", "import inspect\n\nprint(inspect.getsource(page_cells.treatment))", ["source"]),
        ("markdown", "After."),
    )
    cells = shown(page).cells
    assert [cell.cell_type for cell in cells] == ["code", "code", "markdown", "markdown"]
    assert cells[1].metadata.tags == ["source", "remove-cell"]
    assert cells[2].source == listing("tools.page_cells.treatment")
    assert len({cell["id"] for cell in cells}) == 4


def test_text_that_waits_shows_where_it_ends():
    """Kills a veil over the text that follows, and a fold of Markdown that is no longer read as Markdown."""
    cells = shown(notebook(("markdown", "It is **two**.", ["after"]), ("markdown", "Next."))).cells
    assert [cell.source for cell in cells] == ['<div class="rz-after">\n\nIt is **two**.\n\n</div>', "Next."]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("x = 1", r"must read print\(inspect.getsource\(NAME\)\), got 'x = 1'"),
        ("print(inspect.getsource(relay))", "must name what the page imports, got 'relay'"),
    ],
)
def test_a_source_cell_that_cannot_be_read_says_so(source, sentence):
    with pytest.raises(ValueError, match=sentence):
        named(source, {"page_cells": "tools.page_cells"})


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tools.nowhere.f", "there is no file tools/nowhere.py"),
        ("tools.page_cells.nothing", "tools/page_cells.py does not define it"),
    ],
)
def test_a_source_that_is_not_there_is_named(name, sentence):
    with pytest.raises(ValueError, match=f"names {name}: .*{sentence}"):
        located(name)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("**Build** `relay`. A float has 64 bits.", "### Build `relay`\n\nA float has 64 bits."),
        ("**Build** `relay`, for any\nsizes.", "### Build `relay`\n\nBuild `relay`, for any\nsizes."),
        ("**Build** `relay`, which adds.\n\nMore.", "### Build `relay`\n\nBuild `relay`, which adds.\n\nMore."),
        ("**Build** `relay` out of two calls.", "### Build `relay`\n\nBuild `relay` out of two calls."),
        ("**Build** (optional) `relay`: one model.", "### Build `relay` (optional)\n\nBuild `relay`: one model."),
        ("**Build** (optional) `relay`.", "### Build `relay` (optional)"),
        ("Why so?\n\n**Debug** `relay`: find it.", "Why so?\n\n### Debug `relay`\n\nFind it."),
        ("**Build** the gate.", "**Build** the gate."),
    ],
)
def test_a_task_gets_a_heading(text, wanted):
    """The heading says what the paragraph began with; no word of the rest is lost, and none is left as a fragment."""
    assert headed(text) == wanted


def test_only_a_long_section_gets_headings():
    """One task needs none: the section's own heading leads to it."""
    one, two = "**Build** `a`.", "**Build** `b`."
    page = notebook(("markdown", "## 1.1 S\n\n" + one), ("markdown", "## 1.2 T"), ("markdown", one), ("markdown", two))
    assert [cell.source for cell in shown(page).cells] == [
        "## 1.1 S\n\n**Build** `a`.",
        "## 1.2 T",
        "### Build `a`",
        "### Build `b`",
    ]


def test_outputs_follow_their_cells():
    """Kills a copy whose outputs move when only text has changed."""
    ran = notebook(("code", "print(1)"), ("code", "print(2)"))
    for number, cell in enumerate(ran.cells, 1):
        cell.outputs = [nbformat.v4.new_output("stream", text=f"{number}\n")]
    page = with_outputs(notebook(("markdown", "New."), ("code", "print(1)"), ("code", "print(2)")), ran)
    assert [cell.outputs[0].text for cell in page.cells[1:]] == ["1\n", "2\n"]


def test_tracebacks_name_no_folder_of_this_machine():
    """Kills a page that prints where the book was built."""
    page = notebook(("code", "fail()"))
    lines = [f"File {ROOT}/experiments/ch11/runs.py:80", "File ~/.tools/3.11/lib/python3.11/contextlib.py:81"]
    page.cells[0].outputs = [nbformat.v4.new_output("error", ename="E", evalue="", traceback=lines)]
    without_folders(page)
    assert page.cells[0].outputs[0].traceback == [
        "File experiments/ch11/runs.py:80",
        "File python3.11/contextlib.py:81",
    ]
