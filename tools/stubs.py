"""Generate what a learner fills in: ``python -m tools.stubs [--check]``.

``labs/chNN/*.py`` and the cells of ``book/*.ipynb`` with the tag ``exercise`` are generated from
``solutions/chNN/*.py``, the only place where signatures and docstrings are written. An exercise keeps both, and the
checks of its arguments, and raises NotImplementedError; a debug exercise goes on with the wrong program of the bank.
Other public definitions are kept whole, and so are the private ones that they need. Writing overwrites what was filled
in. The list of exercises in ``labs/README.md`` is generated too.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder import bank, given, syntax
from autograder.items import Build, Debug
from rankzero.facts import chapters
from rankzero.facts.chapters import CHAPTERS
from tools import code_width
from tools.common import ROOT, fail, notebooks, say, write

FIRST_LINE = "# Generated from solutions/{file} by make stubs. Write the bodies; names and signatures stay.\n"

#: Where the list of exercises begins in ``labs/README.md``, and the head of a chapter's table.
LIST = "## What there is to write\n"
TABLE = "| section | exercise | file |\n| --- | --- | --- |\n"

#: Groups of imports, in their order.
FUTURE, STANDARD, OTHERS, RUNTIME, HERE = range(5)

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Piece:
    """A top-level statement of a module, as it appears in the labs."""

    text: str
    names: frozenset[str]  # what it defines or imports
    blank: int = 0  # blank lines before it
    is_import: bool = False
    item: str = ""  # id of the exercise, if it is one

    @property
    def private(self) -> bool:
        """Whether it is kept only if something else needs it. Imports of torch are always kept."""
        if self.is_import:
            return _group(self.text) in (STANDARD, RUNTIME, HERE)
        return all(name.startswith("_") for name in self.names)

    def raised(self, told: str) -> bool:
        """Whether it is an error of its own module that the text ``told`` names: to raise it, a learner needs it."""
        return any(re.search(rf"\b{name}\b", told) for name in re.findall(r"(?m)^class (\w+)\(\w*Error\):", self.text))

    def uses(self) -> set[str]:
        """The names of its module that it reads; its own arguments are none."""
        return syntax.reads(ast.parse(self.text).body)


def _head(node: Definition, lines: Sequence[str]) -> str:
    """Decorators, signature and docstring, as in the source."""
    if ast.get_docstring(node) is None:
        raise ValueError(f"{node.name} must have a docstring: it is what a learner reads")
    return "".join(lines[syntax.first_line(node) - 1 : node.body[0].end_lineno])


def _given(body: Sequence[ast.stmt], lines: Sequence[str]) -> str:
    """The checks at the head of a function, as in the source."""
    row = given.given(body)
    return "".join(lines[row[0].lineno - 1 : row[-1].end_lineno]) if row else ""


def _stub(node: Definition, lines: Sequence[str], identifier: str) -> str:
    """A function with its checks alone, or a class whose public methods have no more."""
    head = _head(node, lines)
    if isinstance(node, ast.FunctionDef):
        return head + _given(node.body, lines) + _unwritten(node, identifier)
    members = []
    for member in node.body[1:]:
        if not isinstance(member, ast.FunctionDef):
            members.append("".join(lines[member.lineno - 1 : member.end_lineno]))
        elif member.name == "__init__" and ast.get_docstring(member) is None:  # the class's docstring covers it
            head_line = "".join(lines[syntax.first_line(member) - 1 : member.body[0].lineno - 1])
            members.append(head_line + _given(member.body, lines) + _unwritten(member, identifier))
        elif not member.name.startswith("_") or member.name.endswith("__"):
            members.append(_stub(member, lines, identifier))
    return head + "".join("\n" + member for member in members)


def _unwritten(node: ast.FunctionDef, identifier: str) -> str:
    return f'{" " * node.body[0].col_offset}raise NotImplementedError("{identifier}: not written yet")\n'


def _wrong(node: Definition, lines: Sequence[str], item: Debug, known: Iterable[str]) -> str:
    """A function with its checks and the body of the bank's wrong program, without imports that the module has."""
    source = textwrap.dedent(inspect.getsource(item.wrong))  # type: ignore[arg-type]
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    body = source.splitlines(keepends=True)[statements[0].lineno - 1 : function.end_lineno]
    kept = "".join(line for line in body if line.strip() not in known).strip("\n")
    gap = "\n" if kept.lstrip().startswith(("class ", "def ")) else ""
    return _head(node, lines) + _given(node.body, lines) + gap + kept + "\n"


