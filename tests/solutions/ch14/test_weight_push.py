"""Plans and pushes on real ranks, against slicing, the library and the ledger."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from experiments.ch14.sync_runs import cut, matrix, pushed, redistributed, resharded
from rankzero import world
from solutions.ch14.weight_push import debug_rebinding, debug_src, execute_reshard, push_weights
from solutions.ch14.weight_sync import moved_bytes, shard_boxes

CHANGES = [
    ((8, 6), "rows4", "columns2x2"),
    ((8, 6), "columns4", "rows2:2"),
    ((10, 5), "rows4", "columns4"),
    ((5, 7), "rows2x2", "rows4"),
]


@pytest.mark.parametrize(("shape", "source", "target"), CHANGES)
def test_a_plan_on_real_ranks_gives_slices_and_moves_what_it_says(shape, source, target):
    run = resharded(shape, shard_boxes(shape, source), shard_boxes(shape, target))
    assert run.right
    assert run.received == run.planned
    assert sum(run.received) == moved_bytes(run.plan, 4)


@pytest.mark.parametrize(
    ("shape", "mesh", "words", "layouts"),
    [
        ((8, 6), (2, 2), (("rows", "rows"), ("copies", "columns")), ("rows4", "columns2x2")),
        ((8, 6), (2, 2), (("rows", "rows"), ("rows", "copies")), ("rows4", "rows2:2")),
        ((10, 5), (4,), (("rows",), ("columns",)), ("rows4", "columns4")),
    ],
)
def test_the_library_comes_to_the_same_blocks(shape, mesh, words, layouts):
    blocks, ledger = redistributed(shape, mesh, *words)
    source, target = (shard_boxes(shape, layout) for layout in layouts)
    assert all(torch.equal(block, cut(matrix(shape), box)) for block, box in zip(blocks, target, strict=True))
    run = resharded(shape, source, target)
    assert run.right
    assert all(ledger.received(rank) >= run.received[rank] for rank in range(4))


def test_a_run_that_moves_the_wrong_box_is_not_right():
    """Kills a check that cannot fail."""

    def zeros(local, source, target, plan):
        return torch.zeros_like(execute_reshard(local, source, target, plan))

    shape = (4, 4)
    assert not resharded(shape, shard_boxes(shape, "rows4"), shard_boxes(shape, "columns4"), zeros).right


def test_no_rank_ever_holds_the_whole_matrix():
    """Kills a gather: what a rank receives is what it lacks."""
    shape = (8, 8)
    run = resharded(shape, shard_boxes(shape, "rows4"), shard_boxes(shape, "columns4"))
    assert max(run.received) == 4 * 2 * 6


@pytest.mark.parametrize("bucket_bytes", [1, 20_000, 10**9])
def test_a_push_brings_every_byte_once(bucket_bytes):
    push = pushed(bucket_bytes)
    assert push.equal
    assert sum(push.sizes) == push.model_bytes
    assert len(push.sizes) == 1 or all(size <= max(bucket_bytes, 20_000) for size in push.sizes)


def model(rank: int) -> torch.nn.Module:
    """Tied weights, a buffer that counts, and a tensor that is no block of memory."""
    torch.manual_seed(rank)
    net = torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 5))
    net[2].weight = net[0].weight
    net[1].num_batches_tracked += rank
    net.register_buffer("turned", torch.rand(2, 4).t())
    return net


def push_from_the_last() -> tuple[dict, bool]:
    rank = dist.get_rank()
    group = dist.new_group([1, 2])
    net = model(rank)
    before = [parameter.data_ptr() for parameter in net.parameters()]
    if rank:
        push_weights(net.state_dict(), 2, group, 64)
    return dict(net.state_dict()), before == [parameter.data_ptr() for parameter in net.parameters()]


def test_a_push_from_a_rank_inside_a_group():
    """Kills a root that is counted in the group, buffers left out, and tensors that are replaced."""
    run = world.run(push_from_the_last, ranks=3)
    (alone, _), (got, same), (gave, _) = run.values
    assert same
    assert all(torch.equal(got[name], gave[name]) for name in gave)
    assert alone["1.num_batches_tracked"] == 0
    assert got["1.num_batches_tracked"] == 2
    distinct = sum(tensor.nbytes for name, tensor in gave.items() if name != "2.weight")
    assert run.ledger()[2, "broadcast"].sent == distinct


def test_the_first_serving_rank_is_named_by_its_global_number():
    run = world.run(lambda: debug_src(torch.tensor([float(dist.get_rank())])), ranks=4)
    assert torch.cat(run.values).tolist() == [0, 1, 2, 2]


def captured(layer):
    """An engine that reads at the addresses that the weights have now."""
    weight, bias = layer.weight.detach(), layer.bias.detach()
    return lambda x: torch.nn.functional.linear(x, weight, bias)


def test_an_engine_reads_the_new_weights_at_the_old_address():
    layer, x = torch.nn.Linear(3, 2), torch.rand(4, 3)
    engine, parameters = captured(layer), list(layer.parameters())
    weight, bias = torch.rand(2, 3), torch.rand(2)
    debug_rebinding(layer, weight, bias)
    assert torch.equal(engine(x), torch.nn.functional.linear(x, weight, bias))
    assert all(old is new for old, new in zip(parameters, layer.parameters(), strict=True))


@pytest.mark.parametrize("how", ["parameter", "data"])
def test_a_rebound_weight_does_not_reach_the_engine(how):
    layer, x = torch.nn.Linear(3, 2), torch.rand(4, 3)
    engine, before = captured(layer), captured(layer)(x)
    if how == "parameter":
        layer.weight = torch.nn.Parameter(torch.zeros(2, 3))
    else:
        layer.weight.data = torch.zeros(2, 3)
    assert torch.equal(engine(x), before)
