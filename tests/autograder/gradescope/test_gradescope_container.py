"""Submissions in Gradescope's container: what they earn, what they cannot do, and that a result always stands there.

The checkout is not in the container: what grades is the archive's own copy of the course.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import container
import corpus_runs
import pytest
from corpus_runs import HANGS
from gradescope_image import Graded, Image

from autograder import bank
from autograder.gradescope import bundle as gradescope
from autograder.items import Build

ROOT = Path(__file__).parents[3]
KEY = b"a-secret-key-7f3a"
#: Two functions and a class, of two chapters.
ITEMS = [bank.find(identifier) for identifier in ("01-locate", "01-shard-indices", "11-constraint-state")]
POINTS = sum(item.points for item in ITEMS if isinstance(item, Build))
FILES = ("ch01/ranks.py", "ch01/sharding.py", "ch11/constrained.py")
#: What isolates in such a container, without namespaces and control groups.
LINE = "sandbox: process limits, seccomp, landlock, uid"
#: Enough processor time that the tests are quick; memory and processes as Gradescope bounds them.
QUICK = container.Size(processors=2.0)

pytestmark = [pytest.mark.bwrap, pytest.mark.xdist_group("container")]
CORPUS, CLASSES = (pytest.mark.proof(part=part) for part in ("corpus", "classes"))
if container.unavailable():
    pytest.skip(f"no container here: {container.unavailable()}", allow_module_level=True)


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Image:
    built = Image(gradescope.archive(ITEMS, KEY), tmp_path_factory.mktemp("image"), size=QUICK)
    assert built.built.returncode == 0, built.built.stderr
    return built


def files(folder: str) -> dict[str, bytes]:
    return {Path(name).name: (ROOT / folder / name).read_bytes() for name in FILES}


def sound(graded: Graded) -> dict:
    """The result; what holds of every grading, whatever was handed in, is checked first."""
    assert graded.status == 0
    assert graded.left == ()
    assert graded.files == ("results.json", "stdout")
    assert not graded.changed
    assert KEY.decode() not in graded.text + graded.stdout
    results = graded.results
    assert results["score"] == pytest.approx(sum(test["score"] for test in results["tests"]))
    assert results["extra_data"]["gradable"] is (results["extra_data"]["reason"] == "")
    return results


def locate(body: str) -> dict[str, str]:
    """A submission whose ``locate`` does ``body``; everything else is left out."""
    return {"ranks.py": f"def locate(rank, ranks_per_node):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"}


RIGHT = """
if type(rank) is not int or type(ranks_per_node) is not int or rank < 0 or ranks_per_node < 1:
    raise ValueError("out of range")
return rank // ranks_per_node, rank % ranks_per_node
"""


# What is earned


@CLASSES
def test_the_solutions_get_full_marks(image):
    graded = image.grade(files("solutions"), json.dumps({"id": 77, "users": [{"email": "ada@example.org"}]}))
    results = sound(graded)
    assert results["score"] == POINTS
    assert results["extra_data"]["gradescope"] == {"submission": 77}
    assert "ada@" not in graded.text
    assert results["extra_data"]["sandbox"] == LINE
    assert LINE in graded.stdout.splitlines()
    assert results["stdout_visibility"] == "hidden"
    assert [test["status"] for test in results["tests"]] == ["passed"] * len(results["tests"])


@CLASSES
def test_the_stubs_get_nothing(image):
    results = sound(image.grade(files("labs")))
    assert results["score"] == 0
    assert results["extra_data"]["gradable"] is True
    assert len(results["tests"]) > 3


@CLASSES
def test_a_slip_is_named_and_loses_points(image):
    item = ITEMS[0]
    slip = next(slip for slip in item.slips if "swapped" in slip.sentence)
    results = sound(image.grade({**files("solutions"), "ranks.py": item.source_of(slip)}))
    assert 0 < results["score"] < POINTS
    assert slip.sentence in results["tests"][0]["output"]


@CLASSES
def test_nothing_handed_in_costs_no_attempt(image):
    results = sound(image.grade({}))
    assert (results["score"], results["tests"], results["extra_data"]["gradable"]) == (0.0, [], False)
    assert "holds no .py file and no notebook" in results["output"]


# What is tried

KILLS = """
import os
for signal in (15, 9):
    try:
        os.kill(-1, signal)
    except OSError:
        pass
