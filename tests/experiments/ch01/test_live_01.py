"""The live runs of chapter 1, small: what they show must be true of the processes that ran."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import torch
import torch.distributed as dist

from experiments.ch01 import launching, scaling_runs, workers
from experiments.ch01.hello import hello
from experiments.ch01.launching import VARIABLES, launched
from experiments.ch01.measured_states import counted_flops, state_bytes
from rankzero import world
from rankzero.tiny import GPT, GPTConfig
from solutions.ch01.ranks import process_groups, rendezvous
from solutions.ch01.sharding import shard_indices
from tests.sampler_orders import sampler_orders

SMALL = GPTConfig(layers=2, heads=2, head_dim=8, context=16)


# Hello.


def test_everyone_greets_and_hears_all():
    greetings = world.run(hello, ranks=3).values
    assert [one.rank for one in greetings] == [0, 1, 2]
    assert all(one.pairs == [[0, 1], [10, 11], [20, 21]] and one.total == 3 for one in greetings)
    assert len({one.process for one in greetings} | {os.getpid()}) == 4
    assert {one.device for one in greetings} == {"cpu"}


# Launching.


def test_plain_spawning_sets_none_of_the_five(monkeypatch):
    """Not even where the caller has some of them set: what would be seen then is not the launcher's."""
    monkeypatch.setenv("RANK", "7")
    monkeypatch.setenv("MASTER_PORT", "1234")
    assert launched("spawn", ranks=3) == [dict.fromkeys(VARIABLES)] * 3
    assert os.environ["RANK"] == "7"


