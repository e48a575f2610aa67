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
            "both hang, each in its send",
            "both finish: a float is small enough to be buffered",
            "one of them finishes, and the other hangs",
            "both hang, each in its receive",
        ),
        correct=0,
        derivation="On Gloo a send does not return before the receiver has posted its receive, however small the "
        "message is. Each rank would receive after its send, and neither gets that far: a cycle of two waits.",
        slips={
            1: "Some MPI libraries do that. Gloo waits for the receiver, even with a single float.",
            2: "Neither send returns before the other rank receives, and neither rank gets that far, whichever is "
            "faster.",
            3: "Neither rank gets as far as its receive: Gloo makes no copy, so the send before it does not return.",
        },
    ),
    Choice(
        id="02-catch-eager",
        kind="debug",
        title="A test that would have caught it",
        section="2.3",
        options=(
            "larger tensors, as large as in production",
            "many more runs: a race shows itself only rarely",
            "more ranks: a cycle of waits needs at least three",
            "a barrier, so that both ranks send at the same moment",
        ),
        correct=0,
        derivation="A buffered send returns at once, so both ranks go on to their receives, and the messages are "
        "there. A large message waits for a receive that the other rank would only call after its own send: a cycle "
        "of waits, in every run. (A send that always waits, such as MPI's `MPI_Ssend`, shows it at any size.)",
        slips={
            1: "It is no race: at 2 KB the program finishes in every run, and above the limit it hangs in every run.",
            2: "Two ranks that wait for each other are a cycle. At 2 KB they do not wait.",
            3: "Even then neither send waits at 2 KB, and both ranks go on to their receives.",
        },
    ),
)
