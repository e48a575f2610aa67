"""Drivers of chapter 10: an event loop with a neighbour, a recorded graph, a runner that is fed batch after batch."""

# mypy: no-check-untyped-defs


def beside(program, steps):
    """The loop runs in an event loop beside a second coroutine; the answer says whether that one got its turns."""
    import asyncio
    import selectors
    import time

    doze, slept = time.sleep, []

    class Polling(selectors.SelectSelector):
        """It waits a millisecond at most, for nothing but time."""

        def select(self, timeout=None):
            if timeout is None or timeout > 0:
                doze(0.001)
            return []

    class Loop(asyncio.SelectorEventLoop):
        """An event loop without the socket by which others wake it, which graded code may not open."""

        def _make_self_pipe(self):
            self._internal_fds = 0

        def _close_self_pipe(self):
            pass

        def _write_to_self(self):
            pass

        def run_in_executor(self, executor, func, *args):
            """In place of a thread, which graded code may not start: the function runs as a turn of its own."""
            future = self.create_future()

            def turn():
                try:
                    future.set_result(func(*args))
                except Exception as error:
                    future.set_exception(error)

            self.call_soon(turn)
            return future

    turns, left, ended, together = [0], [steps], [], [False]

    def step():
        ended.append(turns[0])
        left[0] -= 1
        return left[0] > 0

    async def neighbour():
        while not together[0]:
            turns[0] += 1
            await asyncio.sleep(0)

    async def both():
        other = asyncio.ensure_future(neighbour())
        try:
            return await program(step)
        finally:
            together[0] = True
            await other

    outer = asyncio._get_running_loop()  # that of a notebook
    asyncio._set_running_loop(None)
    loop, time.sleep = Loop(Polling()), slept.append
    try:
        count = loop.run_until_complete(both())
    finally:
        time.sleep = doze
        loop.close()
        asyncio._set_running_loop(outer)
    gaps = [ended[place] > ended[place - 1] for place in range(1, len(ended))]
    seen = {"value": count, "steps that ran": len(ended), "a turn after every step but the last": gaps}
    return seen | {"the loop never stood still": not slept}


def recorder():
    """A class of graphs that records the operations of a program on its tensors; it counts what is made."""
    import torch
    from torch.overrides import TorchFunctionMode  # one on dispatch would import seconds' worth of modules

    in_place = {f"__{name}__" for name in ("setitem", "iadd", "isub", "imul", "itruediv", "imatmul", "ipow")}

    def tensors(tree):
        if isinstance(tree, torch.Tensor):
            return [tree]
        parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple)) else ()
        return [tensor for part in parts for tensor in tensors(part)]

    def memory(tensor):
        return tensor.untyped_storage()._cdata

    class Mode(TorchFunctionMode):
        def __init__(self, operations):
            super().__init__()
            self.operations = operations

        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = func(*args, **kwargs)
            with torch._C.DisableTorchFunction():
                results, name = tensors(result), getattr(func, "__name__", "")
                changes = name in in_place or "out" in kwargs or (name.endswith("_") and not name.endswith("__"))
                held = {memory(one) for one in tensors([list(args), kwargs])}
                if changes or any(memory(one) not in held for one in results):  # others are views
                    self.operations.append((func, args, kwargs, [] if changes else results))
            return result

    class Graph:
        recorded, replayed = 0, 0

        def __init__(self):
            self.operations = None

        def record(self, program, warm_up=0):
            operations = []
            Graph.recorded += 1
            with torch.no_grad(), Mode(operations):
                result = program()
            self.operations = operations
            return result

        def replay(self):
            if self.operations is None:
                raise RuntimeError("nothing is recorded")
            Graph.replayed += 1
            with torch.no_grad():
                for func, args, kwargs, results in self.operations:
                    again = tensors(func(*args, **kwargs))
                    for old, new in zip(results, again, strict=bool(results)):
                        old.copy_(new)

    return Graph


def batches(program, sizes, width, rows, mixing=False):
    """The runner gets batches of these many rows, one after the other; all answers are read at the end.

    The model is a small network; with ``mixing`` it divides by the sum over all rows, to which zeros add nothing.
    Graphs are counted.
    """
    import torch

    generator = torch.Generator().manual_seed(width)
    weight = torch.randn(width, 3, generator=generator, dtype=torch.float64)
    graph = recorder()

    def model(x):
        return x / (1 + x.abs().sum()) if mixing else torch.tanh(x @ weight) + x[:, :1]

    runner = program(model, sizes, width, graph)
    inputs = [torch.randn(count, width, generator=generator, dtype=torch.float64) for count in rows]
    kept = [x.clone() for x in inputs]
    outputs = [runner.run(x) for x in inputs]
    graphed = sum(count <= max(sizes, default=0) for count in rows)
    return {
        "outputs": [out.detach().clone() if isinstance(out, torch.Tensor) else out for out in outputs],
        "captures": runner.captures,
        "graphs recorded": graph.recorded,
        "batches go through graphs": graph.replayed >= graphed - graph.recorded,
        "inputs as they were": all(map(torch.equal, inputs, kept)),
    }


def replayed(program, inputs):
    """A program, y = 3 x - x * x, has been recorded with x zero; the function is called with each input in turn.

    All answers are read at the end.
    """
    import torch

    kind = recorder()
    graph, x = kind(), torch.zeros_like(inputs[0])
    y = graph.record(lambda: 3 * x - x * x)
    kept, places = [one.clone() for one in inputs], [x.data_ptr(), y.data_ptr()]
    answers = [program(graph, x, y, one) for one in inputs]
    own = [
        isinstance(one, torch.Tensor) and one.untyped_storage()._cdata != y.untyped_storage()._cdata for one in answers
    ]
    return {
        "answers": [one.clone() if isinstance(one, torch.Tensor) else one for one in answers],
        "replays": kind.replayed,
        "answers lie in memory of their own": all(own),
        "inputs as they were": all(map(torch.equal, inputs, kept)),
        "x and y lie where they lay": [x.data_ptr(), y.data_ptr()] == places,
    }