"""
WRITES = """
for path in ("results/results.json", "results/x", "x", "run_autograder", "source/exam.json"):
    try:
        with open("/autograder/" + path, "w") as file:
            file.write('{"score": 1000}')
    except OSError:
        continue
    raise LookupError(path)
"""
DAEMON = """
import os
try:
    if not os.fork():
        os.setsid()
        while True:
            pass
except OSError:
    raise KeyError("refused") from None
"""
NETWORK = """
import socket
try:
    socket.create_connection(("127.0.0.1", 9), 0.1)
except PermissionError:
    raise KeyError("refused") from None
"""
#: Each body runs in every call of ``locate``: what it honestly earns, and a pattern in the feedback.
HOSTILE = {
    "kills everything": (KILLS + RIGHT, 4, "Public checks pass"),
    "writes the result": (WRITES + RIGHT, 4, "Public checks pass"),
    "prints a verdict": ("print('{\"score\": 1000}', flush=True)" + RIGHT, 4, "Public checks pass"),
    "forks a daemon": (DAEMON, 0, "raised KeyError"),
    "speaks to the network": (NETWORK, 0, "raised KeyError"),
    "eats memory": ("return [bytearray(10**8) for _ in range(10**4)]", 0, "raised MemoryError|does not return"),
    "runs forever": ("while True: pass", 0, "does not return"),
}


@CORPUS
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_submission_earns_what_it_computes(image, kind):
    body, earned, word = HOSTILE[kind]
    results = sound(image.grade(locate(body)))
    assert results["score"] == earned
    assert re.search(word, results["tests"][0]["output"])
    assert results["extra_data"]["gradable"] is True


READS = """
import os
paths = ["source", "source/key", "source/exam.json", "source/solutions/ch01/ranks.py", "results"]
paths += ["results/results.json", "results/stdout", "submission", "submission/ranks.py", "submission_metadata.json"]
paths = ["/autograder/" + path for path in paths]
for number in range(1, 30):
    if number != os.getpid():
        paths += [f"/proc/{number}/{name}" for name in ("environ", "mem", "fd", "root/autograder/source", "cwd")]
for path in paths:
    for read in (os.listdir, lambda path: open(path, "rb").read(1)):
        try:
            read(path)
        except OSError:
            continue
        raise LookupError(path)
raise KeyError("closed")
"""


@CORPUS
def test_nothing_of_the_grader_can_be_read(image):
    """Kills an archive that is unpacked for everybody: the key leads to every hidden input."""
    results = sound(image.grade(locate(READS)))
    assert "raised KeyError" in results["tests"][0]["output"]
    assert "LookupError" not in results["tests"][0]["output"]


@CORPUS
def test_the_files_are_closed_however_they_were_unpacked(tmp_path):
    """Kills a reliance on the permissions in the archive: not every program that unpacks keeps them."""
    image = Image(gradescope.archive(ITEMS[:1], KEY), tmp_path, size=QUICK)
    for path in [*(tmp_path / "source").rglob("*"), *tmp_path.iterdir()]:
        path.chmod(0o777)
    assert image.inside("bash", "/autograder/source/setup.sh").returncode == 0
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "source").rglob("*")} == {0}
    assert image.inside("/autograder/run_autograder").returncode == 0
    assert {path.name for path in tmp_path.iterdir() if path.stat().st_mode & 0o077} == {"run_autograder"}


def corpus(image: Image, folder: Path, *options: str) -> list[str]:
    """What the hostile corpus gets past the image's own copy of the grader, as sentences."""
    found = corpus_runs.in_container(image, folder, options)
    assert found["left_out"] == []
    assert found["sandbox"] == LINE
    return found["faults"]


