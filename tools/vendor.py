"""Bring the scripts that the built book serves itself: ``python -m tools.vendor``.

Charts (Vega) and Python in the browser (Pyodide) come from npm in the exact versions of ``package.json``; mathematics
(MathJax) comes from a Python package. They land in ``.cache/static/vendor``, which the build copies into ``_static``.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tools.common import ROOT, VENDOR, say

#: npm package -> the files of it that the book serves.
FILES = {
    "vega": ("build/vega.min.js",),
    "vega-lite": ("build/vega-lite.min.js",),
    "vega-embed": ("build/vega-embed.min.js",),
    "pyodide": (
        "pyodide.js",
        "pyodide.mjs",
        "pyodide.asm.js",
        "pyodide.asm.wasm",
        "python_stdlib.zip",
        "pyodide-lock.json",
    ),
}


def versions() -> dict[str, str]:
    """Package -> exact version, from ``package.json``."""
    return json.loads((ROOT / "package.json").read_text())["dependencies"]


def mathjax() -> None:
    """Copy the one script that draws mathematics as SVG (no font files), and its small extensions."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package sphinx-mathjax-offline is not installed")
    source, target = Path(spec.origin).parent / "static" / "mathjax", VENDOR / "mathjax"
    shutil.copytree(
        source / "input" / "tex" / "extensions", target / "input" / "tex" / "extensions", dirs_exist_ok=True
    )
    shutil.copy(source / "tex-svg.js", target / "tex-svg.js")


def unpack(archive: Path, names: tuple[str, ...], target: Path) -> None:
    """Take ``names`` out of an npm archive (whose folder is ``package``) into the new folder ``target``."""
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        for name in names:
            member = tar.extractfile(f"package/{name}")
            if member is None:
                raise FileNotFoundError(f"{archive.name} has no file {name}")
            (fresh / Path(name).name).write_bytes(member.read())
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def fetch(package: str, version: str) -> str | None:
    """Bring one npm package; a sentence when that is impossible."""
    if not shutil.which("npm"):
        return "npm is missing"
    with tempfile.TemporaryDirectory() as folder:
        pack = ["npm", "pack", f"{package}@{version}", "--silent", "--pack-destination", folder]
        done = subprocess.run(pack, cwd=folder, capture_output=True, text=True)
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode or not archives:
            return f"npm could not bring {package} {version}: {(done.stderr or done.stdout).strip()[-300:]}"
        unpack(archives[0], FILES[package], VENDOR / package)
    return None


def main() -> int:
    """Bring everything; 1 when a script of the explorers is missing (the book still builds)."""
    VENDOR.mkdir(parents=True, exist_ok=True)
    mathjax()
    for package, version in versions().items():
        if problem := fetch(package, version):
            say(f"{problem}; explorers in the built pages stay still")
            return 1
    say(f"scripts of the book: {', '.join(f'{name} {version}' for name, version in versions().items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
