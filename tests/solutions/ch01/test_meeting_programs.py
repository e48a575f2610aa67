"""Pairs that add up, and processes that meet: on real ranks, and under a real launcher."""

from __future__ import annotations

import inspect
import random

import pytest
import torch.distributed as dist

from experiments.ch01.launching import launched
from rankzero import world
from solutions.ch01.first_program import join, pair_sum

PROGRAM = """
import json, os, sys
from collections.abc import Mapping
import torch
import torch.distributed as dist

{join}

device = join(os.environ)
total = torch.tensor(dist.get_rank())
dist.all_reduce(total)
found = {{"RANK": os.environ["RANK"], "device": device, "sum": total.item()}}
sys.stdout.write(json.dumps(found) + "\\n")
dist.destroy_process_group()
"""


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_pairs_keep_the_sum(ranks):
    """Whoever holds something afterwards: together it is the sum of all. Kills a value that is given away and kept."""
    numbers = [random.Random(ranks + place).uniform(-9, 9) for place in range(ranks)]
    held = world.run(lambda: pair_sum(numbers[dist.get_rank()]), ranks=ranks).values
    assert sum(one for one in held if one is not None) == pytest.approx(sum(numbers), rel=1e-12)
    assert [one is None for one in held] == [rank % 2 == 0 and rank + 1 < ranks for rank in range(ranks)]


def test_processes_of_torchrun_meet():
    found = launched("torchrun", ranks=2, program=PROGRAM.format(join=inspect.getsource(join)))
    assert [(one["device"], one["sum"]) for one in found] == [(rank, 1) for rank in range(2)]
