"""Finds the files on which a notebook's outputs depend, from their text alone: nothing is imported.

A chapter consists of the folders with its name (``solutions/ch07/``, ``experiments/ch07/``,
``autograder/bank/ch07/``); all other files are common to every page. A notebook depends on the common files, on its own
chapter, and on every chapter that its code or a file of such a chapter names, in an import, a string or a comment. If
its code reaches chapters in a way that the text does not show, it depends on all of them.

>>> sorted(Course.read().reached(ROOT / "book" / "01-first-program.ipynb"))
['ch01']
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.closure import imported
from rankzero.facts.chapters import CHAPTERS
from tools.common import ROOT

PACKAGES = ("rankzero", "solutions", "experiments", "autograder")
#: Packages that no page may load, so that a change there reruns no notebook.
OUTSIDE = ("demos", "labs", "tests", "tools")
#: Other files that decide what a cell prints: pinned versions, the book's settings, and how notebooks are executed.
SETTINGS = (
    "constraints.txt",
    "_config.yml",
    *(f"tools/{name}.py" for name in ("common", "execute", "kernel_server", "kernels", "page_inputs")),
)
#: Common modules that pages of reference import and notebooks do not, so that notebooks do not depend on what these
#: import. One that imported them all the same would be told so (:meth:`Course.overlooked`).
SHEETS = ("experiments/calculators.py", "experiments/choices.py", "experiments/rules_of_thumb.py")
#: The names of the grader that a page may use without depending on all chapters.
PAGE_NAMES = frozenset(
    f"autograder.{name}" for name in ("", "check", "design", "export_progress", "predict", "scorecard")
)
#: Functions that take a chapter and, without one, go through all of them.
BY_CHAPTER = ("scorecard", "corrections")

_FOLDER = re.compile(r"ch\d\d")
_NAMED = re.compile(r"\bch(\d\d)(?!\d)")
#: Ways in which a module reaches chapters without naming them.
_UNNAMED = re.compile(r"\b(import_module|__import__|import CHAPTERS|import corrections|corrections import)\b")
_FUNCTION = re.compile(r"\b(?:Build|Debug)\(\s*\"\w+ \w+\.(\w+)\"")
_ID = re.compile(r"(\w+)-[a-z][a-z0-9-]*")
_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)


def chapter_of(path: Path) -> str:
    """The chapter that a file belongs to, ``"ch07"``; empty for a common file."""
    return next(filter(_FOLDER.fullmatch, path.parts), "")


def named(text: str) -> frozenset[str]:
    """The chapters that a text names."""
    return frozenset(f"ch{number}" for number in _NAMED.findall(text))


def digest(parts: Iterable[str | bytes]) -> str:
    """Twelve hexadecimal digits for a sequence of texts."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(b"%d:%b" % (len(data), data))
    return total.hexdigest()[:12]


def sources(root: Path) -> list[Path]:
    """All files of the packages, including data but not compiled Python; relative to ``root``."""
    found = (path for package in PACKAGES for path in (root / package).rglob("*") if path.is_file())
    return sorted(path.relative_to(root) for path in found if "__pycache__" not in path.parts)


@dataclass(frozen=True)
class Course:
    """The state of the packages.

    Attributes:
        common: the digest of what every page depends on.
        chapters: the digest of each chapter's files.
        names: the chapters that the files of each chapter name.
        loaded: the chapters that common modules import; every page depends on them.
        functions: for each chapter, the functions that its bank asks for.
        rooms: the packages of chapters, ``solutions.ch07`` and the like.
    """

    common: str
    chapters: dict[str, str]
    names: dict[str, frozenset[str]]
    loaded: frozenset[str]
    functions: dict[str, frozenset[str]]
    rooms: frozenset[str]

    @classmethod
    def read(cls, root: Path = ROOT) -> Course:
        """The current state of the course in ``root``."""
        texts: dict[str, dict[str, bytes]] = {"": {}}
        for path in sources(root):
            texts.setdefault(chapter_of(path), {})[path.as_posix()] = (root / path).read_bytes()
        common = texts.pop("") | {name: (root / name).read_bytes() for name in SETTINGS if (root / name).exists()}
        everything = frozenset(texts)
        rooms = frozenset(_room(Path(name)) for files in texts.values() for name in files)
        imports = (_imported_by(Path(name), text, rooms) for name, text in common.items() if name not in SHEETS)
        return cls(
            digest([sys.version, *_flat(common)]),
            {chapter: digest(_flat(files)) for chapter, files in texts.items()},
            {chapter: _named_by(files.values(), chapter, everything) for chapter, files in texts.items()},
            frozenset().union(*imports),
            {chapter: _functions(files) for chapter, files in texts.items()},
            rooms,
        )

    def reached(self, path: Path) -> frozenset[str]:
        """The chapters that a notebook depends on."""
        cells = _code_cells(json.loads(path.read_text(encoding="utf-8")))
        code = "\n".join(_MAGIC.sub(r"\1pass", "".join(cell["source"])) for cell in cells)
        todo = [*self.loaded, *_starts(path.name, code, frozenset(self.chapters))]
        found: set[str] = set()
        while todo:
            chapter = todo.pop()
            if chapter in self.chapters and chapter not in found:
                found.add(chapter)
                todo += self.names[chapter]
        return frozenset(found)

    def overlooked(self, path: Path, modules: Iterable[str]) -> list[str]:
        """The loaded ``modules`` that could change without changing the notebook's fingerprint.

        The banks of other chapters are not among them: ``check`` and ``scorecard`` import them all, but take only the
        names of their functions, which the fingerprint includes.
        """
        reached = self.reached(path)
        lost = {room for room in self.rooms if room[-4:] not in reached}
        found = {name: ".".join(name.split(".")[:2]) for name in modules}
        return sorted(name for name, room in found.items() if room in lost or room.partition(".")[0] in OUTSIDE)

    def fingerprint(self, path: Path) -> str:
        """Twelve hexadecimal digits that change whenever something that decides a notebook's outputs changes."""
        notebook = json.loads(path.read_text(encoding="utf-8"))
        reached = sorted(self.reached(path))
        code = [["".join(cell["source"]), cell["metadata"]] for cell in _code_cells(notebook)]
        kernel = notebook["metadata"].get("kernelspec")
        words = set(re.findall(r"\w+", "\n".join(source for source, _ in code)))
        elsewhere = sorted((chapter, name) for chapter, names in self.functions.items() for name in names & words)
        own = [(chapter, self.chapters[chapter]) for chapter in reached]
        return digest([self.common, json.dumps([own, elsewhere, code, kernel], sort_keys=True)])


