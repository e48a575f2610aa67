"""The demos of chapter 12 that learn: what they show must hold, and a wrong part must be status 1."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from demo_runs import run, table


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_a_row_for_each_iteration(tmp_path):
    rows = table(tmp_path, "ppo_cartpole", "--quick", "--epochs", "3", "--steps", "600")
    assert [int(row["steps"]) for row in rows] == [256, 512]
    assert all(float(row["clipped"]) <= float(row["outside"]) for row in rows)


def test_without_clipping_nothing_is_clipped(tmp_path):
    rows = table(tmp_path, "ppo_cartpole", "--quick", "--no-clip", "--no-norm-limit", "--rate", "1e-2")
    assert {float(row["clipped"]) for row in rows} == {0.0}
    assert max(float(row["KL"]) for row in rows) > 0


def test_a_policy_that_has_not_learned_is_status_1(capsys):
    assert run("ppo_cartpole", "--steps", "512", "--epochs", "1") == 1
    assert "at least 475: NO" in capsys.readouterr().out


def test_old_log_probabilities_that_are_not_old_are_found(found_out):
    def shifted(right):
        def update(policy, value, optimizer, batch, *rest, **options):
            return right(
                policy, value, optimizer, replace(batch, old_log_probs=batch.old_log_probs - 0.5), *rest, **options
            )

        return update

    assert "every ratio is 1: NO" in found_out("ppo_cartpole", "ppo_update", shifted, "--quick")
