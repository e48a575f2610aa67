"""What keeps ranks from starting is said once, in one sentence; and a run is shown as its reader wants to see it."""

from __future__ import annotations

import os
import pdb

import pytest
import torch
import torch.distributed as dist

from rankzero import world
from rankzero.events import Event
from rankzero.world import forkserver, results


def work() -> int:
    return dist.get_rank()


def scaled(x: float, by: float = 2.0) -> float:
    return x * by


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: world.run(work, 4),
            "work() -> int cannot be called as work(4): too many positional arguments; "
            "the number of ranks is given by name, as in ranks=4",
        ),
        (
            lambda: world.run(scaled, ranks=3),
            "scaled(x: float, by: float = 2.0) -> float cannot be called as scaled(): missing a required argument: 'x'",
        ),
        (
            lambda: world.run(lambda x: x, torch.ones(2), "two"),
            "<lambda>(x) cannot be called as <lambda>(tensor([1., 1.]), 'two'): too many positional arguments",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_told_once(call, sentence):
    """Kills: "takes 0 positional arguments" four times, with a traceback that has no line."""
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).replace("'", "") == sentence.replace("'", "")  # annotations are texts in this module
    assert caught.value._render_traceback_() == [f"TypeError: {caught.value}"]


def test_functions_without_a_signature_run():
    assert world.run(max, 3, 4, ranks=1).values == (4,)


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("breakpoint()", lambda: breakpoint()),
        ("pdb.set_trace()", lambda: pdb.set_trace()),
        ("input()", lambda: input("rank? ")),
        ("dist.breakpoint()", lambda: dist.breakpoint(0)),
    ],
)
def test_a_rank_says_that_it_has_no_terminal(name, ask):
    """Kills: BdbQuit, and EOF when reading a line."""
    with pytest.raises(world.WorldError) as caught:
        world.run(ask, ranks=1)
    sentence = f"RuntimeError: {name} needs a terminal, and a rank has none: print, or return, what you want to see"
    assert str(caught.value).startswith(f"rank 0 raised {sentence} at line ")


def test_a_breakpoint_that_is_switched_off_is_none(monkeypatch):
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    assert world.run(lambda: breakpoint(), ranks=1).values == (None,)


def test_an_interface_that_is_not_there_is_named_once(monkeypatch):
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "nowhere7,lo")
    with pytest.raises(world.WorldError) as caught:
        world.run(work, ranks=2)
    said = str(caught.value)
    assert said.startswith("GLOO_SOCKET_IFNAME in the environment is nowhere7, and this machine has only lo")
    assert said.endswith(": remove the variable")
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "")
    assert world.run(work, ranks=2).values == (0, 1)


@pytest.fixture
def fresh_server():
    forkserver.close()
    yield
    forkserver.close()


@pytest.mark.proof(part="runs")
def test_torch_says_itself_why_it_cannot_be_imported(monkeypatch, fresh_server):
    """Kills: "the supervisor of its ranks has ended", while torch says which variable is wrong."""
    monkeypatch.setenv("TORCH_LOGS", "nonsense")
    with pytest.raises(world.WorldError) as caught:
        world.run(work, ranks=2)
    sentence = "the world could not run: ValueError: Invalid log settings: nonsense, must be a comma separated list"
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_deleted_folder_is_said(tmp_path, monkeypatch):
    """Kills: a bare FileNotFoundError, with and without a server that runs already."""
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    os.rmdir(folder)
    for start in (lambda: world.run(work, ranks=1), world.prepare):
        with pytest.raises(world.WorldError, match=r"^the working folder of this process has been deleted: go to"):
            start()


def test_a_run_is_shown_by_rank():
    """Kills: the dataclass with all of its events as the last line of a cell."""

    def summed():
        x = torch.ones(2) * dist.get_rank()
        dist.all_reduce(x)
        return {"sum": x, "text": "<b>" * 100}

    run = world.run(summed, ranks=2)
    head, *rows = repr(run).splitlines()
    assert head == f"World of 2 ranks, {run.seconds:.3g} s"
    assert [row[:42] for row in rows] == [f"  rank {rank}: {{'sum': tensor([1., 1.]), 'text'" for rank in (0, 1)]
    assert all(row.endswith("; 8 B sent, 8 B received") for row in rows)
    assert max(map(len, rows)) < 120
    html = run._repr_html_()
    assert html.count("<tr>") == 3
    assert "<b>" not in html
    assert "8 B sent, 8 B received" in html


def test_a_large_world_is_shown_in_part():
    run = results.World((1,) * 64, ((),) * 64, (Event(63, "send", (0,), 1, 0, 0.0, 1.0, None, ""),), 64, 2.0)
    head, *rows = repr(run).splitlines()
    assert head == "World of 64 ranks, 2 s"
    assert rows[-1] == "  ... and 48 more ranks"
    assert len(rows) == results.SHOWN + 1
    assert "and 48 more ranks" in run._repr_html_()
