"""The rest of the page's stand-in for torch, compared with torch: modules, ``torch.distributed``, and what is refused.

The functions of ``torch.distributed`` run over a backend that writes down what it is asked to do and does none of it:
the same calls with the same arguments must come to it, and the same errors before.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import subprocess
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
import test_stand_in as comparisons
import torch
import torch.distributed
from test_stand_in import described, near
from test_stand_in_follows import the_pinned_torch  # noqa: F401 - comparisons with another torch fail

import autograder.page.stand_in.torch as stand_in
from autograder.page.stand_in import listing
from autograder.page.stand_in.torch.dtypes import DTYPES
from autograder.page.stand_in.torch.missing import NotInThePage

LIBRARIES = (torch, stand_in)


# Modules

MODULES = [
    "model(x)",
    "[(name, p.shape) for name, p in model.named_parameters()]",
    "len(list(model.parameters())), len(model), [type(layer).__name__ for layer in model]",
    "model[0].weight is next(model.parameters())",
    "repr(model)",
    "repr(model[1:])",
    "[name for name, _ in model.named_children()], [name for name, _ in model.named_modules()]",
    "sorted(model.state_dict())",
    "model.requires_grad_(False)(x).requires_grad",
    "model.train(False).training, model.eval()[0].training",
    "model.nothing",
    "model(x).square().mean().backward() or [p.grad for p in model.parameters()]",
    "model(x).sum().backward() or model.zero_grad() or [p.grad for p in model.parameters()]",
    "model(x).sum().backward() or model.zero_grad(set_to_none=False) or [p.grad for p in model.parameters()]",
    "torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())(x)",
    "torch.nn.Module()(x)",
    "own(x), [name for name, _ in own.named_parameters()], own.a is own.b",
    "repr(own)",
    "setattr(own, 'a', 3)",
    "setattr(own, 'part', 3)",
    "setattr(own, 'a', None) or [name for name, _ in own.named_parameters()]",
    "bad()",
    "torch.nn.Parameter(torch.ones(2), requires_grad=False).requires_grad",
    "isinstance(model[0].weight, torch.Tensor), type(model[0].weight.detach()) is torch.Tensor",
    "repr(torch.nn.Parameter(torch.ones(2))), torch.nn.Parameter(torch.ones(2)).is_leaf",
    "copy.deepcopy(model)(x)",
]
OWN = """
class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.ones(3))
        self.b = self.a
        self.part = torch.nn.Tanh()
        self.number = 2

    def forward(self, x):
        return self.part(x * self.a) * self.number


class Bad(torch.nn.Module):
    def __init__(self):
        self.a = torch.nn.Parameter(torch.ones(3))


