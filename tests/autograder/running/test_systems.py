"""The milestone "trainer": the reference has every level; a wrong trainer loses the one it breaks and reads why."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from dataclasses import replace

import pytest

from autograder import bank
from autograder.__main__ import main
from autograder.commands import sheets
from autograder.items import Case, Cost, Desk, Level, LevelCosts, Played, Slip, System, Verdict
from autograder.maintenance import verifying
from autograder.running import systems
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit
from tests.autograder import another_trainer, nursery

TRAINER, *_ = bank.systems()
KEY = b"sesame"
ONE, REPLICAS, BUCKETS, ZERO, TENSOR, PIPELINE, RESUMED = range(7)

#: Each wrong trainer: the level that it loses, words of the sentence that it reads, and whether all levels are asked.
WRONG = {
    "No gradient is averaged.": (REPLICAS, "The gradients were never averaged", True),
    "The gradients are averaged twice.": (REPLICAS, "averaged twice: they are 2 times too small", True),
    "The last bucket, which is not full, is never sent.": (BUCKETS, "A bucket was lost: after one step", True),
    "The step is taken while the buckets are still on their way.": (BUCKETS, "The step was taken before", True),
    "The checkpoint has no optimizer state.": (RESUMED, "the optimizer began again without momentum", True),
    "Every rank counts the same.": (REPLICAS, "With unequal rows: Every rank counts the same", False),
    "A rank without rows skips the step.": (REPLICAS, "With a rank that has no rows: deadlock", False),
    "Every bucket is waited for inside the backward pass.": (BUCKETS, "waited for every bucket at once", False),
    "Every gradient is sent alone.": (BUCKETS, "pieces a step; buckets that are sent when they hold", False),
    "Gradients are reduced in every micro-step.": (BUCKETS, "2 times the", False),
    "ZeRO 2 keeps whole gradients until the last micro-batch.": (ZERO, "ZeRO 2: a rank holds", False),
    "The gradient of a split layer's input is not added up.": (TENSOR, "(the operator f)", False),
    "All forward passes come before the first backward pass.": (PIPELINE, "micro-batches in flight", False),
}

pytestmark = [pytest.mark.xdist_group("systems"), pytest.mark.timeout(1800)]
SYSTEMS = pytest.mark.proof(part="systems")


def handed(sources: dict[str, str]) -> Submission:
    """A submission of modules."""
    return Submission("trainer", tuple(Unit(f"{name}.py", source, name) for name, source in sources.items()))


def named(slip: Slip) -> str:
    return f"trainer_{TRAINER.item.slips.index(slip)}"


@pytest.fixture(scope="module", params=nursery.WALLS)
def runner(request, forked) -> Iterator[Runner]:
    """One runner for all programs, each a module of one submission; without a sandbox its ranks are forked."""
    sources = {named(slip): TRAINER.item.source_of(slip) for slip in TRAINER.item.slips}
    (reference,) = verifying.submission("solutions", [TRAINER.item]).units
    (stub,) = (unit for unit in verifying.submission("labs", [TRAINER.item]).units if unit.module == "trainer")
    sources |= {"trainer": reference.source, "stub": stub.source, "another": inspect.getsource(another_trainer)}
    submission = handed(sources)
    with Runner(submission, Processes(Sandbox.measure(request.param)), systems.limits(TRAINER), [TRAINER.item]) as made:
        yield made


def judged(runner: Runner, module: str, place: int, fresh: bool = False) -> Verdict:
    """The verdict on one level of a module; its processes are kept unless they have to be ``fresh``."""
    player = systems.Player(TRAINER.item.moved_to(module), runner)
    play = player if fresh else lambda case, fresh=False: player(case)
    level = TRAINER.levels[place]
    return systems.judged(level, systems.draw(TRAINER, level, KEY), play)  # type: ignore[arg-type]


@pytest.mark.parametrize("fresh", [False, pytest.param(True, marks=SYSTEMS)])
def test_the_reference_has_every_level_and_its_figures_are_near_the_least(runner, fresh):
    found = [judged(runner, "trainer", place, fresh) for place in range(len(TRAINER.levels))]
    assert [verdict.wrong for verdict in found] == [""] * 7
    for verdict in found:
        for name in ("sent", "held"):
            if cost := getattr(verdict.costs, name):
                slack = 1.55 if verdict is found[ZERO] and name == "held" else 1.03  # it copies the slice it updates
                assert cost.least <= cost.spent <= cost.least * slack, name
    assert [verdict.costs.sent is None for verdict in found] == [True, *[False] * 5, True]
    assert found[PIPELINE].costs.hops == (12, 12)


def test_the_stub_has_no_level(runner):
    found = [judged(runner, "stub", place) for place in range(len(TRAINER.levels))]
    assert {verdict.wrong for verdict in found} == {"not implemented yet (07-trainer: not written yet)"}
    assert all(verdict.open for verdict in found)


@SYSTEMS
def test_another_right_trainer_has_the_levels_that_it_has_written(runner):
    """Kills: judges that know the reference only, and levels that need one another."""
    found = [judged(runner, "another", place) for place in range(len(TRAINER.levels))]
    assert [place for place, verdict in enumerate(found) if not verdict.wrong] == [ONE, REPLICAS, ZERO, RESUMED]
    assert found[REPLICAS].costs.hops == (44, 2)
    assert all(found[place].wrong == "not implemented yet (later)" for place in (BUCKETS, TENSOR, PIPELINE))


CHEAPEST, *OTHERS = sorted(TRAINER.item.slips, key=lambda slip: slip.sentence != "Every rank counts the same.")


@pytest.mark.parametrize(
    "slip", [CHEAPEST, *(pytest.param(slip, marks=SYSTEMS) for slip in OTHERS)], ids=lambda slip: slip.sentence
)
def test_a_wrong_trainer_loses_the_level_that_it_breaks_and_reads_why(runner, slip):
    lost, words, whole = WRONG[slip.sentence]
    places = range(len(TRAINER.levels)) if whole else [lost]
    found = {place: judged(runner, named(slip), place).wrong for place in places}
    assert [place for place, sentence in found.items() if sentence] == [lost], found
    assert words in found[lost]


# What a program can do beside training.

BODIES = {
    "nothing": ("return 3", "must return (weights, state)"),
    "no pair": ("return [job.model.state_dict()]", "must return (weights, state)"),
    "starting weights": ("return job.model.state_dict(), None", "is not what the plain twin has"),
    "part of the weights": ("return {'norm.weight': job.model.norm.weight}, 0", "returned no embedding.weight"),
    "narrow weights": ("return job.model.float().state_dict(), 0", "as a float64 tensor"),
    "an object": ("return job.model, None", "returned"),
    "nan": ("return {n: w * float('nan') for n, w in job.model.state_dict().items()}, 0", "is not finite"),
    "another shape": ("return {n: w[:1] for n, w in job.model.state_dict().items()}, 0", "its share has shape"),
    "an exception": ("raise ValueError('no')", "raised ValueError"),
    "a deadlock": ("dist.recv(torch.zeros(1), (dist.get_rank() + 1) % 2)", "deadlock: rank 0 waits in recv(src=1)"),
    "one rank leaves": ("if dist.get_rank(): dist.all_reduce(torch.zeros(1))", "all_reduce"),
    "a flood of text": ("while True: print('x' * 10_000)", "did not end within"),
    "a large state": ("return job.model.state_dict(), list(range(200_000))", "returned a value of more than"),
    "a death": ("import os; os._exit(3)", "exited with status 3"),
}


@SYSTEMS
def test_what_is_no_trainer_is_told_so():
    """Kills: a runner that raises, hangs or passes something, whatever a program does instead of training."""
    head = "import torch\nimport torch.distributed as dist\n\n\ndef train(job):\n    "
    sources = {f"body_{place}": head + body + "\n" for place, (body, _) in enumerate(BODIES.values())}
    limits = replace(systems.limits(TRAINER), world=4.0)
    with Runner(handed(sources), Processes(Sandbox.measure("best")), limits, [TRAINER.item]) as made:
        found = [judged(made, module, REPLICAS).wrong for module in sources]
    told = {
        name: sentence
        for (name, (_, words)), sentence in zip(BODIES.items(), found, strict=True)
        if words not in sentence
    }
    assert told == {}


def test_a_submission_without_a_trainer_is_asked_once(forked):
    """Kills: a runner that loads a broken file once for each level."""
    found = list(systems.verdicts(TRAINER, handed({"trainer": "x = 1\n"}), Sandbox.measure("none"), KEY))
    assert [level for level, _ in found] == list(TRAINER.levels)
    assert {verdict.wrong for _, verdict in found} == {"the submission has no function or class named train"}


def test_each_level_is_drawn_by_the_key():
    """Kills: jobs that stand in the bank, and levels that depend on those before them."""

    def cases(key: bytes, place: int) -> list[Case]:
        seen: list[Case] = []

        def play(case: Case, fresh: bool = False, desk: Desk | None = None) -> Played:
            seen.append(case)
            return Played(failure="only asked")

        level = TRAINER.levels[place]
        assert systems.judged(level, systems.draw(TRAINER, level, key), play).wrong  # type: ignore[arg-type]
        return seen

    for place in range(len(TRAINER.levels)):
        assert cases(KEY, place) == cases(KEY, place)
        assert cases(KEY, place) != cases(b"other", place)


def test_a_judge_that_cannot_read_a_value_finds_it_wrong():
    level = Level("odd", lambda rng, play: Verdict(play(Case()).values[0]["returned"]))
    verdict = systems.judged(level, systems.draw(TRAINER, level, KEY), lambda case: Played(({},)))  # type: ignore[arg-type]
    assert verdict.wrong == "what a rank returned cannot be judged"


# The command.


@functools.cache
def small() -> System:
    """The milestone with its first level only."""
    return replace(TRAINER, levels=TRAINER.levels[:1])


@pytest.mark.proof(part="systems")
def test_the_command_prints_a_sheet(capsys, key, monkeypatch, forked):
    monkeypatch.setattr(bank, "systems", lambda: (small(),))
    command = ["milestone", str(verifying.room("solutions")), "--only", "07-trainer", "--sandbox", "none"]
    assert main([*command, "--key", key]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("07-trainer: 1 levels")
    assert " ".join(said[1].split()) == "level verdict bytes sent / least bytes held / least hops / least"
    assert " ".join(said[2].split()) == "1 one rank, micro-batches right - - -"
    assert said[3].startswith("07-trainer: 1 of 1 level; ")
    assert said[3].endswith(" lines, at most 300")


def test_the_reference_is_as_short_as_it_has_to_be():
    assert 0 < sheets.lines(TRAINER, verifying.submission("solutions", [TRAINER.item])) <= TRAINER.lines
    long = handed({"trainer": "\n" * 301})
    assert sheets.foot(TRAINER, long, 0) == "07-trainer: 0 of 7 levels; 301 lines, at most 300, too long"


def test_a_sheet_fits_its_page():
    verdict = Verdict("A sentence that is long enough to be broken. " * 5)
    lines = f"{sheets.head(TRAINER)}\n{sheets.row(TRAINER, 7, verdict)}".split("\n")
    assert max(map(len, lines)) <= sheets.WIDTH
    assert sum(line.startswith("    ") for line in lines) >= 3


def test_a_sheet_says_a_sentence_once_and_a_level_that_is_not_written_is_open():
    wrong, unwritten, right = (
        Verdict("No."),
        Verdict("not implemented yet", open=True),
        Verdict(costs=LevelCosts(Cost(10, 8))),
    )
    assert sheets.row(TRAINER, 1, wrong).split("\n")[1].strip() == "No."
    assert "\n" not in sheets.row(TRAINER, 2, wrong, said="No.")
    assert " open" in sheets.row(TRAINER, 1, unwritten)
    assert "right" in sheets.row(TRAINER, 1, right)
    assert "10 / 8" in sheets.row(TRAINER, 1, right)
