"""The tools behind the book, each against what it promises."""

from __future__ import annotations

import json
import re
import tarfile
import urllib.request
from pathlib import Path
from threading import Thread

import nbformat
import pytest

from tools import bundle, check, execute, install_cells, prepare, vendor
from tools.common import ROOT
from tools.edit import to_notebook
from tools.serve import server


def course(root: Path, **files: str) -> Path:
    """A little course: constraints and modules."""
    (root / "constraints.txt").write_text("torch\n")
    for name, text in files.items():
        path = root / (name.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


class TestFingerprint:
    def test_follows_every_change(self, tmp_path):
        """Kills a cache that serves outputs of older code: text, names, files and constraints count."""
        seen = {execute.fingerprint(course(tmp_path, **{"rankzero.units": "GB = 1"}))}
        (tmp_path / "rankzero" / "units.py").write_text("GB = 2")
        seen.add(execute.fingerprint(tmp_path))
        (tmp_path / "rankzero" / "units.py").rename(tmp_path / "rankzero" / "sizes.py")
        seen.add(execute.fingerprint(tmp_path))
        (tmp_path / "autograder").mkdir()
        (tmp_path / "autograder" / "table.json").write_text("{}")
        seen.add(execute.fingerprint(tmp_path))
        (tmp_path / "constraints.txt").write_text("torch>=3\n")
        seen.add(execute.fingerprint(tmp_path))
        assert len(seen) == 5

    def test_is_blind_to_compiled_files_and_tests(self, tmp_path):
        """Running the course does not change it."""
        before = execute.fingerprint(course(tmp_path, **{"rankzero.units": "GB = 1"}))
        course(tmp_path, **{"rankzero.__pycache__.units": "x", "tests.test_units": "x"})
        assert execute.fingerprint(tmp_path) == before


class TestBundle:
    def test_follows_imports(self, tmp_path):
        """Relative and absolute, packages with their own text; nothing that is not imported."""
        root = course(
            tmp_path,
            **{
                "experiments.__init__": "",
                "experiments.ch09.__init__": "",
                "experiments.ch09.explorers": "import math\nfrom . import shapes\nfrom solutions import ring",
                "experiments.ch09.shapes": "from ..ch08 import older",
                "experiments.ch08.older": "",
                "solutions.ring": "from rankzero.units import GB",
                "solutions.other": "import torch",
                "rankzero.__init__": "",
                "rankzero.units": "GB = 1e9",
            },
        )
        assert bundle.explorers(root) == ["experiments.ch09.explorers"]
        names = {"rankzero", "rankzero.units", "solutions.ring", "experiments", "experiments.ch09"}
        names |= {"experiments.ch09.explorers", "experiments.ch09.shapes", "experiments.ch08.older"}
        assert set(bundle.collect(bundle.explorers(root), root)) == names

    def test_refuses_what_a_browser_lacks(self, tmp_path):
        """Kills an explorer that works in a notebook and breaks in the page."""
        root = course(
            tmp_path, **{"experiments.ch09.explorers": "from solutions import ring", "solutions.ring": "import numpy"}
        )
        with pytest.raises(ValueError, match=r"solutions\.ring runs in the browser and imports numpy"):
            bundle.collect(bundle.explorers(root), root)


class TestVendor:
    def test_unpack_takes_what_is_named(self, tmp_path):
        """The named files, without their folders; what stood there before is gone."""
        package = tmp_path / "package" / "build"
        package.mkdir(parents=True)
        (package / "vega.min.js").write_text("chart")
        (package / "vega.js").write_text("long chart")
        with tarfile.open(tmp_path / "vega.tgz", "w:gz") as tar:
            tar.add(tmp_path / "package", "package")
        target = tmp_path / "vendor" / "vega"
        target.mkdir(parents=True)
        (target / "old.js").write_text("")
        vendor.unpack(tmp_path / "vega.tgz", ("build/vega.min.js",), target)
        assert {p.name: p.read_text() for p in target.iterdir()} == {"vega.min.js": "chart"}

    def test_versions_are_exact(self):
        """Every package that is served has one exact version."""
        assert set(vendor.versions()) == set(vendor.FILES)
        assert all(version.replace(".", "").isdigit() for version in vendor.versions().values())


class TestPrepare:
    def test_says_what_is_missing(self, monkeypatch, capsys):
        """Without apt and rights nothing is installed, and each missing program is named with what is skipped."""
        monkeypatch.setattr(prepare.shutil, "which", lambda name: None)
        assert prepare.debian() == 0
        said = capsys.readouterr().out
        for package in ("chromium", "bubblewrap", "npm"):
            assert f"not installed: {package}, so " in said

    def test_says_nothing_when_all_is_there(self, monkeypatch, capsys):
        """A machine that has everything is not bothered."""
        monkeypatch.setattr(prepare.shutil, "which", lambda name: f"/usr/bin/{name}")
        assert prepare.debian() == 0
        assert capsys.readouterr().out == ""


class TestInstallCells:
    def test_writes_the_address_and_follows_links(self):
        """The cell and the links of a page move together; other people's links stay."""
        install = nbformat.v4.new_code_cell("git+https://old/x", id="install", metadata={"tags": ["install"]})
        links = nbformat.v4.new_markdown_cell("https://old/x/blob/a and https://else/x", id="links")
        old = nbformat.writes(nbformat.v4.new_notebook(cells=[install, links]))
        new = nbformat.reads(install_cells.renewed(old, "https://new/y"), as_version=4)
        assert new.cells[0].source == install_cells.install_cell("https://new/y")
        assert new.cells[1].source == "https://new/y/blob/a and https://else/x"

    @pytest.mark.parametrize("page", ["", *install_cells.EXTRAS])
    def test_does_nothing_where_the_course_is(self, page):
        """The cell, as IPython runs it, installs when the package is missing and only then."""
        from IPython.core.inputtransformer2 import TransformerManager

        code = TransformerManager().transform_cell(install_cells.install_cell("https://new/y", page))
        calls = []

        class Shell:
            def run_line_magic(self, name, line):
                calls.append((name, line))

        exec(compile(code, "cell", "exec"), {"get_ipython": Shell})
        assert calls == []
        exec(compile(code.replace('"rankzero"', '"no_such_package"'), "cell", "exec"), {"get_ipython": Shell})
        extra = install_cells.EXTRAS[page][0] if page else ""
        requirement = f'"rankzero[{extra}] @ git+https://new/y"' if page else "git+https://new/y"
        assert calls == [("pip", f"install --quiet {requirement}")]

    @pytest.mark.parametrize("page", ["", *install_cells.EXTRAS])
    def test_is_python_without_its_magic(self, page):
        """Kills a branch of a magic alone: jupytext and Colab make it a comment, and no statement is left."""
        source = install_cells.install_cell("https://new/y", page)
        for comment in (r"\1# \2", r"# \1\2"):
            compile(re.sub(r"^( *)(%.*)$", comment, source, flags=re.MULTILINE), "script", "exec")


class TestEdit:
    def test_a_cell_needs_a_name(self):
        """A new cell without one is refused with an example, not given random digits."""
        with pytest.raises(ValueError, match=r'cell 1 must have a name, as in: # %% cell="ring-steps"'):
            to_notebook("# %%\nx = 1\n")


class TestServe:
    def test_types_that_a_browser_needs(self, tmp_path):
        """Kills a server that sends WebAssembly or modules as plain text: browsers refuse them."""
        for name in ("a.wasm", "b.mjs", "c.html"):
            (tmp_path / name).write_text("x")
        with server(tmp_path) as running:
            Thread(target=running.serve_forever, daemon=True).start()
            kinds = [
                urllib.request.urlopen(f"http://127.0.0.1:{running.server_port}/{name}").headers.get_content_type()
                for name in ("a.wasm", "b.mjs", "c.html")
            ]
            running.shutdown()
        assert kinds == ["application/wasm", "text/javascript", "text/html"]


class TestCheck:
    def test_counts_come_from_the_report(self, tmp_path):
        """Passed is what neither failed, nor broke, nor was skipped."""
        report = tmp_path / "report.xml"
        report.write_text('<testsuites><testsuite tests="9" failures="2" errors="1" skipped="3"/></testsuites>')
        assert str(check.counted(report)) == "3 passed, 3 failed, 3 skipped"

    def test_a_run_without_a_report_failed(self, tmp_path):
        """Kills a runner that takes silence for success."""
        assert check.counted(tmp_path / "none.xml") == check.Count(failed=1)

    def test_all_steps_run_and_the_closing_line_stands_alone(self, capsys):
        """A failing step shows what it said, and does not stop the next one."""
        steps = [check.Step("bad", ("-c", "print('why'); raise SystemExit(3)")), check.Step("good", ("-c", ""))]
        assert check.run(steps) == check.Count(passed=1, failed=1)
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("bad: failed (")
        assert lines[1] == "why"
        assert lines[2].startswith("good: passed (")
        assert lines[3] == "1 passed, 1 failed, 0 skipped"

    def test_ci_calls_make_test_alone(self):
        """What CI runs is what everyone runs."""
        commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if not line.startswith("#")]
        assert commands == ["exec make test"]


def test_blank_lines_between_cells_of_a_text_are_no_metadata():
    notebook = json.loads(to_notebook('# %% cell="one"\nx = 1\n\n\n\n# %% cell="two"\ny = 2\n'))
    assert [cell["metadata"] for cell in notebook["cells"]] == [{}, {}]