@pytest.mark.proof(part="runs")
def test_torchrun_sets_all_five_from_any_folder(monkeypatch, tmp_path):
    """Our own reader of these variables accepts them, and all processes are told of the same meeting place."""
    (tmp_path / "torch.py").write_text("raise RuntimeError('not the library')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    found = [rendezvous({name: value or "" for name, value in seen.items()}) for seen in launched("torchrun", ranks=2)]
    assert [(one.rank, one.local_rank, one.world_size) for one in found] == [(0, 0, 2), (1, 1, 2)]
    assert len({(one.address, one.port) for one in found}) == 1


def sleeper(folder: Path) -> str:
    """A program that says which process it is and then never ends."""
    return f"import os, time\nopen({str(folder)!r} + f'/{{os.getpid()}}', 'w').close()\ntime.sleep(1000)"


@pytest.mark.parametrize(
    ("launcher", "timeout"), [("spawn", 1.0), pytest.param("torchrun", 5.0, marks=pytest.mark.proof(part="runs"))]
)
def test_no_process_outlives_the_deadline(tmp_path, launcher, timeout):
    """Torchrun's processes are in sessions of their own: killing it would leave them behind."""
    with pytest.raises(TimeoutError, match="were terminated"):
        launched(launcher, ranks=2, timeout=timeout, program=sleeper(tmp_path))
    left = [int(name) for name in os.listdir(tmp_path) if psutil.pid_exists(int(name))]
    assert [pid for pid in left if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE] == []


def test_a_failing_process_is_told_with_its_last_line():
    with pytest.raises(RuntimeError, match="status 1: ValueError: no luck"):
        launched("spawn", ranks=1, program="raise ValueError('no luck')")


def test_a_launch_begins_with_a_clean_environment():
    given = {"RANK": "1", "TORCHELASTIC_RUN_ID": "x", "GROUP_RANK": "0", "HOME": "/h"}
    assert launching._environment(given) == {"HOME": "/h", "OMP_NUM_THREADS": "1"}


def test_a_line_is_one_write():
    """Kills a line in two pieces: unbuffered processes that share a pipe would mix them."""
    writes = []
    shared = SimpleNamespace(argv=["program.py", "HOME"], stdout=SimpleNamespace(write=writes.append))
    modules = {"json": json, "os": os, "sys": shared}
    exec(launching.PROGRAM.replace("import json, os, sys", ""), modules)
    assert [line.count("\n") for line in writes] == [1]


def test_a_start_that_fails_says_what_the_page_prints():
    """The store's messages: nobody comes, nobody is there, a key that nobody writes, and a port that is taken."""
    second = timedelta(seconds=1)
    with pytest.raises(
        dist.DistStoreError, match=r"Timed out after 2 seconds waiting for clients\. 1/3 clients joined"
    ):
        dist.TCPStore("127.0.0.1", 0, 3, True, second)
    store = dist.TCPStore("127.0.0.1", 0, 1, True, second)
    with pytest.raises(dist.DistStoreError, match="wait timeout after 1000ms, keys: /address"):
        store.get("address")
    with pytest.raises(dist.DistNetworkError, match=r"EADDRINUSE.*address already in use"):
        dist.TCPStore("127.0.0.1", store.port, 1, True, second)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(
        dist.DistNetworkError, match=r"client socket has timed out after 1000ms while trying to connect"
    ):
        dist.TCPStore("127.0.0.1", port, 3, False, second)


def test_where_two_have_one_rank_all_wait_for_the_key_of_the_rank_that_nobody_has():
    """What the page prints of run D: three have joined, two of them as rank 1."""
    second = timedelta(seconds=1)
    store = dist.TCPStore("127.0.0.1", 0, 1, True, second)

    def member(rank: int) -> str:
        mine = dist.TCPStore("127.0.0.1", store.port, 1, False, second)
        with pytest.raises(dist.DistStoreError) as caught:
            dist.ProcessGroupGloo(mine, rank, 3, second)
        return str(caught.value)

    with ThreadPoolExecutor(3) as threads:
        said = list(threads.map(member, (0, 1, 1)))
    assert all(one.startswith("wait timeout after 1000ms, keys: /") and "/0/2" in one for one in said)


@pytest.mark.proof(part="runs")
def test_the_plain_program_of_the_page_runs_under_torchrun(tmp_path):
    """The file that the page shows, as it is printed there."""
    page = (Path(__file__).parents[3] / "book/01-first-program.ipynb").read_text(encoding="utf-8")
    cells = ("".join(cell["source"]) for cell in json.loads(page)["cells"])
    (text,) = (source for source in cells if "`sum_of_ranks.py`:" in source)
    file = tmp_path / "sum_of_ranks.py"
    file.write_text(text.split("```python\n")[1].split("```")[0], encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    said = re.findall(r"rank \d, device \d, sum \d", ended.stdout)  # two processes write, and ends of lines may mix
    assert sorted(said) == [f"rank {rank}, device {rank}, sum 1" for rank in range(2)]


# Threads or processes.


def test_work_is_done():
    assert workers.python_loop(5) == 0 + 1 + 2 + 3 + 4
    assert workers.matrix_products(2).diagonal().tolist() == [1.0] * workers.SIDE


def test_every_way_of_working_is_measured():
    found = workers.busy_cores(workers=2, additions=1000, products=1, repeats=1)
    assert set(found) == {"Python loop", "matrix products"}
    for by_way in found.values():
        assert list(by_way) == ["1 worker", "2 threads", "2 processes"]
        assert all(0 < cores < 64 for cores in by_way.values())


@pytest.mark.proof(part="runs")
def test_threads_that_share_a_lock_keep_one_core_busy():
    """Whatever else the machine does: it can lower the number and never raise it."""
    assert workers.busy_cores(workers=2, products=1, repeats=2)["Python loop"]["2 threads"] < 1.2


def test_threads_are_there_at_the_same_time():
    """Kills one that calls the work one after the other: then nobody would meet at the barrier."""
    meeting = threading.Barrier(3)
    assert workers._threads(lambda size: meeting.wait(size), 10, 3, 1) > 0


def test_processes_are_there_at_the_same_time():
    laps = world.run(workers._laps, lambda _: dist.barrier(), 1, 2, ranks=2, timeout=20).values
    assert all(len(own) == 2 and start <= end for own in laps for start, end, _ in own)


# FLOPs and bytes.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("config", [GPTConfig(), SMALL, GPTConfig(layers=3, heads=4, kv_heads=2, context=32)])
def test_counted_flops_are_those_of_the_formula(config):
    """2 N T + 4 L width s T, exactly; and the whole step three times that."""
    counted = counted_flops(config, batch=3)
    tokens = 3 * config.context
    matrices = 2 * GPT(config).matmul_parameters * tokens
    attention = 4 * config.layers * config.hidden * config.context * tokens
    assert (counted.tokens, counted.forward) == (tokens, matrices + attention)
    assert counted.ratio == 3.0


@pytest.mark.parametrize(("mixed", "expected"), [(True, (2, 2, 4, 8)), (False, (4, 4, 0, 8))])
def test_states_take_sixteen_bytes_for_each_parameter(mixed, expected):
    parameters = sum(weight.numel() for weight in GPT(SMALL).parameters())
    found = state_bytes(SMALL, mixed)
    names = ("weights", "gradients", "master copy", "moments")
    assert tuple(found[name] / parameters for name in names) == expected
    assert found["step counters"] == 4 * len(list(GPT(SMALL).parameters()))


# Groups.

SQUARE = {"down": 2, "across": 2}


def made(first_member_only: bool) -> dict[str, float]:
    """The sums of rank numbers along both axes; each group is made by every rank, or by its first member alone."""
    rank, sums = dist.get_rank(), {}
    for axis in SQUARE:
        for ranks in process_groups(SQUARE, axis):
            if first_member_only and rank != ranks[0]:
                continue
            group = dist.new_group(ranks)
            if rank in ranks:
                number = torch.tensor(float(rank))
                dist.all_reduce(number, group=group)
                sums[axis] = number.item()
    return sums


def test_rows_and_columns():
    rows = [0 + 1, 0 + 1, 2 + 3, 2 + 3]
    columns = [0 + 2, 1 + 3, 0 + 2, 1 + 3]
    sums = world.run(made, False, ranks=4).values
    assert [one["across"] for one in sums] == rows
    assert [one["down"] for one in sums] == columns


def test_groups_made_by_their_first_member_alone_wait_forever():
    with pytest.raises(world.WorldError) as caught:
        world.run(made, True, ranks=4, timeout=60)
    reports = caught.value.reports
    assert [report.state for report in reports] == ["waiting", "waiting", "waiting", "finished"]
    for report, group in zip(reports, ([0, 2], [1, 3], [2, 3]), strict=False):
        assert f"new_group({group})" in report.what


# Training on more and more ranks.


@pytest.fixture(scope="module")
def strong() -> list[scaling_runs.Measured]:
    return scaling_runs.scaling_runs(ranks=(1, 2, 4), batch=4, steps=2, config=SMALL)


@pytest.mark.proof(part="runs")
def test_the_same_problem_has_the_same_losses_on_any_number_of_ranks(strong):
    """Strong scaling: kills ranks that all train on the same rows, and gradients that are summed and not averaged."""
    alone = strong[0].losses
    assert len(alone) == 2 + scaling_runs.WARM_UP
    assert alone[-1] < alone[0]
    for one in strong[1:]:
        assert one.losses == pytest.approx(alone, rel=1e-4)


def test_a_step_is_compute_and_collectives(strong):
    assert [(one.ranks, one.batch) for one in strong] == [(1, 4), (2, 4), (4, 4)]
    assert strong[0].collectives == 0
    for one in strong[1:]:
        assert one.collectives > 0
        assert one.compute + one.collectives == one.step


@pytest.mark.proof(part="runs")
def test_weak_scaling_keeps_the_work_of_a_rank():
    runs = scaling_runs.scaling_runs(ranks=(1, 2), batch=2, steps=1, weak=True, config=SMALL, rounds=2)
    assert [one.batch for one in runs] == [2, 4]


def test_one_all_reduce_of_all_gradients_in_a_step():
    run = world.run(scaling_runs.train, SMALL, 2, 3, ranks=2)
    parameters = sum(weight.numel() for weight in GPT(SMALL).parameters())
    assert [(event.operation, event.sent) for event in run.events] == [("all_reduce", 4 * (parameters + 1))] * 6


def test_batches_that_ranks_cannot_share_are_refused():
    with pytest.raises(ValueError, match="batch must be a multiple of 2 ranks, got 3"):
        scaling_runs.scaling_runs(ranks=(2,), batch=3)


# The sampler.


def test_ten_samples_on_three_ranks_see_two_twice():
    orders = sampler_orders(samples=10, ranks=3, epochs=3)
    counts = [Counter(sample for order in epoch for sample in order) for epoch in orders]
    assert [sorted(count.values()) for count in counts] == [[1] * 8 + [2] * 2] * 3
    assert len({str(epoch) for epoch in orders}) == 3


def test_without_set_epoch_every_epoch_is_the_same():
    orders = sampler_orders(samples=10, ranks=3, epochs=3, set_epoch=False)
    assert orders[0] == orders[1] == orders[2]


@pytest.mark.parametrize("drop_last", [False, True])
def test_the_sampler_shards_as_we_do(drop_last):
    (epoch,) = sampler_orders(samples=11, ranks=2, epochs=1, shuffle=False, drop_last=drop_last)
    assert epoch == [shard_indices(11, 2, rank, drop_last=drop_last) for rank in range(2)]
