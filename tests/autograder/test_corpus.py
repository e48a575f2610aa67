"""The hostile corpus as a class: with every layer, without each one, with none, and as an ordinary user.

Each configuration is a process of its own (``corpus.py``): what survives it comes to this one, and is seen.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import corpus
import corpus_items
import psutil
import pytest

from autograder import compare, judge
from autograder.process import PR_SET_CHILD_SUBREAPER, become_subreaper, subreaping
from autograder.replies import Reader
from autograder.sandbox import Sandbox

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("seccomp", "landlock", "bubblewrap", "uid", "cgroups")
CONFIGURATIONS = {"every layer": ["--plain"], "no sandbox": ["--sandbox", "none", "--torch", "5/12"]}
CONFIGURATIONS |= {f"every layer, torch {part}": ["--heavy", "--torch", f"{part}/3"] for part in range(3)}
CONFIGURATIONS |= {f"without {name}": ["--without", name, "--torch", f"{n}/12"] for n, name in enumerate(LAYERS)}
CONFIGURATIONS["without uid"] += ["--without", "bubblewrap"]  # beside bubblewrap it is not in use
#: Seconds after which a run of the corpus hangs.
HANGS = 900
#: A user that owns nothing here.
NOBODY = 64321


@pytest.fixture
def orphans() -> Iterator[None]:
    """Whatever outlives a run comes to this process, and there must be nothing."""
    before, was = {process.pid for process in psutil.Process().children(recursive=True)}, subreaping()
    become_subreaper()
    yield
    left = [process for process in psutil.Process().children(recursive=True) if process.pid not in before]
    if sys.platform == "linux" and not was:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    assert [process.cmdline() for process in left if process.status() != psutil.STATUS_ZOMBIE] == []


def found(done: subprocess.CompletedProcess[str], out: Path) -> dict:
    """What a run wrote, when it found nothing."""
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(out.read_text())
    assert report["faults"] == []
    return report


@pytest.mark.timeout(HANGS + 60)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_file_earns_what_it_honestly_earns(name, tmp_path, orphans):
    """Kills: a false score, a leak, a survivor, a file left, a crash or a hang, whichever layer is missing."""
    argv = [sys.executable, str(ROOT / "tests/autograder/corpus.py"), "--json", str(tmp_path / "out.json")]
    done = subprocess.run([*argv, *CONFIGURATIONS[name]], capture_output=True, text=True, timeout=HANGS, check=False)
    report = found(done, tmp_path / "out.json")
    left_out = {"no sandbox": 60}.get(name, 40 if "not isolated" in report["sandbox"] else 0)
    assert len(report["left_out"]) <= left_out
    assert len(report["verdicts"]) >= (12 if "torch" in name else 180)
    assert name.removeprefix("without ") not in report["sandbox"].split(";")[0].split(": ")[1].split(", ")


def test_without_a_layer_it_is_not_there():
    """Kills: a run that is called "without bubblewrap" and has it."""
    for name in LAYERS:
        assert name not in [layer.name for layer in Sandbox.measure("best", without=(name,)).layers]


def readable_python() -> str | None:
    """A Python of 3.11 or later that any user can start."""
    for path in ("/usr/bin/python3", "/usr/local/bin/python3"):
        code = "import sys, ctypes; sys.exit(sys.version_info < (3, 11))"
        if os.path.exists(path) and subprocess.run([path, "-c", code], user=NOBODY, check=False).returncode == 0:
            return path
    return None


@pytest.fixture
def copy() -> Iterator[Path]:
    """The grader and the corpus in a folder that any user can read, and ``out``, which any can write."""
    folder = Path(tempfile.mkdtemp(prefix="corpus-copy-"))
    ignore = shutil.ignore_patterns("__pycache__")
    for part in ("autograder", "rankzero", "tests/autograder/hostile"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignore)
    for part in ("corpus.py", "corpus_items.py"):
        shutil.copy(ROOT / "tests/autograder" / part, folder / "tests/autograder")
    (folder / "out").mkdir()
    subprocess.run(["chmod", "-R", "go+rX", str(folder)], check=True)
    (folder / "out").chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.timeout(HANGS + 60)
@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="this is an ordinary user already")
def test_the_same_for_an_ordinary_user(copy, orphans):
    """Kills: a grader that is safe only as root, and one that cannot run as anybody else."""
    python = readable_python()
    if python is None:
        pytest.skip("no Python >= 3.11 that another user can start")
    argv = [python, "-B", str(copy / "tests/autograder/corpus.py"), "--plain", "--json", str(copy / "out/out.json")]
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    env = {"PATH": os.defpath, "HOME": str(copy / "out")}
    done = subprocess.run(argv, cwd=copy, env=env, capture_output=True, text=True, timeout=HANGS, check=False, **who)
    report = found(done, copy / "out/out.json")
    assert len(report["verdicts"]) >= 150
    assert "uid" not in report["sandbox"].split(", ")


# The corpus itself.


def test_there_are_at_least_220_files_and_each_says_what_it_tries():
    files = corpus.files()
    sentences = [file.read_text(encoding="utf-8").splitlines()[0].strip('"') for file in files]
    assert len(files) >= 220
    assert len(set(sentences)) == len(files)
    assert all(sentence.endswith(".") for sentence in sentences)


def test_every_item_is_attacked_and_answered_rightly():
    """Kills: a corpus in which nothing can earn anything, which a grader that gives no points would pass."""
    earned = {}
    for file in corpus.files():
        earned.setdefault(corpus.header(file, "item")[0], []).append(float(corpus.header(file, "earns")[0]))
    assert set(earned) == set(corpus_items.ITEMS)
    for points in earned.values():
        assert points.count(0) >= 3
        assert max(points) == 4


def test_a_grader_that_takes_everything_for_right_is_seen(monkeypatch):
    monkeypatch.setattr(compare, "fault", lambda *_, **__: None)
    chosen = [
        corpus.FOLDER / f"{name}.py" for name in ("nan", "forged_kinds", "missing_function", "equal_to_everything")
    ]
    verdicts = corpus.run(chosen, corpus.papers(chosen), Sandbox.measure("none"))
    assert all(any(fault.startswith("earned") for fault in verdict.faults) for verdict in verdicts[:2])


def test_a_leak_is_seen():
    """Kills: a corpus that looks for leaks where there can be none."""
    exam = corpus.papers([corpus.FOLDER / "nan.py"])["call"]
    asked = next(asked for asked in exam.paper(exam.items[0]).asked if asked.group and asked.expected.kind == "value")
    (number, *_), value = asked.case.args[0], asked.expected.value
    for text in (f"got {number}", f"Got_{number:.4f}".replace(".", "_"), f"expected {value:.4f}", corpus.SECRET):
        assert corpus.leaks(text, exam)
    assert corpus.leaks("raised ValueError at line 12; 3 of 4 public cases", exam) == []


def test_what_is_left_behind_is_seen():
    """Kills: a corpus that would not see a survivor, a file or a changed limit."""
    with corpus.Surroundings() as around:
        assert around.faults() == []
        Path(around.folder, "left").touch()
        stays = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        around.bystander.kill()
        around.bystander.wait()
        seen = "\n".join(around.faults())
        stays.kill()
        stays.communicate()
    assert "left is left" in seen
    assert f"{stays.pid} survives" in seen
    assert "was reached" in seen


def test_a_grader_that_shows_what_a_child_says_is_seen(monkeypatch):
    """Kills: the texts of exceptions, statuses of exits and made-up refusals in a report."""
    monkeypatch.setattr(judge, "_without_text", lambda outcome: outcome)
    monkeypatch.setattr(Reader, "_refusal", lambda _, reply: reply["what"])
    chosen = [corpus.FOLDER / f"{name}.py" for name in ("forged_refusal", "status_tells", "text_tells")]
    verdicts = corpus.run(chosen, corpus.papers(chosen), Sandbox.measure("none"))
    assert all(any("the report shows" in fault for fault in verdict.faults) for verdict in verdicts)
