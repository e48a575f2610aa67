"""Chapter 02: the questions about what a run does: which number arrives, who waits, what a buffer holds."""

from __future__ import annotations

import struct

from autograder.bank.ch02.deadlock import ring
from autograder.items import Choice, Part, Question, Slip, lazily

deadlock = lazily("solutions.ch02.deadlock")


def down_the_chain(start: float, adds: list[bool], increment: float = 10) -> float:
    """A value after it has passed ranks of which some add."""
    for one in adds:
        start += increment * one
    return start


def rounds(ranks: int, first_receiver: bool) -> int:
    """Rounds of a ring in which rank 0 alone receives first, or else every odd rank."""
    programs = ring(ranks, (lambda rank: rank != 0) if first_receiver else (lambda rank: rank % 2 == 0))
    return deadlock.simulate(programs)[0]


def reinterpreted(number: float) -> int:
    """The int32 that has the bits of a float32."""
    return struct.unpack("<i", struct.pack("<f", number))[0]


MATCHING = (
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
        "and nobody checks whether there was room for more. Too little room is another matter: it ends the process.",
        slips={
            1: "For Gloo the receive is complete once the bytes of the message are there. It never compares the sizes.",
            2: "A message is complete when all of its own bytes have arrived, however large the buffer is.",
            3: "That happens in the opposite case, when a message is longer than its buffer.",
        },
    ),
)

CHAINS = (
    Choice(
        id="02-staircase",
        kind="trace",
        title="A chain of eight ranks",
        section="2.2",
        options=(
            "0.7 ms: one hop after another",
            "0.3 ms: all receives run at once",
            "0.6 ms: twice the ranks, twice the time",
            "0.4 ms: twice the ranks, one more step",
        ),
        correct=0,
        derivation="The number crosses one hop after another, and eight ranks have seven hops between them. Calling "
        "`recv` early costs nothing and gains nothing: the receive ends when the number arrives.",
        slips={
            1: "A receive that begins early still ends only when its message comes, after all hops before it.",
            2: "Count the hops, not the ranks: four ranks have three hops, and eight ranks have seven.",
            3: "Logarithms belong to trees, where several ranks send at the same time. In a chain one does.",
        },
    ),
)

DEADLOCKS = (
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

RINGS = (
    Question(
        id="02-one-reversed",
        kind="derive",
        title="One rank receives first",
        section="2.4",
        parts=(
            Part(
                "until all have finished",
                "rounds",
                lambda: rounds(8, first_receiver=True),
                tolerance=0,
                slips=(
                    Slip("Two rounds is what even and odd ranks need, whose pairs work side by side.", value=2),
                    Slip("That leaves out the message of rank 0 itself, which comes last.", value=7),
                    Slip("One rank that receives first is enough to break the cycle: all of them finish.", value=0),
                    Slip(
                        "Everybody but rank 0 is in a send. Only the send that rank 0 is waiting for can complete.",
                        value=1,
                    ),
                ),
            ),
        ),
        derivation="Only rank 0 receives, so in round 1 only rank 7 delivers its message. Then rank 7 receives, "
        "which lets rank 6 send, and so on down to rank 1; rank 0 sends last. One message per round makes as many "
        "rounds as ranks.",
    ),
)

BUFFERS = (
    Choice(
        id="02-overwrite",
        kind="trace",
        title="A buffer that is changed before the wait",
        section="2.5",
        options=(
            "zeros: the bytes are read later",
            "ones: `isend` has copied them",
            "ones: the buffer is locked until the wait",
            "an error: the buffer was changed too early",
        ),
        correct=0,
        derivation="`isend` notes where the buffer is, and returns. The transport reads the bytes when the receiver is "
        "ready, and by then they are zeros. Had the receiver been ready sooner, ones would have been sent, or some of "
        "each: until `wait()` the buffer belongs to the transport.",
        slips={
            1: "`isend` does not copy the tensor. That is why it can return at once.",
            2: "Nothing is locked. The memory is yours to write to, and the transport cannot know that you did.",
            3: "Nobody checks. The transport sends whatever the buffer holds at the moment it reads it.",
        },
    ),
    Choice(
        id="02-measure",
        kind="design",
        title="A post and its wait, back to back",
        section="2.5",
        options=(
            "they take the same time, apart from noise",
            "they take half the time: send and receive overlap",
            "they are faster: `isend` waits for nobody",
            "they are slower: each call needs a handle",
        ),
        correct=0,
        derivation="A blocking call is a post and a wait. With the wait right behind the post, both programs do the "
        "same and take the same time. What non-blocking calls give you is the room in between, for a product or "
        "another message.",
        slips={
            1: "There is one message, and it goes one way. Nothing else is there for it to overlap with.",
            2: "`isend` returns at once, but the `wait` right after it waits for the receiver all the same.",
            3: "A handle takes microseconds at most. What matters is whether anything happens before the wait.",
        },
    ),
)

TRACES = (*MATCHING, *CHAINS, *DEADLOCKS, *RINGS, *BUFFERS)
