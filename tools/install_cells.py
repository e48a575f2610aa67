"""Generate what depends on the repository's address: ``python -m tools.install_cells [--check]``.

The address stands in ``_config.yml``. The install cell of a notebook (tag ``install``) is written from it, and links
into the repository on the same page follow: the old install cell says which address they were written for.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import nbformat
import yaml

from tools.common import BOOK, ROOT, fail, say

#: A script made of the notebook has a comment or nothing in place of the magic: the branch needs a statement besides.
TEMPLATE = """\
# In Colab, and wherever the course is missing, this installs it; elsewhere it does nothing.
import importlib.util

if {condition}:
    print("Installing Rank Zero")
    %pip install --quiet {requirement}

from rankzero import torch_version

torch_version.require()"""
#: Pages that need more than the core: the extra of ``pyproject.toml``, and the modules that are there with it.
EXTRAS = {
    "08-server": ("serve", ("rankzero", "openai", "starlette", "uvicorn")),
    "12-rl": ("rl", ("rankzero", "gymnasium")),
}
_ADDRESS = re.compile(r"git\+([^\s\"]+)")


def address(root: Path = ROOT) -> str:
    """The address of the repository, from ``_config.yml``."""
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]


def install_cell(url: str, page: str = "") -> str:
    """The source of the install cell of a page, which is called as its file is, without ``.ipynb``."""
    if page not in EXTRAS:
        condition = 'importlib.util.find_spec("rankzero") is None'
        return TEMPLATE.format(condition=condition, requirement=f"git+{url}")
    extra, modules = EXTRAS[page]
    condition = f"None in map(importlib.util.find_spec, [{', '.join(map(json.dumps, modules))}])"
    return TEMPLATE.format(condition=condition, requirement=f'"rankzero[{extra}] @ git+{url}"')


def renewed(text: str, url: str, page: str = "") -> str:
    """The notebook ``text`` with install cells and links written for ``url``; ``page`` is the file's name."""
    notebook = nbformat.reads(text, as_version=4)
    cells = [cell for cell in notebook.cells if "install" in cell.metadata.get("tags", ())]
    old = {found.group(1) for cell in cells if (found := _ADDRESS.search(cell.source))}
    for cell in notebook.cells:
        for former in old - {url}:
            cell.source = cell.source.replace(former, url)
    for cell in cells:
        cell.source = install_cell(url, page)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def stale(paths: list[Path], url: str) -> dict[Path, str]:
    """The notebooks that differ from what they should be, with what they should be."""
    wanted = {path: renewed(path.read_text(encoding="utf-8"), url, path.stem) for path in paths}
    return {path: text for path, text in wanted.items() if path.read_text(encoding="utf-8") != text}


def main(argv: list[str] | None = None) -> int:
    """Write, or with ``--check`` only say (status 1), what is stale."""
    parser = argparse.ArgumentParser(prog="python -m tools.install_cells", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when something is stale")
    arguments = parser.parse_args(argv)
    found = stale(sorted(BOOK.glob("*.ipynb")), address())
    if arguments.check:
        return fail("stale (make stubs): " + ", ".join(p.name for p in found)) if found else 0
    for path, text in found.items():
        path.write_text(text, encoding="utf-8")
        say(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
