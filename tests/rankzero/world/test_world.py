"""Worlds: what comes back, from wherever a function stands; nothing is left behind."""

from __future__ import annotations

import importlib.util
import inspect
import os
import signal
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import psutil
import pytest
import torch
import torch.distributed as dist

from rankzero import world
from rankzero.world import forkserver

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


def family() -> list[psutil.Process]:
    """Descendants of the fork server, which every rank is; other tests may have children of their own."""
    home = forkserver._forkserver
    return psutil.Process(home.process.pid).children(recursive=True) if home else []


def assert_nobody_left() -> None:
    """A supervisor answers a moment before it ends; nobody else may be there."""
    _, alive = psutil.wait_procs(family(), timeout=60)
    assert alive == []


def script(text: str, *args: str, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *args], capture_output=True, text=True, timeout=250, **kwargs
    )


def test_values_and_lines_come_in_rank_order():
    def work(base):
        for step in range(3):
            print(f"rank {dist.get_rank()} of {dist.get_world_size()}, step {step}")
        return base + dist.get_rank()

    run = world.run(work, 10, ranks=3)
    assert run.values == (10, 11, 12)
    assert run.text.splitlines() == [f"rank {r} of 3, step {s}" for r in range(3) for s in range(3)]
    assert run.lines[2] == tuple(f"rank 2 of 3, step {s}" for s in range(3))
    assert run.ranks == 3
    assert run.seconds > 0


def test_one_rank_is_a_world():
    run = world.run(lambda: dist.get_world_size(), ranks=1)
    assert run.values == (1,)
    assert run.lines == ((),)
    assert run.text == ""


@pytest.mark.parametrize(
    ("keyword", "value", "rule"),
    [
        ("ranks", 0, "ranks must be an integer from 1 to 64, got 0"),
        ("ranks", 65, "ranks must be an integer from 1 to 64, got 65"),
        ("ranks", 2.0, "ranks must be an integer from 1 to 64, got 2.0"),
        ("ranks", True, "ranks must be an integer from 1 to 64, got True"),
        ("timeout", 0, "timeout must be a positive number of seconds, at most a week, got 0"),
        ("timeout", float("nan"), "timeout must be a positive number of seconds, at most a week, got nan"),
        ("timeout", 1e10, "timeout must be a positive number of seconds, at most a week, got 10000000000.0"),
        ("backend", "mpi", "backend must be 'gloo', 'nccl' or None, got 'mpi'"),
    ],
)
def test_arguments_outside_their_range_are_named(keyword, value, rule):
    with pytest.raises(ValueError) as caught:
        world.run(print, **{keyword: value})
    assert str(caught.value) == rule


def test_what_is_no_function_is_named():
    with pytest.raises(TypeError, match="fn must be callable, got 3"):
        world.run(3)


@pytest.mark.skipif(torch.cuda.device_count() >= 2, reason="there are GPUs here")
def test_nccl_without_gpus_is_refused():
    with pytest.raises(ValueError, match="backend nccl needs a GPU for each rank, got ranks=2"):
        world.run(print, ranks=2, backend="nccl")


def test_tensors_come_back_as_plain_copies():
    """Kills a pickler that sends the whole storage of a view, or a descriptor that dies with its rank."""

    def work():
        big = torch.arange(1_000_000, dtype=torch.float32)
        named = {"half": torch.ones(3, dtype=torch.bfloat16), "leaf": torch.zeros(2, requires_grad=True)}
        named |= {"empty": torch.empty(0, 4), "number": torch.tensor(7), "flags": torch.tensor([True, False])}
        named |= {"loss": named["leaf"].sum(), "column": big.reshape(1000, 1000)[:, 1][:2], "array": np.arange(3)}
        return named | {"complex": torch.tensor([1 + 2j]).conj(), "parameter": torch.nn.Parameter(torch.ones(1))}

    for value in world.run(work, ranks=2).values:
        assert value["half"].dtype == torch.bfloat16
        assert value["half"].tolist() == [1, 1, 1]
        assert value["leaf"].requires_grad
        assert value["empty"].shape == (0, 4)
        assert value["number"].item() == 7
        assert value["flags"].tolist() == [True, False]
        assert value["loss"].item() == 0
        assert value["column"].tolist() == [1, 1001]
        assert value["column"].untyped_storage().nbytes() == 8
        assert value["array"].tolist() == [0, 1, 2]
        assert value["complex"].tolist() == [1 - 2j]
        assert isinstance(value["parameter"], torch.nn.Parameter)
        value["half"].add_(1)  # its own memory, writable


