"""What ZeRO sends, against the collectives that it is made of and the slices of rings; and the fewest ranks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solutions.ch03.collective_cost import traffic
from solutions.ch05.zero import debug_stage, min_ranks, zero_memory, zero_traffic

params = st.integers(0, 2**40)
stages = st.integers(0, 3)
ranks = st.integers(1, 4096)
sizes = st.sampled_from((0.0, 0.5, 1.0, 2.0, 4.0, 8.0))
steps = st.integers(1, 64)


def collectives(stage: int, micro_steps: int, reshard: bool) -> list[tuple[str, str]]:
    """The collectives of one optimizer step, written down one by one: which operation, on which tensor."""
    reduce, gather = ("reduce_scatter", "gradients"), ("all_gather", "weights")
    if stage == 0:
        return [("all_reduce", "gradients")]
    if stage == 1:
        return [reduce, gather]
    if stage == 2:
        return [reduce] * micro_steps + [gather]
    return ([gather] + [gather] * reshard + [reduce]) * micro_steps


def sent(operation: str, size: float, ranks: int, rank: int) -> float:
    """Bytes that ``rank`` sends on a ring for a tensor of ``size`` bytes."""
    return traffic(operation, size, ranks, rank)[0]


@given(params, stages, ranks, sizes, sizes, steps, st.booleans())
def test_sends_what_its_collectives_send(params, stage, ranks, weight, gradient, micro_steps, reshard):
    size = {"weights": params * weight, "gradients": params * gradient}
    expected = sum(sent(name, size[what], ranks, 0) for name, what in collectives(stage, micro_steps, reshard))
    assert zero_traffic(params, stage, ranks, weight, gradient, micro_steps, reshard) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "settings", "expected"),
    [
        *(((7e9, stage, 64), {}, 2.75625e10) for stage in (0, 1, 2)),
        ((7e9, 3, 64), {}, 4.134375e10),
        ((70e9, 3, 64), {}, 4.134375e11),
        ((70e9, 3, 64), {"reshard": False}, 2.75625e11),
        ((7e9, 2, 64), {"micro_steps": 4}, 6.890625e10),
        ((7e9, 3, 64), {"micro_steps": 4}, 1.65375e11),
        ((3.1875e9, 3, 128), {"gradient_bytes": 4, "reshard": False}, 1.89755859375e10),
        ((70e9, 1, 64), {"gradient_bytes": 4}, 4.134375e11),
        ((7e9, 3, 1), {"micro_steps": 4}, 0.0),
    ],
)
def test_page_values(arguments, settings, expected):
    assert zero_traffic(*arguments, **settings) == pytest.approx(expected, rel=1e-12)


@given(params.filter(bool), ranks.filter(lambda n: n > 1))
def test_the_papers_ratios(params, ranks):
    """Rajbhandari et al. (2020), section 7: stages 1 and 2 send what DDP sends, stage 3 half as much more."""
    ratios = [zero_traffic(params, stage, ranks) / zero_traffic(params, 0, ranks) for stage in range(4)]
    assert ratios == pytest.approx([1, 1, 1, 1.5], rel=1e-12)


@given(params, stages, ranks, steps)
def test_the_other_stages_take_no_notice_of_resharding(params, stage, ranks, micro_steps):
    kept = zero_traffic(params, stage, ranks, micro_steps=micro_steps, reshard=False)
    dropped = zero_traffic(params, stage, ranks, micro_steps=micro_steps)
    assert kept == (dropped if stage < 3 else pytest.approx(dropped * 2 / 3))


# The fewest ranks.


def searched(params, stage, memory, other, *sizes, most=3000):
    """The first number of ranks that fits, tried one after the other; None after ``most``."""
    for n in range(1, most):
        if zero_memory(params, stage, n, *sizes) + other <= memory * (1 + 1e-12):
            return n
    return None


recipes = st.tuples(st.sampled_from((0, 1, 2, 4.0)), st.sampled_from((0, 1, 2, 4.0)), st.sampled_from((0, 4, 8, 12.0)))
others = st.sampled_from((0.0, 1e9, 20e9, 200e9))


@given(st.integers(0, 500), stages, st.sampled_from((16e9, 24e9, 80e9, 141e9)), others, recipes)
def test_is_the_first_that_a_search_finds(billions, stage, memory, other, recipe):
    found = min_ranks(billions * 1e9, stage, memory, other, *recipe)
    if found is not None and found >= 3000:
        assert zero_memory(billions * 1e9, stage, found, *recipe) + other <= memory * (1 + 1e-12)
        assert zero_memory(billions * 1e9, stage, found - 1, *recipe) + other > memory
    else:
        assert found == searched(billions * 1e9, stage, memory, other, *recipe)


@pytest.mark.parametrize(
    ("arguments", "settings", "expected"),
    [
        ((70e9, 3, 80e9), {}, 14),
        ((175e9, 3, 80e9), {}, 35),
        ((175e9, 3, 80e9), {"optimizer_bytes": 8}, 27),
        ((30e9, 3, 80e9, 20e9), {}, 8),
        ((30e9, 2, 80e9, 20e9), {}, None),
        ((40e9, 2, 80e9), {}, None),
        ((7e9, 1, 80e9), {}, 2),
        ((405e9, 3, 80e9, 20e9), {}, 108),
        ((1e9, 0, 80e9), {}, 1),
        ((70e9, 0, 80e9), {}, None),
    ],
)
def test_page_values_of_ranks(arguments, settings, expected):
    assert min_ranks(*arguments, **settings) == expected


@given(st.integers(1, 3), st.integers(1, 2000), st.integers(1, 9))
def test_what_fills_the_memory_exactly_fits(stage, n, billions):
    """Kills: a strict comparison, and one that a rounding error turns round."""
    params = billions * n * 1e9
    assert min_ranks(params, stage, zero_memory(params, stage, n)) == n


# The program to fix.


@given(params, stages, ranks)
def test_the_mended_program_is_the_formula_with_its_default_bytes(params, stage, ranks):
    assert debug_stage(params, stage, ranks) == pytest.approx(zero_memory(params, stage, ranks), rel=1e-12)
