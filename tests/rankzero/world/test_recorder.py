"""The event log: every operation a rank calls, once, under its logical name, with the bytes the table promises."""

from __future__ import annotations

import pickle
import warnings

import pytest
import torch
import torch.distributed as dist

from rankzero import world
from rankzero.events import Event

N, S = 3, 3 * 16 * 4  # ranks, and bytes of the full tensor: 16 float32 for each rank


def first(work, rank: int = 0, ranks: int = N, **kwargs) -> Event:
    """The only event of one rank."""
    (event,) = [event for event in world.run(work, ranks=ranks, **kwargs).events if event.rank == rank]
    return event


def operations(run: world.World, rank: int) -> list[str]:
    return [event.operation for event in run.events if event.rank == rank]


def full() -> torch.Tensor:
    return torch.ones(N * 16)


def test_an_object_collective_that_was_imported_by_name_is_one_event():
    """Kills: a function that the rank unpacks before it is replaced, so that its two calls are events."""
    from torch.distributed import all_gather_object

    def work():
        all_gather_object([None] * dist.get_world_size(), "x")

    assert operations(world.run(work, ranks=2), 0) == ["all_gather_object"]


def part() -> torch.Tensor:
    return torch.ones(16)


def parts() -> list[torch.Tensor]:
    return [torch.ones(16) for _ in range(N)]


def silently(function, *args):
    """Older names of the library warn; that is its matter, and the reader's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return function(*args)


def at_root(value):
    return value if dist.get_rank() == 1 else None


COLLECTIVES = {
    "all_reduce": (lambda: dist.all_reduce(full()), "all_reduce", (S, S), (S, S)),
    "broadcast": (lambda: dist.broadcast(full(), 1), "broadcast", (S, 0), (0, S)),
    "reduce": (lambda: dist.reduce(full(), 1), "reduce", (S, S), (S, 0)),
    "all_gather": (lambda: dist.all_gather(parts(), part()), "all_gather", (S // N, S), (S // N, S)),
    "all_gather_into_tensor": (
        lambda: silently(dist.all_gather_into_tensor, full(), part()),
        "all_gather",
        (S // N, S),
        (S // N, S),
    ),
    "gather": (lambda: dist.gather(part(), at_root(parts()), 1), "gather", (S // N, S), (S // N, 0)),
    "reduce_scatter": (lambda: dist.reduce_scatter(part(), parts()), "reduce_scatter", (S, S // N), (S, S // N)),
    "reduce_scatter_tensor": (
        lambda: silently(dist.reduce_scatter_tensor, part(), full()),
        "reduce_scatter",
        (S, S // N),
        (S, S // N),
    ),
    "scatter": (lambda: dist.scatter(part(), at_root(parts()), 1), "scatter", (S, S // N), (0, S // N)),
    "all_to_all": (lambda: dist.all_to_all(parts(), parts()), "all_to_all", (S, S), (S, S)),
    "all_to_all_single": (lambda: dist.all_to_all_single(full(), full()), "all_to_all", (S, S), (S, S)),
    "barrier": (lambda: dist.barrier(), "barrier", (0, 0), (0, 0)),
    "monitored_barrier": (lambda: dist.monitored_barrier(), "barrier", (0, 0), (0, 0)),
}
if hasattr(dist, "all_gather_single"):
    gather_single = lambda: dist.all_gather_single(full(), part())  # noqa: E731
    scatter_single = lambda: dist.reduce_scatter_single(part(), full())  # noqa: E731
    COLLECTIVES["all_gather_single"] = (gather_single, "all_gather", (S // N, S), (S // N, S))
    COLLECTIVES["reduce_scatter_single"] = (scatter_single, "reduce_scatter", (S, S // N), (S, S // N))


def test_every_collective_has_the_bytes_of_the_table():
    """Root is rank 1. Kills bytes counted on the wire, and a root's bytes on everyone."""

    def work():
        for call, *_ in COLLECTIVES.values():
            call()

    run = world.run(work, ranks=N)
    roots = {"broadcast", "reduce", "gather", "scatter"}
    for rank in range(N):
        events = [event for event in run.events if event.rank == rank]
        for event, (name, (_, operation, root, other)) in zip(events, COLLECTIVES.items(), strict=True):
            assert (event.operation, (event.sent, event.received)) == (operation, root if rank == 1 else other), name
            assert event.peers == (0, 1, 2)
            assert event.root == (1 if operation in roots else None)


