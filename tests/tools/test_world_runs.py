"""Which cells of a page can run on ranks there, what each takes with it, and why the others stay as they are built."""

from __future__ import annotations

import html
import json

import nbformat
import pytest

from autograder import bank
from autograder.learner import workbench
from tools import page_cells, world_runs
from tools.build_book import notebooks
from tools.common import ROOT
from tools.world_runs import LIBRARIES, MACHINE, OTHER, SIZE

TITLE = nbformat.v4.new_markdown_cell("# 3. Collective operations")
IMPORTS = """import time
import socket
import torch
import torch.distributed as dist
from rankzero import figures, world
from autograder import check
from experiments.ch02 import blocking_rings, ping_pong"""
SUM = """def total(x):
    dist.all_reduce(x)
    print(x)
    return x"""
RUN = "print(world.run(total, torch.ones(1), ranks=4).values)"
PAGES = [path for path in notebooks() if int(path.name[:2]) <= workbench.LAST_IN_RANKS]


def cell(source: str, *tags: str):
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})


def sorted_out(*sources: str, tags: tuple[str, ...] = (), title=TITLE):
    """The data of the last of the cells, or None, and why it stays as it is built, or None."""
    cells = [title, *map(cell, (IMPORTS, *sources[:-1])), cell(sources[-1], *tags)]
    found, reasons = world_runs.sorted_out(cells)
    name = cells[-1]["id"]
    return found[name].data() if name in found else None, reasons.get(name)


def test_a_cell_takes_what_its_ranks_need():
    """The function that the ranks run and what it reads, and nothing that an earlier run may seem to have changed."""
    data, reason = sorted_out(SUM, "try:\n    world.run(len, ranks=2)\nexcept world.WorldError:\n    x = 1", RUN)
    assert reason is None
    assert data is not None
    assert data["world"] is True
    assert data["code"] == RUN
    assert {*data["before"].splitlines()} == {
        "import torch",
        "import torch.distributed as dist",
        "from rankzero import world",
        *SUM.splitlines(),
    }


def test_each_earlier_statement_knows_its_line():
    """Kills a report that names a line of the program which the page put together."""
    data, _ = sorted_out(f"first = 1\n\n\n{SUM}", f"# A comment.\n{RUN}")
    assert data is not None
    assert data["lines"][-1] == 4
    assert data["code"].splitlines() == ["# A comment.", RUN]
    assert len(data["lines"]) == data["before"].count("import") + 1


def test_what_a_cell_draws_is_left_out_and_every_other_line_keeps_its_number():
    source = f"run = world.run(total, torch.ones(1), ranks=4)\nfigures.spacetime(\n    run\n)\nprint(run.text)\n{RUN}"
    data, _ = sorted_out(SUM, source)
    assert data is not None
    assert data["picture"] is True
    assert data["code"].splitlines() == [source.splitlines()[0], "", "", "", "print(run.text)", RUN]


def test_the_readers_functions_come_along():
    """Of an exercise of plain Python, and of one that runs as several ranks."""
    checked = "traffic = check(traffic)\nring_all_reduce = check(ring_all_reduce)"
    data, _ = sorted_out(checked, "print(world.run(ring_all_reduce, traffic, ranks=2).values)")
    assert data is not None
    assert data["items"] == {"traffic": "03-traffic", "ring_all_reduce": "03-ring-all-reduce"}
    assert data["functions"]["ring_all_reduce"] == "solutions.ch03.collectives"


@pytest.mark.parametrize(
    ("source", "tags", "ranks"),
    [
        (RUN, ("any-ranks",), 4),
        (RUN, (), None),
        (f"{RUN}\n{RUN}", ("any-ranks",), None),
        ("n = 3\nprint(world.run(total, torch.ones(1), ranks=n))", ("any-ranks",), None),
    ],
)
def test_the_number_of_ranks_may_vary_where_the_tag_says_so(source, tags, ranks):
    """And where it stands once in the cell, as a plain number."""
    data, _ = sorted_out(SUM, source, tags=tags)
    assert data is not None
    assert data["ranks"] == ranks