def pieces(source: str, items: Sequence[Build]) -> list[Piece]:
    """The statements of a module after its docstring, with ``items`` turned into stubs."""
    lines = source.splitlines(keepends=True)
    body = ast.parse(source).body
    exercises = {item.function: item for item in items}
    missing = set(exercises) - {name for node in body for name in syntax.bound(node)}
    if missing:
        raise ValueError(f"the module must define {', '.join(sorted(missing))}")
    imports = {ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)}
    result, end = [], body[0].end_lineno or 0
    for node in body[1:]:
        before = "".join(lines[end : syntax.first_line(node) - 1])
        comment = before.lstrip("\n")
        text = "".join(lines[syntax.first_line(node) - 1 : node.end_lineno])
        item = exercises.get(node.name) if isinstance(node, Definition) else None
        if isinstance(node, Definition) and isinstance(item, Debug):
            text = _wrong(node, lines, item, imports)
        elif isinstance(node, Definition) and item:
            text = _stub(node, lines, item.id)
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        blank = len(before) - len(comment)
        result.append(Piece(comment + text, syntax.bound(node), blank, is_import, item.id if item else ""))
        end = node.end_lineno or end
    return result


def _needed(start: Iterable[Piece], among: Sequence[Piece]) -> list[Piece]:
    """``start`` and every piece that it needs, directly or not, in the order of the module."""

    def used_by(piece: Piece) -> list[Piece]:
        uses = piece.uses()
        return [other for other in among if other.names & uses]

    needed = syntax.reached(start, used_by)
    return [_trimmed(piece, needed) for piece in among if piece in needed]


def _trimmed(piece: Piece, needed: Iterable[Piece]) -> Piece:
    """An import without the names that nothing uses."""
    if not piece.is_import or not piece.private:
        return piece
    node = ast.parse(piece.text).body[0]
    assert isinstance(node, ast.Import | ast.ImportFrom)
    used = set().union(*(other.uses() for other in needed if not other.is_import))
    kept = syntax.trimmed(node, used)
    return Piece(ast.unparse(kept) + "\n", syntax.bound(kept), is_import=True)


def _group(text: str) -> int:
    """The group of an import."""
    package = text.split()[1].partition(".")[0]
    if package in sys.stdlib_module_names:
        return FUTURE if package == "__future__" else STANDARD
    return {"rankzero": RUNTIME, "": HERE}.get(package, OTHERS)


def _joined(chosen: Sequence[Piece]) -> str:
    """Imports first, in the usual groups; then the rest, spaced as in the source."""
    groups: dict[int, str] = {}
    for piece in chosen:
        if piece.is_import:
            group = _group(piece.text)
            groups[group] = groups.get(group, "") + piece.text
    text = "\n".join(group for _, group in sorted(groups.items()))
    rest = [piece for piece in chosen if not piece.is_import]
    for index, piece in enumerate(rest):
        first = index == 0 and not piece.text.startswith(("def ", "class ", "@"))  # a constant right below the imports
        text += "\n" * (1 if first else max(piece.blank, 1)) * bool(text) + piece.text
    return text


def lab(file: str, source: str, items: Sequence[Build]) -> str:
    """The source of ``labs/file``."""
    lines = source.splitlines(keepends=True)
    docstring = "".join(lines[: ast.parse(source).body[0].end_lineno])
    among = pieces(source, items)
    public = [piece for piece in among if not piece.private]
    return f"{FIRST_LINE.format(file=file)}{docstring}\n{_joined(_needed(public, among))}"


def cell(source: str, item: Build, others: Sequence[Build] = ()) -> str:
    """The source of the notebook cell of ``item``: what it needs, and the stub.

    Other exercises of its module, ``others``, are left out: a class that goes on from one has it from an earlier cell.
    """
    known = {other.function for other in others if other.id != item.id}
    among = [
        piece
        for piece in pieces(source, [item])
        if "__future__" not in piece.text and not (known & piece.names and not piece.is_import)
    ]
    told = "".join(piece.text for piece in among if piece.item == item.id)
    wanted = [piece for piece in among if piece.item == item.id or (piece.is_import and not piece.private)]
    kept = [*wanted, *(piece for piece in among if piece.raised(told))]
    chosen = _needed(kept, among)
    if any(piece.is_import and _group(piece.text) == HERE for piece in chosen):
        raise ValueError(f"{item.function} must not need another topic module in its signature: its cell stands alone")
    return _joined(chosen).rstrip("\n")


