"""Chapter 5: ``round_to_format``, numbers with few bits."""

from __future__ import annotations

import math
from fractions import Fraction
from math import inf, nan
from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip

FP16, BF16, TF32, E5M2, E4M3 = (5, 10), (8, 7), (8, 10), (5, 2), (4, 3, False)
IEEE = (FP16, BF16, TF32, E5M2)


def _sign(rng: Random) -> float:
    return rng.choice((1.0, -1.0))


def _single(rng: Random, low: float, high: float) -> float:
    """A number between two powers of two, with a mantissa of 23 bits that no format here holds."""
    return _sign(rng) * (1 + (2 * rng.randrange(2**22) + 1) / 2**23) * 2.0 ** rng.randint(int(low), int(high) - 1)


def _ordinary(rng: Random) -> Case:
    return Case((_single(rng, -6, 7), *rng.choice((*IEEE, E4M3))))


def _ordinary_corners(rng: Random) -> list[Case]:
    return [Case((_single(rng, -6, 7), *form)) for form in (*IEEE, E4M3)]


def _tie(rng: Random, odd: bool | None = None) -> Case:
    """Half-way between two normal numbers of a format."""
    form = rng.choice((*IEEE, E4M3))
    bits = form[1]
    low = 2 * rng.randrange(2 ** (bits - 1)) + int(rng.random() < 0.5 if odd is None else odd)
    return Case((_sign(rng) * (1 + (low + 0.5) / 2**bits) * 2.0 ** rng.randint(-5, 6), *form))


def _below_normal(rng: Random) -> Case:
    """Between half of the smallest number and the smallest normal one."""
    form = rng.choice((FP16, E5M2, E4M3))
    lowest = 2 - 2 ** (form[0] - 1)
    return Case((_single(rng, lowest - form[1] - 1, lowest), *form))


def _below_corners(rng: Random) -> list[Case]:
    """Ties between subnormals, what falls to zero, and the smallest number."""
    bits, lowest = rng.choice(((FP16, -24), (E5M2, -16), (E4M3, -9)))
    step = 2.0**lowest
    steps = (0.5, 1.5, 2.5, 0.4, 1.0, 3.0)
    return [Case((_sign(rng) * step * count, *bits)) for count in steps]


def _near_the_top(rng: Random) -> Case:
    form, most = rng.choice(((FP16, 65504.0), (E5M2, 57344.0)))
    return Case((_sign(rng) * most * rng.uniform(0.9, 1.3), *form))


def _top_corners(rng: Random) -> list[Case]:
    """Just above the largest number, at the tie, just below it, and far beyond."""
    inside = [65504.0 + rng.randint(1, 15), 65519.0, 57344.0 + rng.randint(1, 4000), 61439.0]
    forms = (FP16, FP16, E5M2, E5M2)
    ties = [Case((_sign(rng) * 65520.0, *FP16)), Case((_sign(rng) * 61440.0, *E5M2)), Case((_sign(rng) * inf, *BF16))]
    return [Case((_sign(rng) * value, *form)) for value, form in zip(inside, forms, strict=True)] + ties


def _saturated(rng: Random) -> Case:
    return Case((_sign(rng) * rng.choice((rng.uniform(249, 447), rng.uniform(465, 1e6))), *E4M3))


def _saturated_corners(rng: Random) -> list[Case]:
    values = (inf, -inf, rng.uniform(500, 1e9), rng.uniform(250, 440), 449.0)
    return [Case((value, *E4M3)) for value in values]


def _special(rng: Random, value: float | None = None) -> Case:
    return Case((rng.choice((nan, 0.0, -0.0)) if value is None else value, *rng.choice((*IEEE, E4M3))))


def rounded_in_fractions(value, exponent_bits, mantissa_bits, infinities=True):
    """The grid in exact arithmetic."""
    if value != value or value == 0:
        return value
    bias = 2 ** (exponent_bits - 1) - 1
    full = 2**mantissa_bits
    largest = Fraction(2 * full - 1, full) * 2**bias if infinities else Fraction(2 * full - 2, full) * 2 ** (bias + 1)
    beyond = math.inf if infinities else float(largest)
    if math.isinf(value):
        return math.copysign(beyond, value)
    exact, exponent = Fraction(abs(value)), 1 - bias
    while exact >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (exponent - mantissa_bits)
    size = round(exact / step) * step
    return math.copysign(float(size) if size <= largest else beyond, value)


