"""Chapter 6's bank: answers as the page prints them, what the options say, and rules that allow every right program."""

from __future__ import annotations

from random import Random

import pytest

from autograder import bank
from autograder.bank.ch06 import rules
from autograder.items import Build, Case, Design, Tensor
from autograder.marking import designs, trusted
from rankzero.events import Event
from tests.autograder import handed_in

EXERCISES = {item.function: item for item in bank.of_chapter("ch06") if isinstance(item, Build)}
DESIGNS = {item.id: item for item in bank.of_chapter("ch06") if isinstance(item, Design)}


# The list.


def by_hand(ranks: int, split: int, recompute: int) -> tuple[float, float]:
    """GB on a GPU, and percent beyond the matrix products, from the formulas of the page."""
    s = h = 8192
    around, core = 10 / (ranks if split else 1), 5 * 64 * s / h
    whole = s * h * (around + (24 + core) / ranks)
    kept = (whole, s * h * (around + 24 / ranks), s * h * around / 5)[recompute]
    units = (10 if split else 8) + (4 if recompute == 2 else 0)
    near, tensor = min(ranks, 8), 2 * s * h
    inside, across = (near - 1) / near * tensor / 450e9, (ranks // near - 1) / (ranks // near) * tensor / near / 50e9
    compute = (72 * s * h**2 + 12 * s**2 * h) / ranks / (0.4 * 989.4e12)
    again = (0, s / (18 * h + 3 * s), 1 / 3)[recompute]
    state = 4 * 20 * 12 * h * h / ranks
    return (state + (20 * 4 - 1) * kept + whole) / 1e9, 100 * (units * (inside + across) / compute + again)


def test_the_designs_are_judged_by_the_formulas():
    """Brute force: every layout, whether it fits, and the front of those that do."""
    item = DESIGNS["06-design"]
    costs = {values: by_hand(*values) for values in designs.table(item)}
    for values, made in designs.table(item).items():
        assert made.costs == pytest.approx(costs[values])
        assert bool(made.broken) == (costs[values][0] > 80 or costs[values][1] > 50), values
    assert set(designs.front(item)) == {(4, 1, 1), (8, 1, 1), (4, 0, 2), (4, 1, 2)}


# Rules: right programs of other forms keep to them.


def faults(item: Build, program) -> list[str | None]:
    """In the public cases and in the first hidden one of each group."""
    hidden = [cases[0] for _, cases in item.hidden(Random("key 0"))]
    return handed_in.faults(item, program, [*item.cases, *hidden])


def f_by_a_hook(x, group=None):
    """f without a Function of its own; it calls the collective on one rank too."""
    import torch
    import torch.distributed as dist

    def summed(gradient):
        total = gradient.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    y = x.view_as(x)
    y.register_hook(summed)
    return y


def g_by_a_difference(x, group=None):
    """g as x and a constant."""
    import torch
    import torch.distributed as dist

    total = x.detach().clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, group=group)
    return x + (total - x).detach()