own, bad = Own(), Bad
"""


def _model(library: Any) -> Any:
    """A model of two layers with given numbers."""

    def numbers(*shape: int) -> Any:
        count = math.prod(shape)
        return library.tensor([((7 * place) % 11 - 5) / 4 for place in range(count)]).reshape(shape)

    layers = []
    for out, into, bias in ((4, 3, True), (2, 4, False)):
        layer = library.nn.Linear(into, out, bias=bias, device="meta")
        layer.weight = library.nn.Parameter(numbers(out, into))
        if bias:
            layer.bias = library.nn.Parameter(numbers(out))
        layers.append(layer)
    return library.nn.Sequential(layers[0], library.nn.Tanh(), layers[1])


@pytest.mark.parametrize("code", MODULES)
def test_modules(code):
    found = []
    for library in LIBRARIES:
        names = comparisons.scope(library, 0) | {"model": _model(library)}
        names["x"] = library.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
        exec(OWN, names)
        found.append(described(comparisons.evaluated(library, code, names)))
    assert near(*found)


FUNCTIONAL = {
    "linear": [
        "(m, torch.ones(2, 4))",
        "(v, torch.ones(2, 4), torch.ones(2))",
        "(t3, torch.ones(5, 2), torch.ones(5))",
    ],
    "mse_loss": ["(a, b)", "(a, b, reduction='sum')", "(a, b, reduction='none')", "(a, b, reduction='x')", "(m, v)"],
    "relu": ["(a)", "(i)"],
    "softmax": ["(m, 1)", "(m, dim=0)"],
    "log_softmax": ["(m, 1)"],
    "one_hot": [
        "(i.abs())",
        "(i.abs(), 20)",
        "(i.abs(), 2)",
        "(torch.tensor([-1]))",
        "(torch.tensor(2), num_classes=4)",
    ],
    "pad": ["(a, (1, 2))", "(m, (0, 1))", "(i, (2, 0), value=7)"],
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_functions_of_models(name):
    for code in FUNCTIONAL[name]:
        comparisons.check(f"torch.nn.functional.{name}{code}", exact=False)


def test_a_meta_parameter_has_no_numbers():
    """What ``Linear`` holds before its numbers are given cannot be read by mistake."""
    for library in LIBRARIES:
        weight = library.nn.Linear(2, 3, device="meta").weight
        assert (str(weight.device), tuple(weight.shape), weight.requires_grad) == ("meta", (3, 2), True)
        with pytest.raises(NotImplementedError):
            weight.tolist() if library is stand_in else weight.cpu()


# torch.distributed


def _backend(library: Any, log: list[Any]) -> Any:
    """A group that writes down its calls; what is received is what was last sent."""
    dist = library.distributed
    sent: deque[Any] = deque()

    class Done(dist.Work):
        def wait(self, timeout=None):
            log.append("wait")
            return True

        def is_completed(self):
            return True

        def source_rank(self):
            return 1

        _source_rank = source_rank

    def plain(value: Any) -> Any:
        if hasattr(value, "rootRank"):
            return "root", value.rootRank, *plain_operation(value)
        if hasattr(value, "reduceOp"):
            return plain_operation(value)
        if isinstance(value, library.Tensor):
            return str(value.dtype), tuple(value.shape)
        if isinstance(value, (list, tuple)):
            return [plain(one) for one in value]
        return value if isinstance(value, (int, str, type(None))) else "options"

    def plain_operation(value: Any) -> Any:
        names = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")
        held = getattr(value, "reduceOp", None)
        return [name for name in names if held == getattr(dist.ReduceOp, name)]

    class Log(dist.ProcessGroup):
        def __init__(self, rank, size):
            super().__init__(rank, size)
            self.own_size = size

        def size(self):
            return self.own_size

        def getBackendName(self):  # noqa: N802
            return "log"

    def method(name: str) -> Any:
        def call(self, *args, **kwargs):
            log.append((name, *(plain(one) for one in args)))
            if name == "send":
                sent.append(args[0][0].clone())
            if name == "recv" and sent:
                args[0][0].copy_(sent.popleft())
            if name == "allgather":
                for box in args[0][0]:
                    box.copy_(args[1][0])
            if name == "gather" and args[0]:
                for box in args[0][0]:
                    box.copy_(args[1][0])
            if name == "scatter" and args[1]:
                args[0][0].copy_(args[1][0][0])
            return Done()

        return call

    for name in stand_in.distributed.process_groups.METHODS:
        setattr(Log, name, method(name))
    return Log


@contextlib.contextmanager
def world(library: Any, rank: int, ranks: int) -> Iterator[list[Any]]:
    """A rank of a world in which nobody else is; gives the list of what its group is asked for."""
    log: list[Any] = []
    dist, group = library.distributed, _backend(library, log)
    name = f"log{next(NUMBERS)}"
    dist.Backend.register_backend(name, lambda store, rank, size, timeout: group(rank, size), devices=["cpu"])
    hook = sys.excepthook
    dist.init_process_group(name, store=dist.HashStore(), rank=rank, world_size=ranks)
    try:
        yield log
    finally:
        sys.excepthook = hook
        if dist.is_initialized():
            dist.destroy_process_group()


NUMBERS = itertools.count()

#: Calls of each function, by the ranks of the world and this rank.
CALLS = {
    "send isend": ["%(a, 1)", "%(a, dst=1, tag=3)", "%(a, 0)", "%(a, 9)", "%(a)", "%([1], 1)", "%(a, group_dst=1)"]
    + ["%(a, 1, group_dst=1)", "%(a, 2, group=sub)", "%(a, 1, group=sub)", "%(a, group_dst=1, group=sub)"]
    + ["%(a, 1, group=other)", "%(a[::2], 1)"],
    "recv irecv": [
        "%(a, 1)",
        "%(a, src=1, tag=3)",
        "%(a)",
        "%(a, 0)",
        "%(3, 1)",
        "%(a, group_src=1)",
        "%(a, 2, group=sub)",
    ]
    + ["%(a, 1, group=sub)", "%(a, 1, group=other)", "%(a, group=sub)"],
    "batch_isend_irecv": [
        "%([dist.P2POp(dist.isend, a, 1), dist.P2POp(dist.irecv, b, 2)])",
        "%([dist.P2POp(dist.isend, a, 1, tag=7)])",
        "%([dist.P2POp(dist.isend, a, 2, group=sub), dist.P2POp(dist.irecv, b, 1)])",
        "%(3)",
        "%([3])",
    ],
    "P2POp": ["%(dist.isend, a, 1).peer", "%(dist.send, a, 1)", "%(dist.isend, 3, 1)", "%(dist.irecv, a)"]
    + ["%(dist.isend, a, 2, group=sub).group_peer", "%(dist.isend, a, group_peer=1, group=sub).peer"],
    "barrier": ["%()", "%(group=sub)", "%(group=other)", "%(async_op=True).is_completed()"],
    "all_reduce": ["%(a)", "%(a, dist.ReduceOp.MAX)", "%(a, op=dist.ReduceOp.AVG, group=sub)", "%(3)", "%([a])"]
    + ["%(a, group=other)", "%(a, async_op=True).wait()", "%(i, dist.ReduceOp.BXOR)", "%(a, dist.ReduceOp.PRODUCT)"],
    "reduce": [
        "%(a, 0)",
        "%(a, dst=2, op=dist.ReduceOp.MIN)",
        "%(a)",
        "%(a, 1, group=sub)",
        "%(a, 2, group=sub)",
        "%(3, 0)",
    ]
    + ["%(a, 0, group=other)", "%(a, group_dst=1, group=sub)"],
    "broadcast": ["%(a, 0)", "%(a, src=2)", "%(a)", "%(a, 2, group=sub)", "%(a, 1, group=sub)", "%(3, 0)"]
    + ["%(a, 1, group=other)", "%(a, 0, async_op=True).wait()"],
    "all_gather": ["%([a, b], a)", "%([a, i], a)", "%(a, a)", "%([a, 3], a)", "%([a], 3)", "%((a, b), a)"]
    + ["%([a, b], a, group=sub)", "%([a], a, group=other)", "%([a], i)"],
    "all_gather_single all_gather_into_tensor": ["%(a, b)", "%(a, [b])", "%([a], b)", "%(a, b, group=sub)"]
    + ["%(a, b, group=other)"],
    "gather": [
        "%(a, [a, b, a])",
        "%(a)",
        "%(a, dst=1)",
        "%(a, [a], dst=1)",
        "%(a, [i])",
        "%(3)",
        "%(a, a)",
        "%(a, (a, b))",
    ]
    + ["%(a, [a, b], dst=0, group=sub)", "%(a, dst=1, group=other)"],
    "scatter": ["%(a, [a, b, a])", "%(a)", "%(a, src=1)", "%(a, [a], src=1)", "%(a, [i])", "%(3)", "%(a, (a, b))"]
    + ["%(a, [a, b], src=0, group=sub)", "%(a, src=1, group=other)"],
    "reduce_scatter": ["%(a, [a, b, a])", "%(a, [a, b], dist.ReduceOp.MAX)", "%(a, a)", "%(a, [i])", "%(3, [a])"]
    + ["%(a, [a, b], group=sub)", "%(a, [a], group=other)"],
    "reduce_scatter_single reduce_scatter_tensor": ["%(a, b)", "%(a, b, dist.ReduceOp.MAX)", "%(a, [b])", "%([a], b)"]
    + ["%(a, b, group=other)"],
    "all_to_all": ["%([a, b], [b, a])", "%(a, [b])", "%([a], b)", "%([a], [i])", "%([a], [b], group=other)"],
    "all_to_all_single": ["%(a, b)", "%(a, b, [1, 2], [2, 1])", "%(a, i)", "%([a], b)", "%(a, b, group=other)"],
    "new_group": [
        "dist.get_process_group_ranks(%([0, 2]))",
        "%([1, 2])",
        "%([0, 0])",
        "%([0, 9])",
        "%(range(2)).size()",
    ]
    + [
        "dist.get_process_group_ranks(%())",
        "dist.get_process_group_ranks(%([2, 0], sort_ranks=False))",
        "%([0, 1, 2, 3])",
    ]
    + ["dist.get_rank(%([2, 0]))", "%([0, 1], timeout=3)"],
    "get_rank get_world_size": ["%()", "%(sub)", "%(other)", "%(dist.group.WORLD)"],
    "get_backend": ["%() == %(sub)", "%(other)", "isinstance(%(), str)"],
    "get_group_rank": ["%(sub, 2)", "%(sub, 1)", "%(dist.group.WORLD, 1)", "%(3, 1)"],
    "get_global_rank": ["%(sub, 1)", "%(sub, 5)", "%(dist.group.WORLD, 1)", "%(3, 1)"],
    "get_process_group_ranks": ["%(sub)", "%(None)", "%(dist.group.WORLD)"],
    "all_gather_object": ["%(box, {'x': [1, 2.5]}) or box", "%(box, 1, group=other) or box"],
    "gather_object": [
        "%('x', box) or box",
        "%('x')",
        "%('x', dst=1)",
        "%('x', box, dst=1)",
        "%('x', box, group=other)",
    ],
    "broadcast_object_list": ["%(['x', 2])", "%(['x', 2], src=0)", "%(['x'], group=other)", "%(['x'], 1, group=sub)"],
    "scatter_object_list": ["%(one, ['x', 'y', 'z']) or one", "%(one)", "%([])", "%(one, ['x'], group=other)"],
    "send_object_list recv_object_list": [
        "dist.send_object_list([{'a': 1}, 'xyz'], 1) or dist.recv_object_list(two, 1), two",
        "%(['x'], 0)",
        "%(['x'], 1, group=other)",
        "%(['x'])",
    ],
    "destroy_process_group": ["%() or dist.is_initialized()", "%(other)", "%(3)"],
    "is_initialized is_available": ["%()"],
    "init_process_group": ["%('gloo')"],
    "group GroupMember": ["%.WORLD is None", "%.WORLD.size()"],
    "ReduceOp": ["%.SUM == %.SUM", "%.SUM == %.MAX", "%.AVG != %.SUM"],
}


def _outcome(library: Any, code: str) -> Any:
    """The value or the error of a call, the warnings, and what the backend was asked for."""
    with world(library, 0, 3) as log, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dist = library.distributed
        names = comparisons.scope(library, 1) | {"dist": dist, "box": [None] * 3, "one": [None], "two": [None, None]}
        names |= {"sub": dist.new_group([0, 2]), "other": dist.new_group([1, 2])}
        value = comparisons.evaluated_loudly(code, names)
        words = [str(one.message) for one in caught if one.category is UserWarning and "Running" in str(one.message)]
        value = value if not isinstance(value, (dist.Work, list)) or not _holds_work(dist, value) else "handles"
        return described(value), words, log


def _holds_work(dist: Any, value: Any) -> bool:
    return isinstance(value, dist.Work) or any(isinstance(one, dist.Work) for one in value)


@pytest.mark.parametrize("name", [name for names in CALLS for name in names.split()])
def test_distributed(name):
    for code in dict(comparisons.spread_by_name(CALLS))[name]:
        found = [_outcome(library, code.replace("%", f"dist.{name}")) for library in LIBRARIES]
        found = [re.sub(r"<\S+ object at 0x\w+>", "<group>", repr(one)) for one in found]
        assert found[0] == found[1], f"{code}\n  torch    {found[0]}\n  stand-in {found[1]}"


def test_without_a_world():
    """Whatever needs a world says so in torch's words."""
    for code in ("get_rank()", "get_world_size()", "send(a, 1)", "all_reduce(a)", "new_group([0])", "barrier()"):
        comparisons.check(f"torch.distributed.{code}")