EXERCISE = Build(
    "05 precision.round_to_format",
    section="5.15",
    topic="numbers with few bits",
    bonus=True,
    probe="ch05_numbers.rounded",
    cases=(
        *(Case((0.1, *form)) for form in (FP16, BF16, E4M3, E5M2)),
        Case((65519.0, *FP16)),
        Case((65520.0, *FP16)),
        Case((2.0**-25, *FP16)),
        Case((3 * 2.0**-25, *FP16)),
        Case((1 + 2.0**-11, *FP16)),
        Case((1 + 2.0**-8, *BF16)),
        Case((449.0, *BF16)),
        Case((449.0, *E4M3)),  # its largest number: Micikevicius et al. (2022), table 1
        Case((1e9, *E4M3)),
        Case((2.0**-10, *E4M3)),
        Case((3 * 2.0**-10, *E4M3)),
        Case((61440.0, *E5M2)),
        Case((nan, *FP16)),
        Case((-0.0, *FP16)),
    ),
    groups=(
        Group(
            "ordinary numbers",
            _ordinary,
            8,
            "Find the grid around the number, then the nearest point of it.",
            _ordinary_corners,
        ),
        Group(
            "half-way",
            _tie,
            6,
            "Half-way between two numbers, take the one whose last bit is 0.",
            lambda rng: [_tie(rng, odd) for odd in (True, False, False)],
        ),
        Group(
            "small numbers",
            _below_normal,
            10,
            "Below the smallest normal number the grid does not become finer, down to zero.",
            _below_corners,
        ),
        Group(
            "the largest number",
            _near_the_top,
            9,
            "Round first; only what is then beyond the largest number becomes inf.",
            _top_corners,
        ),
        Group(
            "without infinities",
            _saturated,
            7,
            "Without infinities the largest exponent holds numbers, and what is beyond becomes the largest number.",
            _saturated_corners,
        ),
        Group(
            "zeros and nan",
            _special,
            5,
            "Zeros and nan stay as they are, and a zero keeps its sign.",
            lambda rng: [_special(rng, value) for value in (-0.0, -0.0, nan)],
        ),
    ),
    slips=(
        Slip(
            "The number was truncated: the nearest one is asked for.",
            edits=(
                ("round(abs(value) / step) * step", "math.floor(abs(value) / step) * step"),
                ("size if size <= largest else beyond", "min(size, largest)"),
            ),
        ),
        Slip(
            "Half-way, the number with an even last bit is taken; yours is always the larger one.",
            edit=("round(abs(value) / step)", "math.floor(abs(value) / step + 0.5)"),
        ),
        Slip(
            "Below the smallest normal number there are subnormal ones; yours makes them 0.",
            edit=(
                "return math.copysign(size if size <= largest else beyond, value)",
                "if size < 2.0 ** (1 - bias):\n"
                "        return math.copysign(0.0, value)\n"
                "    return math.copysign(size if size <= largest else beyond, value)",
            ),
        ),
        Slip(
            "The grid became finer and finer: below the smallest normal number it stays the same.",
            edit=("step = 2.0 ** (exponent", "step = 2.0 ** (math.frexp(value)[1] - 1"),
        ),
        Slip(
            "What rounds down to the largest number is no overflow: round first, then compare.",
            edits=(
                ("if math.isinf(value):", "if abs(value) > largest:"),
                ("size if size <= largest else beyond", "size"),
            ),
        ),
        Slip(
            "Without infinities the largest exponent holds numbers too: E4M3 reaches beyond what IEEE would leave it.",
            edit=("if not infinities:\n        largest = (2 - 2.0 ** (1 - mantissa_bits)) * 2.0 ** (bias + 1)", ""),
        ),
        Slip(
            "Without infinities, what is beyond becomes the largest number, not inf.",
            edits=(
                ("math.isnan(value) or value == 0", "value != value or value == 0 or math.isinf(value)"),
                ("size if size <= largest else beyond", "size if size <= largest else math.inf"),
            ),
        ),
        Slip(
            "A negative zero lost its sign: zeros stay as they are.",
            edit=("if math.isnan(value) or value == 0:", "value += 0.0\n    if math.isnan(value) or value == 0:"),
        ),
    ),
    rights=(
        Right("in fractions", program=rounded_in_fractions),
        Right(
            "by the exponent of a logarithm's neighbour",
            edit=(
                "    size = round(abs(value) / step) * step  # Python's round takes the even one of two\n",
                "    whole, rest = divmod(abs(value), step)\n"
                "    up = rest > step / 2 or (rest == step / 2 and whole % 2 == 1)\n"
                "    size = math.ldexp(whole + up, exponent - mantissa_bits)\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "nan stays nan",
            edit=(
                "    if math.isnan(value) or value == 0:\n        return float(value)\n",
                "    if math.isnan(value) or value == 0:\n        return value if value == 0 else 0.0\n",
            ),
        ),
        Promise(
            "zeros keep their sign",
            edit=("        return float(value)\n", "        return value + 0.0\n"),
        ),
        Promise(
            "what is rounded beyond it becomes inf",
            edit=("beyond = math.inf if infinities else largest", "beyond = largest"),
        ),
        Promise(
            "the largest exponent holds numbers too, all but the one with a full mantissa (nan)",
            edit=("largest = (2 - 2.0 ** (1 - mantissa_bits)) *", "largest = (2 - 2.0 ** -mantissa_bits) *"),
        ),
        Promise(
            "anything larger, inf included, becomes that number",
            edit=("        return math.copysign(beyond, value)\n", "        return value\n"),
        ),
        Promise(
            "of two that are equally near, the even one",
            edit=("round(abs(value) / step)", "math.floor(abs(value) / step + 0.5)"),
        ),
    ),
)
