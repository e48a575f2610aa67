"""The demos of chapter 2: what each shows must hold, a false result is status 1, a wrong command status 2."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from demos.ch02 import deadlock


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_number_grows_from_rank_to_rank(ranks, tmp_path):
    rows = table(tmp_path, "relay", "--ranks", str(ranks), "--value", "-1.5", "--increment", "0.25")
    assert [float(row["holds"]) for row in rows] == [-1.5 + 0.25 * rank for rank in range(ranks)]
    hops = [float(row["time of its hop (ms)"]) for row in rows]
    assert hops[0] == 0
    assert all(hop > 0 for hop in hops[1:])


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("pattern", "ranks", "waits"),
    [
        ("send-send", 3, ["waits in send to 1", "waits in send to 0", "has finished"]),
        ("wrong-source", 2, ["waits in send to 1", "waits in recv from 2", "has finished"]),
        ("ring", 3, ["waits in send to 1", "waits in send to 2", "waits in send to 0"]),
    ],
)
def test_a_deadlock_that_happens_is_a_success(pattern, ranks, waits, tmp_path, capsys):
    rows = table(tmp_path, "deadlock", "--quick", "--pattern", pattern, "--ranks", str(ranks))
    assert [row["the real rank"] for row in rows] == [row["the simulator says"] for row in rows] == waits
    assert "deadlock: rank 0 waits in send(dst=1)" in capsys.readouterr().out


def test_a_deadlock_that_does_not_happen_is_a_failure(monkeypatch, capsys):
    monkeypatch.setattr(deadlock, "programs", lambda *_: [[("send", 1)], [("recv", 0)]])
    assert run("deadlock", "--quick") == 1
    assert "NO" in capsys.readouterr().out


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("policy", "line"), [("parity", "parity: 3 rounds, 0 of 5"), ("all_send", "all_send: 0 rounds")]
)
def test_the_ring_of_blocking_calls(policy, line, tmp_path, capsys):
    rows = table(tmp_path, "ring_blocking", "--quick", "--ranks", "5", "--policy", policy)
    assert all(row["simulated"] == row["on real ranks"] for row in rows)
    assert len(rows) == 5
    assert line in capsys.readouterr().out


@pytest.mark.proof(part="runs")
def test_both_relays_are_measured(tmp_path):
    rows = table(tmp_path, "pipelined_relay", "--quick", "--ranks", "3", "--chunks", "1,5", "--blocking")
    assert [(row["way"], int(row["chunks"])) for row in rows] == [
        ("blocking", 1),
        ("blocking", 5),
        ("double-buffered", 1),
        ("double-buffered", 5),
    ]
    assert all(float(row["measured (ms)"]) > 0 and float(row["formula (ms)"]) > 0 for row in rows)


def no_message(x, chunks):
    """A receive of nothing, so that the event log has its messages."""
    import torch
    import torch.distributed as dist

    buffer = torch.zeros(1)
    dist.send(buffer, 1) if dist.get_rank() == 0 else dist.recv(buffer, 0)
    return x.clone()


def test_the_cut_model_is_compared_with_the_uncut_one(tmp_path):
    rows = table(tmp_path, "naive_model_parallel", "--quick", "--ranks", "2", "--layers", "3")
    assert [row["model"] for row in rows] == ["uncut", "2 ranks"]
    assert float(rows[1]["loss"]) == pytest.approx(float(rows[0]["loss"]), rel=1e-6)
    assert float(rows[1]["largest difference of a gradient"]) <= 1e-6
    assert float(rows[1]["1 - 1/p"]) == 0.5


def own_loss(stage, inputs, targets, shape):
    """A step in which no gradient comes back."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = inputs if rank == 0 else torch.empty(shape)
    if rank:
        dist.recv(x, rank - 1)
    output = stage(x)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
    loss = torch.nn.functional.mse_loss(output, targets) if rank == ranks - 1 else output.square().mean()
    loss.backward()
    return float(loss) if rank == ranks - 1 else None


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("demo", "name", "wrong", "arguments"),
    [
        ("deadlock", "simulate", lambda programs: (1, {0: ("recv", 1)}), []),  # kills a demo that shows it twice
        ("ring_blocking", "simulate", lambda programs: (1, {0: ("recv", 1)}), []),
        ("pipelined_relay", "chunked_relay", no_message, ["--chunks", "2"]),
        ("naive_model_parallel", "forward_backward", own_loss, ["--layers", "2"]),
    ],
)
def test_a_wrong_part_is_found_out(demo, name, wrong, arguments, found_out):
    found_out(demo, name, lambda right: wrong, "--quick", "--ranks", "2", *arguments)