@pytest.mark.parametrize(
    "code",
    [
        "torch.distributed.is_initialized()",
        "torch.distributed.is_nccl_available()",
        "torch.cuda.is_available()",
        "torch.cuda.is_initialized()",
        "torch.cuda.device_count()",
        "torch.set_num_threads(1)",
        "torch.set_num_threads(1) or torch.get_num_threads()",
        "issubclass(torch.distributed.HashStore, torch.distributed.Store)",
        "torch.distributed.Backend('GLOO')",
    ],
)
def test_a_machine_without_gpus(code):
    threads = torch.get_num_threads()
    try:
        comparisons.check(code)
    finally:
        torch.set_num_threads(threads)


FUTURES = [
    "f.set_result(3); f.done(), f.wait(), f.value()",
    "f.done()",
    "f.set_result(3); seen = []; f.add_done_callback(lambda g: seen.append(g.wait())); seen",
    "g = f.then(lambda x: x.wait() + 1); f.set_result(3); g.wait()",
]


@pytest.mark.parametrize("code", FUTURES)
def test_futures(code):
    *statements, last = code.split("; ")
    found = []
    for library in LIBRARIES:
        names = {"f": library.futures.Future()}
        exec("\n".join(statements), names)
        found.append(eval(last, names))
    assert found[0] == found[1]


