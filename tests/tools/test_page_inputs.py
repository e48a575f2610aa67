"""Which change runs which notebook again: on a little course, and on a copy of this one."""

from __future__ import annotations

import ast
import functools
import json
import shutil
from pathlib import Path

import pytest

from autograder.closure import imported
from rankzero.facts.chapters import CHAPTERS
from tools import page_inputs
from tools.build_book import notebooks
from tools.common import ROOT
from tools.page_inputs import PACKAGES, Course

LITTLE = {
    "constraints.txt": "torch\n",
    "rankzero/units.py": "GB = 1\n",
    "rankzero/data/text.txt": "Alice\n",
    "solutions/ch01/ring.py": "import math\n",
    "solutions/ch02/cost.py": "def cost():\n    from solutions.ch01 import ring\n",
    "solutions/ch02/data/rows.json": "[]\n",
    "solutions/ch03/parts.py": "PLACES = ('ch04.late', 'Late')\n",
    "solutions/ch04/late.py": "",
    "solutions/ch05/any.py": "import importlib\nload = importlib.import_module\n",
    "experiments/ch02/runs.py": "",
    "autograder/bank/ch02/cost.py": 'Build("02 cost.cost")\n',
    "autograder/bank/ch12/cost.py": "",
}


def page(root: Path, name: str, *cells: str, tags: tuple[str, ...] = ()) -> Path:
    """A notebook with these code cells."""
    path = root / "book" / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    made = [{"cell_type": "code", "source": cell, "metadata": {"tags": list(tags)}} for cell in cells]
    text = {"cell_type": "markdown", "source": "# A page", "metadata": {}}
    path.write_text(json.dumps({"cells": [text, *made], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


@pytest.fixture
def little(tmp_path: Path) -> Path:
    """A course of five chapters."""
    for name, text in LITTLE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "cell", "chapters"),
    [
        ("01-a", "", "1"),
        ("02-a", "", "1 2"),
        ("03-a", "", "3 4"),
        ("05-a", "", "1 2 3 4 5 12"),
        ("04-a", "if ready:\n    %pip install x\nimport solutions.ch02.cost", "1 2 4"),
        ("reference", "print(1)", ""),
        ("04-a", "predict('02-cost')", "1 2 4"),
        ("04-a", "scorecard('02')", "1 2 4"),
        ("04-a", "print('12', '03')", "4"),
        ("04-a", "scorecard()", "1 2 3 4 5 12"),
        ("04-a", "scorecard(number)", "1 2 3 4 5 12"),
        ("04-a", "from rankzero.facts.chapters import CHAPTERS", "1 2 3 4 5 12"),
        ("04-a", "from autograder import bank", "1 2 3 4 5 12"),
        ("04-a", "from experiments.corrections import every", "1 2 3 4 5 12"),
        ("04-a", "import importlib\nimportlib.import_module(name)", "1 2 3 4 5 12"),
        ("04-a", "this is no Python", "1 2 3 4 5 12"),
        ("04-a", "from autograder import check, predict, scorecard\nfrom rankzero import units", "4"),
    ],
)
def test_what_a_page_reaches(little, name, cell, chapters):
    """By its number, imports at any depth, names in strings, ids, and everything where that cannot be read."""
    reached = Course.read(little).reached(page(little, name, cell))
    assert reached == {f"ch{int(number):02}" for number in chapters.split()}


def test_every_change_that_counts_is_seen(little):
    """Kills a fingerprint that is blind to a text, a name, data, a version, the code or the tags of a cell."""
    seen = {Course.read(little).fingerprint(page(little, "02-a", "cost = 1"))}

    def changes() -> None:
        before = len(seen)
        seen.add(Course.read(little).fingerprint(little / "book" / "02-a.ipynb"))
        assert len(seen) == before + 1

    for name in ("constraints.txt", "rankzero/units.py", "rankzero/data/text.txt", "solutions/ch01/ring.py"):
        (little / name).write_text("other")
        changes()
    for name in ("solutions/ch02/data/rows.json", "experiments/ch02/runs.py", "autograder/bank/ch02/cost.py"):
        (little / name).write_text("other")
        changes()
    (little / "rankzero" / "units.py").rename(little / "rankzero" / "sizes.py")
    changes()
    (little / "experiments" / "ch02" / "new.py").touch()
    changes()
    page(little, "02-a", "cost = 2")
    changes()
    page(little, "02-a", "cost = 2", tags=("raises-exception",))
    changes()
    (little / "autograder" / "bank" / "ch12" / "cost.py").write_text('Build("12 times.cost")')
    changes()  # check() looks for the name in the whole bank


def test_what_does_not_count_is_not_seen(little):
    """Text, compiled files, tests, and chapters that a page does not use."""
    path = page(little, "02-a", "cost = 1")
    before = Course.read(little).fingerprint(path)
    path.write_text(path.read_text().replace("# A page", "# A better page"))
    for name in ("rankzero/__pycache__/units.pyc", "tests/test_units.py", "solutions/ch12/rl.py", "labs/ch02/cost.py"):
        (little / name).parent.mkdir(parents=True, exist_ok=True)
        (little / name).write_text("x")
    (little / "autograder" / "bank" / "ch12" / "cost.py").write_text('Build("12 times.other")')
    assert Course.read(little).fingerprint(path) == before


def test_a_common_module_takes_its_chapters_to_every_page(little):
    (little / "rankzero" / "wide.py").write_text("def late():\n    from solutions.ch03 import parts\n")
    assert Course.read(little).reached(page(little, "01-a")) == {"ch01", "ch03", "ch04"}


def test_a_chapters_driver_takes_its_chapter_to_no_other_page(little):
    """Kills a rerun of every page for a chapter whose driver uses its own programs."""
    driver = little / "autograder" / "probes" / "ch03_parts.py"
    driver.parent.mkdir(parents=True)
    driver.write_text("from solutions.ch03 import parts\n")
    assert Course.read(little).reached(page(little, "01-a")) == {"ch01"}


def test_a_module_that_was_overlooked_is_named(little):
    """What a run has loaded is held against what was read. The bank is read by name; labs belong to no page."""
    path = page(little, "02-a")
    loaded = ["math", "solutions.ch01.ring", "solutions.ch03.parts", "autograder.bank.ch12.cost", "labs.ch02.cost"]
    assert Course.read(little).overlooked(path, loaded) == ["labs.ch02.cost", "solutions.ch03.parts"]


def fingerprints(root: Path) -> dict[str, str]:
    course = Course.read(root)
    return {path.stem: course.fingerprint(path) for path in notebooks()}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """This course, to be changed, and its fingerprints as it is."""
    root = tmp_path_factory.mktemp("copy")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    return root, fingerprints(root)


@pytest.mark.parametrize(
    ("file", "runs", "rests"),
    [
        ("solutions/ch07/layout.py", {"07-pipeline-expert", "15-capstone"}, {"01-first-program", "06-tensor-parallel"}),
        ("experiments/ch07/mesh_runs.py", {"07-pipeline-expert"}, {"06-tensor-parallel", "12-rl"}),
        ("autograder/bank/ch07/choose_layout.py", {"07-pipeline-expert"}, {"06-tensor-parallel", "12-rl"}),
        ("solutions/ch09/block_pool.py", {"08-server", "09-kv-cache", "11-decoding"}, {"07-pipeline-expert"}),
        ("solutions/ch13/data/beta_sweep.json", {"13-rlhf"}, {"12-rl", "15-capstone"}),
        ("experiments/ch12/data/cartpole_ablations.json", {"12-rl"}, {"11-decoding", "15-capstone"}),
        ("rankzero/events.py", {path.stem for path in notebooks()}, set()),
        ("autograder/learner/card_frame.py", {path.stem for path in notebooks()}, set()),
    ],
)
def test_a_change_runs_its_pages(copy, file, runs, rests):
    """In this very course: a chapter's page and those that use it, and no other."""
    root, before = copy
    text = (root / file).read_text(encoding="utf-8")
    (root / file).write_text(f"{text}\n", encoding="utf-8")
    after = fingerprints(root)
    (root / file).write_text(text, encoding="utf-8")
    changed = {name for name in before if before[name] != after[name]}
    assert runs <= changed
    assert not rests & changed


def module_file(name: str) -> Path | None:
    """Where a module of the course stands."""
    path = ROOT.joinpath(*name.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if name.partition(".")[0] in PACKAGES and file.is_file()), None)