def test_messages():
    """A blocking send and an isend are both a send, once; the wait is part of it."""

    def work():
        rank, x = dist.get_rank(), torch.ones(5)
        if rank == 0:
            dist.send(x, 1)
            dist.isend(x, 1, tag=3).wait()
            dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 2)])[0].wait()
        elif rank == 1:
            dist.recv(x, 0)
            dist.irecv(x, 0, tag=3).wait()
        else:
            assert dist.recv(x) == 0

    run = world.run(work, ranks=3)
    assert [(e.rank, e.operation, e.peers, e.sent, e.received) for e in run.events] == [
        (0, "send", (1,), 20, 0),
        (0, "send", (1,), 20, 0),
        (0, "send", (2,), 20, 0),
        (1, "recv", (0,), 0, 20),
        (1, "recv", (0,), 0, 20),
        (2, "recv", (0,), 0, 20),
    ]
    assert run.ledger()[0, "send"].sent == run.ledger()[1, "recv"].received + run.ledger()[2, "recv"].received


def test_times_are_on_one_clock_and_where_is_the_readers_line():
    def work():
        x = torch.ones(4)
        if dist.get_rank() == 0:
            sum(i * i for i in range(300_000))
            dist.send(x, 1)
        else:
            dist.recv(x, 0)

    run = world.run(work, ranks=2)
    send, recv = run.events
    assert 0 <= recv.start < send.start < send.end <= run.seconds
    assert send.start < recv.end <= run.seconds  # one waits for the other: nothing arrives before it is sent
    first_line = work.__code__.co_firstlineno
    assert (send.where, recv.where) == (
        f"line {first_line + 4} of test_recorder.py",
        f"line {first_line + 6} of test_recorder.py",
    )


def test_an_asynchronous_operation_ends_with_its_wait():
    def work():
        handle = dist.all_reduce(torch.ones(4), async_op=True)
        dist.barrier()
        handle.wait()
        forgotten = dist.all_reduce(torch.ones(4), async_op=True)
        dist.barrier()
        return forgotten is not None

    reduce, barrier, forgotten, last = (e for e in world.run(work, ranks=2).events if e.rank == 0)
    assert reduce.start < barrier.start
    assert reduce.end > barrier.end
    assert forgotten.end > last.end  # never waited for: as long as the run


def test_groups_speak_in_global_ranks():
    """Kills a log that takes the group's own numbers for ranks."""

    def work():
        pair = dist.new_group([0, 2], backend="gloo")
        if dist.get_rank() != 1:
            assert dist.get_backend(pair) == dist.get_backend() == "gloo"
            x = torch.full((2,), float(dist.get_rank()))
            dist.broadcast(x, 2, group=pair)
            dist.broadcast(x, group_src=1, group=pair)
            if dist.get_rank() == 0:
                dist.send(x, group_dst=1, group=pair)
            else:
                dist.recv(x, 0, group=pair)
            return x.tolist()
        return None

    run = world.run(work, ranks=3)
    assert run.values == ([2.0, 2.0], None, [2.0, 2.0])
    assert [(e.rank, e.operation, e.peers, e.root) for e in run.events] == [
        (0, "broadcast", (0, 2), 2),
        (0, "broadcast", (0, 2), 2),
        (0, "send", (2,), None),
        (2, "broadcast", (0, 2), 2),
        (2, "broadcast", (0, 2), 2),
        (2, "recv", (0,), None),
    ]


def test_an_object_collective_is_one_event_with_the_bytes_of_its_pickles():
    """Kills a log of the sizes, the padding and the payload as three operations."""
    things = ["a", "b" * 1000, None]
    sizes = [len(pickle.dumps(thing)) for thing in things]

    def work():
        rank, got = dist.get_rank(), [None] * 3
        dist.all_gather_object(got, things[rank])
        dist.broadcast_object_list(list(things) if rank == 1 else [None] * 3, 1)
        dist.gather_object(things[rank], [None] * 3 if rank == 1 else None, dst=1)
        dist.scatter_object_list([None], things if rank == 1 else None, src=1)
        if rank == 0:
            dist.send_object_list([things[1]], 2)
        if rank == 2:
            dist.recv_object_list([None], 0)
        return got

    run = world.run(work, ranks=3)
    assert run.values == (things,) * 3
    rows = [(e.rank, e.operation, e.root, e.sent, e.received) for e in run.events]
    total = sum(sizes)
    for rank in range(3):
        root = rank == 1
        expected = [
            (rank, "all_gather_object", None, sizes[rank], total),
            (rank, "broadcast_object_list", 1, total if root else 0, 0 if root else total),
            (rank, "gather_object", 1, sizes[rank], total if root else 0),
            (rank, "scatter_object_list", 1, total if root else 0, sizes[rank]),
        ]
        expected += [(0, "send_object_list", None, sizes[1], 0)] if rank == 0 else []
        expected += [(2, "recv_object_list", None, 0, sizes[1])] if rank == 2 else []
        assert [row for row in rows if row[0] == rank] == expected
    assert run.events[0].peers == (0, 1, 2)
    assert run.events[4].peers == (2,)


