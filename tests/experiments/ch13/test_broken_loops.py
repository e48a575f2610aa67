"""A GRPO step with one wrong line: the right one is the chapter's, each fault changes what is learned, and the stored
runs are the program's."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from experiments.ch12.toy_models import LENGTH, copied, generate, judged, prompt_rows, reference, samples, shuffled
from experiments.ch13 import broken_loops
from experiments.ch13.broken_loops import FAULTS, RIGHT, SEEDS, Fault, broken, curve, kept, noticed, runs_of
from experiments.ch13.grpo_loop import BETA, CLIP, EPOCHS, GROUP, ITERATIONS, PARTS, Point, fitted, step, trained
from experiments.ch13.rlhf_steps import descend, look_again
from rankzero import stored
from rankzero.grammar.toy_language import VOCABULARY, judge, read
from solutions.ch13 import rlhf

pytestmark = pytest.mark.xdist_group("rlhf runs")
NAMES = [fault.name for fault in FAULTS]


def learned(update) -> torch.Tensor:
    """All weights after one update, with large steps, on what another model has written."""
    origin = reference(0, 30)
    prompts = prompt_rows(4, 5).repeat_interleave(GROUP, 0)
    rollout = generate(reference(1, 30), prompts, LENGTH, torch.Generator().manual_seed(5))
    rewards = judged(rollout.tokens) + 1
    writer = copied(origin)
    optimizer = torch.optim.AdamW(writer.parameters(), lr=1e-2)
    update(writer, origin, optimizer, rollout, rewards, torch.Generator().manual_seed(6))
    return torch.nn.utils.parameters_to_vector(writer.parameters()).detach()


def of_the_chapter(writer, origin, optimizer, rollout, rewards, generator):
    """The same step by the functions of the chapter."""
    gains = rlhf.group_advantages(rewards, GROUP)[:, None].expand_as(rollout.mask)
    with torch.no_grad():
        ref = look_again(origin, rollout)
    for rows in (rows for _ in range(EPOCHS) for rows in shuffled(rollout, PARTS, generator)):
        piece, mask = rollout.rows(rows), rollout.mask[rows]
        now = look_again(writer, piece)
        loss, _ = rlhf.policy_loss(now, piece.log_probs, gains[rows], mask, CLIP)
        k2 = ((now - ref[rows]) ** 2 / 2 * mask).sum() / mask.sum()
        descend(writer, optimizer, loss + BETA * k2, 1.0)


def test_the_right_step_is_the_chapters():
    assert torch.allclose(learned(step), learned(of_the_chapter), atol=1e-5)


@pytest.mark.proof(part="runs")
def test_every_fault_learns_something_else():
    """Kills a fault that changes nothing, and two that are the same."""
    found = [learned(update) for update in (step, *map(broken, FAULTS))]
    for place, one in enumerate(found):
        assert all((one - other).abs().max() > 1e-3 for other in found[:place]), ["right", *NAMES][place]


def test_a_fault_whose_line_is_not_there():
    with pytest.raises(ValueError, match="right must occur once in the step, got 'no such line'"):
        broken(Fault("none", "no such line", ""))


@pytest.mark.proof(part="runs")
def test_the_reward_counts_words_and_nothing_else():
    """It imitates the judge on the reference's samples, and is fooled by a list of good words."""
    reward = fitted(1)
    found = reward(samples(reference(), 512, 77))
    assert found.mean().item() == pytest.approx(0, abs=0.15)
    assert found.std().item() == pytest.approx(1, abs=0.1)
    assert 0.9 < reward.likeness < 0.99
    spoken = "the film was very good and the song was great ."
    babble = "good great fine nice good great fine nice ."
    said, babbled = (reward(torch.tensor([read(text)])).item() for text in (spoken, babble))
    assert babbled > 2 * said > 0
    assert judge(read(babble)) < 0 < judge(read(spoken))
    assert len(reward.worth) == len(VOCABULARY)


# What is stored.


