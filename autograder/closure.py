"""Which modules of the course a program needs, read from its source without importing anything."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder import syntax

#: The folder that holds the packages of the course, in a checkout as in an installation.
ROOT = Path(__file__).resolve().parents[1]
#: The packages that grading may need. Labs, demos, tools and tests are not among them.
PACKAGES = ("autograder", "rankzero", "solutions")


def modules(roots: Iterable[str]) -> dict[str, Path]:
    """The files, by dotted name, of ``roots`` and of every module of the course that they import, directly or not.

    Imports inside functions count too. A module whose name is only known at run time (a chapter, a reference) cannot be
    found this way: it has to be among the roots.

    Raises:
        ModuleNotFoundError: a root does not exist.
    """
    todo = list(roots)
    for name in todo:
        if _file(name) is None:
            raise ModuleNotFoundError(f"the course has no module {name}")
    found: dict[str, Path] = {}
    while todo:
        name = todo.pop()
        file = None if name in found else _file(name)
        if file:
            found[name] = file
            todo += [*parents(name), *_imports(name, file)]
    return dict(sorted(found.items()))


def _file(name: str) -> Path | None:
    """The file of a module or package of the course; None for any other module."""
    if name.partition(".")[0] not in PACKAGES:
        return None
    path = ROOT.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def parents(name: str) -> Iterator[str]:
    """The packages that are imported before ``name``."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts)))


@functools.cache
def _imports(name: str, file: Path) -> frozenset[str]:
    """The names that a module imports. In ``from package import name``, the name may be a module, so it is included."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    return frozenset(imported(file.read_text(encoding="utf-8"), package))


@functools.lru_cache(maxsize=4096)
def imported(source: str, package: str) -> tuple[str, ...]:
    """The absolute names that ``source``, a module of ``package``, imports when it is loaded or run."""
    return tuple(_imported(source, package))


def _imported(source: str, package: str) -> Iterator[str]:
    for node in ast.walk(syntax.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(package, node)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _base(package: str, node: ast.ImportFrom) -> str:
    """The absolute name of the module that ``from ... import`` imports from."""
    if not node.level:
        return node.module or ""
    outer = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*outer, *([node.module] if node.module else [])])
