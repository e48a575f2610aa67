"""Chapter 02: what a message costs, and what a relay of chunks costs: two build items."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip
from rankzero.facts.units import GB, MB, Gbit, MiB, us


def _message(rng: Random) -> Case:
    """Neither the start-up nor the bytes can be left out."""
    size, bandwidth = 10 ** rng.uniform(0, 11), 10 ** rng.uniform(6, 12.3)
    return Case(args=(size, bandwidth, min(1.0, size / bandwidth * 10 ** rng.uniform(-2, 2))))


def _plain_message(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(0, 11), 10 ** rng.uniform(6, 12.3)))


def _empty_message(rng: Random) -> Case:
    return Case(args=(0.0, 10 ** rng.uniform(6, 12.3)), kwargs={"latency": 10 ** rng.uniform(-7, 0)})


MESSAGE_TIME = Build(
    id="02-message-time",
    module="alpha_beta",
    function="message_time",
    grade="call",
    section="2.6",
    topic="cost of a message",
    cases=(
        Case(args=(1 * MB, 50 * GB, 5 * us)),
        Case(args=(0, 50 * GB, 5 * us)),
        Case(args=(64 * MiB, 450 * GB, 1 * us)),
        Case(args=(2048 * 12288 * 2, 50 * GB, 5 * us)),  # activations of one GPT-3 micro-batch, bf16
        Case(args=(100 * MB, 100 * Gbit)),
    ),
    groups=(
        Group("with latency", _message, 6, "A message starts up, and then its bytes pass: two times to add."),
        Group("without latency", _plain_message, 3, "The latency may be left out: it is 0 then."),
        Group("empty message", _empty_message, 3, "A message of no bytes starts up all the same."),
    ),
    slips=(
        Slip(
            "The bandwidth was multiplied by 8: it is in bytes per second already.",
            edit=("return latency + message_bytes / bandwidth", "return latency + message_bytes / (8 * bandwidth)"),
        ),
        Slip(
            "The size was multiplied by 8: size and bandwidth are both in bytes.",
            edit=("return latency + message_bytes", "return latency + 8 * message_bytes"),
        ),
        Slip(
            "Start-up and transfer follow each other: add them, not the longer one alone.",
            edit=("return latency + message_bytes / bandwidth", "return max(latency, message_bytes / bandwidth)"),
        ),
        Slip(
            "An empty message is not free: it costs the latency.",
            edit=(
                "return latency + message_bytes / bandwidth",
                "return latency + message_bytes / bandwidth if message_bytes else 0.0",
            ),
        ),
        Slip(
            "Both directions of the link were added up: a message goes one way.",
            edit=("return latency + message_bytes / bandwidth", "return latency + message_bytes / (2 * bandwidth)"),
        ),
        Slip(
            "The latency was left out.",
            edit=("return latency + message_bytes / bandwidth", "return message_bytes / bandwidth"),
        ),
    ),
)


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


RELAY_TIME = Build(
    id="02-relay-time",
    module="alpha_beta",
    function="relay_time",
    grade="call",
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
)

ITEMS = (MESSAGE_TIME, RELAY_TIME)
