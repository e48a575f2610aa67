"""A reader's work from the page as ``labs`` in an archive, which ``python -m autograder grade`` takes as it is."""

from __future__ import annotations

import ast
import base64
import io
import zipfile
from collections.abc import Mapping, Sequence

from autograder import bank, syntax

#: Comes before a program that is not valid Python yet, which is kept as a comment.
BROKEN = "# This is not Python yet; the stub is below.\n"


def archive(work: Mapping[str, str], labs: Mapping[str, str]) -> str:
    """The files ``labs``, by path, with the programs of ``work`` in place of the stubs: a .zip archive, in base64."""
    files = dict(labs)
    for item in bank.builds():
        if item.id in work:
            path = f"labs/{item.file}"
            files[path] = filled(files[path], item.function, work[item.id])
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, text in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(path, (2000, 1, 1, 0, 0, 0)), text)
    return base64.b64encode(data.getvalue()).decode()


def filled(lab: str, function: str, source: str) -> str:
    """A lab with ``source`` in place of the stub of ``function``; what is not valid Python is put above it as a
    comment."""
    node = next(node for node in syntax.parse(lab).body if getattr(node, "name", None) == function)
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    lines = lab.splitlines()
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
    try:
        ast.parse(source)
        new: Sequence[str] = source.strip("\n").splitlines()
    except SyntaxError:
        comment = [f"# {line}".rstrip() for line in source.strip("\n").splitlines()]
        new = [BROKEN.strip(), *comment, "", "", *lines[first : node.end_lineno]]
    return "\n".join([*lines[:first], *new, *lines[node.end_lineno :]]) + "\n"