def test_ddp_is_seen_though_its_reducer_is_not_python():
    def work():
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 4))
        for _ in range(2):
            model(torch.ones(2, 8)).sum().backward()
        with model.no_sync():
            model(torch.ones(2, 8)).sum().backward()
        return float(sum(p.grad.sum() for p in model.parameters()))

    run = world.run(work, ranks=2)
    reduces = [event for event in run.events if event.operation == "all_reduce"]
    assert [(e.rank, e.sent, e.received) for e in reduces] == [(r, 144, 144) for r in (0, 0, 1, 1)]
    assert {e.where for e in reduces} == {f"line {work.__code__.co_firstlineno + 3} of test_recorder.py"}
    assert all(e.end > e.start for e in reduces)
    assert {e.operation for e in run.events} == {"all_reduce", "broadcast"}  # the weights; no talk about buckets
    assert {e.sent for e in run.events if e.operation == "broadcast" and e.rank == 0} == {144}
    assert run.values[0] == run.values[1]


def test_ddp_with_a_communication_hook():
    def work():
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 4))
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
        model(torch.ones(2, 8)).sum().backward()

    reduces = [e for e in world.run(work, ranks=2).events if e.operation == "all_reduce"]
    assert [e.sent for e in reduces] == [72, 72]  # half of the 144 bytes


def test_fsdp_is_seen():
    def work():
        from torch.distributed.fsdp import fully_shard

        model = torch.nn.Linear(8, 4, bias=False)
        fully_shard(model)
        model(torch.ones(2, 8)).sum().backward()

    run = world.run(work, ranks=2)
    assert operations(run, 0) == ["all_gather", "reduce_scatter"]
    assert [(e.sent, e.received) for e in run.events if e.rank == 0] == [(64, 128), (128, 64)]


def test_dtensor_and_device_meshes_are_seen():
    def work():
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import Replicate, Shard, distribute_tensor

        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        spread = distribute_tensor(torch.ones(4, 4), mesh["tp"], [Shard(0)])
        return spread.redistribute(mesh["tp"], [Replicate()]).to_local().sum().item()

    run = world.run(work, ranks=4)
    assert run.values == (16.0,) * 4
    assert operations(run, 3) == ["scatter", "all_gather"]
    gathers = [e for e in run.events if e.operation == "all_gather"]
    assert [(e.peers, e.sent, e.received) for e in gathers] == [(p, 32, 64) for p in ((0, 1), (0, 1), (2, 3), (2, 3))]


def test_functional_and_coalesced_collectives_are_seen():
    def work():
        import torch.distributed._functional_collectives as functional
        from torch.distributed.distributed_c10d import _coalescing_manager

        x = torch.ones(4)
        total = functional.all_reduce(x, "sum", dist.group.WORLD) + 0
        with _coalescing_manager():
            dist.all_reduce(x)
            dist.all_reduce(total)
        return x.tolist()

    run = world.run(work, ranks=2)
    assert run.values == ([2.0] * 4,) * 2
    assert [(e.operation, e.sent) for e in run.events if e.rank == 0] == [("all_reduce", 16), ("all_reduce", 32)]


def test_collectives_that_autograd_differentiates():
    def work():
        from torch.distributed.nn.functional import all_reduce

        x = torch.ones(4, requires_grad=True)
        all_reduce(x).sum().backward()
        return x.grad.tolist()

    run = world.run(work, ranks=2)
    assert run.values == ([2.0] * 4,) * 2
    assert operations(run, 0) == ["all_reduce", "all_reduce"]


def test_what_the_reader_did_not_call_is_not_recorded():
    """Meeting, making groups and leaving are the library's own affairs."""

    def work():
        group = dist.new_group([0, 1])
        dist.barrier()  # a group that is destroyed while the other rank still joins it breaks the meeting
        dist.destroy_process_group(group)

    run = world.run(work, ranks=2)
    assert [operations(run, rank) for rank in range(2)] == [["barrier"], ["barrier"]]


def test_a_handle_answers_like_the_librarys():
    def work():
        x = torch.ones(2)
        handle = dist.all_reduce(x, async_op=True)
        done = handle.wait()
        return done, handle.is_completed(), handle.is_success(), handle.get_future().wait()[0].tolist()

    assert world.run(work, ranks=2).values[0] == (True, True, True, [2.0, 2.0])


def test_a_group_is_a_group():
    """Kills a group that only quacks: meshes and functional collectives look it up by its name."""

    def work():
        group = dist.group.WORLD
        name = dist.distributed_c10d._resolve_process_group(group.group_name)
        return isinstance(group, dist.ProcessGroup), name is group, dist.get_backend(group), group.size(), group.rank()

    assert world.run(work, ranks=2).values[1] == (True, True, "gloo", 2, 1)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int8, torch.complex64])
def test_bytes_follow_the_type(dtype):
    event = first(lambda: dist.broadcast(torch.ones(6, dtype=dtype), 0), rank=0, ranks=2)
    assert event.sent == 6 * dtype.itemsize
