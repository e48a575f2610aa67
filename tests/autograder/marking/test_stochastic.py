"""Stochastic arithmetic: what may move moves, what is exact stays, and a reference's copy is the reference."""

from __future__ import annotations

import math
from random import Random

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from autograder import bank
from autograder.items import Case, Tensor
from autograder.marking import compare, stochastic, stochastic_torch, trusted, trusted_worlds
from autograder.marking.compare import Comparison
from autograder.marking.outcome import Outcome
from autograder.marking.stochastic import RUNS, Rounding

PLAIN = [item for item in bank.builds() if item.grade in ("call", "calls")]
UP, DOWN = Rounding(1), Rounding(-1)


# References of this module, to be instrumented.


def pages(length: float, page: float) -> int:
    return math.ceil(length / page)


def vanishing(left: float, right: float) -> float:
    return left * 3.0 - right * 3.0


def total(numbers: list[float]) -> float:
    return sum(numbers)


def running(numbers: list[float]) -> float:
    held = [0.0]
    for number in numbers:
        held[0] += number
    held += []
    return held[0]


def under(rounding: Rounding | None, function, *args):
    stochastic.use(rounding)
    try:
        return stochastic.program(function)(*args)
    finally:
        stochastic.use(None)


#: In ``make test`` each fourth item.
COPIED = [
    pytest.param(item, id=item.id, marks=[pytest.mark.proof(part="bank")] if place % 4 else [])
    for place, item in enumerate(PLAIN)
]


@pytest.mark.parametrize("item", COPIED)
def test_a_copy_that_rounds_as_the_machine_does_is_the_reference(item):
    cases = [*item.cases, *(case for _, cases in item.hidden(Random("copy")) for case in cases)]
    outcomes = [trusted.run(item, one, cases) for one in (item.solution(), stochastic.program(item.solution()))]
    plain = [[repr((one.kind, one.value, one.error)) for one in run] for run in outcomes]
    assert plain[0] == plain[1]


def test_a_boundary_that_is_met_exactly_stays():
    """Kills: moving results that are not rounded, by which a wrong floor would pass at every whole number."""
    assert {under(run, pages, 12.0, 4.0) for run in RUNS} == {3}
    assert {under(run, total, [0.5, 0.25, 3.0]) for run in RUNS} == {3.75}


def test_a_boundary_that_rounding_decides_is_seen_from_both_sides():
    assert 1.1 / 0.1 == 11.0
    assert {under(run, pages, 1.1, 0.1) for run in RUNS} == {11, 12}


def test_what_vanishes_moves_by_what_it_is_made_of():
    spread = [under(run, vanishing, 0.1, 0.1 + 1e-15) for run in RUNS]
    assert max(spread) - min(spread) > 1e-16
    assert all(abs(one) < 1e-14 for one in spread)


def test_sums_are_taken_in_another_order_and_lists_are_changed_in_place():
    numbers = [0.1, 1e9, -1e9, 0.3]
    assert len({under(run, total, numbers) for run in RUNS}) > 2
    assert len({under(run, running, numbers) for run in RUNS}) > 2


def test_the_arithmetic_of_this_thread_is_its_own_again_afterwards():
    under(UP, vanishing, 0.1, 0.2)
    assert stochastic.program(vanishing)(0.1, 0.2) == vanishing(0.1, 0.2)


# Tensors.


def test_numbers_that_are_only_moved_about_stay():
    numbers = torch.randn(64, generator=torch.Generator().manual_seed(0))
    for rounding in (UP, DOWN, *RUNS, stochastic.PRECISE):
        with stochastic_torch.rounded(rounding):
            parts = torch.cat([numbers.flip(0).clone(), numbers[:3]]).view(-1)[:64].flip(0)
            chosen = torch.where(parts > 0, parts, parts.neg().neg())
        assert torch.equal(chosen, numbers)


def test_exact_sums_stay_and_others_move():
    exact, other = torch.tensor([1.0, 2.5, -4.0]), torch.tensor([0.1, 0.2, 0.3])
    with stochastic_torch.rounded(UP):
        assert (exact * 2).sum().item() == -1.0
        assert (other * 3).sum().item() > 1.8


def test_gradients_move_too():
    x = torch.tensor([0.3, 0.7], requires_grad=True)
    with stochastic_torch.rounded(DOWN):
        (x * 0.1).tanh().sum().backward()
    plain = torch.tensor([0.3, 0.7], requires_grad=True)
    (plain * 0.1).tanh().sum().backward()
    assert not torch.equal(x.grad, plain.grad)
    torch.testing.assert_close(x.grad, plain.grad)


def test_equal_numbers_move_alike():
    """On every rank, and in every copy: what must be equal stays equal."""
    ones = torch.full((5,), 0.3)
    with stochastic_torch.rounded(Rounding(0, 3)):
        assert len(set((ones / 7).tolist())) == 1


