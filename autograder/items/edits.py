"""A program as an edit of another: what is different in it, and nothing else.

An edit names text that occurs exactly once in the base program and what stands there instead. The base is a reference
with all that its module defines for it, so an edit may be in a helper too.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import itertools
import linecache
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from autograder import syntax

#: What occurs once, and what stands there instead.
Edit = tuple[str, str]


class DoesNotApply(ValueError):
    """An edit whose text does not occur exactly once; the message names the program and the text."""


def edited(reference: Callable[..., Any], edits: Sequence[Edit]) -> Any:
    """``reference`` with ``edits``, all of which name text of the program as it is.

    Raises:
        DoesNotApply: a text occurs not at all or more than once, or two of them overlap.
    """
    return load(edited_source(reference, edits), reference)


def edited_source(reference: Callable[..., Any], edits: Sequence[Edit]) -> str:
    """The source of the module of ``reference`` with ``edits``: it defines the edited program under the same name.

    Raises:
        DoesNotApply: as :func:`edited`.
    """
    return changed(inspect.getsource(sys.modules[reference.__module__]), reference.__name__, edits)


def changed(source: str, name: str, edits: Sequence[Edit]) -> str:
    """The source of a module in which the program ``name`` is edited.

    Raises:
        DoesNotApply: as :func:`edited`.
    """
    spans = _spans(source, name)
    found = sorted((_place(source, name, spans, old), old, new) for old, new in edits)
    for (start, old, _), (after, other, _) in itertools.pairwise(found):
        if start + len(old) > after:
            raise DoesNotApply(f"{name}: the edits of {old!r} and {other!r} overlap")
    for start, old, new in reversed(found):
        source = source[:start] + new + source[start + len(old) :]
    return source


def load(source: str, reference: Callable[..., Any]) -> Any:
    """The function or class named as ``reference`` in ``source``, which stands in for the module of ``reference``."""
    name = f"edited_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = types.ModuleType(name)
    module.__package__ = reference.__module__.rpartition(".")[0]
    sys.modules[name] = module  # dataclasses look their module up while they are made
    try:
        exec(compile(source, file, "exec"), module.__dict__)
    finally:
        del sys.modules[name]  # so that it travels to other processes by value
    return getattr(module, reference.__name__)


def _spans(source: str, name: str) -> list[tuple[int, int]]:
    """Where the statements of a module stand that ``name`` leads to, as offsets of characters."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    statements = {one: node for node in syntax.parse(source).body for one in _defined(node)}
    found, waiting = {name}, [name]
    while waiting:
        used = {part.id for part in ast.walk(statements[waiting.pop()]) if isinstance(part, ast.Name)}
        waiting += [one for one in used - found if one in statements]
        found |= used & set(statements)
    nodes = {id(node): node for one, node in statements.items() if one in found}
    return sorted((starts[_first_line(node) - 1], starts[node.end_lineno or node.lineno]) for node in nodes.values())


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _place(source: str, name: str, spans: Sequence[tuple[int, int]], old: str) -> int:
    places = []
    for start, end in spans:
        place = source.find(old, start, end)
        while place >= 0:
            places.append(place)
            place = source.find(old, place + 1, end)
    if len(places) != 1:
        times = f"{len(places)} times" if places else "not at all"
        raise DoesNotApply(f"{name}: {old!r} must occur exactly once in it, and occurs {times}")
    return places[0]
