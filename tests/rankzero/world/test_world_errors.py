"""A world that does not finish says what each rank was doing, in the reader's words, and leaves nobody behind."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys

import nbformat
import psutil
import pytest
import torch
import torch.distributed as dist
from nbclient import NotebookClient

from rankzero import world
from rankzero.tiny import GPTConfig
from rankzero.world import forkserver
from rankzero.world.job import RankOutcome, RankReport
from rankzero.world.reports import explain


def failure(fn, *args, **kwargs) -> world.WorldError:
    """The error of a run that must fail, seen to have left no process."""
    with pytest.raises(world.WorldError) as caught:
        world.run(fn, *args, **kwargs)
    home = forkserver._forkserver
    family = psutil.Process(home.process.pid).children(recursive=True) if home else []
    assert psutil.wait_procs(family, timeout=60)[1] == []
    return caught.value


def stuck(fn, *beginnings: str, **kwargs) -> tuple[str, world.WorldError]:
    """How a run that never ends ends, and its error; ``beginnings``: how the reports of its ranks begin.

    On a busy machine ranks may need more than the first second to come to where they stay.
    """
    for seconds in (1.0, 5.0, 25.0):
        error = failure(fn, ranks=len(beginnings), timeout=seconds, **kwargs)
        if all(report.what.startswith(begins) for report, begins in zip(error.reports, beginnings, strict=True)):
            break
    said = "; ".join(f"rank {report.rank} {report.what}" for report in error.reports)
    return str(error).removesuffix(said).replace(f" after {seconds} s", ""), error


def line(fn, offset: int) -> str:
    """The words for the line ``offset`` below the ``def`` of a function here."""
    return f"line {fn.__code__.co_firstlineno + offset} of {__name__.rpartition('.')[2]}.py"


def states(error: world.WorldError) -> list[str]:
    return [report.state for report in error.reports]


def test_two_blocking_sends_are_a_deadlock():
    def work():
        x, other = torch.ones(4), 1 - dist.get_rank()
        dist.send(x, other)
        dist.recv(x, other)

    error = failure(work, ranks=2, timeout=60)
    here = line(work, 2)
    assert str(error) == (f"deadlock: rank 0 waits in send(dst=1) at {here}; rank 1 waits in send(dst=0) at {here}")
    assert [report.what for report in error.reports] == [f"waits in send(dst={1 - r}) at {here}" for r in range(2)]
    assert states(error) == ["waiting", "waiting"]


def test_a_deadlock_is_told_in_one_sentence():
    reports = [RankOutcome(waiting=f"!send(dst={1 - rank}) at line 2 of ring.py") for rank in range(2)]
    ranks = "rank 0 waits in send(dst=1) at line 2 of ring.py; rank 1 waits in send(dst=0) at line 2 of ring.py"
    assert str(explain("stuck", reports, 1.5)) == f"deadlock: {ranks}"
    assert str(explain("timed out", reports, 1.5)) == f"timed out after 1.5 s: {ranks}"


def test_ranks_that_are_only_slow_are_no_deadlock():
    """Kills: a program that would have come to its end, called a deadlock because it nearly always waits."""

    def work():
        x, other = torch.ones(1), 1 - dist.get_rank()
        while True:
            dist.send(x, other) if dist.get_rank() else dist.recv(x, other)

    assert str(failure(work, ranks=2, timeout=1)).startswith("timed out after 1.0 s: rank 0 ")


def test_a_wait_for_the_groups_of_a_mesh_is_seen():
    """Kills: a rank that makes a mesh's groups and computes, as far as one can see."""

    def work():
        if dist.get_rank() != 3:
            dist.init_device_mesh("cpu", (2, 2))

    error = failure(work, ranks=4, timeout=60)
    assert str(error).startswith("deadlock: ")
    assert {report.what.partition(" at ")[0].partition("(")[0] for report in error.reports[:3]} <= {
        "waits in new_group",
        "waits in barrier",
        "waits in all_gather",
    }


def test_a_check_of_a_dataclass_is_told_at_the_readers_line():
    """Kills: the line of code that a dataclass generates, which nobody wrote."""

    def work():
        size = 0
        GPTConfig(vocab=size)

    error = failure(work, ranks=1)
    assert error.reports[0].what.startswith("raised ValueError: vocab must")
    assert error.reports[0].what.endswith(f"at {line(work, 2)}")
    assert "in __init__" not in error.reports[0].traceback


class Unreadable(Exception):
    """It can be packed, and not be made again."""

    def __init__(self, text, *, reason):
        super().__init__(text)