def test_a_large_value_does_not_choke_the_pipe():
    """Kills a parent that waits for the exit before it reads."""
    size = 1_250_000  # 10 MB of float64
    run = world.run(lambda: torch.full((size,), float(dist.get_rank()), dtype=torch.float64), ranks=2)
    assert [value.sum().item() for value in run.values] == [0.0, size]


def test_a_value_that_cannot_travel_is_named():
    with pytest.raises(world.WorldError, match=r"rank 0 raised TypeError: the generator that rank 0 returned cannot"):
        world.run(lambda: (i for i in range(3)), ranks=2)


def test_arguments_are_copies_for_each_rank():
    def work(x, names):
        x += dist.get_rank()
        names.append(dist.get_rank())
        return x, names

    x, names = torch.zeros(2), []
    run = world.run(work, x, names, ranks=2)
    assert [value[0].tolist() for value in run.values] == [[0, 0], [1, 1]]
    assert [value[1] for value in run.values] == [[0], [1]]
    assert x.tolist() == [0, 0]
    assert names == []


def test_output_is_caught_at_the_descriptor():
    """Kills a capture that only replaces sys.stdout: C++ and child processes write to the descriptor."""

    def work():
        print("python", end="\n")
        os.write(1, b"out\n")
        os.write(2, b"err\n")
        subprocess.run(["echo", "child"], check=True)

    assert world.run(work, ranks=2).lines == (("python", "out", "err", "child"),) * 2


def test_warnings_carry_the_readers_line_and_no_path():
    def work():
        warnings.warn("mind the gap", stacklevel=1)

    (line,) = world.run(work, ranks=1).lines[0]
    assert line == f"line {work.__code__.co_firstlineno + 1} of test_world.py: UserWarning: mind the gap"


def test_endless_output_is_cut():
    def work():
        for _ in range(40):
            print("x" * 99_999)
        return "done"

    run = world.run(work, ranks=1)
    assert run.values == ("done",)
    assert run.lines[0][-1] == "... cut after 1,048,576 bytes; 2,951,424 more were printed"
    assert sum(len(line) + 1 for line in run.lines[0][:-1]) == 2**20 + 1


def test_an_empty_line_is_a_line():
    assert world.run(lambda: print() if dist.get_rank() else print("\n"), ranks=2).lines == (("", ""), ("",))


def test_no_chatter_of_the_library_reaches_the_lines():
    def work():
        group = dist.new_group([0, 1])
        dist.all_reduce(torch.ones(1), group=group)
        dist.destroy_process_group(group)

    assert world.run(work, ranks=2).lines == ((), ())


def test_ranks_have_one_thread_a_fixed_hash_and_seeds_of_their_own():
    def work():
        import random

        return (
            torch.get_num_threads(),
            hash("rank zero"),
            random.random(),
            np.random.rand(),
            os.environ["OMP_NUM_THREADS"],
        )

    first, again = world.run(work, ranks=2).values, world.run(work, ranks=2).values
    assert first == again
    assert {value[0] for value in first} == {1}
    assert first[0][1] == first[1][1]
    assert first[0][2] != first[1][2]
    assert first[0][4] == "1"


def test_ranks_live_in_the_callers_surroundings(tmp_path, monkeypatch):
    (tmp_path / "neighbour.py").write_text("def name():\n    return 'before'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKZERO_TEST", "yes")
    monkeypatch.syspath_prepend(str(tmp_path))

    def work():
        import neighbour

        return os.getcwd(), os.environ["RANKZERO_TEST"], neighbour.name()

    assert world.run(work, ranks=1).values[0] == (os.getcwd(), "yes", "before")
    (tmp_path / "neighbour.py").write_text("def name():\n    return 'after the edit'\n")
    assert world.run(work, ranks=1).values[0][2] == "after the edit"


