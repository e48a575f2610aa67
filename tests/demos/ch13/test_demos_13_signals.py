"""The demos of chapter 13 about rewards, estimates and memory: what each shows must hold, a wrong part is status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from demos import common
from demos.ch13 import kl_estimators, rlhf_memory, token_rewards
from solutions.ch13.kl import estimator_moments
from solutions.ch13.rlhf_memory import rlhf_bytes


def replaced(name: str, program):
    """``part`` with one function replaced."""
    right = common.part
    return lambda code, module, wanted: program if wanted == name else right(code, module, wanted)


def test_a_response_whose_penalty_is_a_bonus(tmp_path, capsys):
    rows = table(tmp_path, "token_rewards", "--quick")
    assert sum(float(row["reward"]) for row in rows) == pytest.approx(0.504)
    assert "a bonus" in capsys.readouterr().out


def test_a_response_of_ones_own(tmp_path):
    rows = table(tmp_path, "token_rewards", "--log-probs=-1,-2", "--reference=-1,-3", "--beta", "0.1", "--score", "2")
    assert [float(row["reward"]) for row in rows] == pytest.approx([0, 1.9])


def test_the_score_at_every_token_is_status_1(monkeypatch, capsys):
    def everywhere(scores, log_probs, ref_log_probs, mask, beta):
        return scores[:, None] - beta * (log_probs - ref_log_probs) * mask

    monkeypatch.setattr(token_rewards, "part", replaced("token_rewards", everywhere))
    assert run("token_rewards", "--quick") == 1
    assert "NO" in capsys.readouterr().out


def test_estimates_are_exact_and_sampled(tmp_path, capsys):
    rows = {
        row["estimator"]: row for row in table(tmp_path, "kl_estimators", "--quick", "--p", ".9,.1", "--q", ".5,.5")
    }
    for name, row in rows.items():
        assert float(row["variance"]) == pytest.approx(estimator_moments((0.9, 0.1), (0.5, 0.5), name)[1])
    assert float(rows["k1"]["bias"]) == 0
    assert "k1 in the loss    ( 0.00000,  0.00000)" in capsys.readouterr().out


def test_moments_of_the_other_law_are_status_1(monkeypatch, capsys):
    monkeypatch.setattr(
        kl_estimators, "part", replaced("estimator_moments", lambda p, q, k: estimator_moments(q, p, k))
    )
    assert run("kl_estimators", "--quick", "--p", ".7,.2,.1", "--q", ".2,.2,.6") == 1
    assert "NO" in capsys.readouterr().out


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


def test_one_optimizer_is_status_1(monkeypatch, capsys):
    def light(algorithm, policy, *sizes):
        return rlhf_bytes(algorithm, policy, *sizes) | {"total": 20 * policy}

    monkeypatch.setattr(rlhf_memory, "part", replaced("rlhf_bytes", light))
    assert run("rlhf_memory") == 1
    assert "NO" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("token_rewards", "--log-probs=-1,2"), "must be a number from -100 to 0"),
        (("token_rewards", "--log-probs=-1,-2", "--reference=-1"), "--reference must have 2 numbers"),
        (("kl_estimators", "--p", "0.5,0.4"), "sum to 1"),
        (("kl_estimators", "--p", "0.5,0.5"), "--q must have 2 numbers"),
        (("rlhf_memory", "--algorithm", "grpo", "--critic", "7e9"), "grpo has no critic"),
        (("rlhf_memory", "--algorithm", "dpo", "--reward", "7e9"), "dpo has no reward model"),
    ],
)
def test_commands_that_do_not_do(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(*arguments)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err
