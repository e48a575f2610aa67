"""Pairs that add up, and processes that meet: on real ranks, and under a real launcher."""

from __future__ import annotations

import inspect
import random

import pytest
import torch.distributed as dist

from experiments.ch01.launching import launched
from rankzero import world
from solutions.ch01.first_program import join, pair_sum
from solutions.ch01.ranks import debug_device, locate, rendezvous

PROGRAM = """
import json, os, sys
from collections.abc import Mapping
import torch
import torch.distributed as dist

{join}

device = join(os.environ)
total = torch.tensor(dist.get_rank())
dist.all_reduce(total)
names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT")
found = {{"device": device, "sum": total.item(), **{{name: os.environ[name] for name in names}}}}
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


@pytest.mark.proof(part="runs")
def test_processes_of_torchrun_meet_and_have_the_places_that_it_gave_them():
    """Its own arithmetic: GROUP_RANK is the node, LOCAL_RANK the device."""
    seen = launched("torchrun", ranks=2, program=PROGRAM.format(join=inspect.getsource(join)))
    assert [(one["device"], one["sum"]) for one in seen] == [(rank, 1) for rank in range(2)]
    for rank, environ in enumerate(seen):
        found = rendezvous(environ)
        assert (found.rank, found.world_size) == (rank, 2)
        place = locate(found.rank, int(environ["LOCAL_WORLD_SIZE"]))
        assert place == (int(environ["GROUP_RANK"]), found.local_rank)
        assert debug_device(environ) == found.local_rank
