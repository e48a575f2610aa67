"""What the built page shows of a notebook, as an extension of Sphinx: the notebook itself stays as it is.

A reader of the page cannot run a cell. Calls that only serve a notebook are left out (:func:`treatment`), imports and
drawing are folded, and the programs that a section is about are shown. A cell with the tag ``source`` prints the source
of a function of the course; in its place the page gets that source within the columns of a page, with a link to the
file. Where a section has several tasks, each gets a heading, so that the contents beside the page lead to it. After a
cell that can run in the page, with the reader's own functions (:mod:`tools.own_runs`) or on ranks
(:mod:`tools.world_runs`), there is a place for that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
import yaml

from tools import code_width, own_runs, prose_numbers, statements, veil, world_runs
from tools.common import ROOT
from tools.page_inputs import digest

#: Calls whose result is on the page, a card, an explorer or a stepper, and whose code says nothing more.
CARDS = frozenset({"predict", "design", "check", "scorecard", "explore", "stepper", "export_progress"})
#: Modules that draw.
PICTURES = frozenset({"figures", "plots"})
#: Statements that make a program of a cell, so that it does more than draw.
PROGRAM = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With, ast.Try, ast.Assert)
#: How many lines of a function are shown; the rest is folded below them, unless it is only a few.
SCREEN = 24
FEW = 6
#: A paragraph that sets a task: what to do, whether it is optional, the name, what follows.
_TASK = re.compile(r"^\*\*(Build|Debug)\*\*( \(optional\))? (`\w+`)(.*)$", re.MULTILINE)


def _calls(tree: ast.AST) -> Iterator[str]:
    """What is called: ``print``, ``world.run``."""
    return (ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call))


def _card(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    simple = isinstance(statement, ast.Expr | ast.Assign)
    return simple and isinstance(value, ast.Call) and ast.unparse(value.func) in CARDS


def _prepares(statement: ast.stmt) -> bool:
    called = ("world.prepare()", "torch.set_num_threads(")
    return isinstance(statement, ast.Import | ast.ImportFrom) or ast.unparse(statement).startswith(called)


def _draws(tree: ast.Module) -> bool:
    """Whether the cell ends in a picture and holds no program and no run."""
    last = tree.body[-1]
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        return False
    if ast.unparse(last.value.func).partition(".")[0] not in PICTURES:
        return False
    return not any(isinstance(node, PROGRAM) for node in ast.walk(tree)) and not {"print", "world.run"} & {
        *_calls(tree)
    }


def treatment(source: str) -> str:
    """What becomes of a code cell: the tag that Jupyter Book knows, or nothing where the code is shown.

    >>> treatment('predict("03-ring-ms")')
    'remove-input'
    >>> treatment("import torch")
    'hide-input'
    >>> treatment("for rank in range(4):\\n    print(rank)")
    ''
    """
    tree = statements.parse(source)
    if not tree.body:
        return ""
    if all(map(_card, tree.body)):
        return "remove-input"
    if all(map(_prepares, tree.body)):
        return "remove-input" if "world.prepare" in _calls(tree) else "hide-input"
    return "hide-input" if _draws(tree) else ""


def named(source: str, imports: dict[str, str]) -> str:
    """The full name of the function whose source a cell prints.

    Raises:
        ValueError: the cell does not read ``print(inspect.getsource(NAME))``, or nothing imports the name.
    """
    match = re.search(r"^print\(inspect\.getsource\(([\w.]+)\)\)$", source, re.MULTILINE)
    if match is None:
        raise ValueError(f"a cell with the tag source must read print(inspect.getsource(NAME)), got {source!r}")
    first, dot, rest = match[1].partition(".")
    if first not in imports:
        raise ValueError(f"a cell with the tag source must name what the page imports, got {match[1]!r}")
    return imports[first] + dot + rest


def located(name: str, root: Path = ROOT) -> tuple[Path, int, int]:
    """The file of a function or class, relative to ``root``, and its first and last line.

    Raises:
        ValueError: there is no such module, or it does not define the name.
    """
    module, _, function = name.rpartition(".")
    path = Path(*module.split(".")).with_suffix(".py")
    if not (root / path).is_file():
        raise ValueError(f"a cell with the tag source names {name}: there is no file {path}")
    for node in ast.parse((root / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == function:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return path, first, node.end_lineno or first
    raise ValueError(f"a cell with the tag source names {name}: {path} does not define it")


def listing(name: str, root: Path = ROOT) -> str:
    """Markdown: the source of a function, the first screen of it open, and a link to its lines in the repository."""
    path, first, last = located(name, root)
    lines = (root / path).read_text(encoding="utf-8").splitlines()[first - 1 : last]
    (code,) = code_width.fitted(["\n".join(lines)])
    lines = code.split("\n")
    end = min(SCREEN, len(lines))
    while "\n".join(lines[:end]).count('"""') % 2:  # a docstring is not cut
        end += 1
    end = end if len(lines) > end + FEW else len(lines)
    screen, rest = "\n".join(lines[:end]), lines[end:]
    repository = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["repository"]
    place = f"{repository['url']}/blob/{repository['branch']}/{path.as_posix()}#L{first}-L{last}"
    text = f"Source: [`{path.as_posix()}`]({place})\n\n```python\n{screen}\n```"
    if rest:
        folded = "\n".join(rest)
        text += f"\n\n<details><summary>{len(rest)} more lines</summary>\n\n```python\n{folded}\n```\n\n</details>"
    return text


