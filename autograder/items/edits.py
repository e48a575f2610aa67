"""Programs stored as edits of another program: only what differs.

An edit is a text that occurs exactly once in the base program, and its replacement. The base is a reference together
with everything its module defines for it, so an edit may also change a helper.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import linecache
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from autograder import syntax

#: A text that occurs exactly once, and its replacement.
Edit = tuple[str, str]


class DoesNotApply(ValueError):
    """An edit whose text does not occur exactly once; the message names the program and the text."""


def edited(reference: Callable[..., Any], edits: Sequence[Edit]) -> Any:
    """``reference`` with all ``edits`` applied; each of them names text of the unedited program.

    Raises:
        DoesNotApply: a text does not occur, or occurs more than once, or two of them overlap.
    """
    return load(edited_source(reference, edits), reference)


def edited_source(reference: Callable[..., Any], edits: Sequence[Edit]) -> str:
    """The source of the module of ``reference`` with ``edits`` applied; the edited program keeps its name.

    Raises:
        DoesNotApply: as :func:`edited`.
    """
    return changed(inspect.getsource(sys.modules[reference.__module__]), reference.__name__, edits)


def changed(source: str, name: str, edits: Sequence[Edit]) -> str:
    """The source of a module after ``edits`` of the program ``name``.

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
    """The function or class of the same name as ``reference``, from an edited ``source`` of its module."""
    name = f"edited_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = types.ModuleType(name)
    module.__package__ = reference.__module__.rpartition(".")[0]
    sys.modules[name] = module  # a dataclass looks up its module while it is being created
    try:
        exec(compile(source, file, "exec"), module.__dict__)
    finally:
        del sys.modules[name]  # cloudpickle sends what it cannot import by value
    return getattr(module, reference.__name__)


@functools.lru_cache(maxsize=256)
def _spans(source: str, name: str) -> tuple[tuple[int, int], ...]:
    """Character ranges of the statements that define ``name`` and everything it uses, directly or indirectly.

    Cached: every wrong program of an exercise edits the same source.
    """
    starts = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
    nodes = syntax.needed(syntax.parse(source), [name])
    return tuple((starts[syntax.first_line(node) - 1], starts[node.end_lineno or node.lineno]) for node in nodes)


def _place(source: str, name: str, spans: Sequence[tuple[int, int]], old: str) -> int:
    places = []
    for start, end in spans:
        index = source.find(old, start, end)
        while index >= 0:
            places.append(index)
            index = source.find(old, index + 1, end)
    if len(places) != 1:
        times = f"{len(places)} times" if places else "not at all"
        raise DoesNotApply(f"{name}: {old!r} must occur exactly once in it, and occurs {times}")
    return places[0]
