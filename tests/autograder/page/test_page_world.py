"""Worlds of a page against real ones: the same values, printed lines, events, ledgers and words."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import textwrap

import pytest

from rankzero import world
from tests.autograder.page.headless import Page

IMPORTS = "import torch\nimport torch.distributed as dist\nfrom rankzero import world\n"
#: What a cell prints of a run: all that does not depend on time.
SHOW = """
print(run.values)
print(run.text)
print(run.ledger())
for event in run.events:
    print(event.rank, event.operation, event.peers, event.sent, event.received, event.root, event.where)
"""

CELLS = {
    "hello": """
def hello():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    print(f"I am rank {rank} of {ranks}")
    total = torch.tensor(rank)
    dist.all_reduce(total)
    return total.item()


run = world.run(hello, ranks=4)
""",
    "messages": """
def relay(value):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    buffer = torch.tensor([value])
    if rank > 0:
        dist.recv(buffer, src=rank - 1)
    buffer += rank
    if rank < ranks - 1:
        dist.send(buffer, dst=rank + 1)
    return buffer


run = world.run(relay, 42.0, ranks=3)
""",
    "handles": """
def swap():
    other = 1 - dist.get_rank()
    mine, theirs = torch.tensor([float(dist.get_rank())]), torch.zeros(1)
    calls = [dist.P2POp(dist.isend, mine, other), dist.P2POp(dist.irecv, theirs, other)]
    for handle in dist.batch_isend_irecv(calls):
        handle.wait()
    handle = dist.irecv(theirs) if other else dist.isend(mine, other)
    handle.wait()
    return theirs.item()


run = world.run(swap, ranks=2)
""",
    "groups": """
