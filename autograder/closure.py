"""Which modules of the course a program needs, read from its source without importing anything."""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterable, Iterator
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
        if file_of(name) is None:
            raise ModuleNotFoundError(f"the course has no module {name}")
    found = {name: file_of(name) for name in sorted(syntax.reached(todo, _loads))}
    return {name: file for name, file in found.items() if file}


def file_of(name: str, packages: Collection[str] = PACKAGES, root: Path | None = None) -> Path | None:
    """The file of a module or package of the course, in ``packages`` below ``root``; None for any other module."""
    if name.partition(".")[0] not in packages:
        return None
    path = (root or ROOT).joinpath(*name.split("."))
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)


def _loads(name: str) -> Iterable[str]:
    file = file_of(name)
    return loads(name, file) if file else ()


def loads(name: str, file: Path) -> tuple[str, ...]:
    """What is loaded with a module: its packages, and what it imports.

    In ``from package import name``, the name may be a module, so it is included.
    """
    return (*parents(name), *imported(file.read_text(encoding="utf-8"), package_of(name, file)))


def package_of(name: str, file: Path) -> str:
    """The package from which the relative imports of a module count; for a package, itself."""
    return name if file.name == "__init__.py" else name.rpartition(".")[0]


def parents(name: str) -> Iterator[str]:
    """The packages that are imported before ``name``."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts)))


@functools.lru_cache(maxsize=4096)
def imported(source: str, package: str) -> tuple[str, ...]:
    """The absolute names that ``source``, a module of ``package``, imports when it is loaded or run."""
    return tuple(_imported(source, package))


def _imported(source: str, package: str) -> Iterator[str]:
    for node in ast.walk(syntax.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            whole = base(package, node)
            yield whole
            yield from (f"{whole}.{alias.name}" for alias in node.names)


def base(package: str, node: ast.ImportFrom) -> str:
    """The absolute name of the module that ``from ... import`` imports from."""
    if not node.level:
        return node.module or ""
    outer = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*outer, *([node.module] if node.module else [])])
