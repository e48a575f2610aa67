"""Chapter 02: the questions about time: of a message, of a relay, of a model in stages."""

from __future__ import annotations

from autograder.bank.ch02.deadlock import chain
from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB, KB, MB, Gbit, ms, us

cost = lazily("solutions.ch02.alpha_beta")
deadlock = lazily("solutions.ch02.deadlock")
stages = lazily("solutions.ch02.model_parallel")

ACTIVATION = 4 * 4096 * 8192 * 2  # bytes


def _relay(chunks: int) -> float:
    return cost.relay_time(64 * MB, 3, chunks, 50 * GB, 5 * us)


def _best() -> int:
    return cost.best_chunks(64 * MB, 3, 50 * GB, 5 * us)


def _blocking_rounds() -> int:
    """3 hops, 8 chunks, blocking calls."""
    return deadlock.simulate(chain(4, 8))[0]


def _rounds_of_chunks(rounds: int) -> float:
    """So many rounds in each of which an eighth of 64 MB passes, milliseconds."""
    return rounds * cost.message_time(64 * MB / 8, 50 * GB, 5 * us) / ms


def _step(backward: float = 2.0) -> tuple[float, float]:
    return stages.naive_step(12, 3, 10 * ms, 5 * ms, backward)


MESSAGES = (
    Question(
        id="02-half-bandwidth",
        kind="derive",
        title="Half of the bandwidth",
        section="2.6",
        parts=(
            Part(
                "size",
                "bytes",
                lambda: 5 * us * 50 * GB,
                slips=(
                    Slip("That is the number of bits.", value=lambda: 8 * 5 * us * 50 * GB),
                    Slip(
                        "That message takes one and a half times the latency: at half of the bandwidth, twice.",
                        value=lambda: 5 * us * 50 * GB / 2,
                    ),
                ),
            ),
        ),
        derivation="The message gets $\\frac{m}{\\alpha + m/B}$ bytes per second. That is $B/2$ when both parts of its "
        "time are equal: $m/B = \\alpha$, so $m = \\alpha B$.",
    ),
    Question(
        id="02-small-or-one",
        kind="derive",
        title="A hundred small messages, or one",
        section="2.6",
        parts=(
            Part(
                "times longer",
                "x",
                lambda: (
                    100 * cost.message_time(10 * KB, 12.5 * GB, 10 * us) / cost.message_time(1 * MB, 12.5 * GB, 10 * us)
                ),
                slips=(
                    Slip("That compares start-ups alone: the bytes take the same time either way.", value=100),
                    Slip("That compares bytes alone: each message starts up.", value=1),
                ),
            ),
        ),
        derivation="The bytes are the same, so are the bytes over the bandwidth. What differs is the number of "
        "start-ups:\n\n$$\\frac{100\\,\\alpha + m/B}{\\alpha + m/B}, \\qquad m = 1\\text{ MB},\\; B = 12.5\\text{ "
        "GB/s},\\; \\alpha = 10\\text{ µs}.$$",
    ),
    Question(
        id="02-gigabits",
        kind="derive",
        title="A link quoted in bits",
        section="2.6",
        parts=(
            Part(
                "time",
                "ms",
                lambda: cost.message_time(100 * MB, 100 * Gbit) / ms,
                slips=(
                    Slip("Gigabits were read as gigabytes.", value=lambda: cost.message_time(100 * MB, 100 * GB) / ms),
                    Slip(
                        "100 MB are a tenth of a GB, not 100/1024 of it.",
                        value=lambda: 100 / 1024 * GB / (100 * Gbit) / ms,
                    ),
                ),
            ),
        ),
        derivation="Networks are quoted in bits: 100 Gb/s are $100 \\cdot 10^9 / 8$ bytes per second. Then $m/B$ with "
        "$m = 100 \\cdot 10^6$ bytes.",
    ),
    Question(
        id="02-activation",
        kind="derive",
        title="An activation between two stages",
        section="2.6",
        parts=tuple(
            Part(
                name,
                "ms",
                lambda link=link: cost.message_time(ACTIVATION, *link) / ms,  # type: ignore[misc]
                slips=(
                    Slip(
                        "That is one byte for each element: bf16 has two.",
                        value=lambda link=link: cost.message_time(ACTIVATION / 2, *link) / ms,  # type: ignore[misc]
                    ),
                    Slip(
                        "That is four bytes for each element, as in float32: bf16 has two.",
                        value=lambda link=link: cost.message_time(ACTIVATION * 2, *link) / ms,  # type: ignore[misc]
                    ),
                ),
            )
            for name, link in (("over InfiniBand", (50 * GB, 5 * us)), ("over NVLink", (450 * GB, 1 * us)))
        ),
        derivation="The tensor has $4 \\cdot 4096 \\cdot 8192$ elements of 2 bytes. Its time is $\\alpha + m/B$; at "
        "this size the start-up hardly counts.",
    ),
)