@CORPUS
@pytest.mark.timeout(HANGS)
def test_the_whole_corpus_is_graded_soundly_in_the_container(image, tmp_path):
    """A busy machine may be late with an answer that is then called a time-out: those files are graded again, alone."""
    faults = corpus(image, tmp_path / "all", "--plain")
    late = [fault for fault in faults if fault.endswith("ended as timeout")]
    assert [fault for fault in faults if fault not in late] == []
    if late:
        names = [option for fault in late for option in ("--only", fault.partition(":")[0])]
        assert corpus(image, tmp_path / "late", "--plain", "--threads", "1", *names) == []


@CORPUS
@pytest.mark.timeout(HANGS)
@pytest.mark.skipif(not corpus_runs.same_python(), reason="the container's Python is another version than this one")
def test_files_that_need_torch_are_graded_soundly_in_the_container(tmp_path):
    """Kills: a profile without the calls that torch makes there. ``corpus_runs.py`` runs the other files."""
    size = container.Size(processors=2.0, memory=8 * 10**9)
    image = corpus_runs.image_with_torch(tmp_path / "built", size)
    assert corpus(image, tmp_path, "--heavy", "--torch", "3/10") == []


# When the grader cannot


@CLASSES
def test_a_host_that_cannot_isolate_refuses_and_costs_no_attempt(image):
    """Kills a silent fall-back: without seccomp nothing keeps the network away."""
    graded = image.grade(files("solutions"), denied=["seccomp", "landlock_create_ruleset"])
    results = sound(graded)
    assert (results["score"], results["tests"], results["extra_data"]["gradable"]) == (0.0, [], False)
    assert "this host cannot isolate network" in results["output"]


@CLASSES
def test_an_exam_may_take_what_there_is(tmp_path):
    image = Image(gradescope.archive(ITEMS[:1], KEY, "best"), tmp_path, size=QUICK)
    results = sound(image.grade(files("solutions"), denied=["seccomp", "landlock_create_ruleset"]))
    assert results["score"] == 4
    assert "not isolated: channels, network" in results["extra_data"]["sandbox"]


@CLASSES
@pytest.mark.skipif(bool(container.groups()), reason=container.groups())
def test_a_grader_that_is_killed_leaves_a_result(image):
    """Kills a result that is written only at the end."""
    results = sound(image.grade(files("solutions"), size=container.Size(memory=16 * 10**6, processors=2.0)))
    assert "Grading did not finish" in results["output"]
    assert results["extra_data"]["gradable"] is False


# Items that need torch


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, Path]:
    """What ``setup.sh`` makes when pip can install: here the packages of this environment are shown instead."""
    folder = tmp_path_factory.mktemp("opt") / "rankzero"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    if packages.parent.name != f"python{sys.version_info[0]}.{sys.version_info[1]}":
        pytest.skip(f"torch is installed for Python {sys.version.split()[0]}, not for /usr/bin/python3")
    inside = Path("/opt/rankzero", packages.relative_to(folder))
    return {"/opt/rankzero": folder, str(inside): Path(sysconfig.get_paths()["purelib"])}


@CLASSES
def test_a_tensor_item_is_graded_with_the_torch_of_the_image(tmp_path, environment):
    item = bank.find("07-load-balancing-loss")
    assert item.grade == "tensor"
    size = container.Size(memory=3 * 10**9, processors=2.0)
    data = gradescope.archive([item], KEY, requirements=["torch"])
    image = Image(data, tmp_path, size=size, shown=environment)
    data = (ROOT / "solutions" / item.file).read_bytes()
    results = sound(image.grade({f"{item.module}.py": data}))
    assert results["score"] == item.points
    assert results["extra_data"]["sandbox"] == LINE
