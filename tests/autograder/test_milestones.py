"""Milestones: what has learnt passes, and nothing else does, whatever it returns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder import bank, milestones, verifying
from autograder.__main__ import main
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

(CARTPOLE,) = bank.milestones()


def tries(submission: Submission, cases: int = 1, **changed) -> list[milestones.Try]:
    """The tries of the first cases."""
    item = replace(CARTPOLE.item, cases=CARTPOLE.item.cases[:cases])
    asked = replace(CARTPOLE, item=item, **{"needed": 1, **changed})
    return list(milestones.tries(asked, submission, Sandbox.measure("best")))


def handed_in(body: str) -> Submission:
    source = f"import torch\n\n\ndef train_cartpole(policy, value, steps, seed):\n    {body}\n"
    return Submission("wrong.py", (Unit("wrong.py", source),))


@pytest.mark.timeout(400)
def test_the_reference_solves_it():
    """The course's own loop, in the sandbox, with every step that a learner has."""
    (one,) = tries(verifying.submission("solutions", [CARTPOLE.item]))
    assert one.passed, one.sentence


def test_who_learns_nothing_has_not_passed():
    """Kills: a milestone that believes the returns it is told. The second try is not needed to know the end."""
    (one,) = tries(handed_in("return [500.0] * 100"), cases=2, needed=2)
    assert not one.passed
    assert one.sentence.endswith("steps on average")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("raise NotImplementedError", "not implemented yet"),
        ("torch.nn.init.constant_(policy[0].weight, float('nan'))", "finite weights"),
        ("policy[4] = torch.nn.Linear(64, 3)", "shapes (64, 4), (64,)"),
        ("while True: pass", "did not return"),
        ("import os; os._exit(3)", ""),
        ("raise ValueError('no')", "ValueError"),
    ],
)
def test_what_hands_back_no_network_is_told_so(body, sentence):
    found = tries(handed_in(body), cases=3, seconds=3.0, needed=2)
    assert not any(one.passed for one in found)
    assert sentence in found[-1].sentence


def test_the_stub_is_not_written(capsys):
    assert main(["milestone", str(verifying.room("labs"))]) == 0
    assert "not implemented yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--only", "12-nothing", "x"], "there is no milestone '12-nothing'"), (["nowhere.py"], "no file or folder")],
)
def test_a_wrong_command_is_one_sentence(arguments, sentence, capsys):
    assert main(["milestone", *arguments]) == 2
    assert sentence in capsys.readouterr().err
