"""The tools behind the book, each against what it promises."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import nbformat
import psutil
import pytest

from experiments.ch13.explorers import hacking
from rankzero import installed
from tests import conftest
from tools import bundle, install_cells, prepare, vendor, vendor_editor
from tools.common import ROOT
from tools.edit import to_notebook
from tools.gates import check
from tools.serve import server


def course(root: Path, **files: str) -> Path:
    """A little course: modules alone."""
    for name, text in files.items():
        path = root / (name.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


class TestBundle:
    def test_follows_imports(self, tmp_path):
        """Relative and absolute, packages with their own text, data beside them; nothing that is not imported."""
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
        for chapter in ("ch08", "ch10"):
            (root / "experiments" / chapter / "data").mkdir(parents=True)
            (root / "experiments" / chapter / "data" / "lags.json").write_text("{}")
        assert bundle.explorers(root) == ["experiments.ch09.explorers"]
        names = {"rankzero/__init__.py", "rankzero/units.py", "solutions/ring.py", "experiments/__init__.py"}
        names |= {f"experiments/ch09/{stem}.py" for stem in ("__init__", "explorers", "shapes")}
        names |= {"experiments/ch08/older.py", "experiments/ch08/data/lags.json"}
        assert set(bundle.collect(bundle.explorers(root), root)) == names

    def test_holds_what_an_explorer_reads(self, tmp_path):
        """Kills a bundle without the stored results: an explorer draws them with nothing else at hand."""
        for path, text in bundle.collect(["experiments.ch13.explorers"]).items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        code = "import json, sys; sys.path.insert(0, sys.argv[1]); from experiments.ch13.explorers import hacking"
        code += "; print(json.dumps(hacking(0.0, 2, 60)))"
        drawn = subprocess.check_output([sys.executable, "-I", "-S", "-c", code, tmp_path], text=True)
        assert json.loads(drawn) == json.loads(json.dumps(hacking(0.0, 2, 60)))

    def test_a_start_is_told_what_it_fetches(self, tmp_path, monkeypatch):
        """Kills a wait without a size, and pictures of Python's memory that are taken for those of another version."""
        monkeypatch.setattr(bundle, "collect", lambda starts: {"a.py": "x = 1"})
        (tmp_path / "pyodide").mkdir()
        (tmp_path / "pyodide" / "python_stdlib.zip").write_bytes(bytes(1000))
        for name in ("checks", "ranks", "broker"):
            monkeypatch.setattr(bundle, name, lambda *worlds: {})
        bundle.write(tmp_path)
        told = json.loads((tmp_path / "start.json").read_text())
        totals = {name: (tmp_path / name).stat().st_size for name in bundle.STARTS}
        assert told["bytes"] == totals | {"pyodide": 1000}
        assert told["version"] == vendor.versions()["pyodide"]
        monkeypatch.setattr(bundle, "broker", lambda *worlds: {"a.py": "x = 2"})
        bundle.write(tmp_path)
        assert json.loads((tmp_path / "start.json").read_text())["house"] != told["house"]

    @pytest.mark.proof(part="guides")
    @pytest.mark.parametrize("worker", ["rank", "broker"])
    def test_a_worker_of_a_rank_needs_no_more_than_its_bundle(self, tmp_path, worker):
        """Kills a page whose ranks do not start: what they import is there, and nothing beside the standard library."""
        files = bundle.ranks() if worker == "rank" else bundle.checks() | bundle.broker()
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        code = f"import sys; sys.path.insert(0, sys.argv[1]); from autograder.page import start; start.{worker}()"
        code += "; import torch; print(torch.__file__)"
        found = subprocess.check_output([sys.executable, "-I", "-S", "-c", code, tmp_path], text=True).strip()
        assert Path(found).is_relative_to(tmp_path)

    def test_a_check_imports_one_module_of_the_bank(self, tmp_path):
        """Kills a first check that waits for its whole chapter."""
        for path, text in bundle.checks().items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        code = "import sys; sys.path.insert(0, sys.argv[1]); from autograder.learner import in_page"
        code += "; in_page.prepare('03-ring-all-reduce-time'); print(*(m for m in sys.modules if '.bank.ch' in m))"
        loaded = subprocess.check_output([sys.executable, "-I", "-S", "-c", code, tmp_path], text=True).split()
        assert loaded == ["autograder.bank.ch03", "autograder.bank.ch03.ring_all_reduce_time"]

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

    def test_fonts_stay_where_style_sheets_look(self, tmp_path):
        """Kills a flat folder, in which no formula finds its face; and one format of each face is enough."""
        faces = tmp_path / "package" / "dist" / "fonts"
        faces.mkdir(parents=True)
        (faces / "Main.woff2").write_text("face")
        (faces.parent / "katex.css").write_text('src:url(fonts/Main.woff2) format("woff2"),url(f.woff) format("woff")}')
        with tarfile.open(tmp_path / "katex.tgz", "w:gz") as tar:
            tar.add(tmp_path / "package", "package")
        target = tmp_path / "vendor" / "katex"
        vendor.unpack(tmp_path / "katex.tgz", ("dist/katex.css", "dist/fonts/Main.woff2"), target)
        vendor.one_format(target / "katex.css")
        assert (target / "fonts" / "Main.woff2").read_text() == "face"
        assert (target / "katex.css").read_text() == 'src:url(fonts/Main.woff2) format("woff2")}'

    def test_versions_are_exact(self):
        """Every package that is served, or that tests use, has one exact version."""
        assert set(vendor.versions()) == set(vendor.FILES)
        assert set(vendor.versions("devDependencies")) == {*vendor.CHECKS, *vendor_editor.packages()}
        every = [*vendor.versions().values(), *vendor.versions("devDependencies").values()]
        assert all(version.replace(".", "").isdigit() for version in every)


