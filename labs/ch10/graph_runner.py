# Generated from solutions/ch10/graph_runner.py by make stubs. Write the bodies; names and signatures stay.
"""A model behind graphs of a few batch sizes: pad, copy in, replay, copy out.

A batch is padded to the next size that has a graph; a larger one runs without. :mod:`rankzero.tiny.cpu_graph` has
graphs for the CPU and for CUDA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from rankzero import checks


class GraphRunner:
    """Runs ``model`` on batches of any size, in graphs of the given sizes; a drop-in for ``model(x)``.

    The first batch that needs a size captures its graph. A graph reads and writes static buffers: rows are copied into
    its input, the rest of which is zero, and what comes back is a copy, which later calls leave alone. A batch larger
    than every size runs eagerly.

    Args:
        model: from a tensor [b, width] to a tensor of b rows, each row from the row of the input alone; the same
            operations for every batch of one size.
        sizes: batch sizes to capture, in any order; each at least 1, and at least one of them.
        width: elements of a row; at least 1.
        graph: class of the graphs: ``record(program)`` runs a function of no arguments, records it and returns its
            result; ``replay()`` computes that result again, into the same tensor. None selects ``CpuGraph`` of
            ``rankzero.tiny.cpu_graph``; ``CudaGraph`` is the other choice.

    Attributes:
        captures: graphs that have been captured.

    Source: PyTorch documentation, "CUDA Graphs"; vLLM, ``vllm/v1/worker/gpu_model_runner.py``.
    """

    def __init__(
        self,
        model: Callable[[torch.Tensor], torch.Tensor],
        sizes: Sequence[int],
        width: int,
        graph: Callable[[], Any] | None = None,
    ) -> None:
        checks.require(len(sizes) > 0, "not be empty", sizes=sizes)
        checks.count(sizes=sizes, width=width)
        raise NotImplementedError("10-graph-runner: not written yet")

    def run(self, x: torch.Tensor) -> torch.Tensor:
        """The model's output for ``x`` [b, width], without gradients; at least one row.

        All batches have the element type and the device of the first.
        """
        checks.require(x.dim() == 2 and len(x) > 0, "be [b, width] with b >= 1", x=tuple(x.shape))
        raise NotImplementedError("10-graph-runner: not written yet")


def debug_graph(graph: Any, x: torch.Tensor, y: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """What a recorded program gives for a new input.

    Callers get the same answer a thousand times, and all their answers change together. Correct it: each call must give
    what the program gives for ``new``, in a tensor that later calls leave alone.

    Args:
        graph: recorded; ``replay()`` computes y from what x holds.
        x: static input of the graph.
        y: static output of the graph.
        new: in the shape of x.
    """
    x = new.clone()
    graph.replay()
    return y[: len(x)]
