"""Chapter 9: ``quantize_kv``, fewer bits."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _vector(rng: Random, width: int, top: int) -> list[float]:
    """Multiples of a scale, each off by less than 0.4 of it: far from ties. The largest magnitude is negative."""
    scale = 10 ** rng.uniform(-2, 1)
    offs = [rng.choice((-1, 1)) * rng.uniform(0.1, 0.4) for _ in range(width - 1)]
    values = [scale * (rng.randint(-top // 2, top // 2) + off) for off in offs]
    values.insert(rng.randrange(width), -scale * top)
    return values


def _vectors(rng: Random, shape: tuple[int, ...], bits: int, dtype: str = "float32") -> Case:
    width, top = shape[-1], 2 ** (bits - 1) - 1
    rows = [_vector(rng, width, top) for _ in range(math.prod(shape[:-1]))]
    return Case((Tensor.of([value for row in rows for value in row], dtype, shape), bits))


def _any_shape(rng: Random) -> Case:
    shape = tuple(rng.randint(2, 4) for _ in range(rng.randint(1, 3)))
    return _vectors(rng, (*shape, rng.choice((4, 8, 16))), rng.choice((8, 4)), rng.choice(("float32", "float64")))


def _shapes(rng: Random) -> list[Case]:
    return [_vectors(rng, (3, 8), 8), _vectors(rng, (2, 3, 6), 4), _vectors(rng, (4, 8), rng.choice((3, 5, 6)))]


def _zeros(rng: Random) -> list[Case]:
    live = _vector(rng, 4, 127)
    return [
        Case((Tensor.of([0.0] * 8, shape=(2, 4)),)),
        Case((Tensor.of([*live, *[0.0] * 4], shape=(2, 4)),)),
        _vectors(rng, (6,), 8),
    ]


def _tie(rng: Random) -> Case:
    """In two bits the scale is the largest magnitude itself: half of it is a tie in every order of operations."""
    size, count = 2.0 ** rng.randint(-6, 6), rng.randint(2, 4)
    values = [*rng.choices((-1.0, -0.5, 0.0, 0.5, 1.0), k=4 * count)]
    for row in range(count):
        values[4 * row : 4 * row + 3] = rng.sample((0.5, -0.5, rng.choice((1.0, -1.0))), 3)
    return Case((Tensor.of([size * value for value in values], shape=(count, 4)), 2))


def quantized_in_double(x, bits=8):
    import torch

    scale = x.double().abs().max(-1, keepdim=True).values / (2 ** (bits - 1) - 1)
    scale[scale == 0] = 1
    return torch.round(x.double() / scale).to(torch.int8), scale.to(x.dtype)


EXERCISE = Build(
    "09 cached_attention.quantize_kv",
    section="9.19",
    topic="fewer bits",
    bonus=True,
    grade="tensor",
    probe="ch09.quantized",
    tolerance=1e-5,
    cases=(
        Case((Tensor.of([1, -2, 0.25, 0]),)),
        Case((Tensor.of([0.9, -2, 0.25, 0]), 4)),
        Case((Tensor.of([0.0] * 3 + [0.5, -0.3, 0.1], shape=(2, 3)), 8)),
    ),
    groups=(
        Group(
            "vectors",
            _any_shape,
            7,
            "Each vector has a scale of its own: its largest magnitude over 2**(bits - 1) - 1.",
            _shapes,
        ),
        listed("zeros", _zeros, "A vector of zeros has the scale 1."),
        Group("ties", _tie, 3, "A quotient halfway between two integers is rounded to the even one."),
    ),
    slips=(
        Slip(
            "One scale serves the whole tensor: each vector along the last dimension has its own.",
            edit=(".amax(dim=-1, keepdim=True)", ".max().expand(*x.shape[:-1], 1)"),
        ),
        Slip(
            "The largest magnitude becomes 2**(bits - 1) - 1: the range is symmetric.",
            edits=(
                ("(2 ** (bits - 1) - 1)", "2 ** (bits - 1)"),
                (".round()", ".round().clamp(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)"),
            ),
        ),
        Slip(
            "The quotients were cut off: round them to the nearest integer.",
            edit=("(x / scale).round()", "(x / scale * (1 + 1e-6))"),
        ),
        Slip(
            "A vector of zeros has the scale 1.",
            edits=(
                ("    scale = torch.where(scale == 0, torch.ones_like(scale), scale)\n", ""),
                ("x / scale)", "x / scale.clamp(min=1e-30))"),
            ),
        ),
        Slip(
            "The largest element is not the largest magnitude: some are negative.",
            edits=(
                ("x.abs()", "x"),
                ("scale == 0", "scale <= 0"),
                (".round()", ".round().clamp(1 - 2 ** (bits - 1), 2 ** (bits - 1) - 1)"),
            ),
        ),
        Slip("The integers are still floats: give them the type int8.", edit=(".to(torch.int8)", "")),
        Slip(
            "A quotient halfway between two integers goes to the even one; yours all go up.",
            edit=("(x / scale).round()", "(x / scale + 0.5).floor()"),
        ),
    ),
    rights=(
        Right("double precision inside", program=quantized_in_double),
        Right("times the reciprocal", edit=("(x / scale).round()", "(x * scale.reciprocal()).round()")),
    ),
    promises=(
        Promise(
            "are divided by it and rounded to the nearest integer (ties to even).",
            edit=("(x / scale).round()", "(x / scale + 0.5).floor()"),
        ),
        Promise(
            "are divided by it and rounded to the nearest integer (ties to even).",
            edit=("(x / scale).round()", "(x.sign() * (x.abs() / scale + 0.5).floor())"),
        ),
        Promise(
            "or 1 for a vector of zeros",
            edit=("torch.ones_like(scale), scale)", "torch.zeros_like(scale) + 2, scale)"),
        ),
        Promise(
            "one scale for each vector along the last dimension",
            edit=("amax(dim=-1, keepdim=True)", "amax().expand(*x.shape[:-1], 1)"),
        ),
        Promise("the scales [..., 1] of x's type", edit=(".to(torch.int8), scale", ".to(torch.int8), scale.double()")),
    ),
)
