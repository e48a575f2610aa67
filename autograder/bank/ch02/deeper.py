"""Chapter 02: the questions of the deeper page, which count as bonus."""

from __future__ import annotations

from autograder.bank.ch02.deadlock import chain
from autograder.bank.ch02.traces import down_the_chain, reinterpreted, rounds
from autograder.items import Choice, Estimate, Landmark, Part, Question, Slip, lazily
from rankzero.facts.units import GB, MB, ms, us

cost = lazily("solutions.ch02.alpha_beta")
deadlock = lazily("solutions.ch02.deadlock")
stages = lazily("solutions.ch02.model_parallel")


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


AGREEMENTS = (
    Question(
        id="02-dtype",
        kind="trace",
        title="A float in a buffer for an integer",
        section="2.10",
        bonus=True,
        parts=(
            Part(
                "value read",
                "",
                lambda: reinterpreted(1.0),
                tolerance=0,
                slips=(Slip("Nothing is converted: four bytes are copied, and then read as an integer.", value=1),),
            ),
        ),
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

CHAINS = (
    Question(
        id="02-chain-relays-add",
        kind="derive",
        title="A chain in which only relays add",
        section="2.11",
        bonus=True,
        parts=(
            Part(
                "value on the last of 4 ranks",
                "",
                lambda: down_the_chain(42, [False, True, True, False]),
                tolerance=0,
                slips=(
                    Slip("Three ranks receive, but the last of them does not send, so it does not add.", value=72),
                    Slip("Rank 0 receives nothing and the last rank sends nothing, so neither of them adds.", value=82),
                ),
            ),
            Part(
                "value on the last of 10 ranks",
                "",
                lambda: down_the_chain(42, [False, *[True] * 8, False]),
                tolerance=0,
                slips=(
                    Slip("Nine ranks receive, but the last of them does not send, so it does not add.", value=132),
                    Slip(
                        "Rank 0 receives nothing and the last rank sends nothing, so neither of them adds.", value=142
                    ),
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
        section="2.11",
        bonus=True,
        parts=(
            Part(
                "value at home when rank 0 adds",
                "",
                lambda: down_the_chain(0, [True] * 4),
                tolerance=0,
                slips=(Slip("Rank 0 receives the number in the end, and adds as well.", value=30),),
            ),
            Part(
                "value at home when rank 0 does not add",
                "",
                lambda: down_the_chain(0, [True] * 3 + [False]),
                tolerance=0,
                slips=(Slip("Three ranks receive the number on the way. Rank 0 does not add.", value=40),),
            ),
        ),
        derivation="On a ring of $W$ ranks the number makes $W$ hops, so $W$ ranks receive it, the last of them rank "
        "0: $10\\,W$ when all add, $10\\,(W-1)$ when rank 0 does not.",
    ),
)

RINGS = (
    Choice(
        id="02-recv-recv",
        kind="trace",
        title="Both receive first",
        section="2.12",
        bonus=True,
        options=(
            "a deadlock: both wait in their receive",
            "both finish: every message is buffered",
            "small messages arrive, large ones do not",
            "one of them finishes",
        ),
        correct=0,
        derivation="A receive needs a message that was sent. Both sends come after the receives, so no message is ever "
        "sent, and a buffer would have nothing to hold.",
        slips={
            1: "A buffer helps those who send, and here nobody gets as far as sending.",
            2: "No message is sent at all, of whatever size.",
            3: "Both ranks run the same program, so whatever happens to one happens to the other.",
        },
    ),
    Question(
        id="02-parity-odd",
        kind="derive",
        title="An odd ring, even ranks first",
        section="2.12",
        bonus=True,
        parts=(
            Part(
                "until all have finished",
                "rounds",
                lambda: rounds(7, first_receiver=False),
                tolerance=0,
                slips=(
                    Slip(
                        "In a ring of 7, ranks 6 and 0 are neighbors and both even, so one of them waits for a round.",
                        value=2,
                    ),
                    Slip(
                        "There is no cycle of waits: rank 6 waits for rank 0, which gets to its receive in the end.",
                        value=0,
                    ),
                    Slip(
                        "That many rounds are needed if a single rank receives first. Here pairs work side by side.",
                        value=7,
                    ),
                ),
            ),
        ),
        derivation="Round 1: ranks 0, 2 and 4 send to 1, 3 and 5. Rank 6 waits, because rank 0 is still in its own "
        "send. Round 2: ranks 1 and 3 send to 2 and 4, and rank 0 receives from rank 6. Round 3: rank 5, which had to "
        "wait for rank 6 to reach its receive, sends last.",
    ),
)

RELAYS = (
    Question(
        id="02-chunks",
        kind="derive",
        title="How many chunks",
        section="2.14",
        bonus=True,
        parts=(
            Part(
                "best number of chunks",
                "chunks",
                _best,
                slips=(
                    Slip(
                        "The root holds hops - 1, not hops: the first hop has nothing to overlap with.",
                        value=lambda: cost.best_chunks(64 * MB, 4, 50 * GB, 5 * us),
                    ),
                    Slip(
                        "The ideal is not an integer, and of its two neighbors the upper one is faster.",
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
                        "That is the limit for an endless stream over 3 hops. Start-ups and filling the chain cost "
                        "time.",
                        value=3,
                    ),
                    Slip("That ratio is upside down.", value=lambda: _relay(_best()) / _relay(1)),
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
        section="2.14",
        bonus=True,
        parts=(
            Part(
                "until the last rank has all",
                "rounds",
                _blocking_rounds,
                tolerance=0,
                slips=(
                    Slip(
                        "h + k - 1 is the overlapped relay. Blocking calls come one after the other.", value=3 + 8 - 1
                    ),
                    Slip(
                        "3 hops for each of 8 chunks would mean that no two hops ever work at once. The first and the "
                        "third can.",
                        value=3 * 8,
                    ),
                    Slip("The last chunk leaves rank 0 after 2(k-1) rounds, not after 2k.", value=3 + 2 * 8),
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
    Estimate(
        id="02-half-bandwidth",
        title="Half of the bandwidth",
        section="2.14",
        bonus=True,
        label="smallest message that gets half of the bandwidth: 50 GB/s, start-up 5 µs",
        unit="bytes",
        answer=lambda: 5 * us * 50 * GB,
        factor=1.5,
        scale=(1, 1e10),
        landmarks=(
            Landmark(1e3, "1 KB", "one row of activations"),
            Landmark(1e6, "1 MB", "half a million numbers in bf16"),
            Landmark(1e9, "1 GB", "a large layer"),
        ),
        slips=(
            Slip("That is the number of bits.", value=lambda: 8 * 5 * us * 50 * GB),
            Slip(
                "Its bytes take half of the start-up, so it gets a third of the bandwidth. Both have to be equal.",
                value=lambda: 5 * us * 50 * GB / 2,
            ),
            Slip(
                "A message ten times that long spends a tenth of its time starting up: it gets nine tenths.",
                value=lambda: 10 * 5 * us * 50 * GB,
            ),
        ),
        derivation="The message gets $\\frac{m}{\\alpha + m/B}$ bytes per second. That is $B/2$ when both parts of its "
        "time are equal: $m/B = \\alpha$, so $m = \\alpha B$.",
    ),
)

STAGES = (
    Question(
        id="02-idle-share",
        kind="derive",
        title="Time and utilization of a cut model",
        section="2.15",
        bonus=True,
        parts=(
            Part(
                "step time",
                "ms",
                lambda: _step()[0] / ms,
                slips=(
                    Slip(
                        "That counts the layers of one stage only. The batch passes through all of them.",
                        value=lambda: 2 * (12 / 3 * 10 + 2 * 5),
                    ),
                    Slip(
                        "That counts the layers of one stage only. The batch passes through all of them.",
                        value=lambda: 12 / 3 * 10 * (1 + 2) + 2 * 2 * 5,
                    ),
                    Slip(
                        "That takes the backward pass to be as fast as the forward pass.",
                        value=lambda: _step(1.0)[0] / ms,
                    ),
                    Slip(
                        "The gradients have to come back, so each boundary is crossed twice.",
                        value=lambda: 12 * 10 * (1 + 2) + 2 * 5,
                    ),
                    Slip(
                        "That leaves out the transfers.", value=lambda: stages.naive_step(12, 3, 10 * ms, 0.0)[0] / ms
                    ),
                ),
            ),
            Part(
                "utilization",
                "",
                lambda: _step()[1],
                slips=(
                    Slip("That counts the layers of one stage as the whole forward pass.", value=0.4),
                    Slip("1/P leaves out the transfers, which take time as well.", value=1 / 3),
                    Slip("That is the share of the time in which some stage works.", value=lambda: 3 * _step()[1]),
                    Slip("That is in percent. The question asks for a fraction.", value=lambda: 100 * _step()[1]),
                ),
            ),
        ),
        derivation="$T = L\\,t\\,(1 + r) + 2(P-1)\\,\\tau$ with $L = 12$, $t = 10$ ms, $r = 2$, $P = 3$ and $\\tau = "
        "5$ ms. The useful compute is $L\\,t\\,(1+r)$, and $P$ stages could do $P\\,T$: "
        "$\\frac{L\\,t\\,(1+r)}{P\\,T}$.",
    ),
)

DEEPER = (*AGREEMENTS, *CHAINS, *RINGS, *RELAYS, *STAGES)
