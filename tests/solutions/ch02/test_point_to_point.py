"""Messages on real ranks: against torch.roll and the library's broadcast, and the ledger of their own run."""

from __future__ import annotations

import functools
from typing import Any

import one_world
import pytest
import torch
import torch.distributed as dist

from rankzero import world
from rankzero.events import Event
from rankzero.facts.units import MiB
from solutions.ch02.point_to_point import chunked_relay, debug_early_read, debug_swap, relay, ring_shift

RANKS = [1, 2, 3, 4]
DISTANCES = range(-9, 10)
SHAPES = ((0,), (1,), (7,), (3, 5), (2, 0, 3), ())
DTYPES = (torch.float32, torch.int64, torch.bool)
CHUNKED = ((0, 3), (1, 1), (1, 4), (3, 8), (7, 3), (10, 4), (4099, 5))
LONG = 2 * MiB + 1  # elements: a little over 8 MiB, and odd


def numbers(rank: int, shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """What ``rank`` holds: the same wherever it is asked for."""
    generator = torch.Generator().manual_seed(1000 * rank + len(shape))
    drawn = torch.randint(0, 2 if dtype == torch.bool else 10**6, shape, generator=generator)
    return drawn.to(dtype)


def everything() -> dict[Any, Any]:
    """Every function on every shape, type and distance; all ranks walk through the same list."""
    rank = dist.get_rank()
    results: dict[Any, Any] = {}
    for distance in DISTANCES:
        for number, shape in enumerate(SHAPES):
            x = numbers(rank, shape, DTYPES[number % 3])
            before = x.clone()
            results["shift", distance, shape] = ring_shift(x, distance)
            results["unchanged", distance, shape] = torch.equal(x, before)
    for dtype in DTYPES:
        results["type", dtype] = ring_shift(numbers(rank, (7,), dtype))
    columns = numbers(rank, (4, 3)).t()
    results["columns"] = ring_shift(columns)
    results["row"] = ring_shift(numbers(rank, (4, 3))[:, 1], -1)
    own, moved = ring_shift(columns, 0), ring_shift(columns, 1)
    results["new"] = columns.data_ptr() not in (own.data_ptr(), moved.data_ptr())
    asked = numbers(rank, (5,)).requires_grad_()
    results["history"] = ring_shift(asked).requires_grad or chunked_relay(asked, 2).requires_grad
    for elements, chunks in CHUNKED:
        x = numbers(rank, (elements,))
        relayed, broadcast = chunked_relay(x, chunks), x.clone()
        dist.broadcast(broadcast, 0)
        results["relay", elements, chunks] = relayed
        results["broadcast", elements, chunks] = broadcast
        results["kept", elements, chunks] = torch.equal(x, numbers(rank, (elements,)))
    long = numbers(rank, (LONG,))
    results["long shift"] = ring_shift(long, 3)[-3:]
    results["long relay"] = torch.equal(chunked_relay(long, 7), numbers(0, (LONG,)))
    results["numbers"] = debug_early_read([rank + 0.5, 2.0])
    return results


@functools.cache
def run(ranks: int) -> tuple[dict[Any, Any], ...]:
    return world.run(everything, ranks=ranks).values


def rolled(ranks: int, shape: tuple[int, ...], dtype: torch.dtype, distance: int) -> torch.Tensor:
    """What all ranks hold after the shift, one row for each."""
    return torch.roll(torch.stack([numbers(rank, shape, dtype) for rank in range(ranks)]), distance, dims=0)


@pytest.mark.parametrize("ranks", RANKS)
def test_a_shift_is_a_roll(ranks):
    """Kills: the other way round, a message to oneself, an empty or a scalar tensor that does not arrive."""
    for rank, values in enumerate(run(ranks)):
        for distance in DISTANCES:
            for number, shape in enumerate(SHAPES):
                expected = rolled(ranks, shape, DTYPES[number % 3], distance)[rank]
                got = values["shift", distance, shape]
                assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
                assert torch.equal(got, expected)
                assert values["unchanged", distance, shape]
        for dtype in DTYPES:
            assert torch.equal(values["type", dtype], rolled(ranks, (7,), dtype, 1)[rank])
        assert torch.equal(values["long shift"], numbers((rank - 3) % ranks, (LONG,))[-3:])


@pytest.mark.parametrize("ranks", RANKS)
def test_a_shift_takes_views_and_returns_new_tensors(ranks):
    """Kills: a tensor that shares memory with ``x``, and a send that wants contiguous memory."""
    for rank, values in enumerate(run(ranks)):
        left, right = numbers((rank - 1) % ranks, (4, 3)), numbers((rank + 1) % ranks, (4, 3))
        assert torch.equal(values["columns"], left.t())
        assert torch.equal(values["row"], right[:, 1])
        assert values["new"]
        assert not values["history"]


@pytest.mark.parametrize("ranks", RANKS)
def test_a_relay_in_chunks_is_a_broadcast(ranks):
    for values in run(ranks):
        for elements, chunks in CHUNKED:
            assert torch.equal(values["broadcast", elements, chunks], numbers(0, (elements,)))
            assert torch.equal(values["relay", elements, chunks], values["broadcast", elements, chunks])
            assert values["kept", elements, chunks]
        assert values["long relay"]


@pytest.mark.parametrize("ranks", RANKS)
def test_what_was_mended(ranks):
    assert [values["numbers"] for values in run(ranks)] == [[0.5, 2.0]] * ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_partners_swap(ranks):
    done = world.run(lambda: debug_swap(numbers(dist.get_rank(), (3,))), ranks=ranks)
    assert all(torch.equal(value, numbers(rank ^ 1, (3,))) for rank, value in enumerate(done.values))
    assert all(done.ledger().calls(rank) == 2 for rank in range(ranks))


@pytest.mark.parametrize("ranks", RANKS)
def test_a_number_goes_down_the_chain(ranks):
    done = world.run(lambda: relay(0.1 if dist.get_rank() == 0 else 99.0, 0.7), ranks=ranks)
    assert done.values == pytest.approx([0.1 + 0.7 * rank for rank in range(ranks)], rel=1e-15)
    sent = [(event.rank, event.peers, event.sent) for event in done.events if event.operation == "send"]
    assert sorted(sent) == [(rank, (rank + 1,), 8) for rank in range(ranks - 1)]


def shifted(distance: int) -> None:
    ring_shift(torch.zeros(5), distance)


@pytest.mark.parametrize("ranks", [3, 4])
def test_the_ledger_of_a_shift(ranks):
    """One message for each rank, straight to its place, and none for whole turns."""
    for (distance,), done in one_world.runs(shifted, ((1,), (-1,), (2,), (ranks,), (0,)), ranks).items():
        sent = {(event.rank, event.peers, event.sent) for event in done.events if event.operation == "send"}
        straight = {(rank, ((rank + distance) % ranks,), 20) for rank in range(ranks)}
        assert sent == (straight if distance % ranks else set())
        assert len(done.events) == 2 * len(sent)


def of(events: tuple[Event, ...], rank: int, operation: str) -> list[Event]:
    return sorted((e for e in events if (e.rank, e.operation) == (rank, operation)), key=lambda event: event.start)


def relayed(elements: int, chunks: int) -> None:
    chunked_relay(torch.zeros(elements), chunks)


PARTS = ((10, 4), (3, 8), (0, 2))


@pytest.mark.parametrize(("elements", "chunks"), PARTS)
def test_the_ledger_of_a_relay_in_chunks(elements, chunks):
    """Every rank but the last sends everything once, in chunks of tensor_split; middle ranks receive meanwhile."""
    done = one_world.runs(relayed, PARTS, 3)[elements, chunks]
    sizes = [part.nbytes for part in torch.zeros(elements).tensor_split(chunks) if len(part)]
    for rank in range(3):
        assert [event.sent for event in of(done.events, rank, "send")] == (sizes if rank < 2 else [])
    following, sends = of(done.events, 1, "recv")[1:], of(done.events, 1, "send")
    assert len(following) == max(0, len(sizes) - 1)
    assert all(receive.start < sending.end for receive, sending in zip(following, sends, strict=False))


def test_a_relay_needs_one_dimension():
    with pytest.raises(ValueError, match=r"x must be 1-D, got \(2, 2\)"):
        chunked_relay(torch.zeros(2, 2), 2)
