"""Record a program's tensor operations once and replay them many times, under the rules of CUDA graphs.

    graph = graph_for("cpu")()
    with graph.capture():
        y = model(x)        # runs and is recorded
    x.copy_(new)            # into the recorded buffer
    graph.replay()          # y holds the new result

:class:`CpuGraph` works on every machine. It records each operation with the very tensors that it read and wrote, and
replays the operations into the same storage. It is no faster than the program: it lets readers try the rules of CUDA
graphs without a GPU. It does not see ``.tolist()`` and ``.numpy()``, which read memory without a PyTorch operation; on
a GPU both would wait for the device. :class:`CudaGraph` is ``torch.cuda.CUDAGraph`` behind the same methods.

Source: PyTorch documentation, "CUDA Graphs", https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

T = TypeVar("T")

Device = Literal["cpu", "cuda"]

#: Runs before a capture, in which libraries choose their algorithms and allocate their memory.
WARM_UP = 3


class NotCapturable(RuntimeError):
    """An operation that no graph can contain: the host would need a number that only the replay computes."""


@dataclass(frozen=True)
class Operation:
    """One recorded call: the function, its arguments, and the tensors that it returned."""

    call: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: list[torch.Tensor]

    def replay(self) -> None:
        """Call the function again, and copy its results into the recorded ones."""
        again = self.call(*self.args, **self.kwargs)
        if not self.call._schema.is_mutable:
            for old, new in zip(self.results, _tensors(again), strict=True):
                old.copy_(new)

    @property
    def name(self) -> str:
        """PyTorch's name for the operation: ``mul``."""
        return str(self.call.overloadpacket.__name__)


class _Recorder(TorchDispatchMode):
    """Runs every operation and records it, unless it only returns another view of its arguments' memory."""

    def __init__(self, operations: list[Operation]) -> None:
        super().__init__()
        self.operations = operations

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.Tag.data_dependent_output in func.tags:
            raise NotCapturable("the host waits for a number here (.item(), if, print), which a graph cannot contain")
        if torch.Tag.dynamic_output_shape in func.tags:
            raise NotCapturable(f"the shape of what {func.overloadpacket.__name__} returns depends on the data")
        result = func(*args, **kwargs)
        results = _tensors(result)
        read = {_storage(tensor) for tensor in _tensors((args, kwargs))}
        if func._schema.is_mutable or any(_storage(tensor) not in read for tensor in results):
            self.operations.append(Operation(func, args, kwargs, results))
        return result


class CpuGraph:
    """Operations on CPU tensors, recorded once and replayed into the same storage.

    Attributes:
        replays: the number of replays so far.
    """

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._captured = False
        self.replays = 0

    @property
    def operations(self) -> tuple[str, ...]:
        """The names of the recorded operations, in order; operations that only make views are not recorded."""
        return tuple(operation.name for operation in self._operations)

    @contextmanager
    def capture(self) -> Iterator[None]:
        """Run the block without gradients and record its operations. A graph can be captured only once.

        Raises:
            NotCapturable: an operation needs a number on the host, or returns a shape that depends on data.
            RuntimeError: the graph has already been captured.
        """
        if self._captured:
            raise RuntimeError("a graph can be captured only once; create another")
        try:
            with torch.no_grad(), _Recorder(self._operations):
                yield
        except BaseException:  # half a program is none: a later capture begins anew
            self._operations.clear()
            raise
        self._captured = True

    def record(self, program: Callable[[], T], warm_up: int = WARM_UP) -> T:
        """Run ``program`` a few times to warm up, record one more run, and return the result of that run."""
        with torch.no_grad():
            for _ in range(warm_up):
                program()
        with self.capture():
            return program()

    def replay(self) -> None:
        """Run the recorded operations on the current contents of their tensors.

        Raises:
            RuntimeError: nothing has been captured.
        """
        if not self._captured:
            raise RuntimeError("there is nothing to replay: capture comes first")
        with torch.no_grad():
            for operation in self._operations:
                operation.replay()
        self.replays += 1


class CudaGraph:
    """The same methods on a GPU, around ``torch.cuda.CUDAGraph``.

    Args:
        pool: the memory pool of another graph, ``other.pool()``, to share; only for graphs that never run at the same
            time.

    Attributes:
        replays: the number of replays so far.
    """

    def __init__(self, pool: Any = None) -> None:
        self._graph = torch.cuda.CUDAGraph()
        self._pool = pool
        self.replays = 0

    def pool(self) -> Any:
        """The graph's memory pool, for other graphs to share."""
        return self._graph.pool()

    @contextmanager
    def capture(self) -> Iterator[None]:
        """Record the operations of the block, without gradients and without running them."""
        with torch.no_grad(), torch.cuda.graph(self._graph, pool=self._pool):
            yield

    def record(self, program: Callable[[], T], warm_up: int = WARM_UP) -> T:
        """Run ``program`` a few times on a side stream, record it, and replay it once to compute the result."""
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
        """Launch the recorded kernels on the current contents of their buffers."""
        self._graph.replay()
        self.replays += 1


def graph_for(device: str) -> type[CpuGraph] | type[CudaGraph]:
    """The class of graphs for a device such as ``"cpu"``, ``"cuda"`` or ``"cuda:1"``."""
    return CudaGraph if torch.device(device).type == "cuda" else CpuGraph


def best_device() -> Device:
    """``"cuda"`` if there is a GPU, else ``"cpu"``."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _storage(tensor: torch.Tensor) -> int:
    """An identifier of a tensor's storage, the same for all views of it."""
    return tensor.untyped_storage()._cdata
