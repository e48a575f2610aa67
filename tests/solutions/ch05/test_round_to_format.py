"""Rounding to few bits, against torch's casts; and the two programs about gradients to fix."""

from __future__ import annotations

import math
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.ch05.precision import debug_clip, debug_norm, round_to_format

INF, NAN = math.inf, math.nan
FORMATS = {
    torch.float16: (5, 10),
    torch.bfloat16: (8, 7),
    torch.float8_e5m2: (5, 2),
    torch.float8_e4m3fn: (4, 3, False),
    torch.float32: (8, 23),
}


def drawn(rng: Random, mantissa_bits: int) -> float:
    """A float32 number: anywhere, half-way between two numbers of the format, or near its ends."""
    sign, exponent = rng.choice((1.0, -1.0)), rng.randint(-45, 40)
    kind = rng.random()
    if kind < 0.4:
        return sign * (1 + rng.randrange(2**23) / 2**23) * 2.0**exponent
    if kind < 0.8:
        steps = 2 * rng.randrange(2 ** min(mantissa_bits, 22)) + rng.choice((0, 1))
        return sign * (1 + steps / 2 ** (mantissa_bits + 1)) * 2.0**exponent
    return (
        sign
        * rng.choice((65504.0, 65520.0, 57344.0, 61440.0, 448.0, 2.0**-24, 2.0**-16, 2.0**-9))
        * rng.choice((1.0, 0.5, 1.5, 1 + 2.0**-12, 1 - 2.0**-12))
    )


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_is_torchs_cast_on_4000_numbers(dtype):
    """For E4M3 up to 464, the tie above its largest number: torch has changed what it does beyond."""
    rng, form = Random(str(dtype)), FORMATS[dtype]
    values = torch.tensor([drawn(rng, form[1]) for _ in range(4000)], dtype=torch.float32)
    if dtype == torch.float8_e4m3fn:
        values = values[values.abs() <= 464]
        assert len(values) > 2000
    expected = values.to(dtype).to(torch.float64).tolist()
    assert [round_to_format(value, *form) for value in values.tolist()] == expected


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_every_number_of_a_format_is_kept(dtype):
    """All bit patterns of the small formats, many of the others."""
    bits = torch.finfo(dtype).bits
    kind = {8: torch.uint8, 16: torch.int16, 32: torch.int32}[bits]
    count = min(2**bits, 2**16)
    patterns = torch.arange(count, dtype=torch.int64) * (2**bits // count)
    numbers = patterns.to(kind).view(dtype).to(torch.float64)
    finite = numbers[numbers.isfinite()].tolist()
    assert [round_to_format(number, *FORMATS[dtype]) for number in finite] == finite


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_the_ends_of_a_format_are_those_of_finfo(dtype):
    form, info = FORMATS[dtype], torch.finfo(dtype)
    assert round_to_format(info.max, *form) == info.max
    beyond = INF if len(form) == 2 else info.max
    assert round_to_format(info.max * 1.5, *form) == beyond
    assert round_to_format(-INF, *form) == -beyond
    smallest = info.tiny * info.eps  # finfo.smallest_normal times the grid of the mantissa
    assert round_to_format(smallest * 0.501, *form) == smallest
    assert round_to_format(smallest * 0.5, *form) == 0.0


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (0.1, (5, 10), 0.0999755859375),
        (65519.0, (5, 10), 65504.0),
        (65520.0, (5, 10), INF),
        (2.0**-25, (5, 10), 0.0),
        (3 * 2.0**-25, (5, 10), 2.0**-23),
        (1 + 2.0**-11, (5, 10), 1.0),
        (0.1, (8, 7), 0.10009765625),
        (1 + 2.0**-8, (8, 7), 1.0),
        (449.0, (8, 7), 448.0),
        (0.1, (4, 3, False), 0.1015625),
        (449.0, (4, 3, False), 448.0),
        (1e9, (4, 3, False), 448.0),
        (2.0**-10, (4, 3, False), 0.0),
        (3 * 2.0**-10, (4, 3, False), 0.00390625),
        (0.1, (5, 2), 0.09375),
        (61440.0, (5, 2), INF),
    ],
)
def test_page_values(value, form, expected):
    assert round_to_format(value, *form) == expected
    assert round_to_format(-value, *form) == -expected


def test_zeros_keep_their_sign_and_nan_stays():
    assert math.copysign(1, round_to_format(-0.0, 5, 10)) == -1
    assert math.copysign(1, round_to_format(-1e-30, 5, 10)) == -1
    assert math.isnan(round_to_format(NAN, 4, 3, False))


forms = st.tuples(st.integers(2, 8), st.integers(1, 23), st.booleans())
numbers = st.floats(allow_nan=False)


@given(numbers, forms)
def test_rounding_twice_is_rounding_once(value, form):
    once = round_to_format(value, *form)
    assert round_to_format(once, *form) == once


@given(numbers, numbers, forms)
def test_keeps_the_order_of_numbers(one, other, form):
    low, high = sorted((one, other))
    assert round_to_format(low, *form) <= round_to_format(high, *form)


# The programs to fix.

gradients = st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=9)


@given(gradients, st.sampled_from((1.0, 3.0, 1024.0)), st.floats(0.125, 8, width=32))
def test_clips_as_torch_does_after_unscaling(true, scale, most):
    parameter = torch.nn.Parameter(torch.zeros(len(true), dtype=torch.float64))
    parameter.grad = torch.tensor(true, dtype=torch.float64)
    torch.nn.utils.clip_grad_norm_([parameter], most)
    clipped = debug_clip([gradient * scale for gradient in true], scale, most)
    assert clipped == pytest.approx(parameter.grad.tolist(), rel=1e-4, abs=1e-12)  # torch divides by norm + 1e-6


def test_page_values_of_clipping():
    assert debug_clip([3072.0, 4096.0], 1024.0, 1.0) == pytest.approx([0.6, 0.8])
    assert debug_clip([0.0, -0.0], 8.0, 1.0) == [0.0, 0.0]


@given(st.lists(gradients, max_size=5))
def test_the_norm_of_shards_is_that_of_the_whole(shards):
    whole = torch.tensor([value for shard in shards for value in shard], dtype=torch.float64)
    norms = [torch.tensor(shard, dtype=torch.float64).norm().item() for shard in shards]
    assert debug_norm(norms) == pytest.approx(whole.norm().item(), abs=1e-12)
