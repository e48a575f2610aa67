"""Section 5.15, Rounding, exactly: its questions."""

from __future__ import annotations

from autograder.bank.ch05.quantities import fp16
from autograder.items import Choice, Part, Question, Slip
from rankzero.facts.units import GB, GiB

#: Two tensors of batch 4, sequence 4,096 and width 8,192 in each of 80 layers.
SAVED_NUMBERS = 80 * 2 * 4 * 4096 * 8192


QUESTIONS = (
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
                lambda: fp16(1.1 * 2.0**-25),
                slips=(Slip("Below the smallest normal number there are subnormal ones.", value=2.0**-14),),
            ),
            Part(
                "2⁻²⁵ becomes",
                "",
                lambda: fp16(2.0**-25),
                tolerance=0,
                slips=(
                    Slip("Half-way between 0 and the smallest number, the even one is taken.", value=2.0**-24),
                    Slip("fp16 has no such number.", value=2.0**-25),
                ),
            ),
            Part(
                "65,519 becomes",
                "",
                lambda: fp16(65_519.0),
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
    Choice(
        id="05-fp8-which-way",
        kind="trace",
        title="Two formats of 8 bits",
        section="5.15",
        bonus=True,
        options=(
            "E4M3 forward and E5M2 backward: weights and activations lie close together and need digits, gradients "
            "spread over many powers of two and need range",
            "E5M2 forward and E4M3 backward: gradients move the weights, so they need the digits",
            "E4M3 forward and E5M2 backward: activations are the larger numbers, and E4M3 reaches further",
            "E5M2 in both directions: it reaches as far as fp16, so that nothing needs a scale",
        ),
        correct=0,
        derivation="E4M3 has three bits of mantissa, so rounding is off by at most $2^{-4}$ of a number, and its "
        "numbers reach from $2^{-9}$ to 448, some 18 powers of two. E5M2 has two: $2^{-3}$, and from $2^{-16}$ to "
        "57,344, some 32 powers of two. Rounding errors of a gradient average out over a step's many rows; a gradient "
        "that has become zero is gone. Micikevicius et al. (2022) recommend E4M3 for weights and activations, E5M2 "
        "for gradients.",
        slips={
            1: "The noise of a batch is larger than the digit that E5M2 lacks; but gradients that E4M3 cannot reach "
            "are zero.",
            2: "E4M3 ends at 448, E5M2 at 57,344. And a scale takes care of size: what counts is how far apart the "
            "numbers of one tensor lie.",
            3: "Gradients need a scale even in fp16 (5.8), which has eight bits of mantissa more; and forward a digit "
            "is lost for nothing.",
        },
    ),
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