def test_a_module_that_cannot_be_imported_by_name_travels_by_value(tmp_path):
    (tmp_path / "loose.py").write_text("def helper():\n    return 41\ndef work():\n    return helper() + 1\n")
    spec = importlib.util.spec_from_file_location("loose_submission", tmp_path / "loose.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["loose_submission"] = module
    try:
        spec.loader.exec_module(module)
        assert world.run(module.work, ranks=2).values == (42, 42)
    finally:
        del sys.modules["loose_submission"]


def test_a_script_needs_no_main_guard_and_no_torch(tmp_path):
    """Kills children that import the script again: they would start worlds of their own, for ever."""
    path = tmp_path / "plain.py"
    path.write_text(
        textwrap.dedent("""
        import sys
        from dataclasses import dataclass
        from rankzero import world

        @dataclass
        class Answer:
            rank: int

        def helper():
            import torch.distributed as dist
            return Answer(dist.get_rank())

        def work():
            return helper()

        print(world.run(work, ranks=2).values == (Answer(0), Answer(1)), "torch" in sys.modules)
        """)
    )
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=250)
    assert (done.stdout, done.stderr, done.returncode) == ("True False\n", "", 0)


def test_several_threads_at_once():
    results: dict[int, tuple] = {}

    def start(number):
        results[number] = world.run(lambda: (number, dist.get_rank()), ranks=2).values

    threads = [threading.Thread(target=start, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: ((number, 0), (number, 1)) for number in range(4)}
    assert_nobody_left()


@pytest.mark.proof(part="runs")
def test_a_fork_of_the_caller_has_a_fork_server_of_its_own():
    world.run(int, ranks=1)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, repr(world.run(int, ranks=1).values).encode())
            forkserver.close()
        finally:
            os._exit(0)
    os.close(write)
    with open(read) as answer:
        assert answer.read() == "(0,)"
    os.waitpid(pid, 0)
    assert world.run(int, ranks=1).values == (0,)


def test_ten_runs_leave_no_process_no_file_and_no_descriptor(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    forkserver.close()  # the next one keeps its files here
    world.run(int, ranks=2)
    before = len(os.listdir("/dev/fd"))
    for _ in range(10):
        world.run(int, ranks=2)
    assert len(os.listdir("/dev/fd")) == before
    assert list(tmp_path.glob("rankzero-*")) == []
    assert_nobody_left()
    forkserver.close()


def test_processes_that_a_rank_started_go_with_it():
    """Kills an end that only knows the ranks: the child has a session of its own, and no parent any more."""

    def work():
        shell = "setsid sleep 1000 >/dev/null 2>&1 & echo $!"
        return int(subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout)

    for pid in world.run(work, ranks=2).values:
        assert not psutil.pid_exists(pid)


def test_everything_ends_with_a_killed_caller(tmp_path):
    """Also when the caller is killed and cannot tidy up."""
    text = """
        import os, sys, time
        from rankzero import world
        def work():
            import torch.distributed as dist
            with open(sys.argv[1], "w") as running:
                print("running", file=running)
            time.sleep(1000)
        world.run(work, ranks=2)
    """
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    caller = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text), fifo], env=os.environ | {"TMPDIR": str(tmp_path)}
    )
    try:
        with open(os.open(fifo, os.O_RDWR)) as ranks:
            assert [ranks.readline() for _ in range(2)] == ["running\n"] * 2
        family = psutil.Process(caller.pid).children(recursive=True)
        assert len(family) == 4  # fork server, supervisor, two ranks
    finally:
        caller.kill()
        caller.wait()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []
    assert not list(tmp_path.glob("rankzero-*"))


