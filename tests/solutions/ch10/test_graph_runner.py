"""A model behind graphs: equal to the model itself, whatever comes in which order."""

from __future__ import annotations

from random import Random

import pytest
import torch

from rankzero.tiny.cpu_graph import CpuGraph, CudaGraph
from solutions.ch10.graph_runner import GraphRunner, debug_graph

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def model(width: int = 4) -> torch.nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(width, 8), torch.nn.GELU(), torch.nn.Linear(8, 3)).double()


def rows(count: int, width: int, seed: int) -> torch.Tensor:
    return torch.randn(count, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


class Counting(CpuGraph):
    """Counts graphs, and how often they are recorded and replayed."""

    made = recorded = replayed = 0

    def __init__(self):
        super().__init__()
        Counting.made += 1

    def record(self, program, warm_up=1):
        Counting.recorded += 1
        return super().record(program, warm_up)

    def replay(self):
        Counting.replayed += 1
        super().replay()


def test_equal_to_the_model_in_any_order():
    rng, twin = Random(1), model()
    for trial in range(30):
        runner = GraphRunner(twin, rng.sample(range(1, 12), 3), 4)
        batches = [rows(rng.randint(1, 14), 4, 100 * trial + place) for place in range(8)]
        outs = [runner.run(batch) for batch in batches]  # all kept: no later call may change one
        for batch, out in zip(batches, outs, strict=True):
            assert out.shape == (len(batch), 3)
            assert (out - twin(batch)).abs().max() < 1e-12


def test_one_graph_for_each_size_that_is_needed():
    Counting.made = Counting.recorded = Counting.replayed = 0
    runner = GraphRunner(model(), [8, 2, 4], 4, Counting)
    assert runner.captures == 0
    for count in (3, 4, 1, 2, 3, 9, 4):
        runner.run(rows(count, 4, count))
    assert (runner.captures, Counting.made, Counting.recorded, Counting.replayed) == (2, 2, 2, 6)


def test_padding_is_zero_at_every_call():
    """Kills: rows of an earlier, larger batch that stay in the buffer."""
    runner = GraphRunner(lambda x: x / (1 + x.abs().sum()), [4], 2)
    for count in (4, 1, 3):
        x = rows(count, 2, count)
        assert torch.allclose(runner.run(x), x / (1 + x.abs().sum()))


def test_no_graph_is_larger_than_the_largest():
    runner = GraphRunner(model(), [2], 4, Counting)
    assert not runner.run(rows(3, 4, 0)).requires_grad
    assert runner.captures == 0


def test_a_runner_has_a_size():
    with pytest.raises(ValueError, match="sizes must not be empty"):
        GraphRunner(model(), [], 4)


@pytest.mark.parametrize("shape", [(0, 4), (4,), (1, 2, 4)])
def test_bad_batches(shape):
    with pytest.raises(ValueError, match="x must be"):
        GraphRunner(model(), [2], 4).run(torch.zeros(shape))


def test_each_answer_is_of_its_own_input():
    x, graph = torch.zeros(3), CpuGraph()
    y = graph.record(lambda: x * x)
    inputs = [torch.full((3,), float(value)) for value in (2, 3, 4)]
    outs = [debug_graph(graph, x, y, new) for new in inputs]
    assert [out.tolist() for out in outs] == [[4.0] * 3, [9.0] * 3, [16.0] * 3]
    assert inputs[0].tolist() == [2.0] * 3


@pytest.mark.gpu
@needs_gpu
def test_the_same_on_a_gpu():
    twin = model().cuda()
    runner = GraphRunner(twin, [2, 8], 4, CudaGraph)
    batches = [rows(count, 4, count).cuda() for count in (3, 1, 8, 9, 2)]
    outs = [runner.run(batch) for batch in batches]
    for batch, out in zip(batches, outs, strict=True):
        assert (out - twin(batch)).abs().max() < 1e-12
    assert runner.captures == 2
