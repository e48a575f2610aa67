"""Section 2.3, Deadlock: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="02-send-send",
        kind="trace",
        title="Both send first",
        section="2.3",
        options=(
            "both fail at the deadline, each in its send",
            "both finish: a float is small enough to be buffered",
            "one of them finishes, the other fails at the deadline",
            "both fail at the deadline, each in its receive",
        ),
        correct=0,
        derivation="On Gloo a send returns when the receiver has taken the message, however small it is. Each rank "
        "would receive after its send, and neither gets that far: a cycle of two waits.",
        slips={
            1: "Some MPI libraries do that. Gloo waits for the receiver, even with a single float.",
            2: "Both ranks run the same program, so whatever happens to one happens to the other.",
            3: "Neither rank gets as far as its receive: Gloo makes no copy, so the send before it does not return.",
        },
    ),
    Choice(
        id="02-eager",
        kind="trace",
        title="A buffer for small messages",
        section="2.3",
        options=("messages of up to 4 KB", "all sizes", "no size", "messages of more than 4 KB"),
        correct=0,
        derivation="A buffered send returns at once, so both ranks go on to their receives, and the messages are "
        "there. A larger message waits for a receive that the other rank would only call after its own send: a cycle "
        "of waits.",
        slips={
            1: "Above 4 KB the transport waits for the receiver, and then both ranks wait.",
            2: "Up to 4 KB a send does not wait, so both ranks go on to their receives.",
            3: "It is the other way around: the small messages are buffered.",
        },
    ),
)
