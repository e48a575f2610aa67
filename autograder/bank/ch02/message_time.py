"""Chapter 2: ``message_time``, cost of a message."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, MB, Gbit, MiB, us


def _message(rng: Random) -> Case:
    """Neither the start-up nor the bytes can be left out."""
    size, bandwidth = 10 ** rng.uniform(0, 11), 10 ** rng.uniform(6, 12.3)
    return Case(args=(size, bandwidth, min(1.0, size / bandwidth * 10 ** rng.uniform(-2, 2))))


def _plain_message(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(0, 11), 10 ** rng.uniform(6, 12.3)))


def _empty_message(rng: Random) -> Case:
    return Case(args=(0.0, 10 ** rng.uniform(6, 12.3)), kwargs={"latency": 10 ** rng.uniform(-7, 0)})


EXERCISE = Build(
    "02 alpha_beta.message_time",
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
            "The transfer takes 8 times as long as it should: size and bandwidth are both in bytes.",
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
    rights=(
        Right(
            "over one bandwidth",
            edit=(
                "return latency + message_bytes / bandwidth",
                "return (latency * bandwidth + message_bytes) / bandwidth",
            ),
        ),
        Right(
            "times the inverse of the bandwidth",
            edit=("return latency + message_bytes / bandwidth", "return message_bytes * (1 / bandwidth) + latency"),
        ),
    ),
    promises=(
        Promise(
            "An empty message costs the latency.",
            edit=("return latency + message_bytes", "return (message_bytes and latency) + message_bytes"),
        ),
    ),
)