class TestPrepare:
    def test_says_what_is_missing(self, monkeypatch, capsys):
        """Without apt and rights nothing is installed, and each missing program is named with what is skipped."""
        monkeypatch.setattr(prepare.shutil, "which", lambda name: None)
        assert prepare.debian() == 0
        said = capsys.readouterr().out
        for package in ("chromium-headless-shell", "chromium", "bubblewrap", "npm"):
            assert f"not installed: {package}, so " in said

    def test_one_browser_is_enough(self, monkeypatch):
        """The headless shell takes the place of all of Chromium, and is wanted beside it."""
        for found, wanted in (("chromium-headless-shell", set()), ("google-chrome", {"chromium-headless-shell"})):
            monkeypatch.setattr(prepare.shutil, "which", lambda name, found=found: name if name == found else None)
            assert {need.package for need in prepare._missing() if "chrom" in need.package} == wanted

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
    def test_a_page_of_a_release_installs_its_wheel(self, page):
        """Kills a page of a release that installs what main has become; and back: a wheel that no longer fits."""
        extra = install_cells.EXTRAS[page][0] if page else ""
        wheel = "https://old/x/releases/download/v2.1.0/rankzero-2.1.0-py3-none-any.whl"
        cell = install_cells.install_cell("https://old/x", page, "2.1.0")
        assert (f'--quiet "rankzero[{extra}] @ {wheel}"\n' if page else f"--quiet {wheel}\n") in cell
        install = nbformat.v4.new_code_cell(cell, id="install", metadata={"tags": ["install"]})
        links = nbformat.v4.new_markdown_cell("https://old/x/blob/a", id="links")
        text = nbformat.writes(nbformat.v4.new_notebook(cells=[install, links]))
        new = nbformat.reads(install_cells.renewed(text, "https://new/y", page, "2.2.0.dev0"), as_version=4)
        assert new.cells[0].source == install_cells.install_cell("https://new/y", page, "2.2.0.dev0")
        assert "git+https://new/y" in new.cells[0].source
        assert new.cells[1].source == "https://new/y/blob/a"

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
        source = installed.source("https://new/y")
        requirement = f'"rankzero[{extra}] @ {source}"' if page else source
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

    def test_a_text_without_its_head_is_no_notebook(self):
        """Kills a page without a kernel, of which the build only says that it has warnings."""
        with pytest.raises(ValueError, match="must begin with the head of another page's text"):
            to_notebook('# %% [markdown] cell="title"\n# # 16. Title\n')


