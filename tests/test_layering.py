"""Who may import whom, read from the syntax tree, and what may stand in which file."""

from __future__ import annotations

import ast
import functools
import graphlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder import bank, closure
from tools import bundle
from tools.common import ROOT

ROOMS = ("rankzero", "solutions", "labs", "experiments", "demos", "autograder")

#: room -> what of ours it may import (a name ending in a dot stands for everything below it).
ARROWS = {
    "rankzero": ("rankzero",),
    "solutions": ("solutions", "rankzero"),
    "labs": ("labs", "rankzero"),
    "experiments": ("experiments", "solutions", "rankzero"),
    "demos": ("demos", "experiments", "solutions", "rankzero", "labs"),
    "autograder.bank": (
        "autograder.bank",
        "autograder.items",
        "autograder.sections",
        "solutions",
        "rankzero.facts",
        "rankzero.events",
    ),
    "autograder.probes": ("rankzero", "solutions"),  # what they import is sent along to the child
    "autograder": (
        "autograder",
        "rankzero.checks",
        "rankzero.facts",
        "rankzero.world",
        "rankzero.events",
        "rankzero.installed",
    ),
}

#: package of rankzero, or module that all of them may use -> the others that it may import, each from further up.
RUNTIME = {
    "checks": (),
    "stored": (),
    "events": (),
    "room": (),
    "explore": ("checks", "room"),
    "facts": ("checks",),
    "grammar": ("checks",),
    "sim": ("checks", "events"),
    "charts": ("checks", "room", "sim"),
    "world": ("events",),
    "installed": ("world",),
    "tiny": ("checks", "facts"),
    "figures": ("charts", "checks", "events", "facts", "room", "sim"),
    "server": ("checks", "grammar", "tiny"),
}

#: package of the grader -> what of the grader it may import beside itself and the few modules that stand in no package.
INSIDE = {
    "items": (),
    "bank": ("items",),
    "child": (),
    "probes": (),
    "sandbox": (),
    "submission": ("items", "bank"),
    "marking": ("items", "child"),
    "running": ("items", "child", "marking", "sandbox", "submission"),
    "learner": ("items", "bank", "marking", "submission"),  # what can be read of an answer
    "classroom": ("items", "bank", "marking", "sandbox", "submission", "running"),
    "gradescope": ("items", "bank", "marking", "sandbox", "submission", "running"),
    "page": ("items", "bank", "child", "marking", "learner", "submission", "running"),
    "maintenance": ("items", "bank", "marking", "sandbox", "submission", "running"),
}
#: Most modules in one folder: more is a list, and no room. A chapter's bank has one for each exercise and section.
MOST, MOST_OF_BANK = 40, 60

#: Modules of solutions that touch tensors say so at their top; every other one runs in a browser.
TENSORS = {"torch"}
#: What the live runs of a page (modules called ``*_runs``) may use beside tensors: the client and the world that people
#: really use.
CLIENTS = {"openai", "gymnasium"}

BANK = [module for name in bank.CHAPTERS for module in bank.modules(name)]


