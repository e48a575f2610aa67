"""The demos of chapter 13 about rewards, estimates and memory: what each shows must hold, a wrong part is status 1."""

from __future__ import annotations

import pytest
from demo_runs import quick, run, table

from solutions.ch13.kl import estimator_moments
from solutions.ch13.rlhf_memory import rlhf_bytes


def test_a_response_whose_penalty_is_a_bonus():
    found = quick("token_rewards")
    assert sum(float(row["reward"]) for row in found.rows) == pytest.approx(0.504)
    assert "a bonus" in found.said


def test_a_response_of_ones_own(tmp_path):
    rows = table(tmp_path, "token_rewards", "--log-probs=-1,-2", "--reference=-1,-3", "--beta", "0.1", "--score", "2")
    assert [float(row["reward"]) for row in rows] == pytest.approx([0, 1.9])


def test_estimates_are_exact_and_sampled(tmp_path, capsys):
    rows = {
        row["estimator"]: row for row in table(tmp_path, "kl_estimators", "--quick", "--p", ".9,.1", "--q", ".5,.5")
    }
    for name, row in rows.items():
        assert float(row["variance"]) == pytest.approx(estimator_moments((0.9, 0.1), (0.5, 0.5), name)[1])
    assert float(rows["k1"]["bias"]) == 0
    assert "k1 in the loss    ( 0.00000,  0.00000)" in capsys.readouterr().out


def test_roles_add_up(tmp_path, capsys):
    rows = table(
        tmp_path, "rlhf_memory", "--model", "LLAMA2_7B", "--algorithm", "ppo", "--gpus", "4", "--critic", "1e9"
    )
    wanted = rlhf_bytes("ppo", 6_738_415_616, 1e9)
    assert {row["role"]: float(row["total"]) * 1e9 for row in rows} == pytest.approx(
        {role: size for role, size in wanted.items() if role != "total"}
    )
    assert "fits" in capsys.readouterr().out


def test_what_does_not_fit_says_what_would(capsys):
    assert run("rlhf_memory", "--gpus", "8") == 0
    assert "needs --gpus 32 or more" in capsys.readouterr().out


def everywhere(right):
    """The score at every token."""
    return lambda scores, log_probs, ref_log_probs, mask, beta: (
        scores[:, None] - beta * (log_probs - ref_log_probs) * mask
    )


def light(right):
    """One optimizer."""
    return lambda algorithm, policy, *sizes: right(algorithm, policy, *sizes) | {"total": 20 * policy}


@pytest.mark.parametrize(
    ("demo", "name", "change", "arguments"),
    [
        ("token_rewards", "token_rewards", everywhere, []),
        (
            "kl_estimators",
            "estimator_moments",
            lambda right: lambda p, q, k: right(q, p, k),
            ["--p", ".7,.2,.1", "--q", ".2,.2,.6"],
        ),
        ("rlhf_memory", "rlhf_bytes", light, []),
    ],
)
def test_a_wrong_part_is_status_1(demo, name, change, arguments, found_out):
    found_out(demo, name, change, "--quick", *arguments)
