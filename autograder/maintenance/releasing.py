"""Releases a learner's copy of the course: the pages, the empty labs, and a README. Nothing else.

The first cell of each page installs the course, so the copy works on its own. It contains no reference, no bank, no
test and no key; the hidden inputs on which grades depend do not exist until a key is drawn.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder import bank, given, syntax
from autograder.items import Build, Debug
from rankzero import installed

#: The file that lists the files of a release with their hashes, so that a later release may replace them.
LIST = ".release.json"

README = """\
# {title}: the learner's copy

Pages to read and run, and functions to write. You need Python 3.11 or later; no GPU.

```
pip install {source} jupyterlab
jupyter lab
```

Run `pip` in a virtual environment. Then open a page and run its cells from the top. Write a function where its page
asks for it, or in the file of `labs/` that the page names; `check` tries it at once.

Before you hand in your notebook, your file or the folder `labs`, grade it the way your instructor will, with inputs you
have not seen:

```
python -m autograder grade labs
```

Pages:

{pages}
"""


#: A cell of text that opens on a click; Jupyter takes what stands between blank lines for Markdown.
FOLDED = """\
<details><summary>After your answer and the run</summary>

{text}

</details>"""


class NotReleased(Exception):
    """The release cannot be made; the message is a sentence, and nothing was written."""


def course() -> Path:
    """The checkout of the course to which this grader belongs.

    Raises:
        NotReleased: there is none, because the course is installed without its pages.
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / "book").is_dir() or not (root / "labs").is_dir():
        raise NotReleased("a release is made in a checkout of the course: there are no folders book and labs here")
    return root


def files(root: Path) -> dict[str, bytes]:
    """The files that a learner gets, by path; the same course always gives the same files.

    Raises:
        NotReleased: a lab or a page contains what the learner should write, or a part of the course is missing.
    """
    pages = sorted([*root.glob("book/*.ipynb"), *root.glob("book/deeper/*.ipynb")], key=lambda page: page.stem)
    found = {page.relative_to(root / "book").as_posix(): cleared(page) for page in pages}
    found |= {lab.relative_to(root).as_posix(): lab.read_bytes() for lab in sorted((root / "labs").rglob("*.py"))}
    for name, data in found.items():
        if written := sorted(_written(root, _sources(name, data))):
            raise NotReleased(f"{name} contains the body of {', '.join(written)}: run make stubs")
    found["labs/README.md"] = (root / "labs/README.md").read_bytes()
    found["README.md"] = _readme(root, found).encode()
    return dict(sorted(found.items()))


def release(root: Path, target: Path) -> list[str]:
    """Write the learner's copy to ``target``, completely or not at all; returns the paths of its files.

    Raises:
        NotReleased: ``target`` contains anything but an unchanged earlier release, or :func:`files` raises it.
        OSError: the folder cannot be written.
    """
    target = target.resolve()
    check_replaceable(target)
    content = files(root)
    listed = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
    content[LIST] = (json.dumps({"files": listed}, indent=1) + "\n").encode()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        for name, data in content.items():
            path = temporary / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        _swap(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return sorted(listed)


def check_replaceable(target: Path) -> None:
    """Check that a folder contains nothing but an unchanged earlier release.

    Raises:
        NotReleased: it contains something else; the message names the first such file.
    """
    if not target.exists():
        return
    if not target.is_dir():
        raise NotReleased(f"{target.name} is a file: name a folder that is new, empty, or an earlier release")
    there = {path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir()} - {LIST}
    listed = _listed(target)
    for name in sorted(there):
        if name not in listed:
            raise NotReleased(f"{target.name} contains {name}, which no release wrote: name another folder")
        if hashlib.sha256((target / name).read_bytes()).hexdigest() != listed[name]:
            raise NotReleased(f"{target.name}/{name} was changed since its release: name another folder")


def _listed(target: Path) -> Mapping[str, str]:
    try:
        listed = json.loads((target / LIST).read_bytes())["files"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return listed if isinstance(listed, dict) else {}


def _swap(new: Path, target: Path) -> None:
    """Replace ``target`` by ``new``; if that fails, the old folder is restored."""
    if not target.exists():
        os.replace(new, target)
        return
    old = new.with_name(f"{new.name}.old")
    os.replace(target, old)
    try:
        os.replace(new, target)
    except OSError:
        os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def cleared(page: Path) -> bytes:
    """A notebook without outputs and execution counts, formatted as Jupyter does.

    What says how a question comes out, the cells of text with the tag ``after``, is folded.
    """
    notebook = json.loads(page.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        elif "after" in cell["metadata"].get("tags", ()):
            text = "".join(cell["source"]).strip("\n")
            cell["source"] = FOLDED.format(text=text).splitlines(keepends=True)
    return (json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _readme(root: Path, found: Mapping[str, bytes]) -> str:
    settings = (root / "_config.yml").read_text(encoding="utf-8")
    title, address = (_setting(settings, name) for name in ("title", r"\s+url"))
    pages = [f"- [{_heading(data)}]({name})" for name, data in found.items() if name.endswith(".ipynb")]
    return README.format(title=title, source=installed.source(address), pages="\n".join(pages))


def _setting(settings: str, name: str) -> str:
    """A simple setting of the book, read without a YAML parser so that the standard library is enough."""
    line = re.search(rf"^{name}: (.+)$", settings, re.MULTILINE)
    if line is None:
        raise NotReleased(f"_config.yml has no {name.strip()}")
    return line[1].strip()


def _heading(page: bytes) -> str:
    first = "".join(json.loads(page)["cells"][0]["source"])
    return first.splitlines()[0].removeprefix("# ")


# Detecting code that the learner should write.


def _sources(name: str, data: bytes) -> list[str]:
    if name.endswith(".py"):
        return [data.decode()]
    cells = json.loads(data)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def _written(root: Path, sources: Sequence[str]) -> Iterator[str]:
    """The exercises' functions of which ``sources`` contain more than the stub."""
    items = {item.function: item for item in bank.builds()}
    for node in (node for source in sources for node in _definitions(source)):
        if node.name in items and _is_written(root, items[node.name], node):
            yield node.name


def _is_written(root: Path, item: Build, node: Any) -> bool:
    """Whether a definition gives the solution away; that of a debug item may be anything but the corrected program."""
    if isinstance(item, Debug):
        return _body(node) == _reference(root, item)
    return not all(map(_is_stub, _functions(node)))


def _functions(node: Any) -> list[Any]:
    return [part for part in ast.walk(node) if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]


def _is_stub(node: Any) -> bool:
    """Whether a function does nothing but check its arguments and raise."""
    rest = _statements(node)[len(given.given(node.body)) :]
    return len(rest) == 1 and isinstance(rest[0], ast.Raise)


def _reference(root: Path, item: Build) -> list[str]:
    source = (root / "solutions" / item.file).read_text(encoding="utf-8")
    return next(_body(node) for node in _definitions(source) if node.name == item.function)


def _definitions(source: str) -> list[Any]:
    """The top-level functions and classes of a source; none if a notebook's magic makes it invalid Python."""
    try:
        body = syntax.parse(source).body
    except SyntaxError:
        return []
    return [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]


def _body(node: Any) -> list[str]:
    """The statements of a definition, independent of its layout."""
    return [ast.dump(statement) for statement in _statements(node)]


def _statements(node: Any) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node) is not None else node.body