STOPPED = """
    import os, signal, sys, time
    from rankzero import world
    def work():
        import torch.distributed as dist
        dist.barrier()
        if dist.get_rank() == 0:
            os.kill(caller, signal.SIGINT)
        time.sleep(1000)
    def run():
        world.run(work, ranks=2)
    caller = os.getpid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
"""


def test_an_interrupt_says_one_sentence_in_a_cell_and_in_a_script():
    """Three worlds of one process are interrupted: in a cell of IPython, where it is caught, and at its end. Kills: a
    notebook's stop button that fills the page with frames; ranks that go on; another exception that is not shown as
    before; frames of this package in a shell, and a stop of which the shell does not learn."""
    done = script(
        STOPPED
        + """
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell(colors="nocolor")
    shell.user_ns["run"] = run
    shell.run_cell("run()")
    try:
        run()
    except KeyboardInterrupt:
        import psutil
        print([p.name() for p in psutil.Process().children(recursive=True)[1:]])
    try:
        raise ValueError('mine')
    except ValueError:
        sys.excepthook(*sys.exc_info())
    run()
"""
    )
    sentence = "interrupted: the world's 2 ranks have been stopped"
    assert done.stdout.splitlines() == [sentence, "[]"], done.stderr
    first, *_, error, last = done.stderr.splitlines()
    assert (first, error, last) == ("Traceback (most recent call last):", "ValueError: mine", sentence)
    assert done.returncode == -signal.SIGINT


def test_a_world_is_frozen():
    run = world.run(int, ranks=1)
    with pytest.raises(AttributeError):
        run.values = ()


def test_a_world_runs_on_gloo_unless_told_otherwise():
    """Kills a default that goes by the GPUs of the machine: NCCL refuses the tensors in CPU memory that pages send."""
    assert inspect.signature(world.run).parameters["backend"].default == "gloo"


@pytest.mark.gpu
@needs_gpu
def test_where_the_backend_is_left_open_a_gpu_for_each_rank_means_nccl():
    def work():
        x = torch.ones(4, device="cuda") * dist.get_rank()
        dist.all_reduce(x)
        return dist.get_backend(), torch.cuda.current_device(), x

    ranks = torch.cuda.device_count()
    run = world.run(work, ranks=ranks, backend=None)
    assert [value[:2] for value in run.values] == [("nccl", rank) for rank in range(ranks)]
    assert all(value[2].device.type == "cpu" for value in run.values)
    assert run.ledger()[0, "all_reduce"].sent == 16


def loaded(module: str) -> bool:
    """Whether the rank has imported a module before it was asked to."""
    return module in sys.modules


@pytest.mark.proof(part="runs")
def test_prepared_modules_are_there_when_a_rank_starts():
    """Kills: a list that is not sent, or sent again for each run; and a server that a module without a file ends."""
    forkserver.close()
    world.prepare("no_such_module", "this")
    world.prepare("this", "colorsys")
    assert world.run(loaded, "this", ranks=2).values == (True, True)
    assert world.run(loaded, "colorsys", ranks=1).values == (True,)
    assert world.run(loaded, "antigravity", ranks=1).values == (False,)
    assert forkserver.current().preloaded == {"no_such_module", "this", "colorsys"}


@pytest.mark.proof(part="runs")
def test_a_fork_of_a_server_is_one_of_its_own(monkeypatch):
    """Kills: a fork that imports anew, that shares the fate of its model, or that outlives its caller's wish."""
    world.prepare("this")
    model = forkserver.current()
    assert world.run(loaded, "this", ranks=1).values == (True,)
    monkeypatch.setattr(forkserver, "_forkserver", None)
    forkserver.fork_of(model.control)
    twin = forkserver.current()
    world.prepare("wave")
    assert world.run(loaded, "this", ranks=1).values == world.run(loaded, "wave", ranks=2).values[:1] == (True,)
    assert os.getsid(twin.process.pid) == twin.process.pid != model.process.pid
    forkserver.close()
    assert (twin.process.poll(), model.process.poll()) == (0, None)
    monkeypatch.undo()
    assert forkserver.current() is model
    assert world.run(loaded, "wave", ranks=1).values == (False,)
