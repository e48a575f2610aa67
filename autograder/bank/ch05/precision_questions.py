"""Chapter 5: the questions about numbers with few bits, and about the loss scale."""

from __future__ import annotations

from collections.abc import Callable

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import GB, GiB

precision = lazily("solutions.ch05.precision")
protocols = lazily("solutions.ch05.scaler_protocols")

#: Five steps, and sixteen: 1 is an overflow.
SHORT = (0, 1, 0, 1, 0)
LONG = (0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)

#: Two tensors of batch 4, sequence 4,096 and width 8,192 in each of 80 layers.
SAVED_NUMBERS = 80 * 2 * 4 * 4096 * 8192


def _fp16(value: float) -> float:
    return precision.round_to_format(value, 5, 10)


def _last(run: Callable[[], list[float]]) -> Callable[[], float]:
    return lambda: run()[-1]


def _doublings() -> int:
    return next(count for count in range(30) if _fp16(1e-8 * 2**count) > 0)


WHICH_WAY = Choice(
    id="05-fp8-which-way",
    kind="trace",
    title="Two formats of 8 bits",
    section="5.15",
    bonus=True,
    options=(
        "E4M3 forward and E5M2 backward: weights and activations lie close together and need digits, gradients spread "
        "over many powers of two and need range",
        "E5M2 forward and E4M3 backward: gradients move the weights, so they need the digits",
        "E4M3 forward and E5M2 backward: activations are the larger numbers, and E4M3 reaches further",
        "E5M2 in both directions: it reaches as far as fp16, so that nothing needs a scale",
    ),
    correct=0,
    derivation="E4M3 has three bits of mantissa, so rounding is off by at most $2^{-4}$ of a number, and its numbers "
    "reach from $2^{-9}$ to 448, some 18 powers of two. E5M2 has two: $2^{-3}$, and from $2^{-16}$ to 57,344, some 32 "
    "powers of two. Rounding errors of a gradient average out over a step's many rows; a gradient that has become "
    "zero is gone. Micikevicius et al. (2022) recommend E4M3 for weights and activations, E5M2 for gradients.",
    slips={
        1: "The noise of a batch is larger than the digit that E5M2 lacks; but gradients that E4M3 cannot reach are "
        "zero.",
        2: "E4M3 ends at 448, E5M2 at 57,344. And a scale takes care of size: what counts is how far apart the "
        "numbers of one tensor lie.",
        3: "Gradients need a scale even in fp16 (5.8), which has eight bits of mantissa more; and forward a digit is "
        "lost for nothing.",
    },
)

FORMATS = (
    Question(
        id="05-fp16-edge",
        kind="derive",
        title="The edges of fp16",
        section="5.15",
        bonus=True,
        parts=(
            Part(
                "smallest normal number",
                "",
                lambda: 2.0 ** (1 - (2**4 - 1)),
                slips=(Slip("That is the smallest subnormal number.", value=2.0**-24),),
            ),
            Part(
                "smallest number above zero",
                "",
                lambda: _fp16(1.1 * 2.0**-25),
                slips=(Slip("Below the smallest normal number there are subnormal ones.", value=2.0**-14),),
            ),
            Part(
                "2⁻²⁵ becomes",
                "",
                lambda: _fp16(2.0**-25),
                tolerance=0,
                slips=(
                    Slip("Half-way between 0 and the smallest number, the even one is taken.", value=2.0**-24),
                    Slip("fp16 has no such number.", value=2.0**-25),
                ),
            ),
            Part(
                "65,519 becomes",
                "",
                lambda: _fp16(65_519.0),
                tolerance=0,
                slips=(
                    Slip("fp16 has no such number: near the top its numbers lie 32 apart.", value=65_519),
                    Slip("That would be the next number, which has become inf.", value=2.0**16),
                ),
            ),
        ),
        derivation="5 exponent bits: bias 15, smallest normal exponent $-14$. 10 mantissa bits: the subnormal numbers "
        "are multiples of $2^{-14-10}$. The largest number is $(2 - 2^{-10})\\,2^{15}$, and what lies less than half "
        "a step of $2^5$ above it is rounded down to it.",
    ),
    WHICH_WAY,
    Question(
        id="05-fp8-activations",
        kind="derive",
        title="Activations in 8 bits",
        section="5.15",
        bonus=True,
        parts=(
            Part(
                "in bf16",
                "GB",
                lambda: SAVED_NUMBERS * 2 / GB,
                slips=(
                    Slip(
                        "That is eight times as much, as if it were bits: these are bytes.",
                        value=8 * SAVED_NUMBERS * 2 / GB,
                    ),
                    Slip("That is GiB.", value=SAVED_NUMBERS * 2 / GiB),
                    Slip(
                        "That is half of it: two tensors for each layer, two bytes for each number.",
                        value=SAVED_NUMBERS / GB,
                    ),
                ),
            ),
            Part(
                "saved by fp8",
                "GB",
                lambda: SAVED_NUMBERS * (2 - 1) / GB,
                slips=(
                    Slip("The numbers still take one byte each.", value=SAVED_NUMBERS * 2 / GB),
                    Slip(
                        "That is eight times as much, as if it were bits: these are bytes.",
                        value=8 * SAVED_NUMBERS / GB,
                    ),
                    Slip("That is GiB.", value=SAVED_NUMBERS / GiB),
                ),
            ),
        ),
        derivation="$80 \\cdot 2 \\cdot 4 \\cdot 4096 \\cdot 8192$ numbers: layers, tensors of a layer, batch, "
        "sequence, width. They take 2 bytes each in bf16 and 1 in fp8.",
    ),
)

