"""The broker: as the library where a program is legal, wrong every time where it is not, and never stuck."""

from __future__ import annotations

import json
from typing import Any

import pytest

from autograder.items import Build, Case, Later, Tensor
from autograder.marking import trusted
from autograder.marking.outcome import Outcome
from autograder.running.broker import Broker
from autograder.running.limits import Limits
from autograder.running.messages import Message
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.running.transport import Child
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit
from rankzero.events import Ledger
from tests.autograder import nursery

#: The tests share children, so one process runs those without walls, as those of systems; ``WALLS`` names the other.
pytestmark = pytest.mark.xdist_group("systems")
SYSTEMS = pytest.mark.proof(part="systems")

SOURCE = """
import torch
import torch.distributed as dist


def reductions(x):
    out = []
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.AVG, dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX):
        y = x.clone()
        dist.all_reduce(y, op)
        out.append(y)
    y = x.clone()
    dist.reduce(y, 0)
    return out + ([y] if dist.get_rank() == 0 else [])


def moves(x):
    r, n = dist.get_rank(), dist.get_world_size()
    out = []
    held = [torch.empty_like(x) for _ in range(n)]
    dist.all_gather(held, x)
    out += held
    y = x.clone()
    dist.broadcast(y, n - 1)
    out.append(y)
    held = [torch.empty_like(x) for _ in range(n)] if r == n - 1 else None
    dist.gather(x, held, n - 1)
    out += held or []
    y = torch.empty(2)
    dist.scatter(y, [torch.arange(2.0) + i for i in range(n)] if r == 0 else None, 0)
    out.append(y)
    y = torch.empty(1)
    dist.reduce_scatter(y, list((x[:1] * torch.arange(float(n))).split(1)))
    out.append(y)
    y = torch.empty(1)
    dist.reduce_scatter_tensor(y, x[:1] * torch.arange(float(n)))
    out.append(y)
    y = torch.empty(n * x.numel())
    dist.all_gather_into_tensor(y, x)
    return out + [y]


def strides(x):
    # Right where all ranks have the same strides, and as wrong as Gloo is where they differ.
    r, n = dist.get_rank(), dist.get_world_size()
    new = lambda: (torch.arange(6.0).view(2, 3) + 10 * x[0]).t()
    out = [new() for _ in range(5)]
    dist.all_reduce(out[0])
    dist.broadcast(out[1], n - 1)
    dist.reduce(out[2], n - 1)
    out[2] = out[2] if r == n - 1 else None
    dist.all_reduce(out[3] if r else out[3].t())
    dist.scatter(out[4], [new() + i for i in range(n)] if r == 0 else None, 0)
    y, held = torch.empty(3), [torch.zeros(3) for _ in range(n)]
    dist.reduce_scatter(y, list((torch.arange(3.0 * n).view(3, n) + x[0]).unbind(1)))
    dist.all_gather(held, new()[:, 0])
    dist.reduce_scatter_tensor(out[0][0], torch.arange(2.0 * n) + x[0])
    return out + held + [y]


def messages(x):
    r, n = dist.get_rank(), dist.get_world_size()
    right, left = (r + 1) % n, (r - 1) % n
    y = torch.empty_like(x)
    for request in (dist.isend(x, right), dist.irecv(y, left)):
        request.wait()
    z = torch.empty_like(x)
    for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, y, right), dist.P2POp(dist.irecv, z, left)]):
        request.wait()
    if r % 2 == 0 and r + 1 < n:
        dist.send(z, r + 1, tag=7)
    elif r % 2:
        dist.recv(z, r - 1, tag=7)
    counts = torch.empty(n, dtype=torch.int64)
    dist.all_to_all_single(counts, torch.arange(n) * 10 + r)
    return [y, z, counts]


def objects(x):
    r, n = dist.get_rank(), dist.get_world_size()
    held = [None] * n
    dist.all_gather_object(held, {"rank": r})
    box = [r]
    dist.broadcast_object_list(box, n - 1)
    gathered = [None] * n if r == 0 else None
    dist.gather_object(("from", r), gathered, 0)
    mine = [None]
    dist.scatter_object_list(mine, list("abcd")[:n] if r == 0 else None, 0)
    return [held, box, gathered, mine]


def subgroups(x):
    r, n = dist.get_rank(), dist.get_world_size()
    low, high = dist.new_group([0, 1]), dist.new_group(list(range(1, n)))
    y = x.clone()
    if r < 2:
        dist.all_reduce(y, group=low)
    if r > 0:
        dist.broadcast(y, n - 1, group=high)
    handle = dist.all_reduce(y, async_op=True)
    handle.wait()
    dist.barrier()
    return y


def early_reuse(x):
    r, n = dist.get_rank(), dist.get_world_size()
    y, z = x.clone(), torch.empty_like(x)
    request = dist.isend(y, (r + 1) % n)
    dist.recv(z, (r - 1) % n)
    y += z
    request.wait()
    return y


def early_read(x):
    r, n = dist.get_rank(), dist.get_world_size()
    z = torch.zeros_like(x)
    sending, receiving = dist.isend(x, (r + 1) % n), dist.irecv(z, (r - 1) % n)
    sending.wait()
    early = z.clone()
    receiving.wait()
    return [early, z]


def unwaited(x):
    dist.all_reduce(x, async_op=True)
    return x


def all_send(x):
    r, n = dist.get_rank(), dist.get_world_size()
    dist.send(x, (r + 1) % n)
    dist.recv(x, (r - 1) % n)


def mixed(x):
    if dist.get_rank() == 0:
        dist.all_reduce(x)
    else:
        dist.broadcast(x, 0)


def lengths(x):
    r = dist.get_rank()
    y = torch.ones(2 + r)
    dist.all_reduce(y)


def wrong_size(x):
    r = dist.get_rank()
    if r == 0:
        dist.send(torch.ones(3), 1)
    else:
        dist.recv(torch.ones(4), 0)


def absent(x):
    if dist.get_rank() == 0:
        dist.all_reduce(x)
    return x


def unheard(x):
    if dist.get_rank() == 0:
        dist.isend(x, 1)


def dropped(x):
    if dist.get_rank() == 0:
        dist.isend(x, 1)
    else:
        dist.recv(x, 0)


def one_raises(x):
    if dist.get_rank() == 1:
        raise ValueError("here")
    dist.barrier()


def all_raise(x):
    dist.barrier()
    raise ValueError("all")


def anyone(x):
    r, n = dist.get_rank(), dist.get_world_size()
    if r:
        dist.send(torch.tensor([r]), 0)
        return None
    y = torch.zeros(1, dtype=torch.int64)
    return [(dist.recv(y), int(y)) for _ in range(n - 1)]


def averaged_integers(x):
    y = torch.tensor([1, 2])
    dist.all_reduce(y, dist.ReduceOp.AVG)


def column_reduced(x):
    dist.all_reduce(x.view(1, 2).expand(2, 2)[:, 0])


def column_reduced_to_one(x):
    dist.reduce(torch.ones(2, 2)[:, 0], 0)


def column_broadcast(x):
    dist.broadcast(torch.ones(2, 2)[:, 0], 0)


def columns_scattered(x):
    r, n = dist.get_rank(), dist.get_world_size()
    dist.scatter(torch.zeros(2), list(torch.ones(2, n).unbind(1)) if r == 0 else None, 0)


def scattered_to_a_column(x):
    r, n = dist.get_rank(), dist.get_world_size()
    dist.scatter(torch.zeros(2, 2)[:, 0], [torch.ones(2)] * n if r == 0 else None, 0)


def transposed_blocks(x):
    dist.reduce_scatter(torch.zeros(3, 2), [torch.ones(2, 3).t()] * dist.get_world_size())


def reduced_to_a_column(x):
    dist.reduce_scatter(torch.zeros(2, 2)[:, 0], [torch.ones(2)] * dist.get_world_size())


def stacked(x):
    y = torch.empty(dist.get_world_size(), *x.shape)
    dist.all_gather_into_tensor(y, x)


def mixed_types(x):
    held = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(held, torch.tensor([dist.get_rank()]))
"""


