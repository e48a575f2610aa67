"""Drivers of chapter 10: a recorded graph, and a runner that gets batch after batch.

What a graph computes shows in values. Outside a graph the model adds :data:`EAGER` to its result, so that an answer
shows how it was computed; a recorded program counts its runs in a tensor of its own; a copy keeps its values when the
original is overwritten. The child reports how many graphs were recorded, beside the runner's own count; a lie could
hide that graphs are recorded again, but takes more code than keeping them.
"""

import torch
from torch.overrides import TorchFunctionMode  # TorchDispatchMode would take seconds to import

Tensor = torch.Tensor
clone, copy_, detach, fill_, item = Tensor.clone, Tensor.copy_, Tensor.detach, Tensor.fill_, Tensor.item
storage = Tensor.untyped_storage

#: Added to everything that a model computes outside a graph.
EAGER = 1000.0
#: The value with which an output buffer is overwritten at the end.
OVERWRITTEN = -7.0

IN_PLACE = {f"__{name}__" for name in ("setitem", "iadd", "isub", "imul", "itruediv", "imatmul", "ipow")}


def tensors(tree):
    """All tensors in lists, tuples and dictionaries."""
    if isinstance(tree, Tensor):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple)) else ()
    return [tensor for part in parts for tensor in tensors(part)]


def memory(tensor):
    """What identifies a tensor's memory: two views of it have the same."""
    return storage(tensor)._cdata


class Recording(TorchFunctionMode):
    """Records the operations of a program that make or change a tensor; views are not made again in a replay."""

    def __init__(self, operations):
        super().__init__()
        self.operations = operations

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            results, name = tensors(result), getattr(func, "__name__", "")
            changes = name in IN_PLACE or "out" in kwargs or (name.endswith("_") and not name.endswith("__"))
            held = {memory(tensor) for tensor in tensors([list(args), kwargs])}
            if changes or any(memory(one) not in held for one in results):  # others are views
                self.operations.append((func, args, kwargs, [] if changes else results))
        return result


def recorder(inside):
    """A class of graphs that record a program's operations on its tensors, and the shapes that each graph returned.

    While a graph records or replays, the tensor ``inside`` is 0; at any other time it is :data:`EAGER`.
    """
    recorded = []

    class Graph:
        def __init__(self):
            self.operations = None

        def record(self, program, warm_up=0):
            operations = []
            fill_(inside, 0.0)
            try:
                with torch.no_grad(), Recording(operations):
                    result = program()
            finally:
                fill_(inside, EAGER)
            recorded.append([list(tensor.shape) for tensor in tensors(result)])
            self.operations = operations
            return result

        def replay(self):
            if self.operations is None:
                raise RuntimeError("nothing is recorded")
            fill_(inside, 0.0)
            with torch.no_grad():
                for func, args, kwargs, results in self.operations:
                    again = tensors(func(*args, **kwargs))
                    for old, new in zip(results, again, strict=bool(results)):
                        copy_(old, new)
            fill_(inside, EAGER)

    return Graph, recorded


def batches(program, sizes, width, rows, mixing=False):
    """The runner gets batches with these row counts; answers are read at the end. Outside a graph the model adds 1000.

    The model is a small network whose weight requires gradients; with ``mixing`` it divides by the sum over all rows,
    to which zeros add nothing. ``rows`` may also contain the shape of a batch.
    """
    columns = int(width)  # even if the runner has to refuse it
    generator = torch.Generator().manual_seed(columns)
    weight = torch.randn(columns, 3, generator=generator, dtype=torch.float64).requires_grad_()
    mark = torch.tensor(EAGER, dtype=torch.float64)
    graph, recorded = recorder(mark)

    def model(x):
        return mark + (x / (1 + x.abs().sum()) if mixing else torch.tanh(x @ weight) + x[:, :1])

    runner = program(model, sizes, width, graph)
    shapes = [row if isinstance(row, (list, tuple)) else (row, columns) for row in rows]
    inputs = [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]
    outputs = [runner.run(x) for x in inputs]
    return {
        "outputs": [detach(out) if isinstance(out, Tensor) else out for out in outputs],
        "outputs with gradients": [isinstance(out, Tensor) and out.requires_grad for out in outputs],
        "captures": runner.captures,
        "shapes of each recorded graph": recorded,
        "inputs after the calls": inputs,
    }


def replayed(program, inputs):
    """A program, y = 3 x - x * x, has been recorded with x zero; the function is called with each input in turn.

    All answers are read at the end, after y has been overwritten.
    """
    kind, _ = recorder(torch.zeros(()))
    graph, x, runs = kind(), torch.zeros_like(inputs[0]), torch.zeros(())

    def squares():
        runs.add_(1.0)
        return 3 * x - x * x

    y = graph.record(squares)
    fill_(runs, 0.0)
    first_x, first_y = detach(x), detach(y)  # the recorded memory, even if x and y get other memory later
    answers = [program(graph, x, y, one) for one in inputs]
    last = [clone(first_x), clone(first_y)]
    fill_(first_y, OVERWRITTEN)
    return {
        "answers": answers,
        "replays": item(runs),
        "inputs after the calls": inputs,
        "recorded x and y after the calls": last,
    }