# What the stand-in does not have

SENTENCE = re.compile(
    r".* is not part of the page's small stand-in for torch; it works in Colab and on a machine with torch\."
)

REFUSED = [
    "torch.rand(3)",
    "torch.randn(3)",
    "torch.manual_seed(0)",
    "torch.fft",
    "torch.bfloat16",
    "torch.float16",
    "torch.complex64",
    "torch.compile",
    "torch.nn.Conv2d",
    "torch.nn.Linear(2, 3)",
    "torch.nn.functional.conv2d",
    "torch.optim",
    "torch.utils",
    "torch.distributed.monitored_barrier",
    "torch.distributed.new_subgroups",
    "torch.autograd.Function",
    "torch.cuda.synchronize()",
    "a.numpy()",
    "a.cuda()",
    "a.half()",
    "a.index_select(0, i)",
    "a.scatter_(0, i, 1)",
    "a.register_hook(print)",
    "a.to('cuda')",
    "torch.zeros(2, device='cuda')",
    "torch.device('cuda')",
    "i << 1",
    "m[[0], [1]]",
    "a[(a > 0).to(torch.uint8)]",
    "a[torch.tensor(1, dtype=torch.uint8)]",
    "m.unsqueeze(0) @ m.t()",
    "torch.round(a, decimals=2)",
    "torch.norm(a, 1)",
    "torch.set_num_threads(4)",
    "torch.futures.Future().wait()",
    "torch.cat([a, b], out=a)",
    "(g * 2).sum().backward(create_graph=True)",
    "g.sin()",
    "g.max()",
    "g.prod()",
    "g.cumsum(0)",
    "g.sort()",
    "g.clamp(0, 1)",
    "g.flip(0)",
    "g // 2",
    "g % 2",
    "2 ** g",
    "g ** g",
    "torch.where(g > 0, g, 0)",
    "torch.maximum(g, g)",
    "g[[0, 1]]",
    "g.norm()",
    "g.std()",
    "torch.nn.functional.pad(g, (1, 1))",
    "(g * 2).mul_(2)",
    "(g * 2)[0].add_(1)",
    "torch.zeros(3).mul_(g)",
    "torch.zeros(3)[1:].copy_(g[1:])",
    "torch.zeros(3).__setitem__(0, g[0])",
    "(g * 2).__setitem__(0, 1)",
    "(g * 2).fill_(1)",
    "(g * 2).zero_()",
    "torch.div(g, 2, rounding_mode='floor')",
]


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_not_here_says_so(code):
    """One sentence, where torch would go on: nothing is done wrongly, and no history is dropped."""
    error = comparisons.evaluated(stand_in, code, comparisons.scope(stand_in, 0))
    assert isinstance(error, NotInThePage)
    assert SENTENCE.fullmatch(str(error))


