"""The child needs nobody: it starts without our packages, and keeps the submission away from its channel."""

from __future__ import annotations

import json
import subprocess

from autograder.child import channel
from autograder.closure import PACKAGES, imported
from autograder.running.children import offered
from autograder.sandbox import HERE, Sandbox, interpreter
from autograder.sandbox import child as child_file


def talk(*requests: dict) -> list[dict]:
    lines = "".join(json.dumps({"id": str(i), **request}) + "\n" for i, request in enumerate(requests))
    argv = [interpreter(), "-I", "-S", "-B", str(child_file())]
    done = subprocess.run(argv, input=lines.encode(), capture_output=True, timeout=250, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def start(source: str) -> dict:
    units = [["s.py", None, source]]
    common = {
        "limits": {"CORE": 0},
        "walls": {},
        "packages": [],
        "preload": [],
        "drivers": [],
        "course": {},
        "homes": {},
    }
    return {"do": "start", "units": units, "offered": offered(), **common}


def call(function: str, *args: object) -> dict:
    return {"do": "call", "module": "m", "function": function, "args": ["t", *args], "kwargs": ["d"], "report": True}


def test_a_request_has_one_reply_with_its_id():
    replies = talk(start("def f(x):\n    print('printed')\n    return x\n"), call("f", 1), call("f", 2))
    assert [(reply["id"], reply["kind"]) for reply in replies] == [
        ("0", "ready"),
        ("1", "running"),
        ("1", "value"),
        ("2", "value"),
    ]
    assert [reply.get("value") for reply in replies[2:]] == [1, 2]
    assert replies[2]["arguments"] is None  # as it was


def test_standard_output_is_not_the_channel():
    """Kills a child in which print(...) can write a reply."""
    source = 'import os\n\n\ndef f(x):\n    os.write(1, b\'{"id": "1"}\\n\')\n    return os.read(0, 10).decode()\n'
    replies = talk(start(source), call("f", 1))
    assert replies[-1]["value"] == ""
    assert len(replies) == 3


def test_the_child_files_import_nothing_of_the_course_but_the_wire():
    files = sorted(HERE.glob("child/*.py"))
    assert files
    for file in files:
        names = set(imported(file.read_text(encoding="utf-8"), "autograder.child"))
        ours = {name for name in names if name.partition(".")[0] in PACKAGES}
        assert all(name.startswith("autograder.child.wire") for name in ours), file


def test_the_wire_cannot_be_imported_once_the_child_is_up():
    """Kills a child that leaves its codec where a submission finds it by name."""
    source = "import sys\n\n\ndef f(x):\n    return sorted(name for name in sys.modules if 'autograder' in name)\n"
    assert talk(start(source), call("f", 1))[-1]["value"] == ["l"]


def test_the_child_is_up_without_the_slow_parts_of_the_library():
    """Kills a start that pays for json, re and traceback in every grading."""
    source = "import sys\n\n\ndef f(x):\n    return sorted({'json', 're', 'traceback', 'typing'} & set(sys.modules))\n"
    assert talk(start(source), call("f", 1))[-1]["value"] == ["l"]


def test_an_instance_of_a_dataclass_is_a_value():
    source = (
        "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Pair:\n    a: int\n    b: list\n\n\n"
    )
    replies = talk(start(source + "def f(x):\n    return Pair(x, [x])\n"), call("f", 2))
    assert replies[-1]["value"] == ["R", "Pair", ["a", 2], ["b", ["l", 2]]]


def test_limits_are_set_before_the_submission_runs():
    source = "import resource\n\n\ndef f(x):\n    return list(resource.getrlimit(resource.RLIMIT_FSIZE))\n"
    request = start(source) | {"limits": {"FSIZE": 12345}}
    assert talk(request, call("f", 1))[-1]["value"] == ["l", 12345, 12345]


def test_a_child_whose_walls_do_not_go_up_answers_nothing_more():
    """Kills a child that would run the submission in the open."""
    requests = [start("def f(x):\n    return x\n") | {"walls": {"seccomp": "00" * 8}}, call("f", 1)]
    lines = "".join(json.dumps({"id": str(i), **request}) + "\n" for i, request in enumerate(requests))
    argv = [interpreter(), "-I", "-S", "-B", str(child_file())]
    done = subprocess.run(argv, input=lines.encode(), capture_output=True, timeout=250, check=False)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"kind": "down", "wall": "seccomp: the kernel refuses the filter", "id": "0"}
    ]
    assert done.returncode == 1


def test_walls_cost_no_slow_import():
    """Kills walls that import ctypes, which takes longer than they do."""
    source = "import sys\n\n\ndef f(x):\n    return sorted({'ctypes', 'struct', 'subprocess'} & set(sys.modules))\n"
    walls = Sandbox.measure("best", ["bubblewrap", "uid", "cgroups"]).launch().walls
    assert talk(start(source) | {"walls": walls}, call("f", 1))[-1]["value"] == ["l"]


def test_plain_wire_values_are_json():
    assert json.loads(channel.dumps({"a": [1, None, True, 'q"\n', [2**70]]})) == {"a": [1, None, True, 'q"\n', [2**70]]}
