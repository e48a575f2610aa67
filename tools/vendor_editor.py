"""Bundle the editor of the page from npm packages: one script, ``.cache/static/vendor/editor/editor.js``.

The packages and the bundler (esbuild) come in the exact versions that ``package.json`` lists under ``devDependencies``;
``tools/editor.mjs`` says what of them is used.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.common import ROOT, VENDOR

#: What the license of the packages asks for.
BANNER = "/* CodeMirror and Lezer, copyright (C) Marijn Haverbeke and others; MIT License: https://codemirror.net */"
ENTRY = ROOT / "tools" / "editor.mjs"
TARGET = VENDOR / "editor" / "editor.js"
#: Listed there as well: what tests use, and slides (``tools/vendor.py``).
OTHERS = ("axe-core", "reveal.js")


def packages() -> dict[str, str]:
    """Package -> exact version, without those that the editor does not use."""
    listed = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    return {name: version for name, version in listed.items() if name not in OTHERS}


def bundle() -> str | None:
    """Write the script; a sentence when that is impossible."""
    if not shutil.which("npm"):
        return "npm is missing"
    with tempfile.TemporaryDirectory() as folder:
        wanted = {"private": True, "dependencies": packages()}
        (Path(folder) / "package.json").write_text(json.dumps(wanted), encoding="utf-8")
        shutil.copy(ENTRY, folder)
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"]
        esbuild = ["node_modules/.bin/esbuild", ENTRY.name, "--bundle", "--minify", "--target=es2020"]
        for command in (install, [*esbuild, f"--banner:js={BANNER}", "--outfile=out/editor.js"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                return f"the editor could not be bundled: {(done.stderr or done.stdout).strip()[-300:]}"
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(folder) / "out" / "editor.js", made := TARGET.with_suffix(".new"))
        made.replace(TARGET)  # what may be a link to the copy of another checkout stays as it is
    return None
