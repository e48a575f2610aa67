"""Chapter 2: ``receive_while``, non-blocking messages."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.ch02.rules import calls
from autograder.bank.groups import listed
from autograder.bank.rules import every, only_messages
from autograder.bank.vectors import vector
from autograder.items import Build, Case, Right, Slip, Tensor
from rankzero.events import Event


def posted_first(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every rank but 0 posts its receive before the work begins, which tells rank 0 to send."""
    for rank in range(1, len(case.args)):
        works, receives = calls(events, rank, "send"), calls(events, rank, "recv")
        if works and receives and receives[0].start > works[0].start:
            return f"rank {rank} posted its receive after its work had begun: post it first"
    return None


def _arrives(case: Case) -> list[int]:
    """Bytes that each rank must receive: a number from everybody on rank 0, rank 0's message on the others."""
    others = len(case.args) - 1
    return [4 * others, *[len(case.args[0][1].data)] * others]


def _case(rng: Random, ranks: int, numbers: int, sends: int, dtype: str = "float32") -> Case:
    """Each rank has numbers of its own to add up; rank 0 sends one tensor to all others."""
    message = vector(rng, sends, dtype)
    return Case(args=tuple((vector(rng, numbers), message) for _ in range(ranks)))


def _messages(rng: Random) -> list[Case]:
    return [
        _case(rng, 2, rng.randint(2, 9), rng.randint(2, 9)),
        _case(rng, 3, rng.randint(2, 9), rng.randint(2, 9), "int64"),
        _case(rng, 4, rng.randint(2, 9), rng.randint(2, 9), "float64"),
    ]


def _long(rng: Random) -> list[Case]:
    return [_case(rng, 2, 3, rng.randint(20_000, 30_000)), _case(rng, 3, 3, rng.randint(2_000, 3_000))]


def received_in_a_batch(work, buffer, src):
    import torch.distributed as dist

    handles = dist.batch_isend_irecv([dist.P2POp(dist.irecv, buffer, src)])
    made = work()
    for handle in handles:
        handle.wait()
    return made


EXERCISE = Build(
    "02 point_to_point.receive_while",
    section="2.5",
    topic="non-blocking messages",
    grade="world",
    probe="ch02.received_while",
    tolerance=1e-5,
    rule=every(only_messages, posted_first, least_received.heard(_arrives)),
    cases=(Case(args=tuple((Tensor.of([1.0, 2.0]), Tensor.of([3.0, 1.0, 4.0])) for _ in range(2))),),
    groups=(
        listed("messages", _messages, "Post the receive, do the work, wait; then return what the work returned.", 4),
        listed("long messages", _long, "A long message takes time: do not return before it has arrived."),
    ),
    slips=(
        Slip(
            "The receive blocks before the work begins: post it with `irecv`, and wait after the work.",
            edits=(
                ("arriving: Any = dist.irecv(buffer, src)", "dist.recv(buffer, src)"),
                ("    arriving.wait()\n", ""),
            ),
        ),
        Slip(
            "The work came first, and the receive was only posted after it: nothing could arrive meanwhile.",
            edits=(
                ("    arriving: Any = dist.irecv(buffer, src)\n    made = work()\n", "    made = work()\n"),
                ("arriving.wait()", "dist.recv(buffer, src)"),
            ),
        ),
        Slip(
            "Nobody waited for the handle, so the buffer may be read before the message is in it.",
            edits=(("arriving: Any = dist.irecv", "dist.irecv"), ("    arriving.wait()\n", "")),
        ),
        Slip(
            "The work was done twice: keep what it returned.",
            edit=("return made", "return work()"),
        ),
        Slip(
            "The buffer was returned: the caller has it already, and wants what the work returned.",
            edit=("return made", "return buffer"),
        ),
    ),
    rights=(
        Right("a batch of one call", program=received_in_a_batch),
        Right(
            "the wait in a finally clause",
            edit=(
                "    made = work()\n    arriving.wait()\n",
                "    try:\n        made = work()\n    finally:\n        arriving.wait()\n",
            ),
        ),
    ),
)