def pairs():
    rank = dist.get_rank()
    groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    x = torch.tensor([rank + 1.0])
    dist.all_reduce(x, group=groups[rank // 2])
    gathered = [torch.zeros(1) for _ in range(4)] if rank == 1 else None
    dist.gather(x, gathered, dst=1)
    dist.barrier()
    return x.item(), gathered and [one.item() for one in gathered]


run = world.run(pairs, ranks=4)
""",
}

#: Cells whose world fails: the sentence names what each rank was doing.
FAILURES = {
    "deadlock": """
def both_send_first():
    x, other = torch.ones(1), 1 - dist.get_rank()
    dist.send(x, other)
    dist.recv(x, other)


world.run(both_send_first, ranks=2, timeout=60)
""",
    "one raises": """
def fails():
    x = torch.ones(1)
    if dist.get_rank() == 1:
        raise ValueError("no number")
    dist.recv(x, src=1)


world.run(fails, ranks=2)
""",
    "one leaves": """
def leaves():
    import os
    if dist.get_rank() == 2:
        os._exit(3)
    dist.barrier()


world.run(leaves, ranks=3)
""",
    "withheld": """
def waits():
    dist.barrier()


world.run(waits, ranks=3, withheld=1, timeout=10)
""",
    "no such argument": """
def alone():
    pass


world.run(alone, 2)
""",
    "not sent": """
numbers = (n for n in range(3))


def draws():
    return next(numbers)


world.run(draws, ranks=1)
""",
    "not sent back": """
def locks():
    import threading
    return threading.Lock()


world.run(locks, ranks=1)
""",
}


@pytest.fixture(scope="module")
def page():
    with Page() as page:
        yield page


def notebook(code: str) -> tuple[str, str]:
    """What a notebook prints for a cell, and the error that it shows."""
    names = {"__name__": "__main__"}
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        exec(compile(IMPORTS, "<ipython-input-0>", "exec"), names)
        linecache.cache["<ipython-input-1>"] = (len(code), None, code.splitlines(keepends=True), "<ipython-input-1>")
        try:
            exec(compile(code, "<ipython-input-1>", "exec"), names)
        except (TypeError, world.WorldError) as failure:
            error = "\n".join(failure._render_traceback_())
    return printed.getvalue(), error


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_prints_what_it_prints_in_a_notebook(page, name):
    code = CELLS[name].strip("\n") + SHOW
    reply = page.run(code, before=IMPORTS)
    printed, error = notebook(code)
    assert (reply["why"], error) == ("", "")
    assert "\n".join([*page.printed, ""]) == printed


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_told_in_the_words_of_a_notebook(page, name):
    code = FAILURES[name].strip("\n")
    why = page.run(code, before=IMPORTS)["why"]
    _, error = notebook(code)
    assert why == error


def test_a_rank_that_computes_forever_is_ended_where_it_is(page):
    code = textwrap.dedent("""\
        def loops():
            if dist.get_rank() == 0:
                while True:
                    pass
            dist.barrier()

        world.run(loops, ranks=2, timeout=1)
        """)
    for seconds in (1, 5, 25):
        why = page.run(code.replace("timeout=1", f"timeout={seconds}"), before=IMPORTS)["why"]
        if "rank 1 waits" in why:
            break
    timed_out = f"WorldError: timed out after {seconds}.0 s: rank 0 is computing at line"
    assert why in [f"{timed_out} {line}; rank 1 waits in barrier() at line 5" for line in (3, 4)]
    assert page.run(CELLS["hello"], before=IMPORTS)["why"] == ""


def test_a_rank_that_polls_for_one_that_computes_is_no_failure(page):
    """Kills a report in which the rank that asks is the one that failed."""
    code = textwrap.dedent("""\
        def polls():
            handle = dist.irecv(torch.ones(1), 1) if dist.get_rank() == 0 else None
            while handle is None or not handle.is_completed():
                pass

        world.run(polls, ranks=2, timeout=1)
        """)
    for seconds in (1, 5, 25):
        why = page.run(code.replace("timeout=1", f"timeout={seconds}"), before=IMPORTS)["why"]
        if "rank 1 is computing at" in why:
            break
    ranks = [f"rank {rank} is computing at line 0" for rank in (0, 1)]
    assert re.sub(r"line \d+", "line 0", why) == f"WorldError: timed out after {seconds}.0 s: {'; '.join(ranks)}"


def test_a_poll_does_not_begin_the_time_limit_anew(page):
    """Kills a cell that never ends; the rank that only waits is told apart from the one that asks."""
    code = textwrap.dedent("""\
        def polls():
            x = torch.ones(1)
            if dist.get_rank() == 1:
                dist.recv(x, 0)
            handle = dist.irecv(x, 1)
            while not handle.is_completed():
                pass

        world.run(polls, ranks=2, timeout=1)
        """)
    for seconds in (1, 5, 25):  # more where the machine is busy
        why = page.run(code.replace("timeout=1", f"timeout={seconds}"), before=IMPORTS)["why"]
        if "rank 1 waits" in why:
            break
    asks = r"rank 0 is computing at line (6|7|\d+ of headless.py)"  # where a rank without a browser reads its lines
    waits = r"rank 1 waits in recv\(src=0\) at line 4"
    assert re.fullmatch(rf"WorldError: timed out after {seconds}.0 s: {asks}; {waits}", why)


def test_a_rank_that_waits_for_a_future_waits(page):
    code = textwrap.dedent("""\
        def future():
            x = torch.ones(1)
            if dist.get_rank() == 0:
                dist.all_reduce(x, async_op=True).get_future().wait()
            dist.recv(x, 0)

        world.run(future, ranks=2)
        """)
    why = page.run(code, before=IMPORTS)["why"]
    waits = "rank 0 waits in all_reduce() at line 4; rank 1 waits in recv(src=0) at line 5"
    assert why == f"WorldError: deadlock: {waits}"


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("dist.all_reduce(torch.ones(1_100_000))", "calls all_reduce() at line 2 with more than 4 MiB"),
        (
            "dist.all_to_all([torch.ones(1)] * 2, list(torch.ones(1_100_000).view(2, -1).unbind()))",
            "calls all_to_all() at line 2 with more than 4 MiB",
        ),
        pytest.param(
            "for _ in range(40): dist.all_reduce(torch.ones(250_000), dist.ReduceOp.MAX)",
            "in one run the ranks send more than 64 MiB",
            marks=pytest.mark.proof(part="systems"),  # so many numbers take the stand-in half a minute
        ),
        ("return torch.ones(1_100_000)", "rank 0 returns more than 4 MiB"),
    ],
)
def test_what_is_too_large_for_a_page_says_so(page, program, sentence):
    """Kills the report that a rank computes for too long."""
    code = f"def large():\n    {program}\n\nworld.run(large, ranks=2)"
    why = re.sub("rank [01] calls", "calls", page.run(code, before=IMPORTS)["why"])  # whichever comes first
    assert why == f"WorldError: {sentence}, which a page does not carry: run it in Colab or on your machine"


def test_what_the_broker_refuses_is_told_as_it_is(page):
    """Kills the report that a rank which broke a rule computes for too long."""
    code = "def many():\n    dist.send(torch.ones(1), 1 - dist.get_rank(), tag=True)\n\nworld.run(many, ranks=2)"
    why = page.run(code, before=IMPORTS)["why"]
    assert re.fullmatch("WorldError: rank [01] broke the rules of its channel", why)


def test_a_run_after_one_that_was_ended(page):
    """Kills a wait for the ranks that a late word of an ended one cuts short."""
    code = "def loops():\n    while True:\n        pass\n\nworld.run(loops, ranks=4, timeout=0.1)"
    assert "is computing" in page.run(code, before=IMPORTS)["why"]
    assert page.run(CELLS["hello"], before=IMPORTS)["why"] == ""


def test_calls_that_do_not_fit_are_named(page):
    code = textwrap.dedent("""\
        def differ():
            x = torch.ones(1)
            if dist.get_rank() == 0:
                dist.all_reduce(x)
            else:
                dist.broadcast(x, src=0)

        world.run(differ, ranks=2)
        """)
    why = page.run(code, before=IMPORTS)["why"]
    assert why == (
        "WorldError: rank 0 calls all_reduce() at line 4 (SUM, float32), "
        "rank 1 calls broadcast(src=0) at line 6 (float32)"
    )


@pytest.mark.proof(part="bank")
def test_printed_lines_come_with_their_rank_and_floods_are_cut(page):
    code = textwrap.dedent("""\
        def floods():
            for number in range(200_000):
                print("line", number)

        run = world.run(floods, ranks=1)
        print(run.lines[0][0], run.lines[0][-1])
        """)
    reply = page.run(code, before=IMPORTS)
    assert reply["why"] == ""
    size = sum(len(f"line {number}\n") for number in range(200_000))
    assert page.printed == [f"line 0 ... cut after 1,048,576 bytes; {size - 2**20:,} more were printed"]
    of_rank = [said for said in page.told["say"] if len(said) == 2]
    assert of_rank[:2] == [["line 0", 0], ["line 1", 0]]
    assert of_rank[-1] == ["... and more", 0]
    assert len(of_rank) < 1000


def test_what_a_run_did_is_handed_to_the_page(page):
    """Both sides of a message have the same step, and an operation that never ended has none."""
    reply = page.run(CELLS["messages"].strip("\n"), before=IMPORTS, ranks=2)["world"]
    assert reply["ranks"] == 2
    assert [event[:5] for event in reply["events"]] == [[0, "send", [1], 4, 0], [1, "recv", [0], 0, 4]]
    assert len({event[6] for event in reply["events"]}) == 1
    stuck = page.run(FAILURES["deadlock"].strip("\n"), before=IMPORTS)["world"]
    assert [event[6] for event in stuck["events"]] == [None, None]
    assert stuck["error"].startswith("deadlock: rank 0 waits in send(dst=1)")


@pytest.mark.parametrize("asked", ["run.seconds", "run.events[0].start", "run.events[0].end"])
def test_there_is_no_time(page, asked):
    code = CELLS["hello"].strip("\n") + f"\nprint({asked})"
    why = page.run(code, before=IMPORTS)["why"]
    assert why.endswith("RuntimeError: The page has no real time: measure this in Colab or on your machine")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("world.run(print, ranks=5)", "this page starts at most 4 ranks, got ranks=5"),
        ("world.run(print, ranks=0)", "ranks must be an integer from 1 to 64, got 0"),
        ("world.run(print, backend='nccl')", "backend nccl needs a GPU for each rank, got ranks=4 and 0 GPUs"),
        ("world.run(3)", "fn must be callable, got 3"),
    ],
)
def test_bad_arguments(page, call, sentence):
    assert sentence in page.run(call, before=IMPORTS)["why"]


def test_a_program_stops_at_its_line(page):
    code = "values = world.run(len, 'abc', ranks=2).values\nprint(values)\nprint(values[5])"
    why = page.run(code, before=IMPORTS)["why"]
    assert page.printed == ["(3, 3)"]
    assert why == (
        "Traceback (most recent call last):\n  cell line 3, in <module>\n    print(values[5])\n"
        "IndexError: tuple index out of range"
    )


def test_functions_of_earlier_cells_keep_their_lines(page):
    """``lines`` says where a statement begins in its own cell."""
    before = IMPORTS + "def fails():\n    raise ValueError(dist.get_rank())\n"
    why = page.run("world.run(fails, ranks=1)", before=before, lines=[1, 2, 3, 7])["why"]
    assert why.split("\n")[0] == "WorldError: rank 0 raised ValueError: 0 at line 8"