def _room(path: Path) -> str:
    """The package of a chapter that contains a file."""
    return ".".join(path.parts[: path.parts.index(chapter_of(path)) + 1])


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _flat(files: dict[str, bytes]) -> Iterator[str | bytes]:
    for name in sorted(files):
        yield from (name, files[name])


def _imported_by(path: Path, text: bytes, rooms: frozenset[str]) -> frozenset[str]:
    """The chapters from which a common module imports; ``rooms`` are their packages.

    That in its own name does not count: a chapter's driver is loaded for its items alone, whose pages depend on it.
    """
    source = _decoded(text)
    if path.suffix != ".py" or not named(source):
        return frozenset()
    names = imported(source, ".".join(path.parent.parts))
    found = (room[-4:] for name in names for room in rooms if f"{name}.".startswith(f"{room}."))
    return frozenset(found) - named(path.stem)


def _named_by(texts: Iterable[bytes], chapter: str, everything: frozenset[str]) -> frozenset[str]:
    """The other chapters that a chapter's files name; all chapters if a file reaches others without naming any."""
    result = frozenset[str]()
    for text in map(_decoded, texts):
        others = named(text) - {chapter}
        result |= everything if _UNNAMED.search(text) and not others else others
    return result


def _functions(files: dict[str, bytes]) -> frozenset[str]:
    """The functions that a chapter's bank asks for: ``check`` looks for them in the whole bank."""
    bank = (_decoded(text) for file, text in files.items() if "/bank/" in file)
    return frozenset(name for text in bank for name in _FUNCTION.findall(text))


def _code_cells(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@functools.cache
def _starts(page: str, code: str, everything: frozenset[str]) -> frozenset[str]:
    """The chapters that a notebook names itself, by its number, in its code, or by the ids of items."""
    number = re.match(r"\d\d", page)
    own = frozenset([f"ch{number[0]}"]) if number else frozenset[str]()
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return everything
    if _reaches_all(code, tree):
        return everything
    return own | named(code) | _of_items(tree)


def _reaches_all(code: str, tree: ast.AST) -> bool:
    """Whether code uses something that may go through all chapters."""
    if "import_module" in code or "__import__" in code:
        return True
    for name in imported(code, ""):
        package = name.partition(".")[0]
        wide = name not in PAGE_NAMES | {"autograder"} if package == "autograder" else package in PACKAGES[1:]
        if (wide and not named(name) and name not in PACKAGES) or "chapters" in name.lower().split("."):
            return True
    return any(_called(node) in BY_CHAPTER and not _argument(node) for node in ast.walk(tree))


def _called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _argument(call: ast.AST) -> str:
    """The first argument of a call if it is a string, else ""."""
    value = getattr(call.args[0], "value", "") if isinstance(call, ast.Call) and call.args else ""
    return value if isinstance(value, str) else ""


def _of_items(tree: ast.AST) -> frozenset[str]:
    """The chapters of the ids that a tree contains as strings, and those whose prefix is passed to a function."""
    prefixes = {chapter.prefix: chapter.package for chapter in CHAPTERS}
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    ids = (match[1] for text in texts if (match := _ID.fullmatch(text)))
    asked = (_argument(node) for node in ast.walk(tree) if _called(node) in BY_CHAPTER)
    return frozenset(prefixes[prefix] for prefix in (*ids, *asked) if prefix in prefixes)
