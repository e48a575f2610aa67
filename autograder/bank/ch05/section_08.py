"""Section 5.8, Numbers with few bits: its questions."""

from __future__ import annotations

from autograder.bank.ch05.quantities import last
from autograder.items import Choice, Part, Question, Slip, lazily

precision = lazily("solutions.ch05.precision")
protocols = lazily("solutions.ch05.scaler_protocols")

#: Five steps, and seven: 1 is an overflow.
SHORT, SEVEN = (0, 1, 0, 1, 0), (0, 0, 0, 1, 0, 0, 0)


QUESTIONS = (
    Choice(
        id="05-bf16-stall",
        kind="trace",
        title="A thousand small steps",
        section="5.8",
        options=(
            "1.0: each sum lies nearer to 1.0 than to the next number, and is rounded back to it",
            "2.0: some sums are rounded up and others down, and over a thousand steps that evens out",
            "about 1.99: each addition loses a little, less than a percent of the update",
            "about 1.5: half of the additions are rounded away, and half count double",
        ),
        correct=0,
        derivation="With 7 binary digits after the point, the bf16 numbers after 1.0 lie $2^{-7} \\approx 0.0078$ "
        "apart. An update of 0.001 is less than half of that, so the sum is rounded back to 1.0, every time. In fp32 "
        "the numbers lie $2^{-23}$ apart, and the update counts.",
        slips={
            1: "Errors even out when they have both signs. Here all sums are equal, so all are rounded to the same "
            "side.",
            2: "The whole update is lost, not a part of it: between 1.0 and 1.0078 there is no number in bf16.",
            3: "This rounding is not random. The sum is the same in each step, and so is the number it is rounded to.",
        },
    ),
    Question(
        id="05-scale-trace",
        kind="trace",
        title="A scale over five steps, and over seven",
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
                "after seven steps, from 1,024",
                "",
                last(lambda: protocols.torch_scales(SEVEN, 1024.0, 3)),
                tolerance=0,
                slips=(
                    Slip(
                        "That forgives the first overflow after a growth: torch does not.",
                        value=last(lambda: protocols.megatron_scales(SEVEN, 1024.0, 3)),
                    ),
                    Slip(
                        "Growth comes at the third clean step in a row, not at the fourth.",
                        value=last(lambda: protocols.deepspeed_scales(SEVEN, 1024.0, 3)),
                    ),
                ),
            ),
        ),
        derivation="An overflow halves the scale and sets the count of clean steps back to 0. When the count reaches "
        "the interval, the scale doubles and the count restarts. The first run has the interval 2,000 and the steps "
        "clean, overflow, clean, overflow, clean; the second starts at 1,024 with the interval 3 and has three "
        "clean steps, an overflow and three clean steps.",
    ),
    Choice(
        id="05-block-scale",
        kind="trace",
        title="One outlier, one scale",
        section="5.8",
        options=(
            "in E4M3 hardly anything, in E2M1 all become 0: the formats' ranges decide",
            "in both all become 0: the outlier alone sets the scale, and the others are a thousandth of it",
            "in both their errors grow a thousandfold: rounding errors are proportional to the scale",
            "in both hardly anything: a scale moves all numbers alike, so relative errors stay as they are",
        ),
        correct=0,
        derivation="After scaling, the outlier is the format's largest number, and the others reach about a thousandth "
        "of it. In E4M3 that is 0.448. Numbers from $2^{-6}$ on keep all three bits of the mantissa, so about nine in "
        "ten of the others are as exact as before. In E2M1 it is 0.006, and what is below 0.25 becomes 0.",
        slips={
            1: "True for E2M1. A thousandth of 448 is 0.448, and E4M3 reaches down to $2^{-9} \\approx 0.002$.",
            2: "That holds for integers, which have one spacing. Near 0, floating-point numbers are closer together.",
            3: "That holds as long as the numbers stay within the format's range. E2M1's largest number is only 12 "
            "times its smallest.",
        },
    ),
)
