"""``python -m demos``: the list of demos by chapter; ``python -m demos ring --ranks 4`` runs one."""

from __future__ import annotations

import ast
import difflib
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from demos import HERE, names
from rankzero.facts.chapters import CHAPTERS


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named demo and return its exit status, 2 if there is no such demo; without a name, print the list."""
    name, *arguments = (sys.argv[1:] if argv is None else argv) or [""]
    if name in ("", "-h", "--help"):
        print(listing())
        return 0
    modules = names()
    if name not in modules:
        near = difflib.get_close_matches(name, modules, n=3)
        meant = f"; did you mean {', '.join(near)}?" if near else ""
        print(f"demos: there is no demo {name!r}{meant} (python -m demos lists them)", file=sys.stderr)
        return 2
    sys.argv = [f"python -m demos {name}", *arguments]  # what the demo calls itself in its help
    return importlib.import_module(modules[name]).main(arguments)


def listing() -> str:
    """Every demo with the first line of its docstring, chapter by chapter."""
    modules = names()
    width = max(map(len, modules))
    lines = []
    for chapter in CHAPTERS:
        lines.append(f"{chapter.number}. {chapter.title}")
        for name, module in modules.items():
            if module.split(".")[1] == chapter.package:
                lines.append(f"  {name:{width}}  {_first_line(HERE / chapter.package / f'{name}.py')}")
    return "\n".join(lines)


def _first_line(file: Path) -> str:
    doc = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return doc.partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
