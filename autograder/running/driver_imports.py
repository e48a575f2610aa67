"""What a driver imports of the course, as sources for its child: those definitions, what they need, and no others.

A child sees nothing of the course. A driver says what it needs of it as any module does, ``from solutions.ch07.layout
import layout_memory``. The grader reads that from its syntax tree and sends the sources along, and the child loads the
driver with them (:class:`autograder.child.code.Modules`). The reference that stands beside ``layout_memory`` in its
module stays here.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from autograder import closure, syntax
from autograder.marking import probing

#: The packages of the course from which a driver may import.
PACKAGES = ("rankzero", "solutions")

#: A module, and a name that is needed of it; an empty name stands for the whole module.
Wanted = tuple[str, str]


@functools.cache
def sources(driver: str) -> dict[str, str]:
    """By module of the course, the source of what a module of drivers needs of it, directly or not."""
    tree = syntax.parse((probing.HERE / f"{driver}.py").read_text(encoding="utf-8"))
    names: dict[str, set[str]] = {}
    for module, name in syntax.reached(_wanted(tree.body, ""), _leads):
        names.setdefault(module, set()).add(name)
    return {module: ast.unparse(ast.Module(_statements(module, names[module]), [])) for module in sorted(names)}


def _leads(wanted: Wanted) -> Iterator[Wanted]:
    module, name = wanted
    return _wanted(_statements(module, {name}), closure.package_of(module, _file(module)))


def _wanted(statements: Iterable[ast.stmt], package: str) -> Iterator[Wanted]:
    """What the imports among the statements of a module in ``package`` take of the course."""
    for node in statements:
        if isinstance(node, ast.Import):
            taken = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            taken = [_taken(closure.base(package, node), alias.name) for alias in node.names]
        else:
            continue
        yield from (one for one in taken if closure.file_of(one[0], PACKAGES))


def _taken(module: str, name: str) -> Wanted:
    """What ``from module import name`` takes: another module, or a name."""
    inner = f"{module}.{name}"
    return (inner, "") if closure.file_of(inner, PACKAGES) else (module, name)


def _statements(module: str, names: Collection[str]) -> list[ast.stmt]:
    """The statements of a module that define ``names`` and what they need, after the imports that these use."""
    tree = syntax.parse(_file(module).read_text(encoding="utf-8"))
    if "" in names:
        return tree.body
    own = syntax.needed(tree, syntax.definitions(tree).keys() & names)
    used = {"annotations", *names, *syntax.reads(own)}  # as in ``from __future__ import annotations``
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return [*(syntax.trimmed(node, used) for node in imports if syntax.bound(node) & used), *own]


def _file(module: str) -> Path:
    file = closure.file_of(module, PACKAGES)
    assert file is not None, module
    return file
