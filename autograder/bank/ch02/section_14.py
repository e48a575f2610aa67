"""Section 2.14, How many chunks: its questions."""

from __future__ import annotations

from autograder.bank.ch02.shared import chain
from autograder.items import Estimate, Landmark, Part, Question, Slip, lazily
from rankzero.facts.units import GB, MB, ms, us

cost = lazily("solutions.ch02.alpha_beta")
deadlock = lazily("solutions.ch02.deadlock")


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


QUESTIONS = (
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
                        "The root holds hops - 1, not hops: chunks shorten all hops but one.",
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
                "A message ten times that long spends an eleventh of its time starting up: it gets ten elevenths.",
                value=lambda: 10 * 5 * us * 50 * GB,
            ),
        ),
        derivation="The message gets $\\frac{m}{\\alpha + m/B}$ bytes per second. That is $B/2$ when both parts of its "
        "time are equal: $m/B = \\alpha$, so $m = \\alpha B$.",
    ),
)