SCALES = (
    Question(
        id="05-scale-trace",
        kind="trace",
        title="A scale over five steps, and over sixteen",
        section="5.8",
        parts=(
            Part(
                "after five steps, from 65,536",
                "",
                lambda: precision.dynamic_loss_scale(SHORT, 65_536.0, 2000),
                tolerance=0,
                slips=(
                    Slip("Two overflows halve twice.", value=65_536 / 2),
                    Slip("Clean steps do not halve: there are two overflows.", value=65_536 / 2**3),
                ),
            ),
            Part(
                "after sixteen steps, from 1,024",
                "",
                _last(lambda: protocols.torch_scales(LONG, 1024.0, 3)),
                tolerance=0,
                slips=(
                    Slip(
                        "That forgives the first overflow after a growth: torch does not.",
                        value=_last(lambda: protocols.megatron_scales(LONG, 1024.0, 3)),
                    ),
                    Slip(
                        "Growth comes at the third clean step in a row, not at the fourth.",
                        value=_last(lambda: protocols.deepspeed_scales(LONG, 1024.0, 3)),
                    ),
                ),
            ),
        ),
        derivation="An overflow halves the scale and sets the count of clean steps back to 0. When the count reaches "
        "the interval, the scale doubles and the count restarts. The first run has the interval 2,000 and the steps "
        "clean, overflow, clean, overflow, clean; the second starts at 1,024 with the interval 3 and has the steps "
        "`[0,0,0,1,1,0,0,0,0,1,0,0,0,0,0,0]`.",
    ),
    Question(
        id="05-scale-credit",
        kind="trace",
        title="One overflow is forgiven",
        section="5.16",
        bonus=True,
        parts=(
            Part(
                "after sixteen steps, Megatron with hysteresis 2",
                "",
                _last(lambda: protocols.megatron_scales(LONG, 1024.0, 3)),
                tolerance=0,
                slips=(
                    Slip(
                        "That is torch: here the first overflow since the scale last grew costs nothing.",
                        value=_last(lambda: protocols.torch_scales(LONG, 1024.0, 3)),
                    ),
                    Slip(
                        "The second overflow since the scale last grew does halve.",
                        value=lambda: 2 * protocols.megatron_scales(LONG, 1024.0, 3)[-1],
                    ),
                ),
            ),
        ),
        derivation="As under torch, an overflow halves the scale and sets the count of clean steps back to 0, and "
        "three clean steps in a row double it, from 1,024, over the steps `[0,0,0,1,1,0,0,0,0,1,0,0,0,0,0,0]`. But "
        "Megatron forgives one overflow since the scale last grew, and only growing renews that credit.",
    ),
    Question(
        id="05-doublings",
        kind="derive",
        title="A gradient that must survive",
        section="5.16",
        bonus=True,
        parts=(
            Part(
                "doublings of the scale, from 1, until a gradient of 1e-8 survives in fp16",
                "",
                _doublings,
                tolerance=0,
                slips=(
                    Slip(
                        "Half of the smallest number is enough: what is above it is rounded up.",
                        value=lambda: next(k for k in range(30) if 1e-8 * 2**k >= 2.0**-24),
                    ),
                    Slip(
                        "Subnormal numbers count: it need not be a normal one.",
                        value=lambda: next(k for k in range(30) if 1e-8 * 2**k >= 2.0**-14),
                    ),
                ),
            ),
        ),
        derivation="The smallest fp16 number is $2^{-24}$. A number survives when it is rounded up to it: when it is "
        "more than half of it, $2^{-25} \\approx 3 \\cdot 10^{-8}$. Double $10^{-8}$ until it is.",
    ),
)
