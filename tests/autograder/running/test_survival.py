"""The milestone "survive": the reference has every level; a wrong run loses the one it breaks and reads why.

Wrong runs on one rank live in this process, where a kill is an exception that nothing catches. Elsewhere processes are
really killed; in the sandbox, each of them takes seconds to start again.
"""

from __future__ import annotations

import base64
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from autograder import bank
from autograder.__main__ import main
from autograder.bank.ch15 import survival_disk
from autograder.bank.ch15.survival_attempts import Attempt
from autograder.bank.ch15.survival_disk import Disk
from autograder.commands import sheets
from autograder.items import Case, Kill, Level, NoQuestion, Played, Slip, Tensor, Verdict
from autograder.maintenance import verifying
from autograder.probes import trainer as driver
from autograder.running import systems
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit
from tests.autograder import another_survivor, nursery

*_, SURVIVE = bank.systems()
KEY = b"sesame"
STEPS, STATE, WRITE, DAMAGE, RANKS, BOUNDS = range(6)
ALONE = (STEPS, STATE, WRITE, DAMAGE, BOUNDS)

#: Each wrong run: the level that it loses, and words of the sentence that it reads.
WRONG = {
    "The checkpoint has no optimizer state.": (STATE, "the optimizer had lost its moments"),
    "The checkpoint has no random numbers.": (STATE, "the random numbers started over from the seed"),
    "The checkpoint has no place in the data.": (STATE, "the sampler had lost its place"),
    "Checkpoints are written in place, in two files by turns, and the turns begin anew with the process.": (
        WRITE,
        "the interrupted write was overwriting 'step-1', an existing file",
    ),
    "The newest file is taken without a look at it.": (
        DAMAGE,
        "Most likely it resumed from a file that was not intact",
    ),
    "Each rank resumes from its own newest step.": (RANKS, "The ranks resumed from different steps"),
    "A checkpoint is renamed before it is on the disk.": (BOUNDS, "sync a file before you rename it"),
    "No old checkpoint is ever removed.": (BOUNDS, "there were 5 files on the disk; 3 are allowed"),
    "A checkpoint is saved after every step.": (BOUNDS, "times what 5 checkpoints take"),
}

pytestmark = [pytest.mark.xdist_group("systems"), pytest.mark.timeout(1800)]
SYSTEMS = pytest.mark.proof(part="systems")


def handed(sources: dict[str, str]) -> Submission:
    """A submission of modules."""
    return Submission("survivor", tuple(Unit(f"{name}.py", source, name) for name, source in sources.items()))


def source(room: str) -> str:
    """The module as it is in ``solutions`` or ``labs``."""
    return next(unit.source for unit in verifying.submission(room, [SURVIVE.item]).units if unit.module == "survivor")


def named(slip: Slip) -> str:
    return f"survivor_{SURVIVE.item.slips.index(slip)}"


# Without a sandbox.


class Killed(BaseException):
    """The end of a life in this process."""


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Makes, of a program's source, what plays it on one rank in this process."""
    monkeypatch.setattr(driver, "dist", SimpleNamespace(get_rank=lambda: 0, get_world_size=lambda: 1))

    def player(text: str) -> Any:
        program: dict[str, Any] = {}
        exec(text, program)

        def play(case: Case, fresh: bool = False, desk: Any = None) -> Played:
            def ask(question: Any) -> Any:
                try:
                    return desk(0, question)
                except Kill:
                    raise Killed from None

            ((settings, rows),) = case.args
            given = torch.tensor(rows.tolist()).view(rows.shape)
            with torch.random.fork_rng(devices=[]):
                try:
                    returned = driver.survived(ask, program["run_job"], settings, given, **case.kwargs)
                except Killed:
                    return Played(killed=True)
                except Exception as error:
                    return Played(failure=f"raised {type(error).__name__}: {error}")
            return Played(({name: tensor(weight) for name, weight in returned.items()},))

        return play

    return player


def tensor(weight: torch.Tensor) -> Tensor:
    return Tensor.of(weight.flatten().tolist(), "float64", tuple(weight.shape))


def verdict(play: Any, place: int, key: bytes = KEY) -> Verdict:
    level = SURVIVE.levels[place]
    return systems.judged(level, systems.draw(SURVIVE, level, key), play)


#: In ``make test`` each third wrong run, at the level that it breaks.
TRIED = [
    pytest.param(slip, levels, id=f"{levels}: {slip.sentence}", marks=[SYSTEMS] if levels == "all" or place % 3 else [])
    for place, slip in enumerate(SURVIVE.item.slips)
    for levels in ("its own", "all")
]


@pytest.mark.parametrize(("slip", "levels"), TRIED)
def test_a_wrong_run_loses_the_level_that_it_breaks_and_reads_why(slip, levels, alone):
    lost, words = WRONG[slip.sentence]
    places = [place for place in ALONE if levels == "all" or place == lost]
    found = {place: verdict(alone(SURVIVE.item.source_of(slip)), place).wrong for place in places}
    assert [place for place, wrong in found.items() if wrong] == [lost] * (lost in ALONE), found
    assert words in found.get(lost, words)


