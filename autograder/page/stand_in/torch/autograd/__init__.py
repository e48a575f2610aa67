"""Gradients: every operation that has a rule leaves a node, and ``backward`` walks from node to node.

A rule is exact or it is not here: an operation without one refuses a tensor that requires a gradient. What a rule needs
of its inputs or of its result is checked to be unchanged when the gradient comes by.
"""

import contextlib
import functools
import heapq
import itertools
import math

from ..missing import getter, missing

__getattr__ = getter("torch.autograd")

_order = itertools.count()
_mode = [True]  # whether operations leave nodes

TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


def enabled():
    """Whether operations are recorded."""
    return _mode[0]


class set_grad_enabled(contextlib.ContextDecorator):  # noqa: N801
    """Record operations from now on, or not; in a ``with`` block, until it ends."""

    def __init__(self, mode):
        self.before, self.mode = _mode[0], bool(mode)
        _mode[0] = self.mode

    def __call__(self, function):
        _mode[0] = self.before
        return _within(lambda: set_grad_enabled(self.mode), function)

    def __enter__(self):
        _mode[0] = self.mode

    def __exit__(self, *_):
        _mode[0] = self.before


class _Without:
    """A ``with`` block or a decorated function in which recording is on or off."""

    mode = False

    def __new__(cls, function=None):
        made = object.__new__(cls)
        return made if function is None else made(function)

    def __call__(self, function):
        return _within(type(self), function)

    def __enter__(self):
        self.before = _mode[0]
        _mode[0] = self.mode

    def __exit__(self, *_):
        _mode[0] = self.before


def _within(context, function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        with context():
            return function(*args, **kwargs)

    return call


class no_grad(_Without):  # noqa: N801
    """In this block, operations leave no history."""


class enable_grad(_Without):  # noqa: N801
    """In this block, operations are recorded, even within ``no_grad``."""

    mode = True


for _class in (set_grad_enabled, no_grad, enable_grad):
    _class.__module__ = "torch.autograd.grad_mode"


# Nodes


class Node:
    """One operation of a history.

    ``edges`` pairs each input that requires a gradient with its rule: from the gradient of the result to its own.
    ``saved`` holds what the rules read, with the number of writes to its memory when they were made. A node that holds
    something, be it a number, is used up by a walk, as in torch.
    """

    __slots__ = ("edges", "freed", "holds", "kept", "order", "saved", "title")

    def __init__(self, title, edges, saved=(), holds=False):
        self.holds = holds or bool(saved)
        self.title, self.edges, self.order = title, edges, next(_order)
        self.saved = [(tensor, tensor._storage.version) for tensor in saved]
        self.kept, self.freed = [], False  # results whose gradient was asked for; whether the rules are used up

    def __repr__(self):
        return f"<{self.title} object at {id(self):#x}>"

    def name(self):
        return self.title

    def parts(self, gradient):
        """The gradient's share of each input."""
        if self.freed:
            raise RuntimeError(TWICE)
        for tensor, version in self.saved:
            if tensor._storage.version != version:
                kind, shape = tensor.type(), list(tensor.shape)
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{kind} {shape}] is at version {tensor._storage.version}; expected version {version} instead."
                )
        return [(source, rule(gradient)) for source, rule in self.edges]

    def free(self):
        self.freed, self.saved = self.holds, []


class Leaf:
    """Where a history begins: the gradient is added to the tensor's ``grad``."""

    __slots__ = ("kept", "tensor")
    title, order, edges = "AccumulateGrad", math.inf, ()

    def __init__(self, tensor):
        self.tensor, self.kept = tensor, []

    def __repr__(self):
        return f"<{self.title} object at {id(self):#x}>"


def source(tensor):
    """The node that the gradient of a tensor goes to."""
    if tensor._node is None:
        if tensor._leaf is None:
            tensor._leaf = Leaf(tensor)
        return tensor._leaf
    if tensor._base is not None and tensor._written != tensor._storage.version:
        raise missing("The gradient of a view whose memory was written after it was made")
    return tensor._node


