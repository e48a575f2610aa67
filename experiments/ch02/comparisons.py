"""Chapter 2's time of a message beside published ping-pongs. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping

from rankzero.facts.measured_links import ALPS, SOURCE, WITHOUT_HOOK, line_through
from rankzero.facts.units import KiB, format_bytes, us
from solutions.ch02.alpha_beta import message_time

from ..comparison import Compared, Comparison

#: The largest message that this network sends without asking first, bytes.
EAGER = 4 * KiB


def held_out(times: Mapping[int, float], network: str) -> tuple[Compared, ...]:
    """The sizes between the smallest and the largest, by the line through these two."""
    latency, bandwidth = line_through(times, min(times))
    return tuple(
        Compared(
            f"{network}, {format_bytes(size, binary=True)}",
            seconds / us,
            message_time(size, bandwidth, latency) / us,
            "µs",
        )
        for size, seconds in sorted(times.items())[1:-1]
    )


LARGE = {size: seconds for size, seconds in ALPS.items() if size > EAGER}

COMPARISONS = (
    Comparison(
        "2.6",
        "Time of a message, one line through the smallest and the largest size",
        "ch02.alpha_beta.message_time",
        "measured",
        SOURCE,
        (*held_out(ALPS, "Alps"), *held_out(WITHOUT_HOOK, "Alps, container not set up")),
        "The start-up jumps with the size: on Alps at 128 bytes, and between 4 and 8 KiB, where the protocol changes.",
        "the two sizes that the line was drawn through; between them measure, or fit each protocol by itself",
    ),
    Comparison(
        "2.6",
        "Time of a message, one line for each protocol",
        "ch02.alpha_beta.message_time",
        "measured",
        SOURCE,
        held_out(LARGE, "Alps"),
        "What else changes with the size, inside one protocol.",
        "plans, from 8 KiB on",
    ),
)
