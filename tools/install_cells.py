"""Generate what depends on the repository's address and version: ``python -m tools.install_cells [--check]``.

The address is in ``_config.yml``, the version in ``rankzero/__init__.py``. The install cell of a notebook (tag
``install``) is generated from them, and links into the repository on the same page are updated: the old install cell
tells which address they contain. A page of a release installs the release's wheel, which needs no git and never
changes; between releases (``1.1.0.dev0``) a page and the repository belong together.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import nbformat
import yaml

from rankzero import __version__
from rankzero.installed import source
from tools.common import ROOT, fail, notebooks, say, write

#: In a script exported from the notebook the magic is a comment or gone, so the branch needs another statement.
TEMPLATE = """\
# Installs the course where it is missing, as in Colab; in a clone it takes the clone.
import sys
from importlib.util import find_spec
from pathlib import Path

if clone := [p for p in Path.cwd().parents if (p / "rankzero/installed.py").is_file()]:
    sys.path.append(str(clone[0]))
elif {condition}:
    print("Installing Rank Zero")
    %pip install --quiet {requirement}

from rankzero import installed

installed.require({modules})"""
_SERVE = ("serve", ("rankzero", "openai", "starlette", "uvicorn"))
#: Pages that need more than the core: the extra of ``pyproject.toml``, and the modules it provides.
EXTRAS = {
    "08-server": _SERVE,
    "11-decoding": _SERVE,
    "12-rl": ("rl", ("rankzero", "gymnasium")),
}
_ADDRESS = re.compile(r"(?:git\+|@ |quiet )(https?://[^\s\"]+?)(?=/releases/|[\s\"]|$)")


def address(root: Path = ROOT) -> str:
    """The address of the repository, from ``_config.yml``."""
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]


def install_cell(url: str, page: str = "", version: str = __version__) -> str:
    """The source of the install cell of ``page``, the notebook's file name without ``.ipynb``."""
    page = page.removesuffix("-deeper")
    if page not in EXTRAS:
        condition = 'find_spec("rankzero") is None'
        return TEMPLATE.format(condition=condition, requirement=source(url, version), modules="")
    extra, modules = EXTRAS[page]
    condition = f"None in map(find_spec, [{', '.join(map(json.dumps, modules))}])"
    needed = ", ".join(map(json.dumps, modules[1:]))
    requirement = f'"rankzero[{extra}] @ {source(url, version)}"'
    return TEMPLATE.format(condition=condition, requirement=requirement, modules=needed)


def renewed(text: str, url: str, page: str = "", version: str = __version__) -> str:
    """The notebook ``text`` with install cells and links for ``url``; ``page`` is the file name without ``.ipynb``."""
    notebook = nbformat.reads(text, as_version=4)
    cells = [cell for cell in notebook.cells if "install" in cell.metadata.get("tags", ())]
    old = {match.group(1) for cell in cells if (match := _ADDRESS.search(cell.source))}
    for cell in notebook.cells:
        for former in old - {url}:
            cell.source = cell.source.replace(former, url)
    for cell in cells:
        cell.source = install_cell(url, page, version)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def stale(paths: list[Path], url: str) -> dict[Path, str]:
    """The notebooks that are out of date, with what they should contain."""
    wanted = {path: renewed(path.read_text(encoding="utf-8"), url, path.stem) for path in paths}
    return {path: text for path, text in wanted.items() if path.read_text(encoding="utf-8") != text}


def main(argv: list[str] | None = None) -> int:
    """Write what is stale, or with ``--check`` only report it (status 1)."""
    parser = argparse.ArgumentParser(prog="python -m tools.install_cells", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if something is stale")
    arguments = parser.parse_args(argv)
    found = stale(notebooks(), address())
    if arguments.check:
        return fail("stale (make stubs): " + ", ".join(p.name for p in found)) if found else 0
    for path, text in found.items():
        write(path, text)
        say(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