def test_a_value_that_cannot_be_made_again_names_its_rank():
    def work():
        print("done")
        return Unreadable("x", reason="y")

    error = failure(work, ranks=2)
    assert str(error).startswith("what rank 0 returned cannot be made again here: TypeError: ")
    assert error.lines == (("done",), ("done",))


def test_ranks_that_have_all_finished_are_no_deadlock():
    """The last report may arrive as the time ends; short limits are printed with all digits."""
    reports = [RankOutcome(report=RankReport("finished"))] * 2
    assert str(explain("timed out", reports, 0.25)) == (
        "timed out after 0.25 s: rank 0 has finished; rank 1 has finished"
    )


def test_an_error_of_syntax_is_named():
    def work():
        eval("1 +")

    assert str(failure(work, ranks=1)).startswith("rank 0 raised SyntaxError: invalid syntax at line")


def test_a_deadlock_names_handles_tags_and_those_who_have_finished():
    def work():
        rank = dist.get_rank()
        if rank == 0:
            handle = dist.irecv(torch.ones(1), 1, tag=7)
            handle.wait()
        elif rank == 1:
            dist.recv(torch.ones(1))

    error = failure(work, ranks=3, timeout=60)
    assert str(error) == (
        f"deadlock: rank 0 waits in irecv(src=1, tag=7) at {line(work, 3)}; "
        f"rank 1 waits in recv() at {line(work, 6)}; rank 2 has finished"
    )
    assert states(error) == ["waiting", "waiting", "finished"]


def test_mismatched_collectives_are_both_named():
    def work():
        if dist.get_rank() == 0:
            dist.all_reduce(torch.ones(4))
        else:
            dist.broadcast(torch.ones(4), 0)
            dist.barrier()

    ends = ("waits in all_reduce()", "waits in b")  # broadcast, or the barrier after it when the two were mixed
    _, error = stuck(work, *ends)
    assert all(report.what.startswith(end) for report, end in zip(error.reports, ends, strict=True))


def test_a_subgroup_and_an_object_collective_are_named():
    def work():
        pair = dist.new_group([0, 2])
        if dist.get_rank() == 0:
            dist.barrier(group=pair)
        if dist.get_rank() == 1:
            dist.all_gather_object([None] * 3, "x")

    ends = ("waits in barrier(group=[0, 2])", "waits in all_gather_object()", "has finished")
    _, error = stuck(work, *ends)
    assert all(report.what.startswith(end) for report, end in zip(error.reports, ends, strict=True))


def test_a_rank_that_computes_is_no_deadlock():
    def work():
        x = 0
        while dist.get_rank() == 1:
            x += 1
        dist.barrier()

    how, error = stuck(work, f"waits in barrier() at {line(work, 4)}", "is computing at line ")
    assert how == "timed out: "
    assert states(error) == ["waiting", "running"]
    assert error.reports[1].what in {f"is computing at {line(work, k)}" for k in (2, 3)}


def test_a_rank_that_holds_the_interpreter_is_still_located():
    """Kills a watchdog thread in the rank: it never gets the interpreter's lock."""

    def work():
        ctypes.PyDLL(None).sleep(1000)

    how, error = stuck(work, f"is computing at {line(work, 1)}")
    assert (how, error.reports[0].what) == ("timed out: ", f"is computing at {line(work, 1)}")


def test_a_rank_that_does_not_answer_is_killed_all_the_same():
    def work():
        os.kill(os.getpid(), signal.SIGSTOP)

    assert str(failure(work, ranks=2, timeout=1)) == "timed out after 1.0 s: rank 0 is computing; rank 1 is computing"


def test_a_backward_pass_that_waits_is_a_deadlock():
    """DDP waits in C++, out of sight of any Python wait."""

    def work():
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        if dist.get_rank() == 0:
            model(torch.ones(1, 2)).sum().backward()

    error = failure(work, ranks=2, timeout=60)
    assert str(error) == f"deadlock: rank 0 waits in all_reduce() at {line(work, 3)}; rank 1 has finished"


def test_an_exception_comes_with_its_own_traceback():
    def helper(rank):
        if rank == 1:
            raise ValueError("no such shard")

    def work():
        helper(dist.get_rank())
        dist.barrier()

    error = failure(work, ranks=3)
    sentence, _, rest = str(error).partition("\n\n")
    raised, waits = f"raised ValueError: no such shard at {line(helper, 2)}", f"waits in barrier() at {line(work, 2)}"
    assert sentence == f"rank 1 {raised}; rank 0 {waits}; rank 2 {waits}"
    assert states(error) == ["waiting", "raised", "waiting"]
    assert rest == f"Rank 1: {error.reports[1].traceback}"
    assert error.reports[1].traceback.splitlines() == [
        "Traceback (most recent call last):",
        f"  {line(work, 1)}, in work",
        "    helper(dist.get_rank())",
        f"  {line(helper, 2)}, in helper",
        '    raise ValueError("no such shard")',
        "ValueError: no such shard",
    ]