def modules(room: str) -> Iterator[tuple[str, Path]]:
    """The modules of a room, with their files; the bank and the probes are rooms of their own."""
    for file in sorted((ROOT / room.replace(".", "/")).rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if room == "autograder" and name.startswith(("autograder.bank", "autograder.probes")):
            continue
        yield name, file


def named(tree: ast.AST) -> Iterator[str]:
    """Modules that are imported by name, as a string: ``lazily("...")`` and ``import_module("...")``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in {"lazily", "import_module"} and isinstance(node.args[0].value, str):
                yield node.args[0].value


@functools.cache
def imports(name: str, file: Path) -> set[str]:
    """Every module that a file imports, at its top, inside a function or by name."""
    source = file.read_text(encoding="utf-8")
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    by_name = named(ast.parse(source)) if re.search(r"\b(lazily|import_module)\(", source) else ()
    return {*closure.imported(source, package), *by_name}


def allowed(imported: str, arrows: tuple[str, ...]) -> bool:
    """Whether one of the arrows leads there; a package on the way to an allowed module counts as the way."""
    return any(imported == arrow or imported.startswith(f"{arrow}.") for arrow in arrows)


@pytest.mark.parametrize("room", ARROWS)
def test_arrows(room):
    """An import that the architecture does not draw is a fault."""
    arrows = ARROWS[room]
    for name, file in modules(room):
        ours = {other for other in imports(name, file) if other.split(".")[0] in ROOMS}
        ways = {".".join(arrow.split(".")[: i + 1]) for arrow in arrows for i in range(arrow.count("."))}
        assert {other for other in ours if not allowed(other, arrows) and other not in ways} == set(), name


def test_the_table_of_the_runtime_is_whole_and_leads_downwards():
    parts = {name.split(".")[1] for name, _ in modules("rankzero") if "." in name}
    assert set(RUNTIME) == parts
    order = list(RUNTIME)
    for part, uses in RUNTIME.items():
        assert set(uses) <= set(order[: order.index(part)]), part


@pytest.mark.parametrize("part", RUNTIME)
def test_arrows_between_packages_of_the_runtime(part):
    for name, file in modules("rankzero"):
        if name.split(".")[1:2] == [part]:
            others = {other.split(".")[1] for other in imports(name, file) if other.startswith("rankzero.")} - {part}
            assert others <= {*RUNTIME[part]}, name


def test_no_modules_of_the_runtime_need_each_other():
    """Kills a circle that an import inside a function, or one for type checkers only, hides."""
    found = {name: imports(name, file) for name, file in modules("rankzero") if file.name != "__init__.py"}
    order = graphlib.TopologicalSorter({name: uses & found.keys() for name, uses in found.items()})
    assert set(order.static_order()) == found.keys()  # a circle is a CycleError


def chapter_of(name: str) -> int:
    """The number of the chapter in a module's name; 0 where there is none."""
    found = re.search(r"\.ch(\d\d)(\.|$)", name)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("room", ["solutions", "labs", "experiments", "autograder.bank", "demos"])
def test_a_chapter_uses_itself_and_earlier_ones(room):
    for name, file in modules(room):
        if chapter := chapter_of(name):
            assert [other for other in imports(name, file) if chapter_of(other) > chapter] == [], name


def inner(name: str) -> str:
    """The package of the grader that holds a module; empty where it stands in none."""
    parts = name.split(".")
    return parts[1] if parts[0] == "autograder" and len(parts) > 1 and (ROOT / "autograder" / parts[1]).is_dir() else ""


@pytest.mark.parametrize("package", INSIDE)
def test_arrows_inside_the_grader(package):
    for name, file in modules(f"autograder.{package}"):
        others = {inner(other) for other in imports(name, file)} - {"", package}
        assert others <= set(INSIDE[package]), name


def test_every_package_of_the_grader_has_its_arrows():
    """The commands stand above all others."""
    found = {path.parent.name for path in (ROOT / "autograder").glob("*/__init__.py")}
    assert found == {*INSIDE, "commands"}


def section(title: str) -> str:
    """The text under a heading of ``docs/architecture.md``."""
    _, *sections = re.split(
        r"^## ", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return next(text for text in sections if text.startswith(f"{title}\n"))


def test_the_map_names_every_package_of_the_grader():
    assert set(re.findall(r"^\| `(\w+)` \|", section("The grader's packages"), re.MULTILINE)) == {*INSIDE, "commands"}


def test_the_map_draws_no_arrow_that_is_not_there():
    for uppers, lowers in re.findall(r"^(.+) -> (.+)$", section("The grader's packages"), re.MULTILINE):
        for upper in uppers.split(", "):
            assert set(lowers.split(", ")) <= set(INSIDE.get(upper, INSIDE)), upper


def test_the_map_leads_to_files_that_exist():
    """A path with a placeholder (``chNN``, ``<function>``, ``*``) stands for many files."""
    paths = re.findall(r"`([\w/.-]+(?:\.\w+|/))`", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    plain = {path for path in paths if "/" in path and "NN" not in path and "MM" not in path}
    assert plain
    assert [path for path in plain if not any((room / path).exists() for room in (ROOT, ROOT / "autograder"))] == []


@pytest.mark.parametrize("room", [*ROOMS, "tests", "tools"])
def test_no_folder_is_a_list(room):
    folders = {path.parent for path in (ROOT / room).rglob("*.py")} - {ROOT / "tests" / "autograder" / "hostile"}
    most = {folder: MOST_OF_BANK if folder.parent.name == "bank" else MOST for folder in folders}
    assert [folder.name for folder in folders if len(list(folder.glob("*.py"))) > most[folder]] == []


def circle(graph: dict[str, set[str]]) -> list[str]:
    """One circle in a graph of imports, as a path; empty where there is none."""
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return []
        found = next((one for other in sorted(graph.get(name, ())) if (one := walk(other, [*path, name]))), [])
        done.add(name)
        return found

    return next((found for name in sorted(graph) if (found := walk(name, []))), [])


@pytest.mark.parametrize("room", ["autograder", "solutions", "experiments"])
def test_nothing_imports_in_a_circle(room):
    """Not inside functions either, and not for types alone: a package's own face is left out."""
    found = {name: file for name, file in modules(room) if file.name != "__init__.py"}
    graph = {
        name: {other for other in imports(name, file) if other in found and other != name}
        for name, file in found.items()
    }
    assert circle(graph) == []


@pytest.mark.parametrize("room", ["solutions", "labs", "experiments"])
def test_relative_imports(room):
    """Modules of one room import each other relatively, so that the generated labs import labs."""
    for _, file in modules(room):
        absolute = [
            node.module
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == room
        ]
        assert absolute == [], file.name


def third_parties(name: str, file: Path) -> set[str]:
    """What a module imports that is neither ours nor the standard library's."""
    tops = {other.split(".")[0] for other in imports(name, file)}
    return {top for top in tops if top and top not in sys.stdlib_module_names and top not in ROOMS}


def test_solutions_are_plain_or_tensors():
    """A module of solutions imports the standard library alone, or says ``import torch`` at its top."""
    for name, file in modules("solutions"):
        others = third_parties(name, file)
        assert others <= TENSORS | (CLIENTS if name.endswith("_runs") else set()), name
        if others:
            tops = [
                alias.name
                for node in ast.parse(file.read_text()).body
                if isinstance(node, ast.Import)
                for alias in node.names
            ]
            assert "torch" in tops, f"{name} uses torch and does not import it at its top"


def test_explorers_fit_the_browser():
    """What explorers import, and what that imports, is ours and the standard library's."""
    assert "experiments/ch03/explorers.py" in bundle.collect(bundle.explorers())


def loaded(statement: str) -> set[str]:
    """Top-level modules in memory after ``statement`` in a fresh interpreter."""
    code = f"import sys\n{statement}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


LIGHT = [
    *BANK,
    "autograder",
    "autograder.bank",
    "autograder.__main__",
    "rankzero.world",
    "rankzero.charts",
    "rankzero.checks",
    "rankzero.events",
    "rankzero.explore",
    "rankzero.facts.units",
    "rankzero.facts.hardware",
    "rankzero.facts.models",
]


def test_light_to_import():
    """These start in a blink: no torch, NumPy or Matplotlib comes with them, nor where every item is listed."""
    statement = f"import {', '.join(LIGHT)}; autograder.bank.items()"
    assert loaded(statement) & {"torch", "numpy", "matplotlib", "IPython"} == set()


def test_templates_wait_for_a_page():
    """Kills: Jinja imported by every command about a class, or inside Gradescope's container, which has none."""
    modules = "autograder.classroom.classes, autograder.classroom.storage"
    assert loaded(f"import {modules}") & {"jinja2", "markupsafe", "torch"} == set()


def test_gradescopes_container_needs_the_standard_library_alone():
    """Kills an import of the grader that the container cannot serve, so that no submission is graded in it."""
    beside = loaded("import autograder.gradescope.inside") - loaded("pass") - sys.stdlib_module_names
    assert beside == {"autograder", "rankzero"}


# One fact, one place.


def tracked() -> list[Path]:
    """The text files of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    files = [ROOT / line for line in listed.stdout.splitlines()]
    return [file for file in files if file.is_file() and file.suffix not in {".png", ".zip"}]


def lines_with(pattern: str, *but: str) -> list[str]:
    """Where ``pattern`` stands in the tracked files, ``but`` excepted."""
    wanted = re.compile(pattern)
    return [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in tracked()
        if file.relative_to(ROOT).as_posix() not in but
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if wanted.search(line)
    ]


def test_versions_are_pinned_once():
    """Exact versions of Python packages stand in constraints.txt, of scripts in package.json; Colab's are its own."""
    assert lines_with(r"^\s*[\"']?[A-Za-z][\w.-]+(\[\w+\])?==\d", "constraints.txt", "tools/release/colab.txt") == []
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in pins if line and not line.startswith("#")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(need for extra in project["optional-dependencies"].values() for need in extra),
    ]
    unpinned = {"jupyterlab"}  # readers open notebooks in it; nothing is built or tested with it
    assert {re.split(r"[<>=\[;]", need)[0].lower() for need in wanted} <= pinned | unpinned


def test_nothing_of_the_machine():
    """No path of the machine where it was written, no address of a package registry but that of torch without CUDA."""
    assert lines_with(r"/" + r"(work|root|home)/(?!learner)[a-z]") == []
    assert lines_with(r"(registry\.npmjs|files\.python" + r"hosted|pypi\.(org|python)|deb\.debian)") == []
    workflows = [path.relative_to(ROOT).as_posix() for path in (ROOT / ".github/workflows").iterdir()]
    assert lines_with(r"download\.py" + "torch", "README.md", ".devcontainer/create.sh", "Dockerfile", *workflows) == []


def test_address_stands_once():
    """The address of the repository stands in _config.yml; pages carry generated copies, the citation a checked one."""
    from tools.install_cells import address

    found = lines_with(re.escape(address()))
    assert [
        line for line in found if not re.match(r"(_config\.yml|CITATION\.cff|book/(deeper/)?[\w-]+\.ipynb):", line)
    ] == []


def test_every_package_is_installed():
    """Kills: a package that works in a checkout and is missing after ``pip install``, as in Colab."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["packages"]["find"]["include"]
    folders = {path.parent for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)
    assert patterns == [f"{room}*" for room in ROOMS]
