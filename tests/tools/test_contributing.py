"""The example in CONTRIBUTING.md, followed in a copy of the project as it is printed, with the checks that it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import edit
from tools.common import ROOT

pytestmark = [pytest.mark.xdist_group("contributing"), pytest.mark.timeout(900)]  # one copy, whole programs
GUIDES = pytest.mark.proof(part="guides")

PAGE = ROOT / "CONTRIBUTING.md"
ITEM = "01-training-energy"
NOTEBOOK = "book/01-first-program.ipynb"

#: The blocks of Python under the heading of the example, in order.
SECTION = re.search(r"^## Add an exercise.*?(?=^## )", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
BLOCKS = re.findall(r"^```python\n(.*?)^```$", SECTION[0] if SECTION else "", re.DOTALL | re.MULTILINE)
#: Those that are cells of the page, and the others by the file that their first line names.
CELLS = [block for block in BLOCKS if block.startswith("# %%")]
CODE = {block.partition("\n")[0].removeprefix("# "): block.partition("\n")[2] for block in BLOCKS if block not in CELLS}

LEFT_OUT = shutil.ignore_patterns(".*", "_build", "node_modules", "__pycache__", "*.egg-info")

Run = Callable[..., subprocess.CompletedProcess[str]]


def append(path: Path, code: str) -> None:
    before = path.read_text(encoding="utf-8") + "\n\n" if path.exists() else ""
    path.write_text(before + code, encoding="utf-8")


def put_into_the_page(root: Path, cells: str) -> None:
    """Puts cells at the end of the item's section, which is before the heading of the next one."""
    path = root / NOTEBOOK
    text = edit.to_text(path.read_text(encoding="utf-8"))
    heading = next(re.finditer(r"^# %% \[markdown\][^\n]*\n# ## 1\.10 ", text, re.MULTILINE))
    text = f"{text[: heading.start()]}{cells}\n{text[heading.start() :]}"
    path.write_text(edit.to_notebook(text), encoding="utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    """Runs a command in the copy, in which the example was followed."""
    root = tmp_path_factory.mktemp("project") / "copy"
    shutil.copytree(ROOT, root, ignore=LEFT_OUT)

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, "-m", *words], cwd=root, env=environment, capture_output=True, text=True, check=False
        )

    for name, code in CODE.items():
        append(root / name, code)
    for block in CELLS:
        put_into_the_page(root, block)
    for tool in ("stubs", "install_cells", "sections"):  # make stubs
        done = command(f"tools.{tool}")
        assert done.returncode == 0, done.stderr
    return command


def said(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def test_the_page_names_a_file_in_each_block():
    """Kills: a search that finds no blocks, and every test below that tries the project as it is."""
    assert len(CELLS) == 1
    assert (ROOT / NOTEBOOK).is_file()
    assert list(CODE) == [
        "solutions/ch01/scale.py",
        "autograder/bank/ch01/training_energy.py",
        "tests/solutions/ch01/test_training_energy.py",
    ]


@GUIDES
def test_the_reference_earns_everything_and_the_slip_is_named(run):
    done = run("autograder", "verify", "--only", ITEM)
    assert done.returncode == 0, said(done)
    assert done.stdout.startswith("1 item: all hold")


@GUIDES
def test_no_mutant_is_left(run):
    done = run("tools.mutants", ITEM)
    assert re.fullmatch(rf"{ITEM}: 0 of [1-9]\d* mutants pass\n", done.stdout), said(done)


@GUIDES
def test_what_is_asked_of_every_item_holds(run):
    tests = (
        "tests/autograder/bank/test_bank.py",
        "tests/autograder/maintenance/test_full_marks.py",
        "tests/tools/test_promises.py",
        "tests/tools/test_luck.py",
    )
    done = run("pytest", "-q", *tests, "-k", f"{ITEM} or training_energy or unique or registered or says_what_it_holds")
    assert done.returncode == 0, said(done)


@GUIDES
def test_the_chapter_s_own_tests_pass(run):
    """Kills: a test that counts the exercises of the chapter."""
    whole = ("tests/autograder/bank/ch01/test_bank_ch01.py", "tests/solutions/ch01/test_training_energy.py")
    pages = ("tests/test_notebooks.py", "-k", "01-first-program or test_bank_ch01 or test_training_energy")
    done = run("pytest", "-q", *whole, *pages)
    assert done.returncode == 0, said(done)


@pytest.mark.parametrize("name", CODE)
def test_the_code_is_in_the_house_s_form(name):
    """Followed by nobody: the file as it is, with the block at its end, is read and not written."""
    path = ROOT / name
    code = f"{path.read_text(encoding='utf-8')}\n\n{CODE[name]}" if path.exists() else CODE[name]
    compile(code, name, "exec", dont_inherit=True)
    assert path.parent.is_dir()
    for words in (("check", "--quiet"), ("format", "--check", "--quiet")):
        command = [sys.executable, "-m", "ruff", *words, "--no-cache", "--stdin-filename", str(path), "-"]
        done = subprocess.run(command, cwd=ROOT, input=code, capture_output=True, text=True, check=False)
        assert done.returncode == 0, said(done)