def labs(root: Path = ROOT) -> dict[Path, str]:
    """Every file of ``labs`` and what it should be: each topic module with an exercise, and those they import."""
    by_file: dict[str, list[Build]] = {}
    for item in (*bank.builds(), *bank.on_request()):
        by_file.setdefault(item.file, []).append(item)
    wanted: dict[Path, str] = {}
    waiting = sorted(by_file)
    while waiting:
        file = waiting.pop()
        text = lab(file, (root / "solutions" / file).read_text(encoding="utf-8"), by_file.get(file, []))
        wanted[root / "labs" / file] = text
        waiting += [name for name in _neighbours(file, text) if root / "labs" / name not in wanted]
    return wanted


def _neighbours(file: str, source: str) -> set[str]:
    """The files of topic modules from which ``file`` imports."""
    chapter = file.partition("/")[0]
    relative = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom) and n.level]
    own = {f"{chapter}/{n.module}.py" for n in relative if n.level == 1 and n.module}
    return own | {f"{n.module.replace('.', '/')}.py" for n in relative if n.level == 2 and n.module}


def readme(text: str) -> str:
    """``labs/README.md`` with its list of exercises regenerated, chapter by chapter."""
    lists = ""
    for chapter in CHAPTERS:
        items = [item for item in (*bank.builds(), *bank.on_request()) if chapters.of_item(item.id) == chapter]
        lists += f"\n### {chapter.number}. {chapter.title}\n\n{TABLE}"
        lists += "".join(f"| {item.section} | {_task(item)} | `{item.file}` |\n" for item in items)
    return text.partition(LIST)[0] + LIST + lists


def _task(item: Build) -> str:
    does = "fix" if isinstance(item, Debug) else "write"
    return f"{does} `{item.function}`{' (optional)' if item.bonus else ''}"


def notebook(text: str, root: Path = ROOT) -> str:
    """The notebook ``text`` (JSON) with its exercise cells written, within the columns of a page."""
    page = nbformat.reads(text, as_version=4)
    places = [place for place in page.cells if "exercise" in place.metadata.get("tags", ())]
    sources = []
    for place in places:
        item = bank.find(place.metadata.get("rankzero", {}).get("id", ""))
        assert isinstance(item, Build), f"{item.id} is not something to write"
        others = [other for other in (*bank.builds(), *bank.on_request()) if other.file == item.file]
        sources.append(cell((root / "solutions" / item.file).read_text(encoding="utf-8"), item, others))
    for place, source in zip(places, code_width.fitted(sources), strict=True):
        place.source = source
    return nbformat.writes(page).rstrip("\n") + "\n"


def stale(root: Path = ROOT) -> Mapping[Path, str | None]:
    """The files that are out of date, with what they should contain (None: they should not exist)."""
    wanted: dict[Path, str | None] = dict(labs(root))
    wanted[root / "labs" / "README.md"] = readme((root / "labs" / "README.md").read_text(encoding="utf-8"))
    for path in notebooks(root):
        wanted[path] = notebook(path.read_text(encoding="utf-8"), root)
    for path in (root / "labs").rglob("*.py"):
        if path.name != "__init__.py":
            wanted.setdefault(path, None)
    return {p: text for p, text in wanted.items() if (p.read_text(encoding="utf-8") if p.exists() else None) != text}


def main(argv: list[str] | None = None) -> int:
    """Write what is stale, or with ``--check`` only report it (status 1)."""
    parser = argparse.ArgumentParser(prog="python -m tools.stubs", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if something is stale")
    arguments = parser.parse_args(argv)
    found = stale()
    if arguments.check:
        names = ", ".join(str(path.relative_to(ROOT)) for path in sorted(found))
        return fail(f"stale (make stubs): {names}") if found else 0
    for path, text in sorted(found.items()):
        if text is None:
            path.unlink()
        else:
            write(path, text)
        say(f"{'removed' if text is None else 'wrote'} {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
