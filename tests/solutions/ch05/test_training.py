"""Equal starts against DDP's own, and a step of micro-batches against one of the whole batch."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel

from rankzero import world
from solutions.ch05.training import accumulated_step, broadcast_model


def _model(seed: int) -> torch.nn.Module:
    """A frozen layer, batch normalization with its buffers, a layer to train; other values for each seed."""
    torch.manual_seed(seed)
    frozen, norm = torch.nn.Linear(3, 4).requires_grad_(False), torch.nn.BatchNorm1d(4)
    norm(torch.randn(8, 4))
    return torch.nn.Sequential(frozen, norm, torch.nn.Linear(4, 2)).double()


def _started() -> tuple[dict, dict, bool]:
    """What the function leaves, what DDP's constructor leaves, and whether the parameters are the same objects."""
    mine, theirs = _model(dist.get_rank()), _model(dist.get_rank())
    before = [*mine.parameters(), *mine.buffers()]
    broadcast_model(mine)
    DistributedDataParallel(theirs)
    now = [*mine.parameters(), *mine.buffers()]
    return mine.state_dict(), theirs.state_dict(), all(a is b for a, b in zip(before, now, strict=True))


def test_starts_as_ddp_does():
    """Kills a frozen parameter or a buffer left out, another source, and new tensors."""
    first = _model(0).state_dict()
    for mine, theirs, same in world.run(_started, ranks=3).values:
        assert same
        assert mine.keys() == theirs.keys() == first.keys()
        for name, value in mine.items():
            assert torch.equal(value, theirs[name]), name
            assert torch.equal(value, first[name]), name


ROWS, STEPS = 24, 3


def _trained(pieces: int, max_norm: float) -> tuple[list[float], torch.Tensor, float]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3).double()
    rows = torch.randn(STEPS, ROWS, 8).double()
    replica = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(replica.parameters(), lr=0.1, eps=0.1)
    norms = []
    for step in rows.chunk(STEPS):
        mine = step[0].chunk(ranks)[rank]
        batches = [(part[:, :5], part[:, 5:]) for part in mine.chunk(pieces)]
        norms.append(accumulated_step(replica, optimizer, batches, mse_loss, max_norm))
    left = sum(p.grad.abs().sum().item() for p in model.parameters() if p.grad is not None)
    return norms, torch.cat([p.detach().flatten() for p in model.parameters()]), left


def _alone(max_norm: float) -> tuple[list[float], torch.Tensor]:
    """The plain twin: no DDP, no pieces, and clipping by hand; torch adds 1e-6 to the norm."""
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3).double()
    rows = torch.randn(STEPS, ROWS, 8).double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, eps=0.1)
    norms = []
    for step in rows:
        optimizer.zero_grad()
        (model(step[:, :5]) - step[:, 5:]).square().mean().backward()
        gradient = torch.cat([p.grad.flatten() for p in model.parameters()])
        norms.append(gradient.norm().item())
        for p in model.parameters():
            p.grad *= min(1.0, max_norm / (norms[-1] + 1e-6))
        optimizer.step()
    return norms, torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize(("ranks", "pieces", "max_norm"), [(2, 3, 0.5), (3, 4, 100.0), (1, 2, 0.5), (2, 1, 0.5)])
def test_a_step_of_pieces_is_one_of_the_whole_batch(ranks, pieces, max_norm):
    """Kills sums for means, clipping of a part, a gradient that stays, and a rank that steps with its own."""
    norms, weights = _alone(max_norm)
    run = world.run(_trained, pieces, max_norm, ranks=ranks)
    for found, after, left in run.values:
        assert found == pytest.approx(norms, rel=1e-12)
        assert torch.allclose(after, weights, rtol=0, atol=1e-12)
        assert left == 0
    reduced = [event.sent for event in run.events if event.rank == 0 and event.operation == "all_reduce"]
    assert sum(sent >= 8 * weights.numel() for sent in reduced) == STEPS
