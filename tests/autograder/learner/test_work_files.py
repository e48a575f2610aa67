"""A reader's work as files of the labs."""

from __future__ import annotations

import ast
import base64
import io
import zipfile

from autograder.learner import work_files


def test_work_in_the_labs():
    """A program stands in place of its stub; one that is not Python stands as a comment above it."""
    lab = "import math\n\n\ndef first():\n    raise NotImplementedError\n\n\ndef second():\n    return 2\n"
    filled = work_files.filled(lab, "first", "import sys\n\ndef first():\n    return sys\n")
    assert filled == "import math\n\n\nimport sys\n\ndef first():\n    return sys\n\n\ndef second():\n    return 2\n"
    broken = work_files.filled(lab, "first", "def first(:\n")
    assert ast.unparse(ast.parse(broken)) == ast.unparse(ast.parse(lab))
    assert "# def first(:" in broken


def test_the_archive_holds_every_lab():
    """Kills an archive that leaves out what nobody wrote, or puts a program into the wrong file."""
    labs = {
        "labs/ch03/collective_cost.py": "def ring_all_reduce_time():\n    raise NotImplementedError\n",
        "labs/ch01/scale.py": "other = 1\n",
    }
    data = work_files.archive({"03-ring-all-reduce-time": "def ring_all_reduce_time():\n    return 7\n"}, labs)
    packed = zipfile.ZipFile(io.BytesIO(base64.b64decode(data)))
    texts = {name: packed.read(name).decode() for name in packed.namelist()}
    assert texts == {**labs, "labs/ch03/collective_cost.py": "def ring_all_reduce_time():\n    return 7\n"}