class Local(Build):
    """An item whose reference stands in this file."""

    def solution(self):
        return program(self.function)


def item(function: str) -> Build:
    return Local(f"03 collectives.{function}", "3.1", "boundary", (), (), (), grade="world")


def case(ranks: int) -> Case:
    return Case(tuple((Tensor.of([rank + 1.0, 2.0 * rank]),) for rank in range(ranks)))


@pytest.fixture(scope="module", params=nursery.WALLS)
def runner(request, forked):
    with Runner(
        Submission("s", (Unit("s.py", SOURCE),)), Processes(Sandbox.measure(request.param)), Limits(world=200.0)
    ) as running:
        yield running


def program(name: str):
    """The same function for the library itself."""
    namespace: dict = {"__name__": "programs"}
    exec(compile(SOURCE, "programs.py", "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=SYSTEMS), 4])
@pytest.mark.parametrize("name", ["reductions", "moves", "strides", "messages", "objects", "subgroups"])
def test_a_legal_program_gets_what_the_library_gives(runner, name, ranks):
    """The oracle is torch.distributed over Gloo, in real processes."""
    (mine,) = runner.run(item(name), [case(ranks)])
    (library,) = trusted.run(item(name), program(name), [case(ranks)], 250.0)
    assert mine.kind == library.kind == "value", (mine.detail, library.detail)
    assert mine.value == library.value


@pytest.mark.parametrize("name", ["reductions", "moves", "messages"])
def test_the_ledger_is_the_librarys_to_the_byte(runner, name):
    (mine,) = runner.run(item(name), [case(3)])
    (library,) = trusted.run(item(name), program(name), [case(3)], 250.0)
    assert dict(Ledger(mine.events, 3)) == dict(Ledger(library.events, 3))


def test_a_buffer_that_is_reused_too_early_is_wrong_every_time(runner):
    """Kills a grader in which the race of adding into a buffer under way passes when the machine is quick."""
    outcomes = runner.run(item("early_reuse"), [case(3)] * 3)
    answers = [[value.tolist() for value in outcome.value] for outcome in outcomes]
    right = [[x + y for x, y in zip(own, left, strict=True)] for own, left in
             (([1.0, 0.0], [3.0, 4.0]), ([2.0, 2.0], [1.0, 0.0]), ([3.0, 4.0], [2.0, 2.0]))]  # fmt: skip
    assert answers[0] != right
    assert answers[0] == answers[1] == answers[2]


def test_a_receive_is_filled_in_its_own_wait(runner):
    (outcome,) = runner.run(item("early_read"), [case(2)])
    early, late = zip(*outcome.value, strict=True)
    assert [value.tolist() for value in early] == [[0.0, 0.0]] * 2
    assert [value.tolist() for value in late] == [[2.0, 2.0], [1.0, 0.0]]


def test_an_operation_that_nobody_waits_for_is_named(runner):
    """Kills a grader that passes a dropped handle, whose message a real library may lose."""
    (outcome,) = runner.run(item("unwaited"), [case(2)])
    line = line_of("    dist.all_reduce(x, async_op=True)\n    return x")
    assert outcome.detail == f"rank 0 never waited for all_reduce() at line {line}"
    (outcome,) = runner.run(item("dropped"), [case(2)])
    line = line_of("        dist.isend(x, 1)\n    else:")
    assert outcome.detail == f"rank 0 never waited for isend(dst=1) at line {line}"


def line_of(text: str) -> int:
    return SOURCE[: SOURCE.index(text)].count("\n") + 1


def test_a_deadlock_is_seen_at_once_and_names_every_rank(runner):
    line = line_of("    dist.send(x, (r + 1) % n)\n    dist.recv(x")
    (outcome,) = runner.run(item("all_send"), [case(2)])
    waits = f"rank 0 waits in send(dst=1) at line {line}; rank 1 waits in send(dst=0) at line {line}"
    assert (outcome.kind, outcome.detail) == ("deadlock", f"deadlock: {waits}")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("mixed", "rank 0 calls all_reduce() at line {}, rank 1 calls broadcast(src=0) at line {}"),
        ("lengths", "rank 0 expects 8 + 8 bytes from all_reduce() at line {}, and 8 + 12 bytes arrive"),
        (
            "wrong_size",
            "rank 0 gives 12 bytes to send(dst=1) at line {}, rank 1 takes 16 bytes in recv(src=0) at line {}",
        ),
        ("absent", "deadlock: rank 0 waits in all_reduce() at line {}; rank 1 has finished"),
        ("unheard", "the message of rank 0 in isend(dst=1) at line {} was never received"),
    ],
)
def test_a_broken_contract_is_named(runner, name, sentence):
    import re

    (outcome,) = runner.run(item(name), [case(2)])
    plain = re.sub(r" \([A-Z]*,? ?float32\)", "", re.sub(r"at line \d+", "at line {}", outcome.detail))
    assert (outcome.kind, plain) == ("deadlock", sentence)


