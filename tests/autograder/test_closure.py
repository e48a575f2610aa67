"""Which modules a program needs: read from its imports, wherever they stand."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autograder import closure


def test_imports_are_found_wherever_they_stand(tmp_path, monkeypatch):
    """Kills a walk that sees only the top of a file, or passes over relative imports."""
    for name, source in {
        "rankzero/__init__.py": "",
        "rankzero/a.py": "def late():\n    from rankzero import b\n",
        "rankzero/b.py": "from . import c\nfrom .d import thing\nimport json\n",
        "rankzero/c.py": "import autograder.e as e\n",
        "rankzero/d.py": "thing = 1\n",
        "rankzero/unused.py": "import rankzero.a\n",
        "autograder/__init__.py": "import labs.forbidden\n",
        "autograder/e.py": "",
        "labs/forbidden.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    monkeypatch.setattr(closure, "ROOT", tmp_path)
    found = [path.relative_to(tmp_path).as_posix() for path in closure.modules(["rankzero.a"]).values()]
    stems = ["autograder/__init__", "autograder/e", "rankzero/__init__", *(f"rankzero/{name}" for name in "abcd")]
    assert found == [f"{stem}.py" for stem in stems]
    with pytest.raises(ModuleNotFoundError, match=r"the course has no module rankzero\.z"):
        closure.modules(["rankzero.z"])


def test_what_a_grading_loads_is_found():
    """Kills a walk that misses what a grader imports: it is held against what an interpreter has loaded."""
    code = (
        "import sys; from autograder import sandbox, submission\nfrom autograder.bank.ch05 import zero_memory\n"
        "from autograder.marking import judge, report"
    )
    code += "\nprint(*(name for name in sys.modules if name.split('.')[0] in ('autograder', 'rankzero', 'solutions')))"
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=closure.ROOT, text=True).split()
    roots = [
        "autograder.marking.judge",
        "autograder.marking.report",
        "autograder.sandbox.layers",
        "autograder.submission.loading",
    ]
    found = closure.modules([*roots, "autograder.bank.ch05.zero_memory"])
    assert len(loaded) > 20
    assert set(loaded) <= set(found)
    assert not any(name.startswith(("autograder.commands", "labs", "tools")) for name in found)
