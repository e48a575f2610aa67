"""Section 2.10, What the two sides must agree on: its questions."""

from __future__ import annotations

import struct

from autograder.items import Choice, Question, Slip


def reinterpreted(number: float) -> int:
    """The int32 that has the bits of a float32."""
    return struct.unpack("<i", struct.pack("<f", number))[0]


QUESTIONS = (
    Question(
        id="02-dtype",
        kind="trace",
        title="A float in a buffer for an integer",
        section="2.10",
        bonus=True,
        ask="value read",
        unit="",
        answer=lambda: reinterpreted(1.0),
        tolerance=0,
        slips=(Slip("Nothing is converted: four bytes are copied, and then read as an integer.", value=1),),
        derivation="The float32 number 1.0 has sign 0, biased exponent 127 and fraction 0. Its 32 bits, read as an "
        "integer, are $127 \\cdot 2^{23}$.",
    ),
    Choice(
        id="02-wrong-source",
        kind="trace",
        title="A receive from the wrong rank",
        section="2.10",
        bonus=True,
        options=(
            "rank 0 in its send to 1, and rank 1 in its receive from 2",
            "rank 1 alone, in its receive from 2",
            "rank 2 alone, because it has not sent",
            "rank 0 alone, in its send to 1",
        ),
        correct=0,
        derivation="A message is matched by a receive that names its sender. Rank 1 names rank 2, so nothing matches "
        "the message of rank 0, and rank 0 waits as well: on Gloo a send waits for its receive. Rank 2 has nothing to "
        "do and finishes.",
        slips={
            1: "The send of rank 0 waits too, because no receive that names rank 0 is ever posted.",
            2: "Rank 2 has finished without noticing anything. The report names the two ranks that wait.",
            3: "Rank 1 waits as well, for rank 2, which never sends.",
        },
    ),
)