@pytest.mark.parametrize("key", [b"one", *(pytest.param(key, marks=SYSTEMS) for key in (b"two", b"three"))])
def test_right_runs_pass_whatever_is_drawn(alone, key):
    """Kills: judges that know the reference only, and moments that a right run is not killed at."""
    agreeing = "    dist.all_reduce(newest, dist.ReduceOp.MIN)\n"
    for text in (source("solutions"), inspect.getsource(another_survivor).replace(agreeing, "")):
        for place in ALONE:
            found = verdict(alone(text), place, key)
            assert not found.wrong, found
            assert found.costs.repeated is not None
            assert found.costs.repeated.spent == found.costs.repeated.least


#: What a program can do beside surviving: the level that is asked, its body and words of its sentence.
BODIES = {
    "nothing": (STEPS, "pass", "Without a kill, rank 0 does not end with the weights"),
    "no checkpoint": (STEPS, "while job.done < job.steps: job.step()", "the last attempt started from scratch"),
    "no write to be cut off": (WRITE, "while job.done < job.steps: job.step()", "save after every"),
    "a full disk": (STEPS, "for n in range(101): disk.write(str(n), b'x')", "raised OSError"),
    "a large file": (STEPS, "disk.write('x', bytes(17 << 20))", "raised OSError"),
    "no such file": (STEPS, "disk.read('x')", "raised FileNotFoundError"),
    "a path for a name": (STEPS, "disk.write(3, b'x')", "must be a string, got 3"),
    "a text for bytes": (STEPS, "disk.write('x', 'text')", "raised TypeError"),
}


@pytest.mark.parametrize("what", BODIES)
def test_what_does_not_survive_is_told_so(what, alone):
    place, body, words = BODIES[what]
    assert words in verdict(alone(f"def run_job(job, disk):\n    {body}\n"), place).wrong


# The disk.


def write(disk: Disk, name: str, data: bytes) -> dict[str, Any]:
    return disk.answer("write", [name, base64.b64encode(data).decode()])


def test_a_crash_cuts_off_what_was_not_synced_under_whatever_name():
    disk = Disk()
    for name in ("draft", "loose", "synced"):
        write(disk, name, bytes(range(100)))
    disk.answer("sync", ["synced"])
    disk.answer("rename", ["draft", "named"])
    disk.crash(Random(0))
    assert disk.files["synced"] == bytes(range(100))
    assert all(0 < len(disk.files[name]) < 100 for name in ("loose", "named"))
    assert disk.lost in ("loose", "named")


def test_a_write_that_is_cut_off_leaves_its_beginning_in_place_of_what_was_there():
    disk = Disk()
    write(disk, "x", b"before")
    disk.cut("x", b"afterwards", 0.5)
    assert disk.files == {"x": b"after"}
    assert disk.overwritten == "x"


def test_damage_changes_eight_bytes_of_the_newest_file_alone():
    disk = Disk()
    write(disk, "a", bytes(100))
    write(disk, "b", bytes(100))
    disk.answer("rename", ["a", "c"])
    disk.damage(Random(1))
    assert disk.files["b"] == bytes(100)
    assert sorted(disk.files["c"]) == [0] * 92 + [255] * 8


def test_a_disk_answers_what_drivers_ask_and_nothing_else():
    disk = Disk()
    assert write(disk, "x", b"data") == {"value": None}
    assert disk.answer("read", ["x"]) == {"value": base64.b64encode(b"data").decode()}
    assert disk.answer("names", []) == {"value": ["x"]}
    assert disk.answer("remove", ["y"]) == {"missing": "y"}
    assert disk.answer("remove", ["x"]) == {"value": None}
    assert (disk.files, disk.written, disk.most) == ({}, 4, 1)
    assert write(disk, "x", bytes(survival_disk.ROOM + 1)) == {"full": "x"}
    for kind, given in (("read", []), ("read", [3]), ("write", ["x", "no base64"]), ("names", ["x"])):
        with pytest.raises(NoQuestion):
            disk.answer(kind, given)  # type: ignore[arg-type]


@pytest.mark.parametrize("question", [None, [], ["fly"], [["names"]], {"names": 1}, ["__class__"], ["crash"]])
def test_a_desk_answers_no_other_questions(question):
    with pytest.raises(NoQuestion):
        Attempt([Disk()])(0, question)


# In processes.


class Witness:
    """Plays, and sees that whoever is killed is dead."""

    def __init__(self, runner: Runner, module: str) -> None:
        self.player = systems.Player(SURVIVE.item.moved_to(module), runner)
        self.killed = 0

    def __call__(self, case: Case, fresh: bool = False, desk: Any = None) -> Played:
        played = self.player(case, fresh, desk)
        if played.killed:
            for child in list(self.player.runner.children.started.values())[: len(case.args)]:
                self.killed += 1
                with pytest.raises(ProcessLookupError):
                    os.kill(child.pid, 0)
        return played


