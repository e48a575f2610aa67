"""The training script by ranks of the course, whatever their number, and its file."""

from __future__ import annotations

import pytest
import torch

from experiments.ch05 import training_script
from rankzero import world


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", [2, 3])
def test_the_script_learns_logs_and_saves_once(ranks, tmp_path):
    """512 rows on 3 ranks leave micro-batches that fill no step."""
    run = world.run(training_script.train, tmp_path, ranks=ranks)
    first, *others = run.lines
    assert [line.split(":")[0] for line in first] == ["epoch 0", "epoch 1", "epoch 2"]
    assert not any(others)
    losses = [float(line.split()[3].rstrip(",")) for line in first]
    assert losses[0] > losses[1] > losses[2]
    saved = torch.load(tmp_path / "last.pt")
    steps = 3 * (-(-512 // ranks) // 8 // 4)
    assert saved["schedule"]["last_epoch"] == steps
    assert {int(state["step"]) for state in saved["optimizer"]["state"].values()} == {steps}
    training_script.network().load_state_dict(saved["model"])
    large = [e for e in run.events if e.rank == 0 and e.operation == "all_reduce" and e.sent > 100]
    assert len(large) == steps  # one bucket, reduced once per step
