"""Chapter 05's exercises on real ranks: their drivers, and rules that allow every right program."""

from __future__ import annotations

from random import Random

import pytest
import torch
import torch.distributed as dist

from autograder import bank
from autograder.items import Build, Case
from autograder.probes import ch05 as probes
from solutions.ch05.data_parallel import ShardedAdamW
from tests.autograder import handed_in

EXERCISES = {
    item.function: item for item in bank.of_chapter("ch05") if isinstance(item, Build) and item.grade == "world"
}


def cases(item: Build) -> list[Case]:
    """The public ones and those of each hidden group."""
    return [*item.cases, *(case for _, drawn in item.hidden(Random("other programs")) for case in drawn)]


# Other right programs.


def sums_of_rows(parameters, count, bucket_bytes=25 * 2**20, group=None):
    """Another right way: gradients times rows, and the count in the first bucket, divided at the end."""
    mine = [p for p in reversed(list(dict.fromkeys(parameters))) if p.requires_grad]
    sums = [torch.zeros_like(p) if p.grad is None or count == 0 else p.grad * count for p in mine]
    held_by = torch.tensor([p.grad is not None for p in mine]).int()
    dist.all_reduce(held_by, op=dist.ReduceOp.MAX, group=group)
    buckets, held = [[]], 0
    for place, part in enumerate(sums):
        if held >= bucket_bytes:
            buckets, held = [*buckets, []], 0
        buckets[-1].append(place)
        held += part.nbytes
    rows = torch.tensor(float(count), dtype=torch.float64)
    dist.all_reduce(rows, group=group)
    for bucket in buckets:
        flat = torch.cat([sums[place].flatten() for place in bucket])
        dist.all_reduce(flat, group=group)
        for place, part in zip(bucket, flat.split([sums[place].numel() for place in bucket]), strict=True):
            mean = (part / rows).to(part.dtype).view_as(mine[place])
            if not held_by[place]:
                continue
            if mine[place].grad is None:
                mine[place].grad = mean.clone()
            else:
                mine[place].grad.copy_(mean)
    return len(buckets)


class GathersInFloat32(ShardedAdamW):
    """Another right way: the fp32 slices are gathered and rounded afterwards, and the sum is divided before."""

    def step(self):
        flat = torch.cat(
            [(torch.zeros_like(p) if p.grad is None else p.grad).float().flatten() for p in self.parameters]
        )
        flat = torch.nn.functional.pad(flat / self.ranks, (0, -flat.numel() % self.ranks))
        mine = torch.empty_like(self.master)
        dist.reduce_scatter(mine, [part.clone() for part in flat.chunk(self.ranks)])
        self._update(mine)
        parts = [torch.empty_like(self.master) for _ in range(self.ranks)]
        dist.all_gather(parts, self.master)
        whole, start = torch.cat(parts), 0
        with torch.no_grad():
            for p in self.parameters:
                p.copy_(whole[start : start + p.numel()].view_as(p))
                start += p.numel()


def reduces(gradient, kept=None, group=None):
    """Another right way: divided before the sum."""
    ranks = dist.get_world_size()
    length = -(-gradient.numel() // ranks)
    padded = gradient.new_zeros(ranks * length)
    padded[: gradient.numel()] = gradient.reshape(-1) / ranks
    mine = gradient.new_empty(length)
    dist.reduce_scatter(mine, list(padded.view(ranks, -1)))
    return mine if kept is None else torch.add(mine, kept)


class Gathers(torch.autograd.Function):
    @staticmethod
    def forward(ctx, shard, numel):
        ctx.length = len(shard)
        parts = [torch.empty_like(shard) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, shard)
        return torch.cat(parts)[:numel].clone()

    @staticmethod
    def backward(ctx, gradient):
        ranks = dist.get_world_size()
        padded = gradient.new_zeros(ranks * ctx.length)
        padded[: len(gradient)] = gradient / ranks
        mine = gradient.new_empty(ctx.length)
        dist.reduce_scatter(mine, list(padded.view(ranks, -1)))
        return mine, None


def gathers(shard, numel, group=None):
    """Another right way: a copy forward, the division before the sum."""
    return Gathers.apply(shard, numel)


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize(
    ("function", "program"),
    [
        ("synchronize_gradients", sums_of_rows),
        ("ShardedAdamW", GathersInFloat32),
        ("reduce_to_slice", reduces),
        ("gather_parameter", gathers),
    ],
)
def test_other_right_programs_pass(function, program):
    """Kills a rule or a tolerance that knows the reference alone."""
    item = EXERCISES[function]
    assert not any(handed_in.faults(item, program, cases(item)))


@pytest.mark.parametrize("function", sorted(name for name, item in EXERCISES.items() if item.probe))
def test_drivers_say_what_they_do(function):
    driver = getattr(probes, EXERCISES[function].probe.partition(".")[2])
    assert driver.__doc__.splitlines()[0].endswith(".")


# Answers of the page.


def answers(function: str, place: int) -> tuple:
    item = EXERCISES[function]
    return handed_in.outcomes(item, item.solution(), [item.cases[place]])[0].value


@pytest.mark.parametrize(("place", "mean"), [(0, 2.6), (1, 3.0), (2, 1.0), (3, 2.0), (4, 2.6)])
def test_gradients_of_the_page(place, mean):
    """Two ranks with gradients 2 and 4: rows 7 and 3, equal rows, None on one; nan without rows; tied."""
    for rank in answers("synchronize_gradients", place):
        assert rank["gradients"][0].tolist() == [pytest.approx(mean, rel=1e-12)]


@pytest.mark.parametrize(("place", "calls"), [(5, 3), (6, 1), (7, 3)])
def test_reductions_of_the_page(place, calls):
    """Three gradients of 100 bytes: a cap of 100 bytes, and one of 1 GB."""
    assert [rank["reductions"] for rank in answers("synchronize_gradients", place)] == [calls] * 2


@pytest.mark.parametrize(("place", "size"), [(0, 792), (1, 396), (2, 204)])
def test_states_of_the_page(place, size):
    assert {rank["state_bytes"] for rank in answers("ShardedAdamW", place)} == {size}


def test_slices_of_the_page():
    first, second = answers("gather_parameter", 0)
    assert first["value"].tolist() == second["value"].tolist() == [1, 2, 3]
    assert (first["gradient"].tolist(), second["gradient"].tolist()) == ([2, 2], [2, 0])


@pytest.mark.parametrize(("place", "slices"), [(0, ([2, 3], [4, 0])), (1, ([12, 23], [34, 0]))])
def test_slices_of_gradients(place, slices):
    """The mean of 1, 2, 3 and 3, 4, 5 in two slices; the second time on top of what is kept."""
    assert tuple(one.tolist() for one in answers("reduce_to_slice", place)) == slices
