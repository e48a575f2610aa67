"""The stored sweep: it is what the program computes, and what the page says of it holds."""

from __future__ import annotations

import pytest

from experiments.ch13.rlhf_runs import BETAS, GRPO_BETAS, KEPT, SEEDS, Point, store, sweep
from rankzero import stored
from solutions.ch13 import beta_sweep
from solutions.ch13.beta_sweep import GRPO_RUNS, RUNS, Moment, SweptRun, best_beta, grouped, run_of, worst_judge


@pytest.mark.parametrize(("runs", "betas"), [(RUNS, BETAS), (GRPO_RUNS, GRPO_BETAS)])
def test_every_run_is_there(runs, betas):
    assert [(run.beta, run.seed) for run in runs] == [(beta, seed) for seed in SEEDS for beta in betas]
    for run in runs:
        assert [moment.iteration for moment in run.moments] == list(KEPT)
        assert run.moments[0].kl == pytest.approx(0, abs=0.01)


@pytest.mark.xdist_group("rlhf runs")
@pytest.mark.proof(part="runs")
def test_a_part_is_run_again():
    """Kills a store that no longer is what the program computes; digits differ between machines."""
    (again,) = sweep((0.05,), (3,), iterations=6).values()
    kept = run_of(0.05, 3).moments
    assert again[0].score == pytest.approx(kept[0].score, abs=0.05)
    assert again[0].judge == pytest.approx(kept[0].judge, abs=0.1)
    assert again[6].score == pytest.approx(kept[6].score, abs=0.4)
    assert again[6].judge == pytest.approx(kept[6].judge, abs=0.5)
    assert again[6].kl == pytest.approx(kept[6].kl, abs=1.5)


def test_what_is_stored_is_what_is_read(tmp_path):
    """Every run under its algorithm, and of its iterations those that are kept."""
    points = [Point(0, 0.5, -1.25, 0.0, 9.0, 0.1, "the film was good . <eos>"), Point(11, 1, 2, 3, 9, 0, "left out")]
    kept = (Moment(0, 0.5, -1.25, 0.0, points[0].sample),)
    store({(0.1, 2): points}, {(0.0, 3): points}, tmp_path / "sweep.json")
    rows = stored.read(tmp_path / "sweep.json")
    assert grouped(rows, "ppo") == (SweptRun(0.1, 2, kept),)
    assert grouped(rows, "grpo") == (SweptRun(0.0, 3, kept),)


def test_the_file_is_what_the_program_writes(tmp_path):
    """Kills a file that was edited by hand, and a program that writes another form than the pages read."""
    sweeps = [
        {
            (run.beta, run.seed): [Point(m.iteration, m.score, m.judge, m.kl, 9, 0, m.sample) for m in run.moments]
            for run in runs
        }
        for runs in (RUNS, GRPO_RUNS)
    ]
    store(*sweeps, tmp_path / "sweep.json")
    assert (tmp_path / "sweep.json").read_bytes() == beta_sweep.STORED.read_bytes()


def test_the_story_of_the_page():
    """The score rises all the way to beta 0, the judge does not; every run likes the judge at first."""
    for seed in SEEDS:
        free = run_of(0.0, seed)
        assert free.end.score == max(run.end.score for run in RUNS if run.seed == seed)
        assert free.end.judge == min(run.end.judge for run in RUNS if run.seed == seed)
        assert free.end.judge < free.moments[0].judge
        assert max(moment.judge for moment in free.moments if moment.iteration <= 10) > 1
        ends = [run_of(beta, seed).end for beta in BETAS]
        assert [end.kl for end in ends] == sorted((end.kl for end in ends), reverse=True)


def test_the_best_price_is_in_the_middle():
    assert best_beta(BETAS) not in (BETAS[0], BETAS[-1])
    assert worst_judge(0.0) == min(run_of(0.0, seed).end.judge for seed in SEEDS)


def test_a_price_does_not_carry_over():
    """The same beta lets GRPO's loss term go further than PPO's reward term."""
    for seed in SEEDS:
        grouped, priced = run_of(0.05, seed, GRPO_RUNS).end, run_of(0.05, seed).end
        assert grouped.kl > priced.kl
        assert run_of(0.0, seed, GRPO_RUNS).end.judge < 0


def test_a_run_that_is_not_stored():
    with pytest.raises(ValueError, match="got 7 and 2"):
        run_of(7, 2)
    assert beta_sweep.RUNS is RUNS