@pytest.fixture
def served(tmp_path):
    """``served(name, **headers)``: the answer for a file of a served folder, as it was sent, and its body."""
    with server(tmp_path) as running:
        Thread(target=running.serve_forever, daemon=True).start()

        def ask(name, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", running.server_port, timeout=30)
            connection.request(
                "GET", f"/{name}", headers={key.replace("_", "-"): text for key, text in headers.items()}
            )
            reply = connection.getresponse()
            body = reply.read()
            connection.close()
            return reply, body

        yield ask
        running.shutdown()


class TestServe:
    def test_types_that_a_browser_needs(self, tmp_path, served):
        """Kills a server that sends WebAssembly or modules as plain text: browsers refuse them."""
        for name in ("a.wasm", "b.mjs", "c.html"):
            (tmp_path / name).write_text("x")
        for packing in ("gzip, br", "identity"):
            kinds = [
                served(name, Accept_Encoding=packing)[0].headers.get_content_type()
                for name in ("a.wasm", "b.mjs", "c.html")
            ]
            assert kinds == ["application/wasm", "text/javascript", "text/html"]

    def test_compresses_text_and_nothing_twice(self, tmp_path, served):
        """Text comes packed to who can read it, and whole to who cannot; fonts and archives are packed already."""
        (tmp_path / "page.html").write_text("word " * 1000)
        (tmp_path / "face.woff2").write_bytes(bytes(1000))
        reply, body = served("page.html?v=1", Accept_Encoding="gzip")
        assert reply.headers["Content-Encoding"] == "gzip"
        assert int(reply.headers["Content-Length"]) == len(body) < 500
        assert gzip.decompress(body).decode() == "word " * 1000
        assert served("page.html")[1].decode() == "word " * 1000
        assert served("face.woff2", Accept_Encoding="gzip")[1] == bytes(1000)

    def test_what_did_not_change_is_not_sent_again(self, tmp_path, served):
        """Kills a second page that costs as much as the first, and a page that shows what was there before a build."""
        (tmp_path / "page.html").write_text("old")
        reply, _ = served("page.html", Accept_Encoding="gzip")
        assert reply.headers["Cache-Control"] == "no-cache"
        known = {"Accept_Encoding": "gzip", "If_Modified_Since": reply.headers["Last-Modified"]}
        assert served("page.html", **known)[0].status == 304
        (tmp_path / "page.html").write_text("new")
        os.utime(tmp_path / "page.html", (time.time() + 5, time.time() + 5))
        again, body = served("page.html", **known)
        assert again.status == 200
        assert (gzip.decompress(body) if again.headers["Content-Encoding"] else body) == b"new"

    def test_what_is_not_there_is_said_so(self, served):
        assert served("none.html", Accept_Encoding="gzip")[0].status == 404


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
        """A failing step shows what it said, and does not stop the next one, nor the next stage."""
        bad, good = check.Step("bad", ("-c", "print('why'); raise SystemExit(3)")), check.Step("good", ("-c", ""))
        assert check.run([[[bad, good]], [[check.Step("late", ("-c", ""))]]]) == check.Count(passed=2, failed=1)
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("bad: failed (")
        assert lines[1] == "why"
        assert [line.partition(" (")[0] for line in lines[2:4]] == ["good: passed", "late: passed"]
        assert lines[4] == "2 passed, 1 failed, 0 skipped"

    def test_lanes_run_side_by_side_and_count_together(self, tmp_path, capsys):
        """Each lane waits for a file that the other one writes: one after the other they would not end well."""
        code = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch()\n"
        code += "end = time.monotonic() + 60\nwhile not pathlib.Path(sys.argv[2]).exists():\n"
        code += "    time.sleep(0.01)\n    if time.monotonic() > end: sys.exit(1)"
        one, two = str(tmp_path / "one"), str(tmp_path / "two")
        lanes = [[check.Step("a", ("-c", code, one, two))], [check.Step("b", ("-c", code, two, one))]]
        assert check.run([lanes]) == check.Count(passed=2)

    @pytest.fixture
    def running(self, tmp_path, monkeypatch) -> Path:
        """The time of a step is up as soon as this file is there."""
        file = tmp_path / "running"

        class Late(subprocess.Popen):
            def wait(self, timeout: float | None = None) -> int:
                if file.exists():
                    return super().wait(timeout)
                while not file.exists():
                    time.sleep(0.01)
                raise subprocess.TimeoutExpired(self.args, 0)

        monkeypatch.setattr(check.subprocess, "Popen", Late)
        return file

    def test_a_step_that_takes_too_long_is_left_out(self, tmp_path, capsys, running):
        """It is ended with what it started, and says so."""
        code = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', sys.argv[1]]); time.sleep(600)"
        child = f"import os; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); "
        child += f"os.mkdir({str(running)!r}); import time; time.sleep(600)"
        step = check.Step("long", ("-c", code, child), until=time.monotonic() + 3600)
        assert check.perform(step) == check.Count(skipped=1)
        assert capsys.readouterr().out.startswith("long: its time is up: 0 passed, 0 failed, 0 skipped")
        pid = int((tmp_path / "pid").read_text())
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)

    def test_what_a_step_has_found_counts_when_its_time_is_up(self, tmp_path, monkeypatch, running):
        """Kills: a run of tests that is killed before it reports, and so proves nothing."""
        monkeypatch.setattr(check, "REPORTS", tmp_path)
        monkeypatch.setattr(check, "LAST", 250.0)  # on a busy machine a report takes its time
        tests = tmp_path / "test_slow.py"
        tests.write_text(
            "import os, time\ndef test_right(): pass\ndef test_wrong(): assert False\n"
            f"def test_slow(): os.mkdir({str(running)!r}); time.sleep(600)\n"
        )
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        step = check.tests("slow", "-n", "0", "-p", "no:cacheprovider", "-c", str(tmp_path / "pytest.ini"), str(tests))
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts the tests may ignore it
        try:
            found = check.perform(replace(step, until=time.monotonic() + 3600))
        finally:
            signal.signal(signal.SIGINT, before)
        assert found == check.Count(passed=1, failed=1, skipped=1)

    @pytest.mark.proof(part="guides")
    def test_what_fails_beside_others_is_run_again_alone(self, tmp_path, capsys, monkeypatch):
        """A test that passes alone counts as passed and is named; one that fails again has failed."""
        monkeypatch.setattr(check, "REPORTS", tmp_path / "reports")
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        (tmp_path / "test_two.py").write_text(
            "import os, pathlib\n"
            "def test_once(tmp_path_factory):\n"
            "    seen = pathlib.Path(__file__).with_name('seen')\n"
            "    assert seen.exists() or seen.touch()\n"
            "def test_right(): pass\n"
            "def test_wrong(): assert not os.environ.get('WRONG')\n"
        )
        plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # starts in half of the time
        step = replace(check.tests("two", "-p", "xdist", "-n", "0", str(tmp_path), **plain), parallel=True)
        assert check.perform(step) == check.Count(passed=3)
        said = capsys.readouterr().out
        assert "two: 2 passed, 1 failed, 0 skipped" in said
        assert "test_two.py::test_once" in said
        assert "two again, one at a time: 1 passed, 0 failed, 0 skipped" in said
        (tmp_path / "seen").unlink()
        assert check.perform(replace(step, settings={"WRONG": "1", **plain})) == check.Count(passed=2, failed=1)
        monkeypatch.setattr(check, "FEW", 0)
        (tmp_path / "seen").unlink()
        assert check.perform(step) == check.Count(passed=2, failed=1)

    def test_the_slowest_tests_and_what_was_skipped_are_shown(self):
        output = (
            "....\n0.50s call     tests/a.py::b\n0.02s setup    tests/a.py::c\nSKIPPED [1] a.py:3: no GPU\n4 passed"
        )
        assert check.skips_and_slowest(output).splitlines() == [
            "SKIPPED [1] a.py:3: no GPU",
            "0.50s call     tests/a.py::b",
            "0.02s setup    tests/a.py::c",
        ]

    @pytest.mark.parametrize(("shared", "order"), [(True, "deabc"), (False, "abcde")])
    def test_tests_that_take_minutes_begin(self, shared, order):
        """Kills: a process that waits while the other runs the corpus or a long group at the end; and a run that the
        tests of a file share, made by every process anew. Only where processes share the tests: ``make quick`` has an
        order of its own."""

        marked = {}

        def item(name, **markers):
            nodeid, add = f"{name}.py::test", lambda mark: marked.update({name: mark.args[0]})
            return SimpleNamespace(name=name, nodeid=nodeid, get_closest_marker=markers.get, add_marker=add)

        short = SimpleNamespace(args=("bank 05-zero-memory",))
        items = [item("a"), item("b", xdist_group=short), item("c"), item("d", timeout=SimpleNamespace(args=(900,)))]
        items.append(item("e", xdist_group=SimpleNamespace(args=(conftest.LONG[0],))))
        conftest.pytest_collection_modifyitems(SimpleNamespace(option=SimpleNamespace(loadgroup=shared)), items)
        assert "".join(one.name for one in items) == order
        assert marked == ({name: f"{name}.py" for name in "acd"} if shared else {})
        assert conftest.pytest_collection_modifyitems.pytest_impl["tryfirst"]  # pytest-xdist reads the marks after it

    def test_every_group_that_is_called_long_is_there(self):
        texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
        assert [name for name in conftest.LONG if not any(f'xdist_group("{name}")' in text for text in texts)] == []

    def test_ci_calls_make_test_alone(self):
        """What CI runs is what everyone runs."""
        commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if not line.startswith("#")]
        assert commands == ["exec make test"]


def test_blank_lines_between_cells_of_a_text_are_no_metadata():
    head = "# ---\n# jupyter:\n#   kernelspec:\n#     display_name: Python 3\n#     name: python3\n# ---\n\n"
    notebook = json.loads(to_notebook(head + '# %% cell="one"\nx = 1\n\n\n\n# %% cell="two"\ny = 2\n'))
    assert [cell["metadata"] for cell in notebook["cells"]] == [{}, {}]