def test_an_exception_on_one_rank_is_not_an_exception_of_all(runner):
    """Kills a grader that takes one rank's ValueError for the agreement of all."""
    (some,) = runner.run(item("one_raises"), [case(2)])
    (everyone,) = runner.run(item("all_raise"), [case(2)])
    assert (some.kind, some.error) == ("raised", "ValueError on rank 1 only")
    assert (everyone.kind, everyone.error) == ("raised", "ValueError")


def test_a_receive_from_anyone_does_not_depend_on_timing(runner):
    outcomes = runner.run(item("anyone"), [case(4)] * 2)
    assert [outcome.value[0] for outcome in outcomes] == [[(1, 1), (2, 2), (3, 3)]] * 2


@pytest.mark.parametrize("name", ["averaged_integers", "mixed_types", "stacked"])
def test_what_the_library_refuses_is_refused(runner, name):
    (mine,) = runner.run(item(name), [case(2)])
    (library,) = trusted.run(item(name), program(name), [case(2)], 250.0)
    assert mine.kind == library.kind == "raised"


@pytest.mark.parametrize(
    "name",
    [
        "column_reduced",
        "column_reduced_to_one",
        "column_broadcast",
        "columns_scattered",
        "scattered_to_a_column",
        "transposed_blocks",
        "reduced_to_a_column",
    ],
)
def test_a_tensor_of_which_gloo_takes_the_wrong_cells_is_refused(runner, name):
    """Kills a grader in which a sum over a column is right: Gloo adds the cells that lie beside the first, silently."""
    (mine,) = runner.run(item(name), [case(2)])
    assert mine.error.startswith("RuntimeError")
    assert "Gloo would work on the wrong cells of its memory: call .contiguous() first" in mine.detail


