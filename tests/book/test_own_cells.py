"""Cells that run in the page with the reader's functions: with the course's they print what the build printed."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.learner import own_run
from tools import own_runs
from tools.build_book import notebooks

pytestmark = pytest.mark.browser  # it opens no browser, but reads the built book, as those tests do


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_program_prints_what_its_cell_printed(html: Path, path):
    """Kills a program that lacks a statement of an earlier cell, has one too many, or has them in another order."""
    executed = html.with_name("executed") / "notebooks" / path.name
    printed = {
        cell["id"]: "".join(output.text for output in cell.outputs if output.output_type == "stream")
        for cell in nbformat.read(executed, as_version=4).cells
        if cell.cell_type == "code"
    }
    programs = own_runs.programs(nbformat.read(path, as_version=4).cells)
    assert programs
    for name, program in programs.items():
        lines: list[str] = []
        assert own_run.run(program.data(), {}, {}, lambda place: None, lines.append) == "", name
        assert lines == printed[name].rstrip("\n").split("\n"), name
