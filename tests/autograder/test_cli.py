"""The command line: exit status, one line for an error, the key, and what ``list`` and ``probe`` say."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import bank, closure, sandbox
from autograder.__main__ import main

ROOT = Path(__file__).parents[2]
PLAIN = [item.id for item in bank.builds() if item.grade in ("call", "calls")]
ONE = ["--only", "05-zero-memory", "--sandbox", "none"]


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    path.write_text("sesame\n")
    return str(path)


def test_the_solutions_get_full_marks(tmp_path, key):
    """The closed forms here; the world items stand in ``test_full_marks.py``."""
    out, labs = tmp_path / "results.json", tmp_path / "labs"
    labs.mkdir()
    topics = {f"solutions.{bank.find(name).module}" for name in PLAIN}
    for path in closure.modules(topics).values():  # the rest of the folder runs the pages
        if path.parent == ROOT / "solutions":
            shutil.copy(path, labs)
    assert main(["grade", str(labs), "--only", *PLAIN, "--key", key, "--out", str(out)]) == 0
    results = json.loads(out.read_text())
    assert results["score"] == pytest.approx(sum(bank.find(name).points for name in PLAIN))  # optional ones too


def test_the_stubs_get_nothing(tmp_path, key):
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), "--only", *PLAIN, "--key", key, "--out", str(out)]) == 0
    assert json.loads(out.read_text())["score"] == 0


def test_a_random_key_is_named_and_grades_the_same_again(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("AUTOGRADER_KEY", raising=False)
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), *ONE, "--out", str(out)]) == 0
    extra = json.loads(out.read_text())["extra_data"]
    assert f"key: {extra['key']} (drawn at random" in capsys.readouterr().out
    (tmp_path / "key").write_text(extra["key"])
    assert main(["grade", str(ROOT / "labs"), *ONE, "--out", str(out), "--key", str(tmp_path / "key")]) == 0
    again = json.loads(out.read_text())["extra_data"]
    assert (again["vectors"], again["key_hash"]) == (extra["vectors"], extra["key_hash"])
    assert "key" not in again


def test_a_given_key_is_never_written(tmp_path, key, capsys):
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), *ONE, "--key", key, "--out", str(out)]) == 0
    assert "sesame" not in out.read_text() + capsys.readouterr().out


def test_the_key_is_taken_out_of_the_environment(tmp_path, monkeypatch, capsys):
    """Kills: a child, or a slip's process, that inherits the key."""
    monkeypatch.setenv("AUTOGRADER_KEY", "sesame")
    assert main(["grade", str(ROOT / "labs"), *ONE]) == 0
    assert "AUTOGRADER_KEY" not in os.environ
    assert "drawn at random" not in capsys.readouterr().out


def test_the_key_may_come_from_standard_input(monkeypatch, capsys):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("sesame\n"))
    assert main(["grade", str(ROOT / "labs"), *ONE, "--key", "-"]) == 0
    assert "drawn at random" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["grade", "no-such-file.py"], "there is no file or folder no-such-file.py"),
        (["grade", "labs", "--only", "05-zero-memry"], "did you mean 05-zero-memory"),
        (["grade", "labs", "--only", "77"], "no item '77'"),
        (["grade", "labs", "--only", "03-steps"], "they count with --with-questions"),
        (["grade", "labs", "--key", "no-such-key"], "the key cannot be read from no-such-key"),
        (["grade", "labs", "--key", os.devnull], "is empty"),
        (["grade", "labs", "--out", "no/such/folder/results.json"], "the results cannot be written"),
    ],
)
def test_usage_errors_are_one_line_and_status_2(arguments, sentence, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert sentence in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["grade"], ["mark", "x"], ["grade", "x", "--sandbox", "some"]])
def test_unknown_commands_and_options_end_with_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_a_required_sandbox_that_is_missing_is_refused_with_a_result(tmp_path, key, capsys, monkeypatch):
    """Kills: falling back in silence."""
    nothing = (sandbox.ProcessLayer(), "")
    monkeypatch.setattr(sandbox, "measured", lambda: (nothing,))
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), "--sandbox", "required", "--key", key, "--out", str(out)]) == 3
    assert "cannot isolate files and network" in capsys.readouterr().err
    assert json.loads(out.read_text())["extra_data"]["gradable"] is False


def test_a_failure_of_the_grader_is_one_line_and_leaves_the_first_result(tmp_path, key, capsys, monkeypatch):
    """Kills: a traceback, and a missing result file, when the grader itself is wrong."""
    monkeypatch.setattr("autograder.judge.judge", lambda *_: 1 / 0)
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), *ONE, "--key", key, "--out", str(out)]) == 1
    assert capsys.readouterr().err == "autograder: the grader failed: ZeroDivisionError: division by zero\n"
    assert "did not finish" in json.loads(out.read_text())["output"]


def test_list_names_every_item(capsys):
    assert main(["list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == [item.id for item in bank.items()]
    assert all(set(row) == {"id", "chapter", "kind", "topic", "function"} for row in rows)
    assert {"build", "debug", "derive"} <= {row["kind"] for row in rows}
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(rows)


def test_probe_says_what_this_host_isolates(capsys):
    assert main(["probe"]) == 0
    assert "process limits: yes" in capsys.readouterr().out


def test_typed_answers_count_only_when_asked_for(tmp_path, key, capsys):
    (tmp_path / "a.py").write_text("predict('03-steps', 2 * (16 - 1))\npredict('03-star', 7, 8)\n")
    chosen = ["grade", str(tmp_path / "a.py"), "--only", "03-steps", "03-star", "05-zero-memory", "--key", key]
    assert main(chosen) == 0
    assert "0 of 4 points" in capsys.readouterr().out
    assert main([*chosen, "--with-questions"]) == 0
    assert "1 of 6 points" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--help"], ["list"]])
def test_the_command_line_imports_nothing_heavy(arguments):
    """Kills: a command line that takes seconds to say how it is used."""
    code = (
        "import sys; from autograder.__main__ import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'numpy', 'matplotlib', 'IPython', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
