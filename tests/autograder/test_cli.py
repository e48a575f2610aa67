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
from autograder.items import Build, Choice, Estimate, Order, Question, Slip
from tests.autograder.a_class import written_key

ROOT = Path(__file__).parents[2]
PLAIN = [item.id for item in bank.builds() if item.grade in ("call", "calls")]
ONE = ["--only", "05-zero-memory", "--sandbox", "none"]


@pytest.mark.proof(part="systems")
def test_the_solutions_get_full_marks(tmp_path, key):
    """The closed forms here; the world items stand in ``test_full_marks.py``."""
    out, labs = tmp_path / "results.json", tmp_path / "labs"
    labs.mkdir()
    topics = {f"solutions.{bank.find(name).home}" for name in PLAIN}
    for path in closure.modules(topics).values():  # the rest of the folder runs the pages
        if ROOT / "solutions" in path.parents:
            shutil.copy(path, labs)
    assert main(["grade", str(labs), "--only", *PLAIN, "--key", key, "--out", str(out)]) == 0
    results = json.loads(out.read_text())
    assert results["score"] == pytest.approx(sum(bank.find(name).points for name in PLAIN))  # optional ones too


def test_the_stubs_get_nothing(tmp_path, key):
    """One item in ten: all of them stand in ``test_full_marks.py``."""
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), "--only", *PLAIN[::10], "--key", key, "--out", str(out)]) == 0
    assert json.loads(out.read_text())["score"] == 0


def test_a_random_key_is_named_and_grades_the_same_again(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("AUTOGRADER_KEY", raising=False)
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), *ONE, "--out", str(out)]) == 0
    extra = json.loads(out.read_text())["extra_data"]
    assert f"key: {extra['key']} (drawn at random" in capsys.readouterr().out
    key = written_key(tmp_path / "key", extra["key"])
    assert main(["grade", str(ROOT / "labs"), *ONE, "--out", str(out), "--key", key]) == 0
    again = json.loads(out.read_text())["extra_data"]
    assert (again["vectors"], again["key_hash"]) == (extra["vectors"], extra["key_hash"])
    assert "key" not in again


def test_a_given_key_is_never_written(tmp_path, key, capsys):
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), *ONE, "--key", key, "--out", str(out)]) == 0
    assert "sesame" not in out.read_text() + capsys.readouterr().out


def test_the_key_is_taken_out_of_the_environment(tmp_path, monkeypatch, capsys):
    """Kills: a child, or a slip's process, that inherits the key."""
    if not sandbox.Sandbox.measure("best").isolated:
        pytest.skip(sandbox.Sandbox.measure("best").line)
    monkeypatch.setenv("AUTOGRADER_KEY", "sesame")
    assert main(["grade", str(ROOT / "labs"), *ONE[:2]]) == 0
    assert "AUTOGRADER_KEY" not in os.environ
    assert "drawn at random" not in capsys.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_where_submissions_can_read_it_a_key_in_the_environment_is_refused(tmp_path, monkeypatch, capsys):
    """Kills: a key that is taken out of the environment and still stands in ``/proc`` of the grader and its shell."""
    submission = tmp_path / "in" / "thief.py"
    submission.parent.mkdir()
    submission.write_text("raise KeyError(open(f'/proc/{__import__(\"os\").getppid()}/environ').read())\n")
    out = tmp_path / "out"
    for command in (["grade", str(submission)], ["grade-class", str(submission.parent), "--out", str(out)]):
        monkeypatch.setenv("AUTOGRADER_KEY", "sesame")
        assert main([*command, *ONE]) == 2
        said = capsys.readouterr()
        assert said.err.startswith("autograder: submissions could read AUTOGRADER_KEY")
        assert "--key -" in said.err
        assert (said.out, said.err.count("\n")) == ("", 1)
    assert not out.exists()
    monkeypatch.setenv("AUTOGRADER_KEY", "sesame")
    assert main(["grade", str(submission), *ONE, "--key", written_key(tmp_path / "key", "another")]) == 0


@pytest.mark.parametrize(("mode", "status"), [(0o600, 0), (0o400, 0), (0o640, 0), (0o644, 2), (0o604, 2), (0o602, 2)])
def test_a_key_that_other_users_can_read_is_refused(mode, status, tmp_path, capsys):
    """Kills: a key file that every submission of another user, and every learner with an account, can open."""
    key = written_key(tmp_path / "key", "sesame", mode)
    assert main(["grade", str(ROOT / "labs"), *ONE, "--key", key]) == status
    said = capsys.readouterr().err
    assert said == ("" if not status else f"autograder: other users can open the key in {key}: run chmod 600 {key}\n")