def test_a_view_that_is_older_than_a_history_is_refused():
    """In torch such a view takes part in the history of its base."""
    base, g = stand_in.zeros(3), stand_in.ones(3, requires_grad=True)
    view = base[0]
    base += g
    with pytest.raises(NotInThePage):
        view * 2


def test_a_view_whose_memory_was_written_has_no_gradient_any_more():
    g = stand_in.ones(3, requires_grad=True)
    whole = g * 2
    part = whole[0]
    whole.add_(1)
    with pytest.raises(NotInThePage, match="The gradient of a view"):
        part.backward()


@pytest.mark.parametrize(
    "code", ["torch.sum(a, foo=0)", "torch.zeros(2, foo=1)", "a.sum(foo=1)", "torch.distributed.all_reduce(a, foo=1)"]
)
def test_an_unknown_argument_is_named(code):
    error = comparisons.evaluated(stand_in, code, comparisons.scope(stand_in, 0))
    assert isinstance(error, NotInThePage)
    assert re.fullmatch(r"The argument foo= of torch\.[\w.]+ is not part of .*; if torch has it, .*\.", str(error))


@pytest.mark.parametrize("code", ["torch.shpae", "a.shpae", "torch.nn.Liner", "torch.distributed.al_reduce"])
def test_a_misspelt_name_gets_torchs_own_words(code):
    comparisons.check(code)


