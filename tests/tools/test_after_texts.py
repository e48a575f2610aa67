"""Which texts of a page wait for the answers, as the results that they speak of do: those with the tag ``after``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from tools import veil
from tools.common import ROOT

#: The pages whose texts have been read one by one.
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for chapter in ("01", "02", "03", "04", "05", "06", "07", "15")
    for path in (ROOT / "book").glob(f"**/{chapter}-*.ipynb")
)
TASK = re.compile(r"\*\*(Predict|Build|Debug|Estimate|Choose|Design|Explain|Trace|Find out)\b")
#: Texts below a veiled result that say nothing of it.
GENERAL = frozenset(
    (
        *(
            "amdahl",
            "plain-file",
            "protocol",
            "script-choice",
            "script-compression",
            "script-file",
            "where-async",
            "pick-close",
            "softmax-close",
            "links-close",
            "buckets-close",
        ),
        *("zero-formula", "muon", "blocks", "newer-layer", "halves-torch", "elastic-text"),
        *("checkpoint-close", "fsdp-names", "profile-close", "procedure", "writing-stall", "async-example"),
    )
)


def cells_of(page: str) -> list[Any]:
    return list(nbformat.read(ROOT / page, as_version=4).cells)


def tags(cell: Any) -> set[str]:
    return {*cell.metadata.get("tags", ())}


def runs(cell: Any) -> bool:
    """Whether a cell prints or draws something below a question."""
    return (
        not tags(cell) & {"exercise"}
        and "= check(" not in cell.source
        and bool(re.search(r"print|draw|\.", cell.source))
    )


def below_results(cells: list[Any]) -> Iterator[Any]:
    """The texts that stand below a result which a question veils, before the next card, and do not lead to a cell."""
    asked = seen = False
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        if cell.cell_type == "code":
            question = cell.source.startswith(("predict(", "design("))
            asked = asked or question
            seen = asked and not question and runs(cell)
        elif re.search(r"^## ", cell.source, re.MULTILINE):
            asked = seen = False
        elif seen and (following is None or following.cell_type == "markdown"):
            yield cell


@pytest.mark.parametrize("page", PAGES)
def test_a_text_about_a_veiled_result_waits_with_it(page):
    """Kills an explanation that stands open below the result that it explains."""
    left = [cell for cell in below_results(cells_of(page)) if not tags(cell) & {veil.AFTER, veil.TAKEAWAY}]
    left = [cell for cell in left if not TASK.search(cell.source) and "On the command line:" not in cell.source]
    assert [cell.id for cell in left if cell.id not in GENERAL] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_task_waits(page):
    """Kills a question or a build that is veiled with the explanation above it."""
    assert [cell.id for cell in cells_of(page) if veil.AFTER in tags(cell) and TASK.search(cell.source)] == []


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("01-first-program", ["backends", "subgroups-close", "money"]),
        ("02-point-to-point", ["relay-close"]),
        ("03-collectives", ["published-close"]),
        ("04-topology", ["use-times-close"]),
        ("15-capstone", ["layout-why"]),
    ],
)
def test_these_wait(page, names):
    """Kills the loss of a tag that the rule above does not ask for, as a cell of code follows."""
    waits = {cell.id for cell in cells_of(f"book/{page}.ipynb") if veil.AFTER in tags(cell)}
    assert {*names} <= waits


def test_no_comment_says_what_a_question_asks():
    (cell,) = (one for one in cells_of("book/01-first-program.ipynb") if one.id == "subgroups-members")
    assert "too late" not in cell.source
    assert "have to make it" not in cell.source
