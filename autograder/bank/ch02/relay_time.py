"""Chapter 2: ``relay_time``, pipelined relay."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, MB, us


def _relay(rng: Random) -> Case:
    link = (10 ** rng.uniform(8, 12), 10 ** rng.uniform(-7, -4))
    return Case(args=(10 ** rng.uniform(5, 11), rng.randint(2, 64), rng.randint(2, 5000), *link))


def _one_chunk(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(3, 10), rng.randint(2, 64), 1, 10 ** rng.uniform(8, 12)))


def _short_chains(rng: Random) -> list[Case]:
    """No hops, or one."""
    link = (10 ** rng.uniform(8, 12), 10 ** rng.uniform(-7, -4))
    hops = (0, 0, 0, 1, 1)
    return [Case(args=(10 ** rng.uniform(3, 10), each, rng.randint(2, 500), *link)) for each in hops]


RELAY = "(hops + chunks - 1) * (latency + message_bytes / (chunks * bandwidth))"


EXERCISE = Build(
    "02 alpha_beta.relay_time",
    section="2.14",
    topic="pipelined relay",
    bonus=True,
    cases=(
        Case(args=(64 * MB, 3, 1, 50 * GB, 5 * us)),
        Case(args=(64 * MB, 3, 8, 50 * GB, 5 * us)),
        Case(args=(64 * MB, 3, 23, 50 * GB, 5 * us)),
        Case(args=(1 * GB, 15, 237, 50 * GB, 5 * us)),
        Case(args=(1 * GB, 10, 190, 50 * GB, 5 * us)),  # half of a pipelined tree all-reduce over 1,024 ranks
        Case(args=(1 * GB, 0, 4, 50 * GB, 5 * us)),
    ),
    groups=(
        Group("chunks on a chain", _relay, 6, "Count the steps until the last chunk is on the last rank."),
        Group("one chunk", _one_chunk, 3, "One chunk is passed on whole; the latency may be left out."),
        listed("no hops or one", _short_chains, "Without hops there is nothing to do; one hop has no middle rank."),
    ),
    slips=(
        Slip(
            "That passes the whole message at every hop, whatever the chunks.",
            edits=(("hops + chunks - 1", "hops"), ("chunks * bandwidth", "bandwidth")),
        ),
        Slip(
            "The first chunk takes `hops` steps, and each of the others one more: h + k - 1.",
            edit=(
                "(hops + chunks - 1) * (latency + message_bytes / (chunks * bandwidth))",
                "(hops + chunks) * (latency + message_bytes / (chunks * bandwidth)) if hops else 0.0",
            ),
        ),
        Slip(
            "h k steps leave no overlap: a rank receives a chunk while it passes on the last.",
            edit=("hops + chunks - 1", "hops * chunks"),
        ),
        Slip(
            "Each chunk carried the whole message: it carries one part in `chunks` of it.",
            edit=(
                "(hops + chunks - 1) * (latency + message_bytes / (chunks * bandwidth))",
                "(hops + chunks - 1) * (latency + message_bytes / bandwidth) if hops else 0.0",
            ),
        ),
        Slip(
            "h + 2(k-1) steps are those of blocking calls: here a rank does both at once.",
            edit=("hops + chunks - 1", "hops + 2 * (chunks - 1) if hops > 1 else hops * chunks"),
        ),
        Slip(
            "Without hops the message is where it should be: the time is 0.",
            edit=("if hops == 0:\n        return 0.0", ""),
        ),
    ),
    rights=(
        Right(
            "first the fill, then the rest",
            edit=(
                f"return {RELAY}",
                "each = latency + message_bytes / bandwidth / chunks\n    return hops * each + (chunks - 1) * each",
            ),
        ),
        Right(
            "start-ups and bytes apart",
            edit=(RELAY, "(hops + chunks - 1) * latency + (1 + (hops - 1) / chunks) * message_bytes / bandwidth"),
        ),
    ),
    promises=(
        Promise(
            "Without hops the first rank is the last, and the time is 0.",
            edit=("    if hops == 0:\n        return 0.0\n", ""),
        ),
    ),
)