def test_unfilled_memory_looks_unfilled():
    """No zeros, in any type, by any name."""
    for kind in DTYPES.values():
        like = stand_in.zeros(3, dtype=kind)
        for made in (stand_in.empty(3, dtype=kind), stand_in.empty_like(like), like.new_empty(3)):
            assert made.dtype is kind
            assert all(value != value or abs(value) > 70 or value is True for value in made.tolist())


@pytest.mark.parametrize(
    "code", ["torch.empty(2, 3)", "torch.empty((2,), dtype=torch.int64)", "torch.empty_like(m.t())"]
)
def test_unfilled_memory_has_torchs_shape(code):
    found = []
    for library in LIBRARIES:
        made = eval(code, comparisons.scope(library, 0))
        found.append((str(made.dtype), tuple(made.shape), made.stride()))
    assert found[0] == found[1]


IMPORTS = {
    "import torch.fft": "torch.fft is not part of",
    "from torch import optim": "torch.optim is not part of",
    "from torch.nn import Conv2d": "torch.nn.Conv2d is not part of",
    "from torch.utils.data import DataLoader": "torch.utils is not part of",
    "import torch.shpae": "No module named 'torch.shpae'",
    "import torch, torch.nn.functional as F; print(F.relu(torch.tensor(-1.0)))": "tensor(0.)",
    "import torch; print(type(torch.ones(1)), torch.ones(1).dtype, torch.Size([1]))": (
        "<class 'torch.Tensor'> torch.float32 torch.Size([1])"
    ),
    "import pickle, torch; print(pickle.loads(pickle.dumps([torch.Size([2]), torch.nn.Tanh()])))": "torch.Size([2])",
    "import pickle, torch; print(pickle.loads(pickle.dumps(torch.nn.Parameter(torch.ones(1)))))": "Parameter contain",
    "import torch, sys; print([n for n in sys.modules if n.split('.')[0] in ('numpy', 'autograder')])": "[]",
}


