"""Record the work of a program once, replay it many times: graphs of tensor operations, with the contract of CUDA's.

    graph = graph_for("cpu")()
    with graph.capture():
        y = model(x)        # runs, and is written down
    x.copy_(new)            # into the buffer that was recorded
    graph.replay()          # y holds the new answer

:class:`CpuGraph` works on every machine. It writes down each operation with the very tensors it read and wrote, and
replays them into the same storage. It is no faster than the program: it is there so that the rules can be felt. What
reads memory past PyTorch's operations, ``.tolist()`` and ``.numpy()``, it does not see; on a GPU both would wait.
:class:`CudaGraph` is ``torch.cuda.CUDAGraph`` behind the same methods.

Source: PyTorch documentation, "CUDA Graphs", https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

T = TypeVar("T")

#: Runs before a capture: libraries choose their algorithms and reserve their memory in the first ones.
WARM_UP = 3


class NotCapturable(RuntimeError):
    """An operation that no graph can hold: the host would have to know a number that only the replay computes."""


@dataclass(frozen=True)
class Operation:
    """One recorded call: the function, its arguments, and the tensors that it gave."""

    call: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: list[torch.Tensor]

    def replay(self) -> None:
        """Call it again, and write what it gives over what it gave."""
        again = self.call(*self.args, **self.kwargs)
        if not self.call._schema.is_mutable:
            for old, new in zip(self.results, _tensors(again), strict=True):
                old.copy_(new)

    @property
    def name(self) -> str:
        """As PyTorch calls it: ``mul``."""
        return str(self.call.overloadpacket.__name__)


class _Recorder(TorchDispatchMode):
    """Runs every operation and writes it down, unless it only looks at memory in another way."""

    def __init__(self, operations: list[Operation]) -> None:
        super().__init__()
        self.operations = operations

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.Tag.data_dependent_output in func.tags:
            raise NotCapturable("the host waits for a number here (.item(), if, print): not while a graph is captured")
        if torch.Tag.dynamic_output_shape in func.tags:
            raise NotCapturable(f"the shape that {func.overloadpacket.__name__} gives depends on the data")
        result = func(*args, **kwargs)
        results = _tensors(result)
        read = {_storage(tensor) for tensor in _tensors((args, kwargs))}
        if func._schema.is_mutable or any(_storage(tensor) not in read for tensor in results):
            self.operations.append(Operation(func, args, kwargs, results))
        return result


class CpuGraph:
    """Operations on tensors of the CPU, recorded once and replayed into the same storage.

    Attributes:
        replays: how often it has been replayed.
    """

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._captured = False
        self.replays = 0

    @property
    def operations(self) -> tuple[str, ...]:
        """The names of the recorded operations, in order; other views of the same memory are none."""
        return tuple(operation.name for operation in self._operations)

    @contextmanager
    def capture(self) -> Iterator[None]:
        """What runs in the block is recorded, without gradients. A graph is captured once.

        Raises:
            NotCapturable: an operation needs a number on the host, or gives a shape that depends on data.
            RuntimeError: the graph has been captured.
        """
        if self._captured:
            raise RuntimeError("a graph is captured once; make another")
        with torch.no_grad(), _Recorder(self._operations):
            yield
        self._captured = True

    def record(self, program: Callable[[], T], warm_up: int = WARM_UP) -> T:
        """Run ``program`` a few times to warm up, then once recorded; returns what it then gave."""
        with torch.no_grad():
            for _ in range(warm_up):
                program()
        with self.capture():
            return program()

    def replay(self) -> None:
        """Run the recorded operations on what their tensors hold now.

        Raises:
            RuntimeError: nothing has been captured.
        """
        if not self._captured:
            raise RuntimeError("nothing to replay: capture comes first")
        with torch.no_grad():
            for operation in self._operations:
                operation.replay()
        self.replays += 1


class CudaGraph:
    """The same methods on a GPU, around ``torch.cuda.CUDAGraph``.

    Args:
        pool: memory of another graph, ``other.pool()``, to share with it: for graphs that never run at the same time.
    """

    def __init__(self, pool: Any = None) -> None:
        self._graph = torch.cuda.CUDAGraph()
        self._pool = pool
        self.replays = 0

    def pool(self) -> Any:
        """Its memory, for other graphs to share."""
        return self._graph.pool()

    @contextmanager
    def capture(self) -> Iterator[None]:
        """What runs in the block is recorded, without gradients; it does not run."""
        with torch.no_grad(), torch.cuda.graph(self._graph, pool=self._pool):
            yield

    def record(self, program: Callable[[], T], warm_up: int = WARM_UP) -> T:
        """Run ``program`` a few times on a stream of its own, then record it and fill what it gave by a replay."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side), torch.no_grad():
            for _ in range(warm_up):
                program()
        torch.cuda.current_stream().wait_stream(side)
        with self.capture():
            result = program()
        self._graph.replay()
        return result

    def replay(self) -> None:
        """Launch the recorded kernels on what their buffers hold now."""
        self._graph.replay()
        self.replays += 1


def graph_for(device: str) -> type[CpuGraph] | type[CudaGraph]:
    """The class of graphs for ``"cpu"`` or ``"cuda"``."""
    return CudaGraph if torch.device(device).type == "cuda" else CpuGraph


def best_device() -> str:
    """``"cuda"`` where there is a GPU, else ``"cpu"``."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _storage(tensor: torch.Tensor) -> int:
    """A name of the memory that a tensor lies in; views of one memory have the same."""
    return tensor.untyped_storage()._cdata
