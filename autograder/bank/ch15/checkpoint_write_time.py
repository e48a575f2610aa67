"""The capstone: ``checkpoint_write_time``, writing a checkpoint."""

from __future__ import annotations

from random import Random

from autograder.bank.ch15.shared import log
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _written(rng: Random, slower: str | None = None) -> Case:
    """Slower are all links together, or the storage, or the storage even than one link."""
    parameters, size, writers = log(rng, 1e9, 1e12), rng.choice((12, 14, 16.0)), rng.randint(8, 20_000)
    link = log(rng, 1e8, 5e10)
    links = {"links": writers * 2, "storage": writers / 2, "one link": 1}[slower or rng.choice(("links", "storage"))]
    return Case((parameters, size, writers, link, link * links * rng.uniform(0.6, 0.9)))


def _one_writer(rng: Random) -> Case:
    return Case((log(rng, 1e9, 1e12), 14, 1, log(rng, 1e9, 1e10), log(rng, 1e9, 1e10)))


EXERCISE = Build(
    "cap checkpointing.checkpoint_write_time",
    section="15.20",
    topic="writing a checkpoint",
    bonus=True,
    cases=(
        Case((70e9, 14, 1, 10e9, 10e9)),
        Case((70e9, 14, 64, 10e9, 10e9)),
        Case((70e9, 14, 64, 1e9, 100e9)),
        Case((405_853_388_800, 14, 16_384, 2e9, 2e12)),  # the storage of Llama 3.1 405B, sustained
        Case((405_853_388_800, 12, 16_384, 2e9, 2e12)),
    ),
    groups=(
        listed(
            "many writers",
            lambda rng: [_written(rng, slower) for slower in ("links", "storage", "one link") * 2],
            "The slower of two: all links together, or the storage that they share.",
        ),
        Group("one writer", _one_writer, 2, "One link, one storage."),
    ),
    slips=(
        Slip(
            "Writers do not multiply the storage: all of them share it.",
            edit=(
                "min(writers * writer_bandwidth, storage_bandwidth)",
                "(writers * min(writer_bandwidth, storage_bandwidth))",
            ),
        ),
        Slip(
            "The slower of the two decides: min, not max.",
            edit=("return parameters * bytes_per_parameter / min", "return parameters * bytes_per_parameter / max"),
        ),
        Slip(
            "The storage is missing: it does not grow with the writers.",
            edit=("min(writers * writer_bandwidth, storage_bandwidth)", "(writers * writer_bandwidth)"),
        ),
        Slip(
            "Writers work at the same time: their links add up.",
            edit=("writers * writer_bandwidth", "writer_bandwidth"),
        ),
        Slip(
            "`bytes_per_parameter` is all that is stored; gradients are not.",
            edit=("parameters * bytes_per_parameter", "parameters * (bytes_per_parameter + 2)"),
        ),
    ),
    rights=(
        Right(
            "the longer of two times",
            edit=(
                "parameters * bytes_per_parameter / min(writers * writer_bandwidth, storage_bandwidth)",
                "max(parameters / writers * bytes_per_parameter / writer_bandwidth,"
                " parameters * bytes_per_parameter / storage_bandwidth)",
            ),
        ),
        Right(
            "the part of each writer",
            edit=(
                "parameters * bytes_per_parameter / min(writers * writer_bandwidth, storage_bandwidth)",
                "parameters / writers / min(writer_bandwidth, storage_bandwidth / writers) * bytes_per_parameter",
            ),
        ),
    ),
    promises=(
        Promise(
            "12 is Adam in fp32 (master copy of the weight and two moments), from which the bf16 weights are a cast;",
            why="examples of what the argument may be",
        ),
        Promise(
            "all share one storage",
            edit=(
                "min(writers * writer_bandwidth, storage_bandwidth)",
                "(writers * min(writer_bandwidth, storage_bandwidth))",
            ),
        ),
        Promise("every writer has a link", edit=("writers * writer_bandwidth", "writer_bandwidth")),
    ),
)