@pytest.mark.parametrize("code", IMPORTS)
def test_under_the_name_of_torch(code):
    """In a Python of its own, where the stand-in is what ``import torch`` finds."""
    start = f"import sys; sys.path.insert(0, {str(listing.FOLDER)!r})\n"
    done = subprocess.run([sys.executable, "-S", "-c", start + code], capture_output=True, text=True, check=False)
    assert IMPORTS[code] in done.stdout + done.stderr


NO_INTEGERS = [
    "torch.zeros(True)",
    "a.view(True, -1)",
    "a.split(True)",
    "a.split([True, 5])",
    "a.chunk(True)",
    "a.tensor_split(True)",
    "a.tensor_split([True])",
    "a.sum(True)",
    "a.sum(0, 1)",
    "a.size(True)",
    "a.unsqueeze(False)",
    "torch.full((True,), 1)",
    "a.new_empty(True)",
    "torch.cat([a], False)",
    "a.max(True)",
    "a.argmax(False)",
    "torch.eye(True)",
    "a.chunk(2.0)",
    "a.view(2.0, -1)",
]


@pytest.mark.parametrize("code", NO_INTEGERS)
def test_a_boolean_or_a_float_is_no_size(code):
    found = [comparisons.evaluated(library, code, comparisons.scope(library, 0)) for library in LIBRARIES]
    assert [type(error) for error in found] == [TypeError, TypeError]


# Every name


def _covered() -> dict[str, set[str]]:
    """The names that the tests compare, by place."""
    tables = (comparisons.OPERATIONS, comparisons.METHODS, comparisons.IN_PLACE, comparisons.OF_TENSORS)
    operations = {name for table in tables for names in table for name in names.split()}
    functions = {name for names in comparisons.FUNCTIONS for name in names.split()}
    calls = {name for names in CALLS for name in names.split()}
    texts = {
        "torch": "no_grad enable_grad set_grad_enabled empty empty_like cuda nn distributed futures autograd "
        "set_num_threads get_num_threads",
        "torch.Tensor": "__setitem__ new_empty backward __lshift__ __rshift__ __rlshift__ __rrshift__ __ilshift__ "
        "__irshift__ __copy__",
        "torch.autograd": "backward grad no_grad enable_grad set_grad_enabled",
        "torch.cuda": "is_available is_initialized device_count",
        "torch.distributed": "is_nccl_available Backend HashStore Store Work ProcessGroup distributed_c10d c10d_logger",
        "torch.futures": "Future",
        "torch.nn": "Linear Module Parameter ReLU Sequential Tanh functional",
        "torch.nn.functional": "Tensor",
    }
    found = {place: set(names.split()) for place, names in texts.items()}
    found["torch"] |= operations | functions
    found["torch.Tensor"] |= operations
    found["torch.distributed"] |= calls
    found["torch.nn.functional"] |= set(FUNCTIONAL)
    return found


@pytest.mark.parametrize("place", listing.PLACES)
def test_every_name_is_compared(place):
    """Whoever adds a name to the stand-in adds its comparison, and torch has it, too."""
    names = set(listing.own_names(place))
    assert names
    assert names <= _covered()[place]
    assert all(hasattr(listing.place(place, stand_in=False), name) for name in names)


@pytest.mark.parametrize("path", listing.generated(), ids=lambda path: path.name)
def test_what_is_generated_is_current(path):
    """``python -m autograder.page.stand_in.listing`` has been run."""
    assert path.read_text() == listing.generated()[path]