def row_without_a_module(weight, bias=None, group=None):
    """A row layer that takes columns by index and joins through the library's own autograd functions."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    width = weight.shape[1] // ranks

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight[:, rank * width : (rank + 1) * width].clone())
            self.bias = bias if bias is None else torch.nn.Parameter(bias.clone())

        def forward(self, x):
            part = x @ self.weight.t()
            total = part.detach().clone()
            dist.all_reduce(total, group=group)
            y = part + (total - part).detach()
            return y if self.bias is None else y + self.bias

    return Layer()


def loss_in_two_reductions(logits, target, group=None):
    """The two sums travel together: as many bytes, one call fewer."""
    import torch
    import torch.distributed as dist

    n = logits.shape[-1]
    local = target - dist.get_rank(group) * n
    own = (local >= 0) & (local < n)
    local = local.masked_fill(~own, 0)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            wide = logits if logits.dtype == torch.float64 else logits.float()
            largest = wide.amax(-1)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            shifted = wide - largest[..., None]
            mine = shifted.gather(-1, local[..., None])[..., 0] * own
            both = torch.stack([shifted.exp().sum(-1), mine])
            dist.all_reduce(both, group=group)
            total, mine = both
            ctx.probabilities = shifted.exp() / total[..., None]
            return (total.log() - mine).to(logits.dtype)

        @staticmethod
        def backward(ctx, gradient):
            probabilities = ctx.probabilities
            hot = torch.zeros_like(probabilities).scatter(-1, local[..., None], own[..., None].to(probabilities))
            return ((probabilities - hot) * gradient[..., None]).to(gradient.dtype)

    return Loss.apply(logits)


OTHERS = {
    "copy_to_ranks": f_by_a_hook,
    "reduce_from_ranks": g_by_a_difference,
    "RowParallelLinear": row_without_a_module,
    "vocab_parallel_cross_entropy": loss_in_two_reductions,
}


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize("function", OTHERS)
def test_another_right_program_is_right(function):
    assert set(faults(EXERCISES[function], OTHERS[function])) == {None}


def gather_of_tensors(x, dim, group=None):
    """The same collectives over one tensor each."""
    import torch
    import torch.distributed as dist

    ranks = dist.get_world_size(group)

    class Gather(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            whole = x.new_empty(ranks * len(x), *x.shape[1:])
            dist.all_gather_into_tensor(whole, x.contiguous(), group=group)
            return torch.cat(whole.chunk(ranks), dim)

        @staticmethod
        def backward(ctx, gradient):
            parts = torch.cat(gradient.chunk(ranks, dim))
            mine = parts.new_empty(len(parts) // ranks, *parts.shape[1:])
            dist.reduce_scatter_tensor(mine, parts, group=group)
            return mine

    return Gather.apply(x)


@pytest.mark.proof(part="bank")
def test_collectives_of_one_tensor_are_right():
    assert set(faults(EXERCISES["gather_sequence"], gather_of_tensors)) == {None}


# What the rule says.


def calls(*made: tuple[int, str, int]) -> str | None:
    """What the rule says of these calls on two ranks, where one all-reduce of 16 bytes is allowed to each."""
    events = [Event(rank, operation, (0, 1), sent, sent) for rank, operation, sent in made]
    rule = rules.calls_at_most(lambda case: [("all_reduce", 16)], "one sum is enough")
    return rule(Case(args=((), ())), (), events)


def test_the_rule_names_what_is_too_much():
    assert calls((0, "all_reduce", 16), (1, "all_reduce", 8)) is None
    assert calls() is None
    assert calls((1, "all_reduce", 16), (1, "all_reduce", 16)) == (
        "rank 1 handed 32 bytes to all_reduce in 2 calls: one sum is enough"
    )
    assert calls((0, "all_reduce", 32)) == "rank 0 handed 32 bytes to all_reduce: one sum is enough"
    assert calls((0, "all_gather", 8)) == "rank 0 handed 8 bytes to all_gather: one sum is enough"


def test_one_rank_alone_may_call_what_it_likes():
    rule = rules.calls_at_most(lambda case: [], "nothing")
    assert rule(Case(args=((),)), (), [Event(0, "all_reduce", (0,), 8, 8)]) is None


# Cases.


def test_losses_of_the_page():
    """2.44019, 0.44019, 0, and the logarithm of 8."""
    item = EXERCISES["vocab_parallel_cross_entropy"]
    outcomes = trusted.run(item, item.solution(), item.cases[:4])
    losses = [outcome.value[0]["value"].tolist()[0] for outcome in outcomes]
    assert losses == pytest.approx([2.44019, 0.44019, 0.0, 2.07944], abs=1e-5)
    gradients = [rank["gradients"][0].tolist() for rank in outcomes[0].value]
    assert gradients[0] == pytest.approx([0.0320586, -0.912856], rel=1e-5)
    assert gradients[1] == pytest.approx([0.236883, 0.643914], rel=1e-5)


def test_layers_of_the_page():
    column, row = EXERCISES["ColumnParallelLinear"], EXERCISES["RowParallelLinear"]
    split, gathered = trusted.run(column, column.solution(), column.cases[:2])
    assert [rank["value"].tolist() for rank in split.value] == [[3.0, 7.0], [11.0, 15.0]]
    assert [rank["x.grad"].tolist() for rank in split.value] == [[8.0, 10.0]] * 2
    assert split.value[0]["weight.grad"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert gathered.value[1]["value"].tolist() == [3.0, 7.0, 11.0, 15.0]
    summed = trusted.run(row, row.solution(), row.cases[:2])
    assert [outcome.value[1]["value"].tolist() for outcome in summed] == [[110.0, 226.0], [10.0, 26.0]]


def test_the_operators_of_the_page():
    f, g = EXERCISES["copy_to_ranks"], EXERCISES["reduce_from_ranks"]
    (copied,), (reduced,) = (trusted.run(item, item.solution(), item.cases[:1]) for item in (f, g))
    assert [rank["gradients"][0].tolist() for rank in copied.value] == [[3.0, 4.0]] * 2
    assert [rank["value"].tolist() for rank in reduced.value] == [[11.0, 22.0]] * 2
    assert [rank["gradients"][0].tolist() for rank in reduced.value] == [[5.0, 7.0]] * 2


def test_sequences_of_the_page():
    gather, scatter = EXERCISES["gather_sequence"], EXERCISES["scatter_sequence"]
    (whole,), (part,) = (trusted.run(item, item.solution(), item.cases[:1]) for item in (gather, scatter))
    assert [rank["value"].tolist() for rank in whole.value] == [[1.0, 2.0]] * 2
    assert [rank["gradients"][0].tolist() for rank in whole.value] == [[101.0], [1010.0]]
    assert [rank["value"].tolist() for rank in part.value] == [[11.0], [22.0]]
    assert [rank["gradients"][0].tolist() for rank in part.value] == [[5.0, 7.0]] * 2


def test_a_large_logit_stands_on_rank_0_alone():
    """Else a maximum of a rank's own would not mislead the others."""
    item = EXERCISES["vocab_parallel_cross_entropy"]
    for case in item.hidden(Random("key 1"))[0][1]:
        tops = [max(logits.tolist()) for logits, *_ in case.args]
        assert isinstance(case.args[0][0], Tensor)
        assert len(set(tops)) == len(tops)


def unsplit_mlp(x, up, up_bias, down, down_bias, group=None):
    from torch.nn import functional

    return functional.linear(functional.gelu(functional.linear(x, up, up_bias)), down, down_bias)


def test_a_program_that_shares_no_work_is_refused():
    """Kills a rule without a lower bound: values and gradients of the whole layer are right on every rank."""
    item = next(item for item in bank.of_chapter("ch06") if item.id == "06-parallel-mlp")
    cases = [case for case in item.cases if len(case.args) > 1]
    found = handed_in.faults(item, unsplit_mlp, cases)
    assert cases
    assert all(sentence and "by itself" in sentence for sentence in found)
