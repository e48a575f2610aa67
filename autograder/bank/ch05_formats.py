"""Chapter 5: the exercise that rounds a number to a format of few bits."""

from __future__ import annotations

from math import inf, nan
from random import Random

from autograder.items import Build, Case, Group, Slip, invalid

FP16, BF16, TF32, E5M2, E4M3 = (5, 10), (8, 7), (8, 10), (5, 2), (4, 3, False)
IEEE = (FP16, BF16, TF32, E5M2)


def slip_truncated(value, exponent_bits, mantissa_bits, infinities=True):
    import math

    if exponent_bits not in range(2, 9) or mantissa_bits not in range(1, 24):
        raise ValueError("bits")
    if value != value or value == 0:
        return value
    bias = 2 ** (exponent_bits - 1) - 1
    largest = (2 - 2.0**-mantissa_bits) * 2.0**bias
    if not infinities:
        largest = (2 - 2.0 ** (1 - mantissa_bits)) * 2.0 ** (bias + 1)
    if abs(value) > largest:
        return math.copysign(math.inf if infinities and math.isinf(value) else largest, value)
    step = 2.0 ** (max(math.frexp(value)[1] - 1, 1 - bias) - mantissa_bits)
    return math.copysign(math.floor(abs(value) / step) * step, value)


def slip_ties_away(value, exponent_bits, mantissa_bits, infinities=True):
    import math

    if exponent_bits not in range(2, 9) or mantissa_bits not in range(1, 24):
        raise ValueError("bits")
    if value != value or value == 0:
        return value
    bias = 2 ** (exponent_bits - 1) - 1
    largest = (2 - 2.0**-mantissa_bits) * 2.0**bias
    if not infinities:
        largest = (2 - 2.0 ** (1 - mantissa_bits)) * 2.0 ** (bias + 1)
    beyond = math.inf if infinities else largest
    if math.isinf(value):
        return math.copysign(beyond, value)
    step = 2.0 ** (max(math.frexp(value)[1] - 1, 1 - bias) - mantissa_bits)
    size = math.floor(abs(value) / step + 0.5) * step
    return math.copysign(size if size <= largest else beyond, value)


def slip_no_subnormals(value, exponent_bits, mantissa_bits, infinities=True):
    import math

    if exponent_bits not in range(2, 9) or mantissa_bits not in range(1, 24):
        raise ValueError("bits")
    if value != value or value == 0:
        return value
    bias = 2 ** (exponent_bits - 1) - 1
    largest = (2 - 2.0**-mantissa_bits) * 2.0**bias
    if not infinities:
        largest = (2 - 2.0 ** (1 - mantissa_bits)) * 2.0 ** (bias + 1)
    beyond = math.inf if infinities else largest
    if math.isinf(value):
        return math.copysign(beyond, value)
    step = 2.0 ** (max(math.frexp(value)[1] - 1, 1 - bias) - mantissa_bits)
    size = round(abs(value) / step) * step
    if size < 2.0 ** (1 - bias):
        return math.copysign(0.0, value)
    return math.copysign(size if size <= largest else beyond, value)


def slip_grid_without_end(value, exponent_bits, mantissa_bits, infinities=True):
    import math

    if exponent_bits not in range(2, 9) or mantissa_bits not in range(1, 24):
        raise ValueError("bits")
    if value != value or value == 0:
        return value
    bias = 2 ** (exponent_bits - 1) - 1
    largest = (2 - 2.0**-mantissa_bits) * 2.0**bias
    if not infinities:
        largest = (2 - 2.0 ** (1 - mantissa_bits)) * 2.0 ** (bias + 1)
    beyond = math.inf if infinities else largest
    if math.isinf(value):
        return math.copysign(beyond, value)
    step = 2.0 ** (math.frexp(value)[1] - 1 - mantissa_bits)
    size = round(abs(value) / step) * step
    return math.copysign(size if size <= largest else beyond, value)


def slip_overflow_before_rounding(value, exponent_bits, mantissa_bits, infinities=True):
    import math

    if exponent_bits not in range(2, 9) or mantissa_bits not in range(1, 24):
        raise ValueError("bits")
    if value != value or value == 0:
        return value
    bias = 2 ** (exponent_bits - 1) - 1
    largest = (2 - 2.0**-mantissa_bits) * 2.0**bias
    if not infinities:
        largest = (2 - 2.0 ** (1 - mantissa_bits)) * 2.0 ** (bias + 1)
    if abs(value) > largest:
        return math.copysign(math.inf if infinities else largest, value)
    step = 2.0 ** (max(math.frexp(value)[1] - 1, 1 - bias) - mantissa_bits)
    return math.copysign(round(abs(value) / step) * step, value)


