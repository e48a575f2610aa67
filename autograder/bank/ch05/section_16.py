"""Section 5.16, Dynamic loss scaling: its questions."""

from __future__ import annotations

from autograder.bank.ch05.quantities import LONG, fp16, last
from autograder.items import Question, Slip, lazily

protocols = lazily("solutions.ch05.scaler_protocols")


def _doublings() -> int:
    return next(count for count in range(30) if fp16(1e-8 * 2**count) > 0)


QUESTIONS = (
    Question(
        id="05-doublings",
        kind="derive",
        title="A gradient that must survive",
        section="5.16",
        bonus=True,
        ask="doublings of the scale, from 1, until a gradient of 1e-8 survives in fp16",
        unit="",
        answer=_doublings,
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
        derivation="The smallest fp16 number is $2^{-24}$. A number survives when it is rounded up to it: when it is "
        "more than half of it, $2^{-25} \\approx 3 \\cdot 10^{-8}$. Double $10^{-8}$ until it is.",
    ),
    Question(
        id="05-scale-credit",
        kind="trace",
        title="One overflow is forgiven",
        section="5.16",
        bonus=True,
        ask="after sixteen steps, Megatron with hysteresis 2",
        unit="",
        answer=last(lambda: protocols.megatron_scales(LONG, 1024.0, 3)),
        tolerance=0,
        slips=(
            Slip(
                "That is torch: here the first overflow since the scale last grew costs nothing.",
                value=last(lambda: protocols.torch_scales(LONG, 1024.0, 3)),
            ),
            Slip(
                "The second overflow since the scale last grew does halve.",
                value=lambda: 2 * protocols.megatron_scales(LONG, 1024.0, 3)[-1],
            ),
        ),
        derivation="As under torch, an overflow halves the scale and sets the count of clean steps back to 0, and "
        "three clean steps in a row double it, from 1,024, over the steps `[0,0,0,1,1,0,0,0,0,1,0,0,0,0,0,0]`. But "
        "Megatron forgives one overflow since the scale last grew, and only growing renews that credit.",
    ),
)
