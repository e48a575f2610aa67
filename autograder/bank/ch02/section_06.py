"""Section 2.6, What a message costs: its questions."""

from __future__ import annotations

from autograder.items import Choice, Estimate, Landmark, Slip, lazily
from rankzero.facts import measured_links
from rankzero.facts.units import GB, KB, MB, ms, us

cost = lazily("solutions.ch02.alpha_beta")

#: How many numbers the activation of 4 sequences of 4,096 tokens has, 8,192 for each token.
NUMBERS = 4 * 4096 * 8192

#: A link of 100 Gb/s, as in the picture of the section: bandwidth and start-up.
ETHERNET = (12.5 * GB, 10 * us)


def _alps(message_bytes: float) -> float:
    """The time of a message over the measured link, by the line through its large messages."""
    alpha, bandwidth = measured_links.line_through(measured_links.ALPS, 8192)
    return cost.message_time(message_bytes, bandwidth, alpha)


QUESTIONS = (
    Estimate(
        id="02-small-or-one",
        title="A thousand small messages, or one",
        section="2.6",
        label="time of 1,000 messages of 1 KB, over that of one message of 1 MB",
        unit="x",
        answer=lambda: 1000 * cost.message_time(1 * KB, *ETHERNET) / cost.message_time(1 * MB, *ETHERNET),
        factor=1.7,
        scale=(1, 1e5),
        landmarks=(
            Landmark(1, "1", "the same bytes, so the same time"),
            Landmark(10, "10", "ten times as long"),
            Landmark(1000, "1,000", "as many times as there are messages"),
        ),
        slips=(
            Slip("That compares the bytes alone, but every message also has to start.", value=1),
            Slip(
                "That compares the start-ups alone. The bytes of the large message take eight times its start-up.",
                value=1000,
            ),
            Slip("The bytes of 1 MB take 80 µs, not 8: 12.5 GB/s is 12,500 bytes in a microsecond.", value=555),
        ),
        derivation="The small messages start 1,000 times, at 10 µs each, and their bytes add 80 µs: about 10 ms. The "
        "large one starts once and needs the same 80 µs: 0.09 ms.",
    ),
    Choice(
        id="02-jump",
        kind="trace",
        title="A jump between 4 and 8 KiB",
        section="2.6",
        options=(
            "the receiver now fetches the bytes instead of being sent them",
            "the message now needs two packets, one after the other",
            "the message no longer fits into the cache, which is faster",
            "the benchmark was disturbed while it measured the larger sizes",
        ),
        correct=0,
        derivation="Up to 4 KiB the library sends eagerly, as in section 2.3: the bytes go off at once. If no receive "
        "is posted yet, the receiver's side keeps them in a buffer. Of a larger message, only the first part is sent "
        "at once, and the receiver fetches the rest when its receive is posted. Asking for the rest takes a time that "
        "does not depend on the size; then the bytes go straight to where they belong.",
        slips={
            1: "A second packet follows right behind the first and adds a fraction of 1 µs for its bytes.",
            2: "A lower bandwidth would show in larger messages as well, and those fit 24 GB/s.",
            3: "All ten sizes above 4 KiB lie on one line with this start-up, so it is no accident.",
        },
    ),
    Estimate(
        id="02-activation",
        title="An activation between two stages",
        section="2.6",
        label="4 sequences of 4,096 tokens, 8,192 wide, in bf16, between the CPUs of two nodes",
        unit="ms",
        answer=lambda: _alps(2 * NUMBERS) / ms,
        factor=1.5,
        scale=(1e-3, 1e4),
        landmarks=(
            Landmark(0.008, "0.008", "the start-up alone"),
            Landmark(1, "1", "24 MB over this link"),
            Landmark(1000, "1,000", "24 GB over this link"),
        ),
        slips=(
            Slip("That is one byte per number: bf16 has two.", value=lambda: _alps(NUMBERS) / ms),
            Slip("That is four bytes per number, as in float32: bf16 has two.", value=lambda: _alps(4 * NUMBERS) / ms),
            Slip("24 GB/s is in gigabytes: there are no bits to convert.", value=lambda: 8 * _alps(2 * NUMBERS) / ms),
            Slip("That is one sequence: the batch has four.", value=lambda: _alps(2 * NUMBERS / 4) / ms),
        ),
        derivation="The tensor has $4 \\cdot 4096 \\cdot 8192$ numbers of 2 bytes, about 270 MB. At 24 GB/s that takes "
        "about 11 ms. The start-up of 8 µs does not matter at this size.",
    ),
)