def record(result, name, inputs, rules, saved=(), holds=False):
    """Give a result its history; ``rules[i]`` is that of ``inputs[i]``. Returns the result."""
    if _mode[0] and any(tensor.requires_grad for tensor in inputs):
        if not result.dtype.is_floating_point:
            raise RuntimeError(f"Autograd not support dtype: {result.dtype.kind}")
        pairs = zip(inputs, rules, strict=True)
        edges = [(source(tensor), rule) for tensor, rule in pairs if tensor.requires_grad]
        result._node, result._written = Node(name, edges, saved, holds), result._storage.version
    return result


# Walking


def _uses(starts):
    """How many nodes of a history hand a gradient to each of its nodes, by the nodes' ids."""
    seen, counts, waiting = set(), {}, list(starts)
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for before, _ in node.edges:
            counts[id(before)] = counts.get(id(before), 0) + 1
            waiting.append(before)
    return counts


class _Ready:
    """Nodes whose whole gradient has arrived: leaves first, then what was recorded last, as in torch."""

    def __init__(self):
        self.heap, self.count = [], itertools.count()

    def add(self, node):
        heapq.heappush(self.heap, (-node.order, next(self.count), node))

    def __iter__(self):
        while self.heap:
            yield heapq.heappop(self.heap)[-1]


def _walk(roots, retain_graph, at_leaf):
    """Bring gradients from the roots, pairs of a node and its gradient, to all leaves."""
    gathered, uses, ready = {}, _uses(node for node, _ in roots), _Ready()
    with no_grad():
        for node, gradient in roots:
            _gather(gathered, node, gradient)
        for node in {id(node): node for node, _ in roots}.values():
            if not uses.get(id(node)):
                ready.add(node)
        for node in ready:
            gradient = gathered.pop(id(node))
            for tensor in node.kept:
                tensor._grad = gradient.clone() if tensor._grad is None else tensor._grad + gradient
            if isinstance(node, Leaf):
                at_leaf(node.tensor, gradient)
                continue
            for before, part in node.parts(gradient):
                _gather(gathered, before, part)
                uses[id(before)] -= 1
                if not uses[id(before)]:
                    ready.add(before)
            if not retain_graph:
                node.free()


def _gather(gathered, node, part):
    gathered[id(node)] = gathered[id(node)] + part if id(node) in gathered else part


def _accumulate(tensor, gradient):
    if tensor._grad is None:
        tensor._grad = gradient.new_empty(tensor.shape).copy_(gradient)
    else:
        tensor._grad.add_(gradient)


def _given(tensor, gradient):
    """The gradient with which a walk begins: the one that the caller gave, or 1 for a single number."""
    if not tensor.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is None:
        if tensor.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return tensor.detach().new_ones(tensor.shape)
    if gradient.shape != tensor.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of {gradient.shape} and output[0] has a shape of "
            f"{tensor.shape}."
        )
    return gradient.detach().to(tensor.dtype)


def _pairs(tensors, gradients):
    tensors = [tensors] if hasattr(tensors, "dtype") else list(tensors)
    if gradients is None or hasattr(gradients, "dtype"):
        gradients = [gradients] * len(tensors)
    given = [_given(tensor, gradient) for tensor, gradient in zip(tensors, gradients, strict=True)]
    return [(source(tensor), gradient) for tensor, gradient in zip(tensors, given, strict=True)]


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False):
    """Add the gradients of ``tensors`` to the ``grad`` of all leaves that they depend on."""
    if create_graph:
        raise missing("create_graph=True")
    _walk(_pairs(tensors, grad_tensors), retain_graph, _accumulate)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None):
    """The gradients of ``outputs`` with respect to leaves, without touching their ``grad``."""
    if create_graph:
        raise missing("create_graph=True")
    inputs = [inputs] if hasattr(inputs, "dtype") else list(inputs)
    if any(tensor._node is not None for tensor in inputs):
        raise missing("torch.autograd.grad with respect to a tensor that is not a leaf")
    if not all(tensor.requires_grad for tensor in inputs):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    found = {}
    _walk(_pairs(outputs, grad_outputs), retain_graph, lambda tensor, gradient: found.update({id(tensor): gradient}))
    unused = [place for place, tensor in enumerate(inputs) if id(tensor) not in found]
    if unused and not allow_unused:
        raise RuntimeError(
            f"The differentiated Tensor at index {unused[0]} appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior."
        )
    return tuple(found.get(id(tensor)) for tensor in inputs)
