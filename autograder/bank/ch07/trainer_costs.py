"""The milestone "trainer": what a run sent, and the least that its plan has to send."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from autograder.bank.ch07.trainer_draws import TOKENS, Drawn
from autograder.items import Cost, LevelCosts, lazily
from rankzero.events import Event

costs = lazily("solutions.ch03.collective_cost")
zero = lazily("solutions.ch05.zero")
pipeline = lazily("solutions.ch07.pipeline")

Events = Sequence[Event]


def of_rank(events: Iterable[Event], rank: int) -> list[Event]:
    """A rank's operations with other ranks, in the order in which it called them."""
    mine = [event for event in events if event.rank == rank and event.peers != (rank,)]
    return sorted(mine, key=lambda event: event.start)


def marks(events: Iterable[Event], rank: int) -> list[Event]:
    """Where the backward passes of a rank reached the first block, in order."""
    mine = [event for event in events if event.rank == rank and event.peers == (rank,)]
    return sorted((event for event in mine if event.operation == "barrier"), key=lambda event: event.start)


def wire_bytes(event: Event) -> float:
    """Bytes that a rank sends for an operation under an algorithm that sends as few as possible."""
    ranks = len(event.peers)
    if event.operation in ("send", "recv", "barrier"):
        return float(event.sent)
    whole: float = max(event.sent, event.received)
    if event.operation == "scatter" and event.rank != event.root:
        whole = event.received * ranks
    if event.operation == "gather" and event.rank != event.root:
        whole = event.sent * ranks
    root = 0 if event.root is None else event.peers.index(event.root)
    return costs.traffic(event.operation, whole, ranks, event.peers.index(event.rank), root)[0]  # type: ignore[no-any-return]


def hops(event: Event) -> int:
    """Messages that follow one another in an operation on a ring: 2 (N - 1) for an all-reduce."""
    if event.operation in ("send", "recv"):
        return int(event.operation == "send")
    return (2 if event.operation == "all_reduce" else 1) * (len(event.peers) - 1)


def sent(job: Drawn, events: Events) -> float:
    """Bytes that the busiest rank sends in one step of the optimizer."""
    return max(sum(map(wire_bytes, of_rank(events, rank))) for rank in range(job.mesh.ranks)) / len(job.steps)


def hopped(job: Drawn, events: Events) -> float:
    """Messages, one after the other, of the busiest rank in one step."""
    return max(sum(map(hops, of_rank(events, rank))) for rank in range(job.mesh.ranks)) / len(job.steps)


def model_bytes(job: Drawn) -> int:
    """Bytes of the whole model's weights."""
    return 8 * sum(map(prod, job.shapes.values()))


def least_of_replicas(job: Drawn) -> tuple[float, float]:
    """Bytes and hops of one step under data parallelism, with whatever the plan shards."""
    plan = job.mesh
    size = model_bytes(job) / 8
    least = zero.zero_traffic(size, plan.zero, plan.dp, 8.0, 8.0, micro_steps=plan.micro_batches)
    reductions = plan.micro_batches if plan.zero == 2 else 1
    return least, (reductions + 1) * (plan.dp - 1)


def least_of_tensors(job: Drawn) -> tuple[float, float]:
    """Bytes and hops of one step of one replica under tensor parallelism: four all-reduces of x in every block."""
    each = 4 * job.shape["layers"]
    ranks = job.mesh.tp
    moved = sum(_activation(job, len(rows)) for step in job.steps for rows in step[0]) / len(job.steps)
    return 2 * (ranks - 1) / ranks * each * moved, 2 * (ranks - 1) * each * job.mesh.micro_batches


def least_of_stages(job: Drawn) -> tuple[float, float]:
    """Bytes and messages of one step of one replica in a pipeline, for the busiest stage."""
    plan = job.mesh
    moved = sum(_activation(job, len(rows)) for step in job.steps for rows in step[0]) / len(job.steps)
    least = max(pipeline.pipeline_bytes_sent(rank, plan.pp, 1, moved) for rank in range(plan.pp))
    return least, (2 if plan.pp > 2 else 1) * plan.micro_batches


def _activation(job: Drawn, rows: int) -> int:
    """Bytes of x for so many rows."""
    return 8 * rows * TOKENS * job.shape["heads"] * job.shape["head_dim"]


def of_level(job: Drawn, events: Events, least: tuple[float, float], held: Cost | None = None) -> LevelCosts:
    """The figures of a run beside the least bytes and hops of a step."""
    return LevelCosts(Cost(sent(job, events), least[0]), held, Cost(hopped(job, events), least[1]))
