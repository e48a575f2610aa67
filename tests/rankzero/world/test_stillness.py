"""A deadlock is told long before the time limit, and nothing that still moves is taken for one.

The time limits of deadlocks are longer than a test may last. Whoever pauses does so for longer than a stillness takes.
"""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from rankzero import world
from rankzero.world import call_log, launch, stillness
from rankzero.world.reports import explain

LONG = 200.0  # less than what the store allows
PAUSE = 3 * stillness.STILL
KEPT: list[dist.Work] = []  # handles that outlive their function
SECONDS = datetime.timedelta(seconds=1)


def rank() -> int:
    return dist.get_rank()


def ring_of_blocking_sends():
    dist.send(torch.ones(4), (rank() + 1) % 3)
    dist.recv(torch.ones(4), (rank() - 1) % 3)


def receive_from_anybody():
    dist.recv(torch.ones(1))


def one_leaves_out_the_barrier():
    if rank() > 0:
        dist.barrier()


def two_groups_in_two_orders():
    groups = [dist.new_group([0, 1, 2]), dist.new_group([0, 1, 2])]
    for group in groups if rank() else reversed(groups):
        dist.all_reduce(torch.ones(8), group=group)


def handles_in_a_batch():
    operations = [dist.P2POp(dist.irecv, torch.ones(2), (rank() + 1) % 3)]
    for handle in dist.batch_isend_irecv(operations):
        handle.wait()


def one_gathers_objects():
    if rank() == 2:
        dist.all_gather_object([None] * 3, {"loss": 1.0})


def one_makes_a_group():
    if rank() == 1:
        dist.new_group([0, 1])


def one_more_backward_pass():
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    for _ in range(3 if rank() == 0 else 2):
        model(torch.ones(1, 2)).sum().backward()


def a_monitored_barrier():
    if rank() == 1:
        dist.monitored_barrier()


DEADLOCKS = {
    ring_of_blocking_sends: "waits in send(dst=1)",
    receive_from_anybody: "waits in recv()",
    one_leaves_out_the_barrier: "waits in barrier()",
    two_groups_in_two_orders: "waits in all_reduce()",
    handles_in_a_batch: "waits in irecv(src=1)",
    one_gathers_objects: "waits in all_gather_object()",
    one_makes_a_group: "waits in new_group([0, 1])",
    one_more_backward_pass: "waits in all_reduce()",
    a_monitored_barrier: "waits in monitored_barrier()",
}


@pytest.mark.parametrize("work", DEADLOCKS, ids=lambda work: work.__name__)
def test_a_deadlock_is_told_at_once(work, monkeypatch):
    """Kills: ranks that wait for each other in silence until the time is over."""
    endings = []
    monkeypatch.setattr(launch, "explain", lambda ending, *rest: endings.append(ending) or explain(ending, *rest))
    with pytest.raises(world.WorldError) as caught:
        world.run(work, ranks=3, timeout=LONG)
    assert endings == ["stuck"]
    assert str(caught.value).startswith("deadlock: rank 0 ")
    assert DEADLOCKS[work] in str(caught.value)
    assert {report.state for report in caught.value.reports} <= {"waiting", "finished"}


def meet() -> int:
    dist.barrier()
    return rank()


def one_sleeps():
    if rank() == 0:
        time.sleep(PAUSE)
    return meet()


def one_computes():
    until = time.monotonic() + 2 * stillness.STILL
    while rank() == 0 and time.monotonic() < until:
        pass
    return meet()


def one_is_stopped():
    if rank() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
    return meet()


def one_is_stopped_from_outside():
    """The first rank stops the second, which waits for it, and wakes it later; it sleeps in between."""
    others = [None, None]
    dist.all_gather_object(others, os.getpid())
    if rank() == 0:
        os.kill(others[1], signal.SIGSTOP)
        time.sleep(PAUSE)
        os.kill(others[1], signal.SIGCONT)
    return meet()


def one_waits_for_a_key():
    """The first rank waits in the store, for a key that the second sets later."""
    store = c10d._get_default_store()
    if rank() == 0:
        store.wait(["news"])
    else:
        time.sleep(PAUSE)
        store.set("news", "here")
    return meet()


