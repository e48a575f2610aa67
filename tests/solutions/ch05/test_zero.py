"""Memory of model states: the ZeRO paper's tables, two public estimators, and the bytes of real tensors."""

from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.ch05.zero import zero_memory

GB = 1e9

#: Rajbhandari et al. (2020), table 1, GB per device as printed: ranks -> stages 1, 2, 3 for 7.5B, then 128B, then 1T.
PAPER = """
   1  120   120   120    2048 2048 2048   16000 16000 16000
   4  52.5  41.3  30     896  704  512    7000  5500  4000
  16  35.6  21.6  7.5    608  368  128    4750  2875  1000
  64  31.4  16.6  1.88   536  284  32     4187  2218  250
 256  30.4  15.4  0.47   518  263  8      4046  2054  62.5
1024  30.1  15.1  0.12   513  257  2      4011  2013  15.6
"""
CELLS = [
    (params, stage, int(row[0]), row[1 + 3 * column + stage - 1])
    for row in map(str.split, PAPER.strip().splitlines())
    for column, params in enumerate((7.5e9, 128e9, 1e12))
    for stage in (1, 2, 3)
]

params = st.floats(0, 2e12)
stages = st.integers(0, 3)
ranks = st.integers(1, 16_384)
sizes = st.floats(0, 8)


@pytest.mark.parametrize(("params", "stage", "ranks", "printed"), CELLS)
def test_agrees_with_the_papers_table_within_a_unit_of_its_last_digit(params, stage, ranks, printed):
    unit = 10.0 ** -len(printed.partition(".")[2])
    assert abs(zero_memory(params, stage, ranks) / GB - float(printed)) <= unit


def test_the_papers_table_has_54_cells():
    assert len(CELLS) == 54


def test_the_papers_first_figure():
    assert [round(zero_memory(7.5e9, stage, 64) / GB, 2) for stage in range(4)] == [120.0, 31.41, 16.64, 1.88]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((70e9, 1, 8), 3.85e11),
        ((70e9, 2, 8), 2.625e11),
        ((70e9, 3, 8), 1.4e11),
        ((1e12, 3, 1024), 1.5625e10),
        ((1e9, 2, 3, 2, 4, 12), 22e9 / 3),
        ((6.7e9, 2, 5, 0.5, 2, 6), 1.407e10),
        ((8.03e9, 3, 1, 2, 4, 12), 1.4454e11),
        ((0, 2, 8), 0.0),
    ],
)
def test_page_values(arguments, expected):
    assert zero_memory(*arguments) == pytest.approx(expected, rel=1e-12)


@given(params, ranks)
def test_deepspeed_estimates_stage_2_as_2_bytes_whole_and_18_sliced(params, ranks):
    """DeepSpeed keeps 16-bit and 32-bit gradients: 2 + 4 + 12 bytes are sliced.

    Source: estimate_zero2_model_states_mem_needs in runtime/zero/stage_1_and_2.py, without offload.
    """
    assert zero_memory(params, 2, ranks, 2, 2, 16) == pytest.approx(2 * params + 18 * params / ranks, rel=1e-12)


@given(params, ranks)
def test_megatron_estimates_the_distributed_optimizer_as_6_bytes_whole_and_12_sliced(params, ranks):
    """Megatron accumulates gradients in fp32: 2 + 4 bytes stay whole.

    Source: compute_weight_and_optimizer_memory in megatron/training/theoretical_memory_usage.py.
    """
    assert zero_memory(params, 1, ranks, 2, 4, 12) == pytest.approx((6 + 12 / ranks) * params, rel=1e-12)


def slice_of(tensor, rank, ranks, sliced):
    return tensor.tensor_split(ranks)[rank].clone() if sliced else tensor.clone()


def bytes_held(elements, stage, rank, ranks):
    """Bytes of real tensors on one rank: bf16 weights and gradients, an fp32 master copy that a real AdamW steps."""
    full = torch.ones(elements)
    weights = slice_of(full.bfloat16(), rank, ranks, stage >= 3)
    gradients = slice_of(full.bfloat16(), rank, ranks, stage >= 2)
    master = slice_of(full, rank, ranks, stage >= 1).requires_grad_()
    master.grad = torch.ones_like(master)
    optimizer = torch.optim.AdamW([master])
    optimizer.step()
    moments = [optimizer.state[master][name] for name in ("exp_avg", "exp_avg_sq")]
    return sum(tensor.nbytes for tensor in (weights, gradients, master, *moments))


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize(("elements", "ranks"), [(48, 1), (48, 2), (48, 3), (48, 16), (50, 3), (7, 4)])
def test_counts_the_bytes_of_a_real_adamw_partition(stage, elements, ranks):
    """The mean over the ranks, since real slices of uneven tensors differ by an element."""
    held = [bytes_held(elements, stage, rank, ranks) for rank in range(ranks)]
    assert sum(held) / ranks == pytest.approx(zero_memory(elements, stage, ranks), rel=1e-12)


#: Types of 1, 2, 4 and 8 bytes: tensors on the device ``meta`` have sizes and no storage.
TYPES = (torch.int8, torch.bfloat16, torch.float32, torch.float64)


def bytes_of_slices(elements, ranks, tensors):
    """Bytes on each rank of tensors of these types, sliced or whole, as ``tensor_split`` deals them out."""
    full = [(torch.empty(elements, dtype=dtype, device="meta"), sliced) for dtype, sliced in tensors]
    return [
        sum(tensor.tensor_split(ranks)[rank].nbytes if sliced else tensor.nbytes for tensor, sliced in full)
        for rank in range(ranks)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_counts_the_bytes_of_real_tensors_on_1000_drawn_partitions(seed):
    """The mean over the ranks is exact, and no rank is an element of each tensor away from it."""
    rng = Random(f"partition {seed}")
    for _ in range(100):
        elements, ranks, stage = rng.randint(0, 10**9), rng.randint(1, 24), rng.randrange(4)
        weight, gradient, *states = (rng.choice(TYPES) for _ in range(rng.randint(2, 5)))
        tensors = [(weight, stage >= 3), (gradient, stage >= 2), *((dtype, stage >= 1) for dtype in states)]
        sizes = [dtype.itemsize for dtype in (weight, gradient)] + [sum(dtype.itemsize for dtype in states)]
        held, expected = bytes_of_slices(elements, ranks, tensors), zero_memory(elements, stage, ranks, *sizes)
        assert sum(held) / ranks == pytest.approx(expected, rel=1e-12)
        assert all(abs(one - expected) <= sum(sizes) for one in held)


@given(params, ranks, sizes, sizes, sizes)
def test_a_higher_stage_never_holds_more_and_together_the_ranks_hold_one_copy(params, ranks, w, g, o):
    held = [zero_memory(params, stage, ranks, w, g, o) for stage in range(4)]
    assert held == sorted(held, reverse=True)
    assert held[3] * ranks == pytest.approx(held[0], rel=1e-12)


@given(params, stages, sizes, sizes, sizes)
def test_one_rank_holds_everything_at_every_stage(params, stage, w, g, o):
    assert zero_memory(params, stage, 1, w, g, o) == pytest.approx(params * (w + g + o), rel=1e-12)