#: A grader and a child of one user that is not root. A process that has changed its user is closed: that is undone.
SNOOP = """
import ctypes, os, sys
sys.path.insert(0, os.getcwd())
from autograder.commands import common
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
common.read_key(sys.argv[1] if len(sys.argv) > 1 else None)
grader = os.getpid()
if os.fork() == 0:
    for name in ("environ", "mem", "fd"):
        try:
            (os.listdir if name == "fd" else open)(f"/proc/{grader}/{name}")
            print("open", end=" ")
        except PermissionError:
            print("closed", end=" ")
    sys.stdout.flush()
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_the_memory_of_a_grader_with_a_key_is_closed_to_other_processes_of_its_user():
    """Kills: a key and expected values that a child without walls reads in the memory of its parent."""
    done = subprocess.run(
        [sys.executable, "-c", SNOOP], cwd=ROOT, env={"AUTOGRADER_KEY": "sesame"}, capture_output=True, text=True
    )
    assert done.stdout.split() == ["closed"] * 3, done.stderr


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
        (["grade", "labs", "--only", "2"], "no item '2'; did you mean 02, the whole chapter?"),
        (["grade", "labs", "--only", "ch15"], "no item 'ch15'; did you mean cap, the whole chapter?"),
        (["grade", "labs", "--only", "02,03"], "no item '02,03': put spaces between names, as in --only 02 03"),
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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["grade"], "the following arguments are required: submission"),
        (["mark", "x"], "invalid choice: 'mark'"),
        (["grade", "x", "--sandbox", "some"], "argument --sandbox: invalid choice: 'some'"),
        (["grade", "x", "--only"], "argument --only: expected at least one argument"),
        (["list", "--nope"], "unrecognized arguments: --nope"),
        (["vectors", "freeze"], "the following arguments are required: --out"),
        (["grade-class", "x", "--out", "y", "--workers", "many"], "argument --workers: invalid int value: 'many'"),
    ],
)
def test_unknown_commands_and_options_are_one_line_and_status_2(arguments, sentence, capsys):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.err.startswith("autograder: ")
    assert sentence in said.err
    assert "--help)" in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_stopping_is_one_line(key, capsys, monkeypatch):
    """Kills: a traceback for Ctrl-C."""
    monkeypatch.setattr("autograder.running.judging.judge", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["grade", str(ROOT / "labs"), *ONE, "--key", key]) == 1
    assert capsys.readouterr().err == "autograder: stopped\n"


def test_a_required_sandbox_that_is_missing_is_refused_with_a_result(tmp_path, key, capsys, monkeypatch):
    """Kills: falling back in silence."""
    nothing = (sandbox.ProcessLayer(), "")
    monkeypatch.setattr("autograder.sandbox.layers.measured", lambda: (nothing,))
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), "--sandbox", "required", "--key", key, "--out", str(out)]) == 3
    assert "cannot isolate files and network" in capsys.readouterr().err
    assert json.loads(out.read_text())["extra_data"]["gradable"] is False


def test_a_failure_of_the_grader_is_one_line_and_leaves_the_first_result(tmp_path, key, capsys, monkeypatch):
    """Kills: a traceback, and a missing result file, when the grader itself is wrong."""
    monkeypatch.setattr("autograder.running.judging.judge", lambda *_: 1 / 0)
    out = tmp_path / "results.json"
    assert main(["grade", str(ROOT / "labs"), *ONE, "--key", key, "--out", str(out)]) == 1
    assert capsys.readouterr().err == "autograder: the grader failed: ZeroDivisionError: division by zero\n"
    assert "did not finish" in json.loads(out.read_text())["output"]


def test_an_edit_that_no_longer_applies_is_one_line_with_its_text(capsys, monkeypatch):
    """Kills: "the grader failed", where a slip quotes text that is gone from the reference."""
    stale = Slip("Too many steps.", edit=("ranks - 7", "ranks"))
    monkeypatch.setattr("autograder.maintenance.verifying.exercises", lambda items, *_: items[0].program_of(stale))
    assert main(["verify", *ONE]) == 1
    said = capsys.readouterr().err
    assert said.startswith("autograder: a wrong program of the bank cannot be made: ")
    assert "'ranks - 7' must occur exactly once" in said


def test_list_names_every_item(capsys):
    assert main(["list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == [item.id for item in bank.items()]
    assert all(set(row) == {"id", "chapter", "kind", "topic", "function"} for row in rows)
    assert {"build", "debug", "derive"} <= {row["kind"] for row in rows}
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(rows)


def test_slips_shows_the_sentence_beside_the_edit(capsys):
    assert main(["slips", "03-ring-all-reduce-time"]) == 0
    shown = capsys.readouterr().out
    item = bank.find("03-ring-all-reduce-time")
    assert [slip.sentence for slip in item.slips if slip.sentence not in shown] == []
    changes = [line.strip() for slip in item.slips for _, new in slip.changes for line in new.splitlines()]
    assert changes
    assert [line for line in changes if line not in shown] == []


@pytest.mark.parametrize("kind", [Build, Question, Choice, Order, Estimate])
def test_slips_shows_items_of_every_kind(kind, capsys):
    item = next(item for item in bank.items() if isinstance(item, kind))
    assert main(["slips", item.id]) == 0
    assert bool(capsys.readouterr().out) == (kind is not Order)


def test_slips_of_an_item_that_is_not_there(capsys):
    assert main(["slips", "05-zero-memori"]) == 2
    assert "did you mean 05-zero-memory" in capsys.readouterr().err


def test_probe_says_what_this_host_isolates(capsys):
    assert main(["probe"]) == 0
    assert "process limits: yes" in capsys.readouterr().out


def test_typed_answers_count_only_when_asked_for(tmp_path, key, capsys):
    (tmp_path / "a.py").write_text("predict('03-eight-gpus-volume', 2 * 7 / 8)\npredict('03-star', 7, 8)\n")
    chosen = ["grade", str(tmp_path / "a.py"), "--only", "03-eight-gpus-volume", "03-star", "05-zero-memory"]
    chosen += ["--key", key]
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
