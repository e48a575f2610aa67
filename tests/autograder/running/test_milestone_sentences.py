"""Milestones: a single level, and sentences that say what was wrong and nothing else."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from autograder import bank
from autograder.__main__ import main
from autograder.bank.ch07 import trainer_weights
from autograder.bank.ch07.trainer_draws import Drawn, drawn
from autograder.items import Level, Played, Tensor, Verdict
from tests.autograder.running import test_survival
from tests.autograder.running.test_survival import DAMAGE, STEPS, source, verdict

alone = test_survival.alone


@pytest.mark.proof(part="systems")
@pytest.mark.parametrize("place", [STEPS, DAMAGE])
def test_a_survivor_that_forgets_how_far_it_was_reads_so(alone, place):
    """Kills: "resumed from a file that was not intact" for whoever never sets ``job.done``."""
    forgetful = source("solutions").replace('    job.done = state["done"]\n', "")
    wrong = verdict(alone(forgetful), place).wrong
    assert "`job.done` has to be the step at which it was saved" in wrong
    assert "not intact" not in wrong


def test_no_run_repeats_fewer_steps_than_the_least(alone):
    eager = source("solutions").replace("job.done % job.every == 0 or", "True or")
    found = verdict(alone(eager), STEPS)
    assert not found.wrong
    assert found.costs.repeated.spent >= found.costs.repeated.least


def played(job: Drawn, weigh) -> Played:
    """A run of one rank that ended with the weights of a twin that weighs micro-batches so."""
    weights = {
        name: Tensor.of(values, "float64", job.shapes[name]) for name, values in job.weights(weigh=weigh).items()
    }
    return Played(({"returned": (weights, None)},))


COUNTS = [3, 1, 2]


@pytest.mark.proof(part="systems")
@pytest.mark.parametrize(
    ("weigh", "words"),
    [
        (lambda counts, r, m: counts[r][m] / sum(counts[r]) * (m > 0), "The first micro-batch of every step was left"),
        (lambda counts, r, m: counts[r][m] / sum(counts[r]) * (m < 2), "The last micro-batch of every step was left"),
        (lambda counts, r, m: counts[r][m] / sum(counts[r][1:]) * (m > 0), "The first micro-batch of every step"),
        (lambda counts, r, m: (m == 2) / 1, "Only the last micro-batch of a step counts"),
    ],
)
def test_a_skipped_micro_batch_is_named(weigh, words):
    job = drawn(Random(3), {"micro_batches": 3}, lambda s, r, m: COUNTS[(s + m) % 3], steps=3)
    assert words in trainer_weights.wrong_weights(job, played(job, weigh))


def test_one_step_is_a_step():
    job = drawn(Random(3), {"micro_batches": 3}, lambda s, r, m: COUNTS[(s + m) % 3], steps=1)
    wrong = trainer_weights.wrong_weights(job, played(job, lambda counts, r, m: 7.0 * (m == 1)))
    assert wrong.endswith("is not what the plain twin has after 1 step")


def test_the_command_runs_one_level(capsys, monkeypatch, tmp_path):
    """Kills: a command that runs all levels, or numbers the one from 1."""
    trainer, *_, survive = bank.systems()
    asked: list[str] = []

    def level(name: str) -> Level:
        return Level(name, lambda rng, play: asked.append(name) or Verdict("No."))

    small = replace(survive, levels=(level("first"), level("second")))
    monkeypatch.setattr(bank, "systems", lambda: (trainer, small))
    file = tmp_path / "survivor.py"
    file.write_text(source("labs"), encoding="utf-8")
    command = ["milestone", str(file), "--only", "cap-survive", "--sandbox", "none"]
    assert main([*command, "--level", "2"]) == 0
    said = capsys.readouterr().out
    assert asked == ["second"]
    assert "2 second" in said
    assert "cap-survive: 0 of 1 level\n" in said
    for wrong in ("0", "3"):
        assert main([*command, "--level", wrong]) == 2
    assert "cap-survive has levels 1 to 2, got 3" in capsys.readouterr().err
    assert main(["milestone", str(file), "--level", "1"]) == 2
    assert "12-train-cartpole has no levels" in capsys.readouterr().err
