"""What chapter 3's corrections observe, observed here."""

from __future__ import annotations

import torch
import torch.distributed as dist

from experiments.corrections import corrections
from rankzero import world


def reduced():
    x = torch.tensor([float(dist.get_rank() + 1)])
    dist.reduce(x, dst=0)
    return x.item()


def test_gloo_leaves_partial_sums_behind_after_reduce():
    values = [int(value) for value in world.run(reduced, ranks=4).values]
    assert f"leaves {values}" in corrections("03")[1].right + corrections("03")[1].because