def a_key_while_the_others_wait():
    """Nobody but a thread of the second rank will set the key that the first waits for."""
    if rank() == 1:
        store = c10d._get_default_store()
        threading.Timer(PAUSE, lambda: store.set("news", "here")).start()
    else:
        c10d._get_default_store().wait(["news"])
    return meet()


def a_thread_sends_later():
    """The second rank's function has ended; its thread sends all the same."""
    if rank() == 1:
        threading.Timer(PAUSE, dist.send, (torch.ones(1), 0)).start()
    else:
        dist.recv(torch.ones(1), 1)
    return rank()


def waits_that_give_up():
    for _ in range(2):
        with pytest.raises(RuntimeError):
            dist.irecv(torch.ones(1), 1 - rank()).wait(SECONDS)
    return rank()


def a_group_that_gives_up():
    group = dist.new_group(timeout=2 * SECONDS)
    if rank() == 0:
        with pytest.raises(RuntimeError):
            dist.all_reduce(torch.ones(1), group=group)
    return rank()


def a_barrier_that_gives_up():
    if rank() == 0:
        with pytest.raises(RuntimeError):
            dist.monitored_barrier(timeout=2 * SECONDS)
    return rank()


def one_makes_its_group_later():
    if rank() == 0:
        time.sleep(PAUSE)
    dist.new_group([0, 1])
    return rank()


def a_child_process_wakes_it():
    """While the first rank is stopped the second waits, and a child process of it sleeps."""
    if rank() == 0:
        subprocess.Popen(["sh", "-c", f"sleep {PAUSE}; kill -CONT {os.getpid()}"])
        os.kill(os.getpid(), signal.SIGSTOP)
    return meet()


def a_hook_sleeps_in_a_backward_pass():
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    model.module.bias.register_hook(lambda _: time.sleep(PAUSE if rank() == 0 else 0.0))
    model(torch.ones(1, 2)).sum().backward()
    return rank()


def a_large_message_of_a_rank_that_has_finished():
    big = torch.ones(5_000_000)
    if rank() == 0:
        KEPT.append(dist.isend(big, 1))
    else:
        dist.recv(big, 0)
    return rank()


MOVING = [
    one_sleeps,
    one_computes,
    one_is_stopped_from_outside,
    one_waits_for_a_key,
    a_key_while_the_others_wait,
    a_thread_sends_later,
    waits_that_give_up,
    a_group_that_gives_up,
    a_barrier_that_gives_up,
    one_makes_its_group_later,
    a_child_process_wakes_it,
    a_hook_sleeps_in_a_backward_pass,
    a_large_message_of_a_rank_that_has_finished,
]


@pytest.mark.parametrize("work", MOVING, ids=lambda work: work.__name__)
def test_what_still_moves_is_no_deadlock(work):
    """Kills: an alarm while a rank pauses, or while somebody outside it can still end the wait."""
    assert world.run(work, ranks=2, timeout=LONG).values == (0, 1)


def test_a_rank_that_stays_stopped_is_told_by_the_time_limit():
    said = r"^timed out after 2\.0 s: rank 0 is computing; rank 1 waits in barrier"
    with pytest.raises(world.WorldError, match=said):
        world.run(one_is_stopped, ranks=2, timeout=2)


@pytest.mark.parametrize(
    ("slots", "looks"),
    [(("!", "!"), 1), (("!", ""), 0), (("!", "?"), 1), (("", ""), 0)],
)
def test_threads_are_looked_at_only_when_all_ranks_wait(monkeypatch, slots, looks):
    """Kills: a supervisor that reads the state of every thread ten times a second in each run."""
    looked = []
    monkeypatch.setattr(stillness, "scene", lambda *_: looked.append(1))
    written = [(sign.encode() or b"\0") + bytes(20) + call_log.TAIL.pack(3, call_log.ANOTHER_RANK) for sign in slots]
    still = stillness.Stillness(Path(__file__), lambda: [stillness.View(0, 0, slot, False) for slot in written])
    for _ in range(2):
        still.last = -stillness.PERIOD
        assert not still.lasts()
    assert len(looked) == looks