def test_ranks_that_fail_alike_are_told_by_the_lowest():
    def work():
        raise NotImplementedError("03-ring-all-reduce")

    for _ in range(3):
        error = failure(work, ranks=3)
        assert str(error).startswith("rank 0 raised NotImplementedError: 03-ring-all-reduce")
        assert states(error) == ["raised"] * 3


def test_the_exception_of_the_rank_at_fault_is_told_not_its_echo():
    """Kills a report of whoever fails first: the neighbours of a dead rank lose their connection."""

    def work():
        if dist.get_rank() == 2:
            os._exit(3)
        dist.recv(torch.ones(1), 2)

    error = failure(work, ranks=3)
    waits = f"waits in recv(src=2) at {line(work, 3)}"
    died = "rank 2 died: it left with exit status 3 before its function returned"
    assert str(error) == f"{died}; rank 0 {waits}; rank 1 {waits}"
    assert states(error) == ["waiting", "waiting", "died"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda: ctypes.string_at(0), r"segmentation fault \(SIGSEGV\) at line \d+ of test_world_errors.py"),
        (lambda: os.abort(), r"abort \(SIGABRT\) at line \d+ of test_world_errors.py"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), r"killed, out of memory perhaps \(SIGKILL\)"),
        pytest.param(
            lambda: os.kill(os.getpid(), 35),
            "signal 35",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="real-time signals are Linux's"),
        ),
        (lambda: os._exit(0), "it left with exit status 0 before its function returned"),
    ],
    ids=["segfault", "abort", "kill", "nameless", "exit"],
)
def test_a_death_is_named(how, words):
    def work():
        if dist.get_rank() == 1:
            how()
        dist.barrier()

    error = failure(work, ranks=2, timeout=3600)  # at once, not at the deadline
    assert states(error)[1] == "died"
    with pytest.raises(AssertionError, match=rf"^rank 1 died: {words}; rank 0 "):
        raise AssertionError(str(error))


def test_leaving_by_sys_exit_is_an_exception_like_any_other():
    def work():
        sys.exit("enough")

    assert str(failure(work, ranks=1)).startswith(f"rank 0 raised SystemExit: enough at {line(work, 1)}")


def test_an_error_of_the_library_has_no_path_and_no_port():
    def work():
        dist.all_reduce(torch.ones(1 + 100_000 * dist.get_rank()))

    text = str(failure(work, ranks=2, timeout=60))
    assert "/gloo/" not in text
    assert "127.0.0.1" not in text


def test_a_function_that_does_not_arrive_is_explained():
    class Stubborn:
        def __reduce__(self):
            return (int, ("not a number",))

    error = failure(lambda x: x, Stubborn(), ranks=2)
    assert "rank 0 raised ValueError: invalid literal for int() with base 10: 'not a number'" in str(error)


def test_what_was_printed_before_the_end_is_not_lost():
    def work():
        print("I am", dist.get_rank())
        dist.recv(torch.ones(1), 1 - dist.get_rank())

    _, error = stuck(work, "waits in recv(src=1)", "waits in recv(src=0)")
    assert error.lines == (("I am 0",), ("I am 1",))
    shown = [f"WorldError: {error}", "\nRank 0 had printed:", "I am 0", "\nRank 1 had printed:", "I am 1"]
    assert error._render_traceback_() == shown


def test_an_error_survives_a_pickle():
    error = world.WorldError("deadlock", (world.Report(0, "waiting", "waits in barrier()"),), (("a",),))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.reports, again.lines) == (str(error), error.reports, error.lines)


def test_the_next_run_is_none_the_worse():
    failure(lambda: os._exit(1), ranks=2)
    assert world.run(dist.get_rank, ranks=2).values == (0, 1)


@pytest.mark.proof(part="runs")
def test_a_fork_server_that_cannot_start_says_why(tmp_path, monkeypatch):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'Python is not at home' >&2\nexit 1\n")
    python.chmod(0o755)
    forkserver.close()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(python))
        with pytest.raises(world.WorldError, match=r"^the world could not run: Python is not at home$"):
            world.run(int)
    forkserver.close()
    assert world.run(int, ranks=1).values == (0,)