def headed(text: str) -> str:
    """The text of a cell with a heading before the paragraph that sets its task.

    >>> headed("**Build** `relay`. A float has 64 bits.")
    '### Build `relay`\\n\\nA float has 64 bits.'
    >>> headed("**Build** `relay`, for any sizes.")
    '### Build `relay`\\n\\nBuild `relay`, for any sizes.'
    """

    def heading(match: re.Match[str]) -> str:
        verb, optional, name, rest = match.groups()
        text = rest.lstrip(".: ")
        whole = rest.startswith(".") or (rest.startswith(":") and verb == "Debug")  # a sentence by itself
        text = text[:1].upper() + text[1:] if whole or not text else f"{verb} {name}{rest}"
        return f"### {verb} {name}{optional or ''}\n\n{text}".rstrip()

    return _TASK.sub(heading, text, count=1)


def _section(cells: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Each cell with the number of its section: the cell that has the last heading of the second level."""
    section = 0
    for number, cell in enumerate(cells):
        if cell.cell_type == "markdown" and re.search(r"^## ", cell.source, re.MULTILINE):
            section = number
        yield section, cell


def long_sections(cells: Sequence[Any]) -> list[Any]:
    """The cells of text that set a task in a section with at least two of them."""
    tasks: dict[int, list[Any]] = {}
    for section, cell in _section(cells):
        if cell.cell_type == "markdown" and _TASK.search(cell.source):
            tasks.setdefault(section, []).append(cell)
    return [cell for found in tasks.values() if len(found) > 1 for cell in found]


def _places(cells: Sequence[Any]) -> dict[str, str]:
    """What stands below a cell that can run in the page, and below one that runs a world and cannot, by its id."""
    worlds, reasons = world_runs.sorted_out(cells)
    found = {name: own_runs.place(program) for name, program in own_runs.programs(cells).items()}
    found |= {name: world_runs.place(program) for name, program in worlds.items()}
    return found | {name: world_runs.note(name, reason) for name, reason in reasons.items()}


def shown(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook as the page shows it: text without the formulas of its numbers, tags on its code cells, listings
    behind those with the tag ``source``, places for runs in the page, and headings of tasks."""
    places = _places(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = prose_numbers.stripped(cell.source)
    for cell in long_sections(notebook.cells):
        cell.source = headed(cell.source)
    cells, uses = [], own_runs.uses(notebook.cells)
    imports = statements.imported(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for cell in notebook.cells:
        cells.append(cell)
        tags = cell.metadata.get("tags", [])
        for tag in {veil.AFTER, veil.TAKEAWAY} & {*tags}:
            cell.source = veil.wrapped(cell.source, tag)
        if cell.cell_type != "code":
            continue
        if cell.get("id") in uses:
            tags = cell.metadata["tags"] = [*tags, *(veil.USES + item for item in uses[cell["id"]])]
        if "install" in tags:
            cell.metadata["tags"] = [*tags, "remove-input"]
        elif "source" in tags:
            name = named(cell.source, imports)
            cells.append(nbformat.v4.new_markdown_cell(listing(name), id=f"{cell.get('id', 'cell')}-listing"))
            cell.metadata["tags"] = [*tags, "remove-cell"]
        elif "exercise" not in tags and (tag := treatment(cell.source)):
            cell.metadata["tags"] = [*(old for old in tags if old != tag), tag]
        if cell.get("id") in places:
            cells.append(nbformat.v4.new_markdown_cell(places[cell["id"]], id=f"{cell['id']}-own"))
    notebook.cells = cells
    return notebook


def _read(app: Any, docname: str, content: list[str]) -> None:
    if Path(app.env.doc2path(docname)).suffix == ".ipynb":
        content[0] = nbformat.writes(shown(nbformat.reads(content[0], as_version=4)))


def _labelled(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Remove the label of a fold that would hide its visible text from screen readers."""
    context["body"] = context.get("body", "").replace('<summary aria-label="Toggle hidden content">', "<summary>")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx. Pages are read again when this module changes, or one that finds what can run in the page."""
    parts = (own_runs.__file__, prose_numbers.__file__, statements.__file__, veil.__file__, world_runs.__file__)
    files = (__file__, *parts)
    app.add_config_value("page_cells", digest([Path(file).read_bytes() for file in files]), "env", [str])
    app.connect("source-read", _read)
    app.connect("html-page-context", _labelled)
    return {"parallel_read_safe": True, "version": "1"}
