"""How a reader opens a notebook: the README's two commands, the container, the first cell in a wrong kernel."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import packages_distributions

import native_windows
import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from rankzero import installed
from rankzero.world import systems
from tools.common import BOOK, ROOT
from tools.install_cells import EXTRAS, address, install_cell

README = (ROOT / "README.md").read_text(encoding="utf-8")
CREATE = (ROOT / ".devcontainer/create.sh").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def needs(extra: str) -> set[str]:
    return {re.split("[<>=]", need)[0] for need in PROJECT["optional-dependencies"][extra]}


def test_two_commands_of_the_readme_open_a_page():
    """Kills: an installation without a kernel, without Jupyter, or with the CUDA libraries of Linux."""
    block = re.search(r"## Open a notebook\n\n```\n(.*?)\n```", README, re.DOTALL)
    make, start = block[1].splitlines()
    assert "--extra-index-url https://download.py" + "torch.org/whl/cpu" in make
    assert '-e ".[notebook]"' in make
    assert {"ipykernel", "jupyterlab"} <= needs("notebook")
    assert needs("serve") | needs("rl") <= needs("notebook")
    page = start.removeprefix(".venv/bin/python -m jupyterlab --notebook-dir=. ")
    assert (ROOT / page).is_file()


def test_the_readme_says_how_the_commands_of_pages_are_run():
    """Kills "No module named autograder" in the terminal of somebody who did what the README says; without its
    ``--notebook-dir``, JupyterLab shows the folder of the page alone, and no ``labs``."""
    activate = "`. .venv/bin/activate`"
    assert activate in README.partition("## Open a notebook")[2].partition("## Build the book")[0]
    assert activate in (BOOK / "hand-in.md").read_text(encoding="utf-8")


def test_the_container_runs_the_same_commands():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert container["postCreateCommand"] == "sh .devcontainer/create.sh"
    assert subprocess.run(["sh", "-n", ROOT / ".devcontainer/create.sh"]).returncode == 0
    *_, install, register = CREATE.splitlines()
    assert install in README
    assert register in README
    assert (ROOT / container["customizations"]["codespaces"]["openFiles"][0]).is_file()
    interpreter = container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert interpreter.endswith("/.venv/bin/python")


def test_platforms_are_named_where_one_looks():
    opening = " ".join((BOOK / "intro.md").read_text(encoding="utf-8").split())
    for text in (README, opening):
        for name in ("Linux", "WSL 2", "Colab", "Codespaces", "native Windows", "Intel Mac"):
            assert name in text
    assert "Operating System :: POSIX :: Linux" in PROJECT["classifiers"]
    assert not [one for one in PROJECT["classifiers"] if "Windows" in one]


def first_cell(page: str, folder, *paths: str) -> subprocess.CompletedProcess:
    """The install cell of ``page`` in a kernel that starts in ``folder`` and has nothing but ``paths``."""
    code = TransformerManager().transform_cell(install_cell(address(), page))
    program = (
        f"import sys\nsys.path += {list(paths)!r}\ndef get_ipython():\n    raise SystemExit('pip')\n"
        f"{code}\nimport rankzero\nprint(rankzero.__file__)"
    )
    command = [sys.executable, "-S", "-c", program]
    return subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True)


@pytest.mark.parametrize(("page", "folder"), [("01-first-program", BOOK), ("12-rl-deeper", BOOK / "deeper")])
def test_a_kernel_without_the_course_takes_the_clone(page, folder):
    """Kills: pip against the network, with the clone one folder up."""
    done = first_cell(page, folder, sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    assert done.stdout == f"{ROOT / 'rankzero/__init__.py'}\n", done.stderr


@pytest.mark.parametrize("page", ["01-first-program", *EXTRAS])
def test_a_kernel_without_torch_says_which_kernel_to_choose(page):
    """Kills: gigabytes in a kernel that is only the wrong one, and a traceback about cloudpickle."""
    done = first_cell(page, BOOK)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("rankzero.installed.Missing: this kernel has no torch and no cloudpickle and ")
    assert said.endswith(": choose the kernel Rank Zero, which README.md of the course says how to make")
    assert all(f"no {module}" in said for module in EXTRAS.get(page, ("", ()))[1][1:])


#: What a page imports that needs an extra.
NEEDS = {
    "serve": re.compile(r"from rankzero\.server import .*\bserve\b"),
    "rl": re.compile(r"from solutions\.ch12 import .*\b(cartpole_runs|ppo_runs)\b"),
}


@pytest.mark.parametrize("path", sorted(BOOK.rglob("*.ipynb")), ids=lambda path: path.stem)
def test_a_page_installs_the_extra_that_its_cells_need(path):
    """Kills: a page that starts a server in Colab, where its first cell has installed none."""
    cells = nbformat.read(path, as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    extra, _ = EXTRAS.get(path.stem.removesuffix("-deeper"), ("", ()))
    assert {name for name, words in NEEDS.items() if words.search(code)} <= {extra}


def test_without_a_clone_pip_installs_it(tmp_path):
    assert first_cell("01-first-program", tmp_path).stderr == "pip\n"


def test_the_sentence_knows_what_pages_need():
    names = packages_distributions()
    known = {name.lower() for module in installed.CORE for name in names[module]}
    assert {re.split("[<>=]", need)[0] for need in PROJECT["dependencies"]} <= known
    assert installed.Missing("one")._render_traceback_() == ["one"]


@pytest.mark.proof(part="guides")
def test_check_setup_says_what_works_on_native_windows():
    said = native_windows.run("from demos.ch01 import check_setup\nprint(check_setup.main([]))")
    assert "works here" in said
    assert systems.WITHOUT_FORK in said
    assert said.splitlines()[-1] == "1"


@pytest.mark.parametrize(
    ("system", "machine", "words"),
    [("linux", "x86_64", "everything"), ("darwin", "arm64", "everything"), ("darwin", "x86_64", "Intel Macs")],
)
def test_what_works_is_told_by_system(monkeypatch, system, machine, words):
    monkeypatch.setattr(systems.sys, "platform", system)
    monkeypatch.setattr(systems.platform, "machine", lambda: machine)
    assert words in systems.what_works()
