"""Wrong programs for ``GraphRunner``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class Rebinds:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}

    def run(self, x):
        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size is None:
            return self.model(x).detach()
        if size not in self.held:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        graph, buffer, output = self.held[size]
        buffer = x.new_zeros(size, self.width)
        buffer[: len(x)] = x
        graph.replay()
        return output[: len(x)].clone()


class ReturnsView:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}

    def run(self, x):
        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size is None:
            return self.model(x).detach()
        if size not in self.held:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        graph, buffer, output = self.held[size]
        buffer.zero_()
        buffer[: len(x)].copy_(x)
        graph.replay()
        return output[: len(x)]


class CapturesAnew:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}

    def run(self, x):
        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size is None:
            return self.model(x).detach()
        if size:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        graph, buffer, output = self.held[size]
        buffer.zero_()
        buffer[: len(x)].copy_(x)
        graph.replay()
        return output[: len(x)].clone()


class ReturnsPadding:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}

    def run(self, x):
        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size is None:
            return self.model(x).detach()
        if size not in self.held:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        graph, buffer, output = self.held[size]
        buffer.zero_()
        buffer[: len(x)].copy_(x)
        graph.replay()
        return output.clone()


class KeepsOldRows:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}

    def run(self, x):
        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size is None:
            return self.model(x).detach()
        if size not in self.held:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        graph, buffer, output = self.held[size]
        buffer[: len(x)].copy_(x)
        graph.replay()
        return output[: len(x)].clone()


class NeverReplays:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}

    def run(self, x):
        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size is None:
            return self.model(x).detach()
        if size not in self.held:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        buffer = self.held[size][1]
        buffer.zero_()
        buffer[: len(x)].copy_(x)
        return self.model(buffer)[: len(x)]


class OneGraph:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}

    def run(self, x):
        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = self.sizes[-1] if len(x) <= self.sizes[-1] else None
        if size is None:
            return self.model(x).detach()
        if size not in self.held:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        graph, buffer, output = self.held[size]
        buffer.zero_()
        buffer[: len(x)].copy_(x)
        graph.replay()
        return output[: len(x)].clone()


class CapturesAtOnce:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}
        for size in sizes:
            import torch

            buffer, made = torch.zeros(size, width, dtype=torch.float64), graph()
            self.held[size] = made, buffer, made.record(lambda buffer=buffer: model(buffer))
            self.captures += 1

    def run(self, x):
        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size is None:
            return self.model(x).detach()
        if size not in self.held:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        graph, buffer, output = self.held[size]
        buffer.zero_()
        buffer[: len(x)].copy_(x)
        graph.replay()
        return output[: len(x)].clone()


class KeepsGradients:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}

    def run(self, x):
        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size is None:
            return self.model(x)
        if size not in self.held:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        graph, buffer, output = self.held[size]
        buffer.zero_()
        buffer[: len(x)].copy_(x)
        graph.replay()
        return output[: len(x)].clone()


class CutsLargeBatches:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.width, self.graph = model, sorted(sizes), width, graph
        self.captures, self.held = 0, {}

    def run(self, x):
        import torch

        if x.dim() != 2 or x.shape[1] != self.width or len(x) < 1:
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size is None:
            return torch.cat([self.run(part) for part in x.split(self.sizes[-1])])
        if size not in self.held:
            buffer, graph = x.new_zeros(size, self.width), self.graph()
            self.held[size] = graph, buffer, graph.record(lambda: self.model(buffer))
            self.captures += 1
        graph, buffer, output = self.held[size]
        buffer.zero_()
        buffer[: len(x)].copy_(x)
        graph.replay()
        return output[: len(x)].clone()


GRAPH_RUNNER = (
    Slip("A new tensor under the old name is not what the graph reads: copy into its own buffer.", Rebinds),
    Slip("The next replay overwrites what you returned: return a copy.", ReturnsView),
    Slip("A graph is captured once for each size and then replayed; yours captures at every call.", CapturesAnew),
    Slip("Padded rows are not part of the answer: return as many rows as came in.", ReturnsPadding),
    Slip("The padding must be zero at every call: rows of an earlier, larger batch are still there.", KeepsOldRows),
    Slip("That runs the model again instead of replaying its graph.", NeverReplays),
    Slip("Every batch is padded to the largest size: take the smallest that is large enough.", OneGraph),
    Slip("A size is captured when a batch first needs it; yours captures all of them at once.", CapturesAtOnce),
    Slip("A batch that runs without a graph keeps gradients: nothing here is trained.", KeepsGradients),
    Slip("A batch larger than every size runs eagerly, as a whole; yours is cut into graphs.", CutsLargeBatches),
)