def test_a_large_number_does_not_become_infinite():
    most = torch.tensor([torch.finfo(torch.float32).max, -torch.finfo(torch.float32).max, math.inf, math.nan])
    moved = stochastic_torch.move(most.clone(), UP)
    assert moved[:2].isfinite().all()
    assert moved[2] == math.inf
    assert moved[3].isnan()


def test_a_conversion_to_a_shorter_type_is_seen_from_both_sides():
    boundary = torch.tensor([1.0 + 2.0**-8 + 2.0**-23])  # just above the middle of two bf16 numbers
    seen = set()
    for rounding in (UP, DOWN):
        with stochastic_torch.rounded(rounding):
            seen.add(boundary.to(torch.bfloat16).item())
    assert seen == {1.0, 1.0078125}


NAMES = """
_reshape_alias _to_copy _unsafe_view abs alias amax amin aminmax as_strided cat clamp clone constant_pad_nd copy_
detach embedding empty empty_like expand fill_ flip full full_like gather index index_put index_put_ index_select
lift_fresh masked_fill masked_fill_ max maximum min minimum neg new_empty new_empty_strided new_zeros normal_ ones
ones_like permute rand randn relu repeat repeat_interleave round scalar_tensor scatter scatter_ select
select_backward slice slice_backward sort split split_with_sizes squeeze squeeze_ stack t topk transpose tril triu
unbind uniform_ unsqueeze view where zero_ zeros zeros_like
"""
#: Operations of references whose floating-point results are not rounded.
EXACT = set(NAMES.split())


class Noting(TorchDispatchMode):
    """Notes the operations that give floating-point tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if any(isinstance(one, torch.Tensor) and one.is_floating_point() for one in tree_leaves(result)):
            self.names.add(func._schema.name.removeprefix("aten::"))
        return result


@pytest.mark.parametrize("item", [item for item in bank.builds() if item.grade == "tensor"], ids=lambda item: item.id)
def test_every_operation_of_a_reference_is_known_to_round_or_not(item):
    """Kills: an operation that comes into a reference and is never moved, because nobody knew it."""
    noting = Noting()
    for case in item.cases:
        with noting:
            trusted_worlds._answer(item.solution(), case, case.args, item.probe)
    assert noting.names
    assert noting.names <= EXACT | stochastic_torch.ROUNDED


# What is allowed.


def outcome(value) -> Outcome:
    return Outcome("value", value)


def allowed(expected, got, others, tolerance=1e-9) -> bool:
    return Comparison(tolerance).difference(expected, got, others=others) is None


def test_what_lies_among_the_references_answers_is_right():
    others = [1.0 + step * 1e-6 for step in (-3, -2, -1, 1, 2, 3)]
    assert allowed(1.0, 1.0 + 4e-6, others)
    assert not allowed(1.0, 1.0 + 4e-5, others)
    assert not allowed(1.0, 1.0 + 4e-6, [])


def test_both_sides_of_a_boundary_are_right_and_what_lies_between_is_not():
    others = [3.0, 3.0, 4.0, 4.0, 3.0, 4.0]
    assert allowed(3.0, 4.0, others)
    assert not allowed(3.0, 3.5, others)
    assert not allowed(3.0, 5.0, others)
    assert allowed(11, 12, [11, 12])
    assert not allowed(11, 13, [11, 12])
    assert not allowed(11, 11.5, [11, 12])


def test_parts_are_held_against_the_same_parts():
    expected, other = {"a": [1.0, 2.0], "b": (1, "x")}, {"a": [1.0, 2.1], "b": (2, "y")}
    assert allowed(expected, {"a": [1.0, 2.1], "b": (1, "y")}, [other])
    assert not allowed(expected, {"a": [1.1, 2.0], "b": (1, "x")}, [other])
    tensors = [Tensor.of([1.0, 2.0]), Tensor.of([1.0, 2.5])]
    assert allowed(tensors[0], tensors[1], tensors[1:])
    assert not allowed(tensors[0], Tensor.of([1.5, 2.0]), tensors[1:])


def test_another_layout_is_right_as_a_whole():
    """A list that is one longer on the other side of a boundary."""
    item, case = PLAIN[0], Case()
    facts = (item, case, outcome([1, 2]), outcome([1, 2, 3]))
    assert compare.fault(*facts) is not None
    assert compare.fault(*facts, moved=[outcome([1, 2, 3])]) is None
    assert compare.fault(*facts, moved=[outcome([1, 2, 4])]) is not None


def test_a_limit_that_rounding_decides_may_be_refused_or_not():
    item, case = PLAIN[0], Case()
    refused = Outcome("raised", error="ValueError")
    assert compare.fault(item, case, outcome(1.0), refused, moved=[refused]) is None
    assert compare.fault(item, case, outcome(1.0), refused, moved=[outcome(1.1)]) is not None
