"""What four ranks saved, loaded on another number of ranks: the weights, the shards read, and what was read of them."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor, zeros

from experiments.ch15.fewer_ranks import NotingReader, Read
from rankzero import world

WEIGHT = torch.arange(48.0).reshape(12, 4)


def _save(folder):
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    dcp.save({"weight": distribute_tensor(WEIGHT, mesh, [Shard(0)]), "step": 8}, checkpoint_id=folder)


def _load(folder):
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    state = {"weight": zeros(12, 4, device_mesh=mesh, placements=[Shard(0)]), "step": 0}
    reader = NotingReader(folder)
    dcp.load(state, storage_reader=reader)
    assert state["step"] == 8
    return state["weight"].full_tensor(), reader.notes("weight"), dict(reader.loaded)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("saved"))
    world.run(_save, folder, ranks=4)
    return folder


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_rank_reads_whole_the_shards_that_overlap_its_rows(saved, ranks):
    for rank, (weight, reads, loaded) in enumerate(world.run(_load, saved, ranks=ranks).values):
        assert torch.equal(weight, WEIGHT)
        own = range(rank * 12 // ranks, (rank + 1) * 12 // ranks)
        shards = [range(3 * writer, 3 * writer + 3) for writer in range(4)]
        kept = {writer: [row for row in shard if row in own] for writer, shard in enumerate(shards)}
        assert reads == [
            Read(f"__{writer}_0.distcp", (3 * writer, 3 * writer + 3), (rows[0], rows[-1] + 1))
            for writer, rows in kept.items()
            if rows
        ]
        assert loaded == {(3, 4): len(reads)}