RELAYS = (
    Question(
        id="02-chunks",
        kind="derive",
        title="How many chunks",
        section="2.7",
        parts=(
            Part(
                "best number of chunks",
                "chunks",
                _best,
                slips=(
                    Slip(
                        "That has the hops under the root: the first hop cannot overlap, it is hops - 1.",
                        value=lambda: cost.best_chunks(64 * MB, 4, 50 * GB, 5 * us),
                    ),
                    Slip(
                        "The ideal is no integer: of its neighbours, the upper one is faster.",
                        value=lambda: _best() - 1,
                    ),
                ),
            ),
            Part(
                "time in one piece over time in chunks",
                "x",
                lambda: _relay(1) / _relay(_best()),
                slips=(
                    Slip(
                        "That is the limit of an endless stream over 3 hops: start-ups and filling cost time.", value=3
                    ),
                    Slip("That is the other way round.", value=lambda: _relay(_best()) / _relay(1)),
                ),
            ),
        ),
        derivation="$k^* = \\sqrt{(h-1)\\,m/(\\alpha B)}$ with $h = 3$, $m = 64$ MB, $B = 50$ GB/s and $\\alpha = 5$ "
        "µs; of the two integers beside it, take the one with the smaller $(h + k - 1)(\\alpha + m/(kB))$. In one "
        "piece the message takes $h\\,(\\alpha + m/B)$.",
    ),
    Question(
        id="02-blocking-relay",
        kind="derive",
        title="A relay of blocking calls",
        section="2.7",
        parts=(
            Part(
                "until the last rank has all",
                "rounds",
                _blocking_rounds,
                tolerance=0,
                slips=(
                    Slip("That is the overlapped relay, h + k - 1: blocking calls follow each other.", value=3 + 8 - 1),
                    Slip(
                        "That is 3 hops for each of 8 chunks: two hops that are not neighbours can work at once.",
                        value=3 * 8,
                    ),
                    Slip("The last chunk leaves after 2(k-1) rounds, not after 2k.", value=3 + 2 * 8),
                ),
            ),
            Part(
                "time",
                "ms",
                lambda: _rounds_of_chunks(_blocking_rounds()),
                slips=(
                    Slip("That is the time of the overlapped relay.", value=lambda: _relay(8) / ms),
                    Slip("That is the time when nothing overlaps at all.", value=lambda: _rounds_of_chunks(3 * 8)),
                ),
            ),
        ),
        derivation="A middle rank receives in one round and sends in the next, so it takes a chunk every other round. "
        "The last of $k$ chunks leaves rank 0 after $2(k-1)$ rounds and needs $h$ more: $h + 2(k-1)$, each of "
        "$\\alpha + m/(kB)$, with $h = 3$, $k = 8$, $m = 64$ MB, $B = 50$ GB/s and $\\alpha = 5$ µs.",
    ),
)

STAGES = (
    Question(
        id="02-idle-share",
        kind="derive",
        title="Time and utilization of a cut model",
        section="2.8",
        parts=(
            Part(
                "step time",
                "ms",
                lambda: _step()[0] / ms,
                slips=(
                    Slip(
                        "That counts the layers of one stage: the batch passes through all of them.",
                        value=lambda: 2 * (12 / 3 * 10 + 2 * 5),
                    ),
                    Slip(
                        "That counts the layers of one stage: the batch passes through all of them.",
                        value=lambda: 12 / 3 * 10 * (1 + 2) + 2 * 2 * 5,
                    ),
                    Slip("That has a backward pass as fast as the forward pass.", value=lambda: _step(1.0)[0] / ms),
                    Slip(
                        "The gradients have to come back: each boundary is crossed twice.",
                        value=lambda: 12 * 10 * (1 + 2) + 2 * 5,
                    ),
                    Slip(
                        "That leaves the transfers out.", value=lambda: stages.naive_step(12, 3, 10 * ms, 0.0)[0] / ms
                    ),
                ),
            ),
            Part(
                "utilization",
                "",
                lambda: _step()[1],
                slips=(
                    Slip("That counts the layers of one stage as the whole forward pass.", value=0.4),
                    Slip("That is 1/P: the transfers take time, too.", value=1 / 3),
                    Slip("That is the share of the time in which some stage works.", value=lambda: 3 * _step()[1]),
                    Slip("That is in percent: a fraction is asked for.", value=lambda: 100 * _step()[1]),
                ),
            ),
        ),
        derivation="$T = L\\,t\\,(1 + r) + 2(P-1)\\,\\tau$ with $L = 12$, $t = 10$ ms, $r = 2$, $P = 3$ and $\\tau = "
        "5$ ms. The useful compute is $L\\,t\\,(1+r)$, and $P$ stages could do $P\\,T$: "
        "$\\frac{L\\,t\\,(1+r)}{P\\,T}$.",
    ),
    Question(
        id="02-more-stages",
        kind="derive",
        title="Eight stages, free transfers",
        section="2.8",
        parts=(
            Part(
                "utilization",
                "",
                lambda: stages.naive_step(8, 8, 1 * ms, 0.0)[1],
                tolerance=0,
                slips=(
                    Slip("One stage works at a time, so eight devices are no faster than one.", value=1),
                    Slip("That is the share in which a stage waits.", value=0.875),
                    Slip("That is in percent: a fraction is asked for.", value=12.5),
                ),
            ),
        ),
        derivation="One stage works at a time, and without transfers one always does. So each works $1/P$ of the time, "
        "with $P = 8$.",
    ),
)

TIMES = (*MESSAGES, *RELAYS, *STAGES)