#: Programs that are no run.
NO_RUNS = {
    "dies": "def run_job(job, disk):\n    import os\n    os._exit(3)\n",
    "lies": "def run_job(job, disk):\n    disk._ask(['fly'])\n",
    "waits": (
        "import torch, torch.distributed as dist\n\n\ndef run_job(job, disk):\n"
        "    if job.rank: dist.all_reduce(torch.zeros(1))\n"
    ),
}


def sandboxed() -> dict[str, str]:
    """The programs that run in processes, by the names of their modules."""
    slips = SURVIVE.item.slips
    apart = next(SURVIVE.item.source_of(slip) for slip in slips if slip.sentence.startswith("Each rank"))
    right = {"survivor": source("solutions"), "another": inspect.getsource(another_survivor)}
    return {**right, "stub": source("labs"), "apart": apart, **NO_RUNS}


@pytest.fixture(scope="module", params=nursery.WALLS)
def runner(request, forked) -> Iterator[Runner]:
    """One runner for all programs, each a module of one submission."""
    limits = replace(systems.limits(SURVIVE), tensors=600.0)
    with Runner(handed(sandboxed()), Processes(Sandbox.measure(request.param)), limits, [SURVIVE.item]) as made:
        yield made


@SYSTEMS
def test_what_is_no_run_is_told_so(runner):
    """Kills: a broker that hangs or passes something, whatever a program does instead."""
    assert {verdict(Witness(runner, "stub"), place).wrong for place in range(6)} == {
        "not implemented yet (cap-survive: not written yet)"
    }
    assert verdict(Witness(runner, "stub"), RANKS).open
    assert "exited with status 3" in verdict(Witness(runner, "dies"), STEPS).wrong
    assert "broke the rules of its channel" in verdict(Witness(runner, "lies"), STEPS).wrong
    assert "all_reduce" in verdict(Witness(runner, "waits"), RANKS).wrong


@SYSTEMS
def test_the_reference_survives_every_kill_and_repeats_no_more_than_it_has_to(runner):
    witness = Witness(runner, "survivor")
    found = [verdict(witness, place) for place in range(6)]
    assert [one.wrong for one in found] == [""] * 6
    assert witness.killed == 2 + 1 + 4 + 2 + 2 * 2 + 2
    assert all(one.costs.repeated and one.costs.repeated.spent == one.costs.repeated.least > 0 for one in found)
    bounds = found[BOUNDS].costs
    assert bounds.written is not None
    assert bounds.written.least < bounds.written.spent < 1.2 * bounds.written.least
    assert bounds.files == (3, 3)


@SYSTEMS
def test_two_ranks_that_do_not_agree_read_so_and_others_agree_in_their_own_way(runner):
    _, words = WRONG["Each rank resumes from its own newest step."]
    wrong = verdict(Witness(runner, "apart"), RANKS).wrong
    assert words in wrong
    assert wrong.startswith("Rank 1 was killed before it wrote a checkpoint.")
    assert verdict(Witness(runner, "another"), RANKS).wrong == ""


@SYSTEMS
def test_two_ranks_survive_together_and_a_stub_does_not(runner):
    """What no process alone can show: ranks that are killed apart resume from one step."""
    witness = Witness(runner, "survivor")
    assert verdict(witness, RANKS).wrong == ""
    assert witness.killed == 4
    stub = verdict(Witness(runner, "stub"), RANKS)
    assert (stub.wrong, stub.open) == ("not implemented yet (cap-survive: not written yet)", True)


def test_each_level_is_drawn_by_the_key():
    """Kills: jobs that are in the bank, and levels that depend on those before them."""

    def cases(key: bytes, place: int) -> list[Case]:
        seen: list[Case] = []

        def play(case: Case, fresh: bool = False, desk: Any = None) -> Played:
            seen.append(case)
            return Played(failure="only asked")

        assert verdict(play, place, key).wrong == "only asked"
        return seen

    for place in range(6):
        assert cases(KEY, place) == cases(KEY, place)
        assert cases(KEY, place) != cases(b"other", place)


# The command.


@pytest.mark.parametrize("identifier", ["cap-survive", "15-survive"])
def test_the_command_prints_a_sheet(capsys, key, monkeypatch, identifier, tmp_path):
    small = replace(SURVIVE, levels=(Level("never judged", lambda rng, play: Verdict("No.")),))
    monkeypatch.setattr(bank, "systems", lambda: (small,))
    (tmp_path / "survivor.py").write_text(source("labs"), encoding="utf-8")
    assert main(["milestone", str(tmp_path / "survivor.py"), "--only", identifier, "--key", key]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("cap-survive: 1 levels; steps redone")
    assert " ".join(said[1].split()) == "level verdict steps redone / least bytes saved / least files / most"
    assert " ".join(said[2].split()) == "1 never judged wrong"
    assert said[4].startswith("cap-survive: 0 of 1 level")


def test_the_reference_is_as_short_as_it_has_to_be():
    submission = verifying.submission("solutions", [SURVIVE.item])
    assert 0 < sheets.lines(SURVIVE, submission) <= SURVIVE.lines