def test_children_are_used_again_with_a_fresh_world(runner):
    """Kills group numbers or messages that a broken case leaves to the next."""
    names = ["all_send", "reductions", "unheard", "messages", "one_raises", "subgroups"]
    before = dict(runner.children.started)
    outcomes = {name: runner.run(item(name), [case(2)])[0].kind for name in names}
    assert [outcomes[name] for name in names[1::2]] == ["value"] * 3
    assert {key: runner.children.started[key] for key in before} == before


@pytest.mark.parametrize("ranks", [1])
def test_one_rank_is_a_world_too(runner, ranks):
    (outcome,) = runner.run(item("reductions"), [case(ranks)])
    assert [value.tolist() for value in outcome.value[0]] == [[1.0, 0.0]] * 6


# A desk that puts off its answers.


class Scripted(Child):
    """A child that says these things, and keeps what it is told in a list for all."""

    def __init__(self, told: list[Any], *said: dict[str, Any]) -> None:
        super().__init__()
        self.ids.append("request")
        self.said, self.told = [Message(one) for one in (*said, {"kind": "leave"}, {"kind": "value"})], told

    def put(self, lines):
        self.told += [message["answer"] for line in lines if "answer" in (message := json.loads(line))]

    def kill(self):
        self.alive = False


class Scripts:
    """Hears one child at a time."""

    def exchange(self, children, deadline):
        speaker = next(child for child in children if child.said)
        return [(speaker, speaker.said.pop(0))]


class Slow:
    """A desk that repeats what it is asked, later if it is asked for that."""

    first = 1

    def __call__(self, rank, question):
        if question.startswith("slow"):
            raise Later(question)
        return question


def test_a_later_answer_is_given_when_nothing_else_can_go_on():
    """Kills a broker that answers at once, and one that calls a world stuck whose answers are still to come."""

    def asks(*questions):
        return Scripted(told, *({"kind": "ask", "question": question} for question in questions))

    told: list[Any] = []
    children = [asks("a", "slow b", "c"), asks("slow d", "e"), asks("f", "g")]
    broker = Broker(Scripts(), children, 60.0, lambda child, reply: Outcome("value"), lambda unit, line: None, Slow())
    assert broker.run() == Outcome("value", (None,) * 3)
    assert told == ["f", "g", "a", "slow b", "c", "slow d", "e"]


def test_an_operation_is_told_to_be_done_once():
    """Kills: a rank that asks for the same data for ever, and fills the grader's memory with what it never reads."""
    post = {"kind": "post", "operation": "barrier", "group": [0], "name": "", "types": [], "gives": [], "takes": []}
    wait, data = {"kind": "wait", "handle": 0}, {"kind": "data", "blocks": []}
    outcomes = []
    for said in ((wait, data), (wait, data, wait)):
        child = Scripted([], {**post, "handle": 0}, *said)
        world = Broker(Scripts(), [child], 60.0, lambda child, reply: Outcome("value"), lambda unit, line: None)
        outcomes.append(world.run())
    assert [outcome.kind for outcome in outcomes] == ["value", "died"]
    assert outcomes[1].detail == "rank 0 broke the rules of its channel"
