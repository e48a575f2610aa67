"""Chapter 9: ``dequantize_kv``, fewer bits."""

from __future__ import annotations

import math
from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _stored(rng: Random, dtype: str = "float32") -> Case:
    shape = (rng.randint(1, 3), rng.randint(2, 4), rng.choice((4, 8)))
    q = [rng.choice((-1, 1)) * rng.randint(3, 127) for _ in range(math.prod(shape))]
    scales = [rng.uniform(0.01, 0.2) for _ in range(shape[0] * shape[1])]
    return Case((Tensor.of(q, "int64", shape), Tensor.of(scales, dtype, (*shape[:-1], 1))))


EXERCISE = Build(
    "09 cached_attention.dequantize_kv",
    section="9.19",
    topic="fewer bits",
    bonus=True,
    grade="tensor",
    probe="ch09.dequantized",
    tolerance=1e-5,
    cases=(
        Case((Tensor.of([64, -127, 16, 0], "int64"), Tensor.of([2 / 127]))),
        Case((Tensor.of([3, -7, 1, 0], "int64"), Tensor.of([2 / 7]))),
    ),
    groups=(
        Group("vectors", _stored, 4, "Each integer times the scale of its vector."),
        Group("double", lambda rng: _stored(rng, "float64"), 2, "The result has the type of the scales."),
    ),
    slips=(
        Slip(
            "In int8 the scale became 0: take the integers to the type of the scale.",
            edit=("q.to(scale.dtype) * scale", "(q * scale.to(q.dtype)).to(scale.dtype)"),
        ),
        Slip("An integer counts scales: multiply.", edit=(" * scale", " / scale")),
        Slip(
            "The scale is already that of one step: there is no 127 left to divide by.",
            edit=(" * scale", " / 127 * scale"),
        ),
    ),
    rights=(
        Right(
            "double precision inside",
            edit=("q.to(scale.dtype) * scale", "(q.double() * scale.double()).to(scale.dtype)"),
        ),
        Right("the library promotes", edit=("q.to(scale.dtype) * scale", "scale * q")),
    ),
    promises=(
        Promise(
            "of the type of ``scale``",
            edit=("return q.to(scale.dtype) * scale", "return (q.to(scale.dtype) * scale).float()"),
        ),
    ),
)
