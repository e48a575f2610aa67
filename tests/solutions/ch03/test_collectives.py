"""Our collectives on real ranks: against sums made in one process, the library, and the ledger of their own run."""

from __future__ import annotations

import functools

import one_world
import pytest
import torch
import torch.distributed as dist

from experiments.ch03.naive_all_reduces import star_all_reduce, whole_ring_all_reduce
from rankzero import world
from solutions.ch03.collective_cost import traffic
from solutions.ch03.collectives import (
    all_to_all,
    debug_dtype,
    debug_grad,
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
)

RANKS = [1, 2, 3, 4]
COUNTS = (0, 1, 2, 3, 5, 7, 12, 4099)
DTYPES = (torch.float32, torch.float64, torch.int64)


def numbers(rank: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    """What ``rank`` holds: the same wherever it is asked for."""
    generator = torch.Generator().manual_seed(1000 * rank + count)
    if dtype == torch.int64:
        return torch.randint(-(2**40), 2**40, (count,), generator=generator)
    return torch.randn(count, generator=generator, dtype=dtype)


def block(rank: int, to: int, ranks: int) -> torch.Tensor:
    """What ``rank`` has for ``to``: lengths differ, and some are 0."""
    return numbers(10 * rank + to, (3 * rank + 5 * to + ranks) % 7, torch.float64)


def everything() -> dict:
    """Every function on every count and type; all ranks walk through the same list."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    results = {}
    for count in COUNTS:
        for dtype in DTYPES:
            x = numbers(rank, count, dtype)
            before = x.clone()
            sizes = [(r + count) % 4 for r in range(ranks)]
            key = (count, str(dtype))
            results["scatter", *key] = ring_reduce_scatter(x)
            results["reduce", *key] = ring_all_reduce(x)
            results["gather", *key] = ring_all_gather(numbers(rank, sizes[rank], dtype), sizes)
            results["star", *key] = star_all_reduce(x)
            results["whole", *key] = whole_ring_all_reduce(x)
            results["unchanged", *key] = torch.equal(x, before)
    results["to_all"] = all_to_all([block(rank, to, ranks) for to in range(ranks)])
    results["library"] = library(rank, ranks)
    results["columns"] = ring_all_reduce(numbers(rank, 12, torch.float64).reshape(3, 4).t())
    results["scalar"] = ring_all_reduce(torch.tensor(rank + 1.0))
    return results


def library(rank: int, ranks: int) -> dict[str, torch.Tensor]:
    x = numbers(rank, 12, torch.float64)
    total, part = x.clone(), torch.empty(12 // ranks, dtype=x.dtype)
    dist.all_reduce(total)
    dist.reduce_scatter(part, list(x.chunk(ranks)))
    sent = [block(rank, to, ranks) for to in range(ranks)]
    lengths = [[len(block(r, to, ranks)) for to in range(ranks)] for r in range(ranks)]
    received = torch.empty(sum(row[rank] for row in lengths), dtype=torch.float64)
    dist.all_to_all_single(received, torch.cat(sent), [row[rank] for row in lengths], lengths[rank])
    return {"reduce": total, "scatter": part, "to_all": received}


@functools.cache
def run(ranks: int) -> tuple[dict, ...]:
    return world.run(everything, ranks=ranks).values


def total(ranks: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.stack([numbers(rank, count, dtype) for rank in range(ranks)]).sum(0)


def same(ours: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-5 if ours.is_floating_point() else 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("ranks", RANKS)
def test_sums_are_those_of_one_process(ranks, dtype):
    """Kills: dropped remainders, chunks off by one, a contribution added twice, an average for a sum."""
    for rank, values in enumerate(run(ranks)):
        for count in COUNTS:
            expected, key = total(ranks, count, dtype), (count, str(dtype))
            for kind in ("reduce", "star", "whole"):
                same(values[kind, *key], expected)
            same(values["scatter", *key], expected.tensor_split(ranks)[rank])
            assert values["unchanged", *key]


@pytest.mark.parametrize("ranks", RANKS)
def test_gathered_parts_stand_in_rank_order(ranks):
    for values in run(ranks):
        for count in COUNTS:
            sizes = [(r + count) % 4 for r in range(ranks)]
            parts = [numbers(r, sizes[r], torch.float64) for r in range(ranks)]
            assert torch.equal(values["gather", count, "torch.float64"], torch.cat(parts))


@pytest.mark.parametrize("ranks", RANKS)
def test_all_ranks_hold_the_same_bits(ranks):
    """Kills: a ring of whole tensors, where every rank adds in another order."""
    first, *others = run(ranks)
    for count in COUNTS:
        key = ("reduce", count, "torch.float32")
        assert all(torch.equal(first[key], values[key]) for values in others)


@pytest.mark.parametrize("ranks", RANKS)
def test_the_library_agrees(ranks):
    for values in run(ranks):
        key = (12, "torch.float64")
        same(values["reduce", *key], values["library"]["reduce"])
        same(values["scatter", *key], values["library"]["scatter"])
        assert torch.equal(torch.cat(values["to_all"]), values["library"]["to_all"])


@pytest.mark.parametrize("ranks", RANKS)
def test_blocks_are_transposed(ranks):
    for rank, values in enumerate(run(ranks)):
        for source, received in enumerate(values["to_all"]):
            assert torch.equal(received, block(source, rank, ranks))


@pytest.mark.parametrize("ranks", RANKS)
def test_shapes_are_kept(ranks):
    for values in run(ranks):
        same(values["columns"], total(ranks, 12, torch.float64).reshape(3, 4).t())
        assert values["scalar"] == torch.tensor(ranks * (ranks + 1) / 2)


def twelve_elements(operation: str) -> None:
    """A collective of a full tensor of twelve float32, which 1, 2, 3 and 4 ranks divide."""
    ranks = dist.get_world_size()
    share = 12 // ranks
    match operation:
        case "reduce_scatter":
            ring_reduce_scatter(torch.ones(12))
        case "all_gather":
            ring_all_gather(torch.ones(share), [share] * ranks)
        case "all_reduce":
            ring_all_reduce(torch.ones(12))
        case "all_to_all":
            all_to_all(torch.ones(12).split(share))


OPERATIONS = ("reduce_scatter", "all_gather", "all_reduce", "all_to_all")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("ranks", RANKS)
def test_measured_bytes_are_those_of_the_formula(operation, ranks):
    """Byte for byte when N divides the size; the counts of an all-to-all are 8 bytes for each other rank."""
    runs = one_world.runs(twelve_elements, tuple((name,) for name in OPERATIONS), ranks)
    ledger = runs[operation,].ledger()
    counts = 8 * (ranks - 1) if operation == "all_to_all" else 0
    for rank in range(ranks):
        sent, received = traffic(operation, 48, ranks, rank)
        assert (ledger.sent(rank), ledger.received(rank)) == (sent + counts, received + counts)
    assert set(ledger.operations) <= {"send", "recv"}


SIZES = (0, 1, 3, 5, 4099)


def scattered(count: int) -> None:
    ring_reduce_scatter(torch.ones(count))


@pytest.mark.parametrize("count", SIZES)
def test_messages_and_bytes_when_ranks_do_not_divide(count):
    """Only what is needed is sent: no empty messages, and in a reduce-scatter every chunk but the own one."""
    ledger = one_world.runs(scattered, tuple((size,) for size in SIZES), 4)[count,].ledger()
    chunks = [4 * len(chunk) for chunk in torch.ones(count).tensor_split(4)]
    assert [ledger.sent(rank) for rank in range(4)] == [sum(chunks) - chunks[rank] for rank in range(4)]
    filled = sum(chunk > 0 for chunk in chunks)
    sends = [ledger.get((rank, "send")) for rank in range(4)]
    assert [entry.calls if entry else 0 for entry in sends] == [filled - (chunk > 0) for chunk in chunks]


def of_64(function) -> None:
    function(torch.ones(64))


def test_a_ring_beats_whole_tensors_and_the_star():
    runs = one_world.runs(of_64, ((ring_all_reduce,), (whole_ring_all_reduce,), (star_all_reduce,)), 4)

    def bytes_of(function):
        ledger = runs[function,].ledger()
        return max(ledger.sent(rank) + ledger.received(rank) for rank in range(4))

    tensor = 64 * 4
    assert bytes_of(ring_all_reduce) == 2 * 1.5 * tensor
    assert bytes_of(whole_ring_all_reduce) == 2 * 3 * tensor
    assert bytes_of(star_all_reduce) == 2 * 3 * tensor


def fixed() -> tuple[list[int], list[torch.Tensor]]:
    rank = dist.get_rank()
    parameters = [torch.zeros(2), torch.zeros(3, 2), torch.zeros(1)]
    gradients = [torch.full_like(p, rank + 1.0) if layer != rank else None for layer, p in enumerate(parameters)]
    return debug_dtype(2**53 + 1 + rank), debug_grad(parameters, gradients)


def test_the_mended_programs_run():
    """Layer r has no gradient on rank r: every sum lacks that rank's number, and no bit of an integer is lost."""
    for gathered, sums in world.run(fixed, ranks=4).values:
        assert gathered == [2**53 + 1 + rank for rank in range(4)]
        for layer, tensor in enumerate(sums):
            assert torch.equal(tensor, torch.full(tensor.shape, 10.0 - (layer + 1)))


def complaints() -> list[str]:
    ranks = dist.get_world_size()
    calls = [
        lambda: ring_reduce_scatter(torch.ones(2, 2)),
        lambda: ring_all_gather(torch.ones(3), [4] * ranks),
        lambda: ring_all_gather(torch.ones(3), [3] * (ranks + 1)),
        lambda: all_to_all([torch.ones(1)] * (ranks + 1)),
    ]
    said = []
    for call in calls:
        with pytest.raises(ValueError) as caught:
            call()
        said.append(str(caught.value))
    return said


def test_bad_input_is_named_on_every_rank():
    for said in world.run(complaints, ranks=2).values:
        assert said == [
            "x must be 1-D, got (2, 2)",
            "x must have 4 elements, got 3",
            "sizes must have 2 entries, got [3, 3, 3]",
            "blocks must have 2 entries, got 3",
        ]