def test_ranks_that_do_not_meet_are_told_apart():
    found = [
        RankOutcome(stack='  File "/somewhere/ring.py", line 3 in work\n'),
        RankOutcome(report=RankReport("finished")),
    ]
    assert str(explain("not joined", found, 5)) == (
        "the ranks did not meet: rank 0 is computing at line 3 of ring.py; rank 1 has finished"
    )


def test_a_rank_that_is_withheld_is_missed_by_the_others():
    waits = "waits in init_process_group"
    _, error = stuck(dist.get_rank, waits, waits, "is missing", waits, withheld=2)
    assert str(error) == (
        "the ranks did not meet: 3 of 4 ranks joined, rank 2 is missing; rank 0 waits in init_process_group; "
        "rank 1 waits in init_process_group; rank 3 waits in init_process_group"
    )
    assert states(error) == ["waiting", "waiting", "missing", "waiting"]
    assert world.run(dist.get_rank, ranks=2).values == (0, 1)


@pytest.mark.parametrize(("ranks", "withheld"), [(1, 0), (4, 4), (4, -1), (4, True), (4, "2")])
def test_a_rank_that_is_not_there_cannot_be_withheld(ranks, withheld):
    with pytest.raises(ValueError, match=rf"^withheld must be .* got {withheld!r} with ranks={ranks}$"):
        world.run(int, ranks=ranks, withheld=withheld)


def test_a_group_that_not_all_make_is_named():
    def work():
        dist.new_group([0, 1] if dist.get_rank() == 0 else [1])

    error = failure(work, ranks=2, timeout=60)
    assert str(error) == (f"deadlock: rank 0 waits in new_group([0, 1]) at {line(work, 1)}; rank 1 has finished")


def test_making_a_group_is_no_event():
    def work():
        dist.new_group(range(2))
        dist.new_group()

    assert world.run(work, ranks=2).events == ()


CELL = """\
import torch, torch.distributed as dist
from rankzero import world

class Box:
    def __init__(self, rank): self.rank = rank

def shift(n):
    x = torch.ones(1)
    dist.send(x, (dist.get_rank() + 1) % n)
    dist.recv(x, (dist.get_rank() - 1) % n)
    return Box(dist.get_rank())
"""


CELLS = {
    "runs": "run = world.run(lambda: Box(dist.get_rank()), ranks=2)\n"
    "print([type(v) is Box and v.rank for v in run.values])",
    "deadlock": """\
world.run(shift, 2, ranks=2, timeout=60)
""",
    "exception": """\
def bad():
    one = 1
    return one / 0
try:
    world.run(bad, ranks=2)
except world.WorldError as e:
    print(e)
""",
}


@pytest.fixture(scope="module")
def outputs() -> dict[str, dict]:
    """The output of each cell, run in one real kernel."""
    cells = [nbformat.v4.new_code_cell(cell) for cell in (CELL, *CELLS.values())]
    book = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(book, timeout=250, startup_timeout=250, kernel_name="python3", allow_errors=True).execute()
    return {name: cell.outputs[0] for name, cell in zip(CELLS, book.cells[1:], strict=True)}


@pytest.mark.proof(part="runs")
def test_a_function_of_a_notebook_cell_runs(outputs):
    assert outputs["runs"]["text"] == "[0, 1]\n"


@pytest.mark.proof(part="runs")
def test_a_deadlock_in_a_notebook_names_lines_of_the_cell_and_no_path(outputs):
    sentence = "rank 0 waits in send(dst=1) at line 9; rank 1 waits in send(dst=0) at line 9"
    assert outputs["deadlock"]["traceback"] == [f"WorldError: deadlock: {sentence}"]


def test_an_exception_in_a_notebook_shows_the_cells_source(outputs):
    raised = "raised ZeroDivisionError: division by zero at line 3"
    assert outputs["exception"]["text"].splitlines() == [
        f"rank 0 {raised}; rank 1 {raised}",
        "",
        "Rank 0: Traceback (most recent call last):",
        "  cell line 3, in bad",
        "    return one / 0",
        "ZeroDivisionError: division by zero",
    ]


@pytest.mark.parametrize("operation", ["send", "recv", "isend", "irecv"])
def test_a_message_to_a_rank_that_is_not_there_is_named(operation):
    def work():
        getattr(dist, operation)(torch.ones(1), 2)

    error = failure(work, ranks=2)
    assert str(error).startswith("rank 0 raised ValueError: there is no rank 2 in a group of 2 at ")