@pytest.mark.parametrize(
    ("source", "tags", "reason"),
    [
        (RUN, ("nbval-ignore-output",), MACHINE),
        (RUN, ("gpu",), MACHINE),
        (RUN, ("library",), LIBRARIES),
        (f"start = time.perf_counter()\n{RUN}", (), MACHINE),
        (f"{RUN}\nprint(ping_pong)", (), MACHINE),
        (f"{RUN}\nprint(socket)", (), MACHINE),
        ("print(world.run(total, torch.ones(1_000_000)))", (), SIZE),
        (f"{RUN}\nprint(nowhere)", (), OTHER),
        (f"all_reduce_tree = check(no_such_function)\n{RUN}\nprint(no_such_function)", (), OTHER),
        ("world.run(len, ranks=2)", (), OTHER),
        ("print(blocking_rings)", (), None),
        ("print(ping_pong.ping_pong())", ("nbval-ignore-output",), MACHINE),
        ("print(ping_pong.ping_pong())", (), MACHINE),
        ("print(len('no world'))", ("nbval-ignore-output",), None),
        (RUN, ("exercise",), None),
    ],
)
def test_what_stays_as_it_is_built(source, tags, reason):
    """Kills an offer to measure time, to start processes, or to send what never arrives; each says why, if it starts
    ranks or reads a clock at all.
    """
    assert sorted_out(SUM, source, tags=tags) == (None, reason)


def test_later_chapters_stay_as_they_are_built():
    """They need more of torch than the page has, and no line about it stands below each cell."""
    title = nbformat.v4.new_markdown_cell("# 5. Data parallelism")
    assert sorted_out(SUM, RUN, title=title) == (None, None)
    assert sorted_out(SUM, RUN, title=nbformat.v4.new_markdown_cell("# A page without a number")) == (None, None)


def test_a_page_has_a_place_or_a_line_after_the_cell():
    """Directly below the cell, with data that survives HTML; the cell stays as it is."""
    sources = [cell(IMPORTS), cell(SUM), cell(f"{RUN}\nprint('<b>', '$x$')"), cell(RUN, "nbval-ignore-output")]
    cells = page_cells.shown(nbformat.v4.new_notebook(cells=[TITLE, *sources])).cells
    assert [one.cell_type for one in cells] == ["markdown", "code", "code", "code", "markdown", "code", "markdown"]
    place, line = cells[4].source, cells[6].source
    assert "\n" not in place
    assert place.startswith('<div class="rz-ranks" hidden ')
    data = json.loads(html.unescape(place.partition('data-ranks="')[2].partition('"')[0]))
    assert (data["code"], data["id"]) == (cells[3].source, cells[3]["id"])
    assert line == (f'<p class="rz-stays" hidden data-cell="{cells[5]["id"]}">Runs in a notebook only: {MACHINE}</p>')


def test_modules_of_the_course_come_with_all_that_they_import():
    """Without what a page has in place of theirs: worlds, and torch."""
    checked = "ring_all_reduce = check(ring_all_reduce)"
    cells = [TITLE, *map(cell, (IMPORTS, SUM, checked, f"{RUN}\nprint(blocking_rings, ring_all_reduce)"))]
    found = world_runs.modules(cells)
    assert {"solutions.ch03.collectives", "experiments.ch02.ring_policies", "experiments.ch02"} <= found
    assert not [name for name in found if name.startswith(("rankzero.world", "torch"))]
    files = [ROOT.joinpath(*name.split(".")) for name in found]
    assert all(file.with_suffix(".py").is_file() or file.is_dir() for file in files)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_cell_that_runs_a_world_is_offered_or_says_why_not(path):
    """Kills a form of cell that the analysis overlooks; a cell is offered in one way alone."""
    cells = nbformat.read(path, as_version=4).cells
    found, reasons = world_runs.sorted_out(cells)
    runs = {one["id"] for one in cells if one.cell_type == "code" and "world.run(" in one.source}
    functions = {one["id"] for one in cells if one.cell_type == "code" and one.source.startswith("def all_times")}
    assert runs - functions <= found.keys() | reasons.keys()
    assert not found.keys() & reasons.keys()
    assert OTHER not in reasons.values()


def test_most_cells_of_the_first_chapters_are_offered():
    """Kills an analysis that a new form of cell makes blind: on every page of the path, and of most cells over all."""
    found = {path: world_runs.sorted_out(nbformat.read(path, as_version=4).cells) for path in PAGES}
    assert min(len(offered) for path, (offered, _) in found.items() if path.parent.name == "book") >= 1
    offered, staying = (sum(len(both[place]) for both in found.values()) for place in (0, 1))
    assert offered > staying


def test_functions_of_several_ranks_are_checked_on_ranks():
    """All of the first chapters that run as several ranks, and none of a later one."""
    items = [item for item in bank.builds() if workbench.in_ranks(item)]
    first = [item for item in bank.builds() if item.id[:2] in ("01", "02", "03", "04")]
    assert items == [item for item in first if item.grade == "world"]
    assert {item.id[:2] for item in items} == {"01", "02", "03", "04"}
    assert not [item for item in items if workbench.plain(item)]
