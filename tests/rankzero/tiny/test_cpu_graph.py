"""Graphs of the CPU: what a replay repeats, what it cannot, and the pitfalls with the outputs that the page states."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from rankzero.tiny import GPT, GPTConfig
from rankzero.tiny.cpu_graph import CpuGraph, CudaGraph, NotCapturable, best_device, graph_for

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def doubled(x: torch.Tensor) -> tuple[CpuGraph, torch.Tensor]:
    graph = CpuGraph()
    with graph.capture():
        y = 2 * x + 1
    return graph, y


# What works.


def test_a_replay_reads_the_buffer_and_writes_the_output():
    x = torch.zeros(3)
    graph, y = doubled(x)
    for new in ([1.0, 2.0, 3.0], [0.0, -1.0, 5.0]):
        x.copy_(torch.tensor(new))
        graph.replay()
        assert y.tolist() == [2 * value + 1 for value in new]
    assert (graph.operations, graph.replays) == (("mul", "add"), 2)


def test_in_place_operations_and_views():
    """Views of recorded memory are not repeated: they are the same memory."""
    x, total = torch.zeros(2, 3), torch.zeros(3)
    graph = CpuGraph()
    with graph.capture():
        total += x.t()[:, 1]
        y = (x.view(6)[2:4] * 3).unsqueeze(0)
    assert graph.operations == ("add_", "mul")
    x.copy_(torch.arange(6.0).view(2, 3))
    graph.replay()
    assert total.tolist() == [3.0, 4.0, 5.0]
    assert y.tolist() == [[6.0, 9.0]]


def test_a_whole_model():
    model = GPT(GPTConfig(layers=2, context=32)).double()
    tokens = torch.zeros(2, 9, dtype=torch.int64)
    graph = CpuGraph()
    logits = graph.record(lambda: model(tokens))
    for seed in range(3):
        new = torch.randint(0, 256, (2, 9), generator=torch.Generator().manual_seed(seed))
        tokens.copy_(new)
        graph.replay()
        with torch.no_grad():
            assert (logits - model(new)).abs().max() < 1e-12


def test_random_numbers_advance_at_each_replay():
    """Dropout is no obstacle."""
    x = torch.ones(1000)
    graph = CpuGraph()
    y = graph.record(lambda: functional.dropout(x, 0.5))
    seen = []
    for _ in range(2):
        graph.replay()
        seen.append(y.clone())
        assert set(y.tolist()) == {0.0, 2.0}
    assert not torch.equal(*seen)


def test_a_number_that_changes_must_be_a_tensor():
    """A Python number is an argument of the kernel and is recorded; a tensor is read again."""
    weight, gradient, rate = torch.zeros(1), torch.ones(1), torch.tensor(0.1)
    frozen, live = CpuGraph(), CpuGraph()
    with frozen.capture():
        weight -= rate_number() * gradient
    with live.capture():
        weight -= rate * gradient
    weight.zero_()
    rate.fill_(0.5)
    frozen.replay()
    assert weight.item() == pytest.approx(-0.1)
    live.replay()
    assert weight.item() == pytest.approx(-0.6)


def rate_number() -> float:
    return 0.1


# The five pitfalls.


def test_without_the_copy_the_output_is_stale():
    x = torch.zeros(3)
    graph, y = doubled(x)
    x = torch.ones(3)  # the name moved, the buffer did not
    graph.replay()
    assert y.tolist() == [1.0, 1.0, 1.0]
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_a_new_tensor_under_the_old_name_of_the_output_is_not_written():
    x = torch.zeros(3)
    graph, y = doubled(x)
    kept, y = y, torch.full((3,), -7.0)
    x.copy_(torch.ones(3))
    graph.replay()
    assert (y.tolist(), kept.tolist()) == ([-7.0] * 3, [3.0] * 3)


def test_a_branch_is_frozen():
    host, x = [1.0, 1.0], torch.tensor([1.0, 1.0])
    graph = CpuGraph()
    with graph.capture():
        z = 2 * x if sum(host) > 0 else -x
    host[:] = [-1.0, -1.0]
    x.copy_(torch.tensor(host))
    graph.replay()
    assert z.tolist() == [-2.0, -2.0]


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.sum().item(),
        lambda x: 2 * x if x.sum() > 0 else -x,
        lambda x: float(x[0]),
        lambda x: torch.nonzero(x),
        lambda x: x[x > 0],
        lambda x: x.unique(),
    ],
)
def test_what_the_host_would_have_to_know_cannot_be_captured(program):
    graph = CpuGraph()
    with pytest.raises(NotCapturable), graph.capture():
        program(torch.arange(3.0))
    with pytest.raises(RuntimeError, match="capture comes first"):
        graph.replay()


def test_a_capture_that_failed_leaves_nothing_behind():
    """Kills a graph that replays the half of a program before the one that was captured."""
    graph, x = CpuGraph(), torch.arange(3.0)
    with pytest.raises(NotCapturable), graph.capture():
        x.add_(1).sum().item()
    with graph.capture():
        x.mul_(2)
    x.fill_(3)
    graph.replay()
    assert x.tolist() == [6, 6, 6]
    assert len(graph.operations) == 1


def test_another_shape_does_not_fit():
    x = torch.zeros(3)
    doubled(x)
    with pytest.raises(RuntimeError):
        x.copy_(torch.zeros(4))


# The contract.


def test_a_graph_is_captured_once():
    graph, _ = doubled(torch.zeros(2))
    with pytest.raises(RuntimeError, match="captured only once"), graph.capture():
        pass


def test_record_warms_up():
    calls = []
    CpuGraph().record(lambda: calls.append(1), warm_up=2)
    assert len(calls) == 3


def test_which_graph_for_which_device():
    assert graph_for("cpu") is CpuGraph
    assert graph_for("cuda:0") is CudaGraph
    assert best_device() == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.gpu
@needs_gpu
def test_cuda_keeps_the_same_contract():
    model = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(4)]).cuda()
    x = torch.zeros(4, 16, device="cuda")
    graph = CudaGraph()
    y = graph.record(lambda: model(x))
    for seed in range(3):
        new = torch.randn(4, 16, generator=torch.Generator().manual_seed(seed)).cuda()
        x.copy_(new)
        graph.replay()
        assert torch.allclose(y, model(new), atol=1e-6)
    with pytest.raises(RuntimeError), CudaGraph().capture():
        x.sum().item()
