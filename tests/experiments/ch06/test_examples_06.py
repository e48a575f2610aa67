"""The worked examples of chapter 6: each number that a text computes by hand is computed here."""

from __future__ import annotations

import pytest

from experiments.ch06 import matrix_steps, small_layer, token_steps
from rankzero.facts.units import GB, KB, us
from solutions.ch03.collective_cost import traffic
from solutions.ch06.activations import tensor_parallel_traffic
from solutions.ch06.heads import head_partition
from tests.worked_examples import examples, missing

SLICES = [matrix_steps.slices(rank) for rank in range(2)]
SUMS = [matrix_steps.partial_sums(rank) for rank in range(2)]
BACK = [matrix_steps.contributions(rank) for rank in range(2)]
MLP = matrix_steps.columns_then_rows()
TOKENS = token_steps.sequence_states()
FOUR = [head_partition(8, 2, 4, rank) for rank in range(4)]
PARTS, TOKEN_NUMBERS = small_layer.parts(), small_layer.SEQUENCE * small_layer.HIDDEN
LEFT = [sum(parts.values()) for parts in small_layer.by_recompute().values()]
SENT = tensor_parallel_traffic(1, 1, 8192, 8)
STEP = 6 * 12 * 8192**2


def merged(blocks: list[tuple[list[float], list[float]]]) -> tuple[float, float]:
    """The sum of the weights and the weighted values of all blocks, relative to the largest score; powers of 2."""
    pairs = [pair for scores, values in blocks for pair in zip(scores, values, strict=True)]
    largest = max(score for score, _ in pairs)
    weights = [(2 ** (score - largest), value) for score, value in pairs]
    return sum(weight for weight, _ in weights), sum(weight * value for weight, value in weights)


FIRST, SECOND = ([3.0, 2.0], [10.0, 40.0]), ([5.0, 4.0], [8.0, 20.0])
TOTAL, WEIGHTED = merged([FIRST, SECOND])

COMPUTED = {
    "cuts-example": [
        f"1 · {matrix_steps.A[0][0]} + 2 · {matrix_steps.A[1][0]} = {matrix_steps.whole()[0]}",
        f"the {SLICES[0][0]} by itself. It gets {SLICES[0][1]} in the same way",
        "rank 1 gets {} and {}".format(*SLICES[1]),
        f"contributes 1 · 11 = {SUMS[0][0]} to the 53, and rank 1 contributes 2 · 21 = {SUMS[1][0]}",
    ],
    "pair-example": [
        "{} + {} + {} + {} = {}".format(*matrix_steps.A[0], matrix_steps.input_gradient()[0]),
        f"finds {BACK[0][0]}, while rank 1 finds {BACK[1][0]}",
        f"finds {matrix_steps.input_gradient()[0]} by itself",
    ],
    "mlp-example": [
        "the inner features {:g} and {:g}. ReLU makes them {:g} and {:g}".format(*MLP.inner[:2], *MLP.active[:2]),
        "by {} and {}, its rows of the second matrix B".format(*matrix_steps.DOWN[:2]),
        f"adds up: {MLP.active[0]:g} · {matrix_steps.DOWN[0]} + {MLP.active[1]:g} · {matrix_steps.DOWN[1]}"
        f" = {MLP.sums[0]:g}",
        "from {:g} and {:g} to {:g} and {:g}, and gets {:g}".format(*MLP.inner[2:], *MLP.active[2:], MLP.sums[1]),
        f"The sum is {MLP.output:g}",
    ],
    "heads-example": [
        f"rank 1 has heads {FOUR[1][0].start} and {FOUR[1][0][-1]}",
        f"Every rank gets {len(FOUR[0][0])} query heads",
        f"each rank would have {len(head_partition(8, 2, 2, 0)[0])} query heads",
    ],
    "sequence-example": [
        f"Token 2, whose value is {TOKENS[0][1][0]}, belongs to rank 1",
        f"turns it into {TOKENS[2][0][2]}, rank 1's part into {TOKENS[2][1][2]}",
        f"leaves their sum, {TOKENS[3][1][0]}, on rank 1 alone, which adds the 3 of the residual: {TOKENS[4][1][0]}",
    ],
    "costs-example": [
        f"2 · 3/4 · 8 = {traffic('all_reduce', 8, 4, 0)[0]:g} MB",
        f"Four all-reduces add up to {4 * traffic('all_reduce', 8, 4, 0)[0]:g} MB",
    ],
    "stores-example": [
        f"4 · 8 = {TOKEN_NUMBERS} numbers, or {2 * TOKEN_NUMBERS} bytes",
        f"4 tensors or {4 * 2 * TOKEN_NUMBERS} bytes, and two dropout masks of one byte per number, "
        f"together {2 * TOKEN_NUMBERS} bytes",
        f"each four times as wide as the layer, together {2 * 4 * 2 * TOKEN_NUMBERS} bytes",
        f"{(PARTS['around the matrices'] + PARTS['between them']) / TOKEN_NUMBERS:g} bytes for each",
        f"2 · 4 · 4 = {small_layer.HEADS * small_layer.SEQUENCE**2} entries of 5 bytes",
        f"another {PARTS['attention matrix']:g} bytes, {sum(PARTS.values()):,.0f} in all",
    ],
    "recompute-example": [
        f"keeps {LEFT[0]:,.0f} bytes",
        f"saves {LEFT[0] - LEFT[1]:g} of them",
        f"only the input, {LEFT[2]:g} bytes",
    ],
    "ratio-example": [
        f"{SENT / KB:.0f} KB, which takes {SENT / (450 * GB) / us:.2f} µs",
        f"{STEP / 1e9:.1f} GFLOP",
        f"takes {STEP / 8 / 500e12 / us:.1f} µs at 500 TFLOP/s",
        f"would take {SENT / (50 * GB) / us:.1f} µs",
    ],
}
DEEPER = {
    "merge-example": [
        f"their sum is {merged([FIRST])[0]:g}, and the weighted values are 10 + 20 = {merged([FIRST])[1]:g}",
        f"largest 5, sum {merged([SECOND])[0]:g}, weighted values {merged([SECOND])[1]:g}",
        f"its sum becomes {merged([FIRST])[0] / 4:g} and its values {merged([FIRST])[1] / 4:g}",
        f"makes {TOTAL:g} and {WEIGHTED:g}, so the result is {WEIGHTED:g} / {TOTAL:g} = {WEIGHTED / TOTAL:g}",
    ],
}

FOUND = examples("06-tensor-parallel") | examples("deeper/06-tensor-parallel-deeper")
COMPUTED |= DEEPER


@pytest.mark.parametrize("name", COMPUTED)
def test_the_numbers_of_an_example(name):
    """Kills a number that is typed and wrong."""
    assert missing(FOUND[name], COMPUTED[name]) == []


def test_every_example_is_computed():
    assert FOUND.keys() == COMPUTED.keys()
