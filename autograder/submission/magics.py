"""IPython's lines in a cell: magics, shell commands, requests for help. What is left after them is Python.

In a script that nbconvert wrote they are calls of ``get_ipython()``, and count as what they stand for.

Such a line begins a *logical* line. A ``%`` or ``!`` inside brackets, after a backslash or in a string is Python's own.
Neither IPython nor :mod:`tokenize` is needed to find them: the second stops at the first magic.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autograder import syntax
from autograder.submission.units import Unreadable

#: A line for IPython, with the lines that backslashes join to it: its indentation, the names it assigns, the rest.
MAGIC = re.compile(
    r"(?P<indent>[ \t]*)(?:(?:(?P<names>\w[\w., ]*)=[ \t]*)?[%!](?:[^\n\\]|\\\n|\\)*"
    r"|\?[^\n]*|[\w.]+\?{1,2}[ \t]*(?=\n|\Z))"
)
#: The one magic whose line is a statement of the learner's namespace.
TIMED = re.compile(r"[ \t]*%time[ \t]+(?![-\s])")
#: A magic in a comment, as jupytext (after the indentation) and Colab (before it) write it into a script.
COMMENTED = re.compile(r"(?P<indent>[ \t]*)#[ \t]?(?P<more>[ \t]*)[%!][^%\s][^\n]*")
#: The first line of a cell that is for a magic.
CELL = re.compile(r"\s*%%[ \t]*(\S*)[^\n]*")
#: Magics of a cell whose text runs as Python in the learner's namespace, as it would without them.
PYTHON = {
    "time",
    "timeit",
    "capture",
    "prun",
    "debug",
    "memit",
    "mprun",
    "lprun",
    "pyinstrument",
    "snakeviz",
    "scalene",
}
#: What matters for finding the end of a logical line.
PIECE = re.compile(
    r"""\#[^\n]*
    | \"{3}(?:\\.|[^\\])*?(?:\"{3}|\\?\Z) | '{3}(?:\\.|[^\\])*?(?:'{3}|\\?\Z)
    | \"(?:\\.|[^\"\\\n])*\"? | '(?:\\.|[^'\\\n])*'?
    | \\\n | \n | [(\[{] | [)\]}] | [^#\"'\\\n()\[\]{}]+ | \\""",
    re.VERBOSE | re.DOTALL,
)


#: How nbconvert writes magics and shell commands into a script.
CALL = re.compile(r"\bget_ipython\(\)\s*\.\s*(?:run_line_magic|run_cell_magic|magic|system|getoutput)\(")


def restored(source: str) -> str:
    """The source with magics in place of the calls that nbconvert writes for them; ``%%time`` becomes its own cell.

    Raises:
        Unreadable: a cell in another language seems to define something.
    """
    if not CALL.search(source) or (tree := syntax.tree_of(source)) is None:
        return source
    lines = source.encode().split(b"\n")
    calls = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr | ast.Assign)]
    for call in sorted(calls, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        if (text := _called(call)) is None:
            continue
        first, last = call.lineno - 1, (call.end_lineno or call.lineno) - 1
        before, after = lines[first][: call.col_offset], lines[last][call.end_col_offset :]
        lines[first : last + 1] = [before + text.encode() + b"\n" * (last - first) + after]
    return b"\n".join(lines).decode()


def _called(call: ast.expr) -> str | None:
    """The magic for which a call stands; None for any other expression."""
    match call:
        case ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython"), [], []), name), args, []):
            given = [part.value for part in args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        case _:
            return None
    line = " ".join(given[:2]).replace("\n", " ") if len(given) == len(args) else ""
    if name == "run_cell_magic" and len(given) == 3:
        return without_cell_magics(f"%%{line}\n{given[2]}").strip("\n") or "pass"
    if name in ("run_line_magic", "magic") and given:
        return f"%{line.rstrip()}"
    return "!" if name in ("system", "getoutput") else None


def without_calls(source: str) -> str:
    """A module without the calls that nbconvert writes for magics: nobody answers them where it is imported."""
    try:
        return without_magics(found) if (found := restored(source)) != source else source
    except Unreadable:
        return source


def without_cell_magics(source: str) -> str:
    """A cell without the ``%%`` lines that leave it Python, such as ``%%time``; empty if it is in another language.

    Raises:
        Unreadable: it is in another language and seems to define something.
    """
    place = 0
    while match := CELL.match(source, place):
        if match[1] not in PYTHON:
            if re.search(r"^[ \t]*(async def|def|class) ", source[place:], re.MULTILINE):
                raise Unreadable(f"starts with %%{match[1][:20]} and is skipped, with the definitions in it")
            return ""
        place = match.end()
    return "\n" * source.count("\n", 0, place) + source[place:]


def without_magics(source: str) -> str:
    """The source with ``pass`` in place of IPython's lines; the number of lines does not change."""
    return "".join(text for text, _ in _pieces(source, MAGIC))


def without_comments(source: str) -> str:
    """The source with ``pass`` for magics that a tool commented out: one may have been the only line of a branch."""
    return "".join(text for text, _ in _pieces(source, COMMENTED))


def assigned(source: str) -> Iterator[tuple[int, str]]:
    """The names that a cell assigns from magics and shell commands, each with its line."""
    line = 1
    for text, found in _pieces(source, MAGIC):
        names = found["names"] if found else None
        yield from ((line, name) for name in re.findall(r"\w+", names or ""))
        line += text.count("\n")


def _pieces(source: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str] | None]]:
    """The text in pieces; a logical line that matches the pattern is replaced, and comes with its match."""
    place, depth, begins = 0, 0, True
    while place < len(source):
        if begins and (match := pattern.match(source, place)):
            yield _replaced(match), match
            place, begins = match.end(), False
            continue
        piece = PIECE.match(source, place)
        assert piece is not None
        text, place = piece[0], piece.end()
        depth = max(0, depth + (text in "([{") - (text in ")]}"))
        begins = text == "\n" and depth == 0
        yield text, None


def _replaced(match: re.Match[str]) -> str:
    groups = match.groupdict()
    timed = TIMED.match(match[0])
    if timed and "names" in groups:
        return groups["indent"] + match[0][timed.end() :]
    return groups["indent"] + groups.get("more", "") + "pass" + "\n" * match[0].count("\n")
