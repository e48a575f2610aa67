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
        derivation="Nothing about a tensor travels but its bytes. Sixteen of them arrive and fill the beginning of the "
        "buffer; that more would have fitted is not checked. The other way round, more bytes than fit, ends the "
        "process.",
        slips={
            1: "The receive is complete for Gloo: its bytes are there. Nobody compares the two sizes.",
            2: "A message is complete when its own bytes are there, and it was as long as the sender said.",
            3: "That is the reverse case: a message longer than its buffer.",
        },
    ),
    Question(
        id="02-dtype",
        kind="trace",
        title="A float in a buffer for an integer",
        section="2.1",
        parts=(
            Part(
                "value read",
                "",
                lambda: reinterpreted(1.0),
                tolerance=0,
                slips=(Slip("Nothing converts: four bytes are copied, and read as an integer.", value=1),),
            ),
        ),
        derivation="The float32 number 1.0 has sign 0, biased exponent 127 and fraction 0. Its 32 bits, read as an "
        "integer, are $127 \\cdot 2^{23}$.",
    ),
    Choice(
        id="02-wrong-source",
        kind="trace",
        title="A receive from the wrong rank",
        section="2.1",
        options=(
            "rank 0 in its send to 1, and rank 1 in its receive from 2",
            "rank 1 alone, in its receive from 2",
            "rank 2 alone, because it has not sent",
            "rank 0 alone, in its send to 1",
        ),
        correct=0,
        derivation="A message meets a receive that names its sender. Rank 1 names rank 2, so the message of rank 0 "
        "meets nothing, and rank 0 waits as well: on Gloo a send waits for its receive. Rank 2 has nothing to do and "
        "ends.",
        slips={
            1: "The send of rank 0 waits, too: no receive that names rank 0 is posted.",
            2: "Rank 2 does nothing wrong that it could notice: it has ended. The two that wait are reported.",
            3: "Rank 1 waits as well: for rank 2, which never sends.",
        },
    ),
)

CHAINS = (
    Question(
        id="02-chain-all-add",
        kind="derive",
        title="A chain in which all receivers add",
        section="2.2",
        parts=(
            Part(
                "value on rank 3",
                "",
                lambda: down_the_chain(42, [False, True, True, True]),
                tolerance=0,
                slips=(
                    Slip("The last rank receives, so it adds as well.", value=62),
                    Slip("Rank 0 receives nothing, so it adds nothing.", value=82),
                ),
            ),
        ),
        derivation="Ranks 1 to 3 receive, and each adds 10 once: $42 + 10\\,r$ on rank $r$.",
    ),
    Question(
        id="02-chain-relays-add",
        kind="derive",
        title="A chain in which only relays add",
        section="2.2",
        parts=(
            Part(
                "value on the last of 4 ranks",
                "",
                lambda: down_the_chain(42, [False, True, True, False]),
                tolerance=0,
                slips=(
                    Slip("Three ranks receive, and the last of them does not send: it does not add.", value=72),
                    Slip("Rank 0 receives nothing, and the last rank sends nothing: neither adds.", value=82),
                ),
            ),
            Part(
                "value on the last of 10 ranks",
                "",
                lambda: down_the_chain(42, [False, *[True] * 8, False]),
                tolerance=0,
                slips=(
                    Slip("Nine ranks receive, and the last of them does not send: it does not add.", value=132),
                    Slip("Rank 0 receives nothing, and the last rank sends nothing: neither adds.", value=142),
                ),
            ),
        ),
        derivation="The first rank does not receive and the last does not send. Of $W$ ranks, $W-2$ add: $42 + "
        "10\\,(W-2)$.",
    ),
    Question(
        id="02-full-circle",
        kind="derive",
        title="Once round a ring",
        section="2.2",
        parts=(
            Part(
                "value at home when rank 0 adds",
                "",
                lambda: down_the_chain(0, [True] * 4),
                tolerance=0,
                slips=(Slip("Rank 0 receives at last, and adds as well.", value=30),),
            ),
            Part(
                "value at home when rank 0 does not add",
                "",
                lambda: down_the_chain(0, [True] * 3 + [False]),
                tolerance=0,
                slips=(Slip("Three ranks receive it on the way; rank 0 does not add.", value=40),),
            ),
        ),
        derivation="On a ring of $W$ ranks the number makes $W$ hops, so $W$ ranks receive it, the last of them rank "
        "0: $10\\,W$ when all add, $10\\,(W-1)$ when rank 0 does not.",
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
        "would receive after its send, and neither gets there: a cycle of two waits.",
        slips={
            1: "Some MPI libraries do that. Gloo waits for the receiver, even for one float.",
            2: "The programs are alike: what holds for one rank holds for the other.",
            3: "Neither comes as far as its receive: the send before it does not return.",
        },
    ),
    Choice(
        id="02-eager",
        kind="trace",
        title="A buffer for small messages",
        section="2.3",
        options=("messages of up to 4 KB", "all sizes", "no size", "messages of more than 4 KB"),
        correct=0,
        derivation="A buffered send returns at once, so both ranks come to their receives, and the messages are there. "
        "A larger one waits for a receive that stands behind the other rank's send: a cycle of waits.",
        slips={
            1: "Above 4 KB the transport waits for the receiver, and both wait.",
            2: "Up to 4 KB a send does not wait, so both ranks go on to receive.",
            3: "It is the other way round: small messages are buffered.",
        },
    ),
    Choice(
        id="02-recv-recv",
        kind="trace",
        title="Both receive first",
        section="2.3",
        options=(
            "a deadlock: both wait in their receive",
            "both finish: every message is buffered",
            "small messages arrive, large ones do not",
            "one of them finishes",
        ),
        correct=0,
        derivation="A receive needs a message that was sent. Both sends stand behind the receives, so no message is "
        "ever sent, and there is nothing that a buffer could hold.",
        slips={
            1: "Buffers help those who send: here nobody comes as far as sending.",
            2: "No message is sent at all, of whatever size.",
            3: "The programs are alike: what holds for one rank holds for the other.",
        },
    ),
)

