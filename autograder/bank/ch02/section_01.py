"""Section 2.1, One sender, one receiver: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="02-short-buffer",
        kind="trace",
        title="A buffer longer than the message",
        section="2.1",
        options=(
            "it fills the first four elements and says nothing",
            "it raises an exception on the receiver",
            "the receiver waits for the other four floats",
            "the receiving process is aborted",
        ),
        correct=0,
        derivation="Only the bytes of a tensor travel. Sixteen of them arrive and fill the beginning of the buffer, "
        "and on Linux Gloo does not ask whether there was room for more. Too little room ends the process.",
        slips={
            1: "On Linux, Gloo's receive is complete once the bytes of the message are there. It only checks that the "
            "message is not too long.",
            2: "On a Mac it does. On Linux, Gloo takes a message as complete when all of its own bytes have arrived, "
            "however large the buffer is.",
            3: "That happens in the opposite case, when a message is longer than its buffer.",
        },
    ),
)