def test_every_run_is_there():
    assert len(set(NAMES)) == 11
    for name in (RIGHT, *NAMES):
        assert [run.seed for run in runs_of(name)] == list(SEEDS)
        assert (
            {len(run.rewards) for run in runs_of(name)}
            == {len(run.judges) for run in runs_of(name)}
            == {ITERATIONS + 1}
        )
    with pytest.raises(ValueError, match="got 'no such fault'"):
        runs_of("no such fault")


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("fault", [None, FAULTS[-1]], ids=["right", "sign"])
def test_the_beginning_of_a_run_is_run_again(fault):
    """Kills a store that no longer is what the program computes; digits differ between machines."""
    again = trained(broken(fault) if fault else step, SEEDS[0], iterations=6)
    (before, *_) = runs_of(fault.name if fault else RIGHT)
    assert [point.reward for point in again] == pytest.approx(before.rewards[:7], abs=0.15)
    assert [point.judge for point in again] == pytest.approx(before.judges[:7], abs=0.25)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("fault", [None, *FAULTS], ids=[RIGHT, *NAMES])
def test_a_run_is_run_again(fault):
    """The whole of it: where it ends, and what its curve does."""
    again = kept(fault.name if fault else RIGHT, SEEDS[1], trained(broken(fault) if fault else step, SEEDS[1]))
    before = runs_of(again.name)[1]
    assert curve(again) == curve(before)
    assert again.judge == pytest.approx(before.judge, abs=0.4 + abs(before.judge) / 10)
    assert again.kl == pytest.approx(before.kl, abs=1 + before.kl / 5)


def test_the_file_is_what_the_program_writes(tmp_path):
    """Kills a file that was edited by hand, and a program that writes another form than the page reads."""
    runs = [run for name in (RIGHT, *NAMES) for run in runs_of(name)]
    broken_loops.store(runs, stored.made_on(broken_loops.STORED), tmp_path / "loops.json")
    assert (tmp_path / "loops.json").read_bytes() == broken_loops.STORED.read_bytes()
    assert "torch" in stored.made_on(broken_loops.STORED)


def test_the_end_of_a_run_is_that_of_its_last_batches():
    points = [Point(2.0 * n, 1.0, 9.0, 8.0, 0.0, n / 10, n / 5) for n in range(9)]
    run = kept(RIGHT, 1, [*points, replace(points[-1], reward=18.0, first=0.0, last=0.0)])
    assert (run.reward, run.rise, run.rewards[:3]) == (14.0, 14.0, (0, 2, 4))
    assert (run.first, run.last) == (0.6, 1.2)


# What the page says.

#: What the curve of rewards of each fault does in every run, and the figures that give it away.
STORY = {
    RIGHT: ("rises", []),
    "<eos> not in the mask": ("rises", []),
    "logits not shifted": ("is flat", ["judge", "kl", "length", "first", "last"]),
    "old log-probs taken anew": ("rises", ["last"]),
    "rewards not centred": ("rises", ["kl"]),
    "batch in place of groups": ("rises", []),
    "no clip": ("rises", []),
    "no zero_grad": ("rises", []),
    "k3 as the price": ("rises", []),
    "k1 as the price": ("rises beyond", ["judge", "kl"]),
    "sign of the price": ("rises beyond", ["judge", "kl", "silent", "last"]),
    "sign of the advantage": ("falls", ["judge"]),
}


def test_what_the_curve_shows_and_what_else_does():
    """Two of eleven do not rise, two rise beyond the right ones and please the judge least, seven look right: six end
    about where the right one does, and one lower."""
    assert [*STORY] == [RIGHT, *NAMES]
    for name, (does, shows) in STORY.items():
        assert {curve(run) for run in runs_of(name)} == {does}, name
        assert noticed(name) == shows, name
    assert all(run.judge < -5 for name in NAMES for run in runs_of(name) if curve(run) == "rises beyond")
    assert all(1 < run.judge < 2 for name in NAMES for run in runs_of(name) if curve(run) == "rises")
    usual = [run.reward for run in runs_of()]
    for name in (name for name in NAMES if STORY[name][0] == "rises"):
        near = all(min(usual) - 0.1 < run.reward < max(usual) + 0.2 for run in runs_of(name))
        assert near == (name != "k3 as the price"), name
    assert max(run.reward for run in runs_of("k3 as the price")) < 0.8 * min(usual)


def test_the_first_pass_has_a_ratio_of_one():
    """With the writer's own log-probabilities, in every program that shifts its logits."""
    assert all((run.first > 0.9) == (run.name == "logits not shifted") for name in NAMES for run in runs_of(name))
    assert max(run.first for run in runs_of()) < 1e-5
    assert {run.last for run in runs_of("old log-probs taken anew")} == {0.0}


def test_a_range_is_written_once_where_its_ends_agree():
    assert broken_loops.between("old log-probs taken anew", "last", 4) == "0.0000"
    assert broken_loops.between("sign of the advantage", "judge") == "-2.5 to -2.2"