@functools.cache
def imports_of(name: str) -> list[str] | None:
    """What a module of the course imports, at the top, in a function or by a name that stands in its source."""
    if not (file := module_file(name)):
        return None
    source = file.read_text(encoding="utf-8")
    named = [node.value for node in ast.walk(ast.parse(source)) if _names_a_module(node)]
    return [*imported(source, name if file.name == "__init__.py" else name.rpartition(".")[0]), *named]


def needed(path: Path) -> set[str]:
    """The modules that a notebook imports, directly or not: read from syntax trees, module by module."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    found: set[str] = set()
    todo = [*imported("\n".join("".join(cell["source"]).replace("%pip", "pass  #") for cell in cells), "")]
    while todo:
        name = todo.pop()
        if name not in found and (imports := imports_of(name)) is not None:
            found.add(name)
            todo += imports
    return found


@pytest.fixture(scope="module")
def course() -> Course:
    """The course as it is."""
    return Course.read()


def _names_a_module(node: ast.AST) -> bool:
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and value.startswith(("solutions.ch", "experiments.ch"))


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_no_import_is_overlooked(path, course):
    """The walk from module to module, which knows no chapters, finds nothing outside the chapters that count."""
    assert course.overlooked(path, needed(path)) == []


def test_the_folders_of_chapters_are_where_they_are_looked_for(course):
    """Every chapter has its three rooms."""
    rooms = course.rooms
    names = ("solutions", "experiments", "autograder.bank")
    assert rooms >= {f"{name}.{chapter.package}" for name in names for chapter in CHAPTERS}
    assert page_inputs.chapter_of(Path("autograder/probes/ch07.py")) == ""