RINGS = (
    Question(
        id="02-parity-odd",
        kind="derive",
        title="An odd ring, even ranks first",
        section="2.4",
        parts=(
            Part(
                "until all have finished",
                "rounds",
                lambda: rounds(7, first_receiver=False),
                tolerance=0,
                slips=(
                    Slip("On 7 ranks, 6 and 0 are neighbours, and both even: one waits for a round.", value=2),
                    Slip("There is no cycle of waits: rank 6 waits for rank 0, which receives in the end.", value=0),
                    Slip(
                        "The wave of one rank that receives first takes as many: here pairs work side by side.", value=7
                    ),
                ),
            ),
        ),
        derivation="Round 1: ranks 0, 2 and 4 send to 1, 3 and 5. Rank 6 sends to rank 0, which still sends, so it "
        "waits. Round 2: ranks 1 and 3 send to 2 and 4, and rank 0 receives from rank 6. Rank 5 waits meanwhile, for "
        "rank 6 comes to its receive one round later than the others: their message passes last.",
    ),
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
                    Slip("That is the order by parity, in which all pairs work side by side.", value=2),
                    Slip("That leaves out rank 0's own send, which comes last.", value=7),
                    Slip("One rank that receives first is enough to break the cycle.", value=0),
                ),
            ),
        ),
        derivation="Only rank 0 receives, so only rank 7 gets rid of its message. Then rank 7 receives, and rank 6 can "
        "send; and so on down to rank 1, and at last rank 0 sends. One message in each round: as many rounds as ranks.",
    ),
)

BUFFERS = (
    Choice(
        id="02-overwrite",
        kind="trace",
        title="A buffer that is changed before the wait",
        section="2.5",
        options=(
            "zeros here, and in general nothing that is promised",
            "ones: `isend` has copied them",
            "ones: the transport locks the buffer until the wait",
            "an error: the buffer was changed while it was on its way",
        ),
        correct=0,
        derivation="`isend` notes where the buffer is and returns. The bytes are read when the receiver is ready, and "
        "by then they are zeros. Had it been ready earlier, ones would have gone, or some of each: until `wait()` the "
        "buffer belongs to the transport.",
        slips={
            1: "`isend` does not copy: that is why it returns at once.",
            2: "Nothing is locked: memory is memory, and whoever writes, writes.",
            3: "Nobody looks: the transport reads what stands there when it reads.",
        },
    ),
    Choice(
        id="02-measure",
        kind="design",
        title="What to time",
        section="2.5",
        options=(
            "nothing but noise; work between the post and the wait would pay",
            "the non-blocking pair is about twice as fast, because both directions overlap",
            "the non-blocking pair is faster, because `isend` does not wait for the receiver",
            "the blocking pair is faster, because a handle costs time; nothing would pay",
        ),
        correct=0,
        derivation="A blocking call is a post and a wait. With the wait right behind the post, both programs do the "
        "same, so they take the same time. What non-blocking calls give is the room between the two: a product or "
        "another message that goes on meanwhile is hidden.",
        slips={
            1: "There is one message, in one direction: nothing is there that could overlap.",
            2: "`isend` returns at once, but the `wait` behind it waits for the receiver all the same.",
            3: "A handle costs next to nothing, and work between post and wait is hidden.",
        },
    ),
)

TRACES = (*MATCHING, *CHAINS, *DEADLOCKS, *RINGS, *BUFFERS)
