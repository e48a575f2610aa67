"""The steppers of chapter 6 show what real ranks compute, and the small layer keeps what autograd keeps."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from experiments.ch06 import matrix_steps, published, small_layer, token_steps
from experiments.ch06.saved_tensors import CPU_MASK, ClassicLayer, Sizes, beside_the_formula, kept
from rankzero import world
from rankzero.explore import Box, Scene, frames
from solutions.ch06.layer_memory import stored_by_layer

SCENES = {
    matrix_steps.split_scene: 4,
    matrix_steps.pair_scene: 4,
    matrix_steps.mlp_scene: 3,
    token_steps.sequence_scene: 4,
    token_steps.ring_scene: 3,
}


def texts(scene: Scene) -> list[str]:
    return [mark.text for mark in scene.marks if isinstance(mark, Box) and mark.text]


@pytest.mark.parametrize("draw", SCENES, ids=lambda draw: draw.__name__)
def test_pictures_have_one_size_and_say_different_things(draw):
    scenes = frames(draw, SCENES[draw])
    assert len({scene.says for scene in scenes}) == len(scenes)
    assert all(scene.alt for scene in scenes)


def _products() -> tuple[list[float], list[float], list[list[float]]]:
    """On two ranks: the slice of the column cut, the partial sum of the row cut, and both gradients of x."""
    rank, A = dist.get_rank(), torch.tensor(matrix_steps.A, dtype=torch.float64)
    x = torch.tensor(matrix_steps.X, dtype=torch.float64).requires_grad_()
    own = x @ A.chunk(2, 1)[rank]
    own.sum().backward()
    columns = x.grad.tolist()
    row = x.detach()[rank : rank + 1].requires_grad_()
    partial = row @ A[rank : rank + 1]
    partial.sum().backward()
    return own.tolist(), partial.tolist(), [columns, row.grad.tolist()]


def test_both_cuts_are_those_of_real_ranks():
    """Kills a picture of another matrix, and one whose gradients are not those of its forward pass."""
    for rank, (own, partial, (columns, row)) in enumerate(world.run(_products, ranks=2).values):
        assert (own, partial) == (matrix_steps.slices(rank), matrix_steps.partial_sums(rank))
        assert columns == matrix_steps.contributions(rank)
        assert row == matrix_steps.input_gradient()[rank : rank + 1]
    joined = [*matrix_steps.slices(0), *matrix_steps.slices(1)]
    added = [a + b for a, b in zip(matrix_steps.partial_sums(0), matrix_steps.partial_sums(1), strict=True)]
    assert joined == added == matrix_steps.whole()
    halves = zip(matrix_steps.contributions(0), matrix_steps.contributions(1), strict=True)
    assert [a + b for a, b in halves] == matrix_steps.input_gradient()


def test_the_small_mlp_is_that_of_torch():
    x, up, down = (torch.tensor(t, dtype=torch.float64) for t in (matrix_steps.X, matrix_steps.UP, matrix_steps.DOWN))
    one = matrix_steps.columns_then_rows()
    assert one.output == sum(one.sums) == float(torch.relu(x @ up) @ down)
    assert one.active == torch.relu(x @ up).tolist()
    _, wrong = matrix_steps.rows_first()
    assert wrong == float(sum(torch.relu(a * row) for a, row in zip(x, up, strict=True)) @ down) != one.output


def test_pictures_show_what_they_hold():
    assert texts(matrix_steps.split_scene(2)).count("53") == 2
    assert texts(matrix_steps.split_scene(1)).count("53") == 1
    assert "150" not in texts(matrix_steps.mlp_scene(2))
    assert "150" in texts(matrix_steps.mlp_scene(3))
    assert texts(token_steps.sequence_scene(3)) == ["30", "60", "90", "120"]


def test_tokens_come_out_as_on_one_rank():
    states = token_steps.sequence_states()
    assert [value for row in states[4] for value in row] == [31 * token for token in token_steps.TOKENS]
    assert all(len(row) == 4 for row in (*states[1], *states[2]))


def test_every_query_meets_every_earlier_block_once():
    """Brute force: a causal rank r needs the blocks 0 to r, and all blocks have passed by after N - 1 steps."""
    states = token_steps.ring_states()
    for rank, row in enumerate(states[-1]):
        assert [block for block, text in enumerate(row) if text in ("now", "done")] == list(range(rank + 1))
        assert {token_steps.visiting(rank, step) for step in range(4)} == set(range(4))
    assert token_steps.merged(3) == [1, 2, 3, 4]
    assert token_steps.merged(0) == [1] * 4


def test_the_small_layer_keeps_what_autograd_keeps():
    sizes = Sizes(small_layer.SEQUENCE, small_layer.BATCH, small_layer.HIDDEN, small_layer.HEADS)
    measured, _ = beside_the_formula(kept(ClassicLayer(sizes)))
    shape = (small_layer.SEQUENCE, small_layer.BATCH, small_layer.HIDDEN, small_layer.HEADS)
    assert measured == stored_by_layer(*shape, mask_bytes=CPU_MASK)
    assert sum(small_layer.parts().values()) == stored_by_layer(*shape) == 1248
    whole = [sum(parts.values()) for parts in small_layer.by_recompute().values()]
    assert whole == [1248, 1088, 64]


def test_published_figures_are_consistent():
    """Korthikanti et al. (2022), table 4: overheads of 7 and 39 percent; and 5 a s / h is 80 and 64 in section 5."""
    times = published.LAYER_TIMES
    assert round(times["selective"] / times["none"] - 1, 2) == 0.07
    assert round(times["full"] / times["none"] - 1, 2) == 0.39
    ratios = [5 * run.heads * published.SEQUENCE / run.hidden for run in published.MEGATRON[1:3]]
    assert ratios == [80, 64]
    for run, ratio in zip(published.MEGATRON[1:3], ratios, strict=True):
        assert published.SAVED[run.name] == pytest.approx(ratio / (34 + ratio), abs=5e-3)
    microseconds = published.ALL_REDUCE_TIME / 1e-6
    assert microseconds == pytest.approx(339, rel=1e-2)