def slip_top_exponent_reserved(value, exponent_bits, mantissa_bits, infinities=True):
    import math

    if exponent_bits not in range(2, 9) or mantissa_bits not in range(1, 24):
        raise ValueError("bits")
    if value != value or value == 0:
        return value
    bias = 2 ** (exponent_bits - 1) - 1
    largest = (2 - 2.0**-mantissa_bits) * 2.0**bias
    beyond = math.inf if infinities else largest
    if math.isinf(value):
        return math.copysign(beyond, value)
    step = 2.0 ** (max(math.frexp(value)[1] - 1, 1 - bias) - mantissa_bits)
    size = round(abs(value) / step) * step
    return math.copysign(size if size <= largest else beyond, value)


def slip_always_infinite(value, exponent_bits, mantissa_bits, infinities=True):
    import math

    if exponent_bits not in range(2, 9) or mantissa_bits not in range(1, 24):
        raise ValueError("bits")
    if value != value or value == 0 or math.isinf(value):
        return value
    bias = 2 ** (exponent_bits - 1) - 1
    largest = (2 - 2.0**-mantissa_bits) * 2.0**bias
    if not infinities:
        largest = (2 - 2.0 ** (1 - mantissa_bits)) * 2.0 ** (bias + 1)
    step = 2.0 ** (max(math.frexp(value)[1] - 1, 1 - bias) - mantissa_bits)
    size = round(abs(value) / step) * step
    return math.copysign(size if size <= largest else math.inf, value)


def slip_formats_unchecked(value, exponent_bits, mantissa_bits, infinities=True):
    import math

    if value != value or value == 0:
        return value
    bias = 2.0 ** (exponent_bits - 1) - 1
    largest = (2 - 2.0**-mantissa_bits) * 2.0 ** min(bias, 1000)
    if not infinities:
        largest = (2 - 2.0 ** (1 - mantissa_bits)) * 2.0 ** (min(bias, 1000) + 1)
    beyond = math.inf if infinities else largest
    if math.isinf(value):
        return math.copysign(beyond, value)
    step = 2.0 ** (max(math.frexp(value)[1] - 1, 1 - bias) - mantissa_bits)
    size = round(abs(value) / step) * step
    return math.copysign(size if size <= largest else beyond, value)


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


def _special(rng: Random) -> Case:
    return Case((rng.choice((nan, 0.0, -0.0)), *rng.choice((*IEEE, E4M3))))


def _bad_format(rng: Random) -> list[Case]:
    value = _single(rng, -6, 6)
    exponents = [invalid(value, bits, 7) for bits in (0, 1, 9, -1)]
    return [*exponents, *(invalid(value, 5, bits) for bits in (0, 24, -2)), invalid(value, 5.5, 2)]


ROUND = Build(
    id="05-round-to-format",
    module="precision",
    function="round_to_format",
    grade="call",
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
        invalid(1.0, 9, 7),
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
            "Below the smallest normal number the grid stays as it is there, down to zero.",
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
        Group("zeros and nan", _special, 3, "Zeros and nan stay."),
        Group(
            "bad input", lambda rng: rng.choice(_bad_format(rng)), 8, "Bad input must raise ValueError.", _bad_format
        ),
    ),
    slips=(
        Slip("The number was cut off: the nearest one is asked for.", slip_truncated),
        Slip("Half-way, the number with an even last bit is taken; yours is always the larger one.", slip_ties_away),
        Slip("Below the smallest normal number there are subnormal ones; yours makes them 0.", slip_no_subnormals),
        Slip("The grid became finer and finer: below the smallest normal number it stays.", slip_grid_without_end),
        Slip(
            "What rounds down to the largest number is no overflow: round first, then compare.",
            slip_overflow_before_rounding,
        ),
        Slip(
            "Without infinities the largest exponent holds numbers too: E4M3 reaches beyond what IEEE would leave it.",
            slip_top_exponent_reserved,
        ),
        Slip("Without infinities, what is beyond becomes the largest number, not inf.", slip_always_infinite),
        Slip("Impossible formats were accepted: 2 to 8 exponent bits, 1 to 23 mantissa bits.", slip_formats_unchecked),
    ),
    section="5.9",
    topic="numbers with few bits",
)

ITEMS = (ROUND,)
