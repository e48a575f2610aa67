"""Chapter 7: ``pipeline_bytes_sent``, what crosses a boundary."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip


def _sends(rng: Random, chunks: int = 1, rank: int | None = None) -> Case:
    ranks = rng.randint(3, 16)
    place = rng.randrange(ranks) if rank is None else rank % ranks
    more = [chunks] if chunks > 1 else []
    return Case((place, ranks, rng.randint(2, 64), float(rng.randint(1, 1000) * 1_000_000), *more))


def _each_end(rng: Random) -> list[Case]:
    return [_sends(rng, rank=rank) for rank in (0, 1, -1)]


def _each_end_with_chunks(rng: Random) -> list[Case]:
    return [_sends(rng, rng.randint(2, 8), rank) for rank in (0, 1, -1)]


def bytes_by_counting(rank, ranks, microbatches, activation_bytes, virtual_stages=1):
    """A sum over micro-batches and stages."""
    if ranks == 1:
        return 0.0
    stages = range(rank, ranks * virtual_stages, ranks)
    ways = [(stage < ranks * virtual_stages - 1) + (stage > 0) for stage in stages]
    return sum(activation_bytes * way for way in ways for _ in range(microbatches))


EXERCISE = Build(
    "07 pipeline.pipeline_bytes_sent",
    section="7.20",
    topic="what crosses a boundary",
    bonus=True,
    cases=(
        *(Case((rank, 4, 12, 0.5e9)) for rank in (0, 1, 3)),
        *(Case((rank, 4, 12, 0.5e9, 4)) for rank in (0, 1, 3)),
        Case((0, 1, 8, 1e6, 4)),
        Case((1, 2, 1, 268_435_456.0)),  # one micro-batch of 8,192 tokens of Llama 3.1 405B, bf16
    ),
    groups=(
        Group("one chunk per rank", _sends, 6, "The ends of the pipeline send one way, the others both.", _each_end),
        Group(
            "several chunks",
            lambda rng: _sends(rng, rng.randint(2, 8)),
            6,
            "Every boundary between chunks is crossed both ways; the first and the last stage have one each.",
            _each_end_with_chunks,
        ),
        Group(
            "one rank",
            lambda rng: Case((0, 1, rng.randint(1, 64), 1e6, rng.randint(1, 8))),
            3,
            "One rank sends nothing, however many chunks it holds.",
            lambda rng: [Case((0, 1, 4, 1e6)), Case((0, 1, 4, 1e6, 3))],
        ),
    ),
    slips=(
        Slip(
            "The chunks were ignored: a rank sends for each of its v chunks.",
            edit=(
                "messages * microbatches * activation_bytes",
                "microbatches * activation_bytes * ((rank < ranks - 1) + (rank > 0))",
            ),
        ),
        Slip(
            "The gradients were forgotten: what goes forward comes back.",
            edit=(
                "messages * microbatches * activation_bytes",
                "microbatches * activation_bytes * (virtual_stages - (1 if last else 0)) if ranks > 1 else 0.0",
            ),
        ),
        Slip(
            "That also counts what the rank receives, which others send.",
            edit=(
                "messages * microbatches * activation_bytes",
                "2 * microbatches * activation_bytes * messages if ranks > 1 else 0.0",
            ),
        ),
        Slip(
            "That is a single micro-batch. Each of them crosses every boundary.",
            edit=("messages * microbatches * activation_bytes", "activation_bytes * messages if ranks > 1 else 0.0"),
        ),
        Slip(
            "The first stage sends no gradient back, and the last no activation on.",
            edits=(
                ("if ranks == 1:\n        return 0.0", ""),
                ("2 * virtual_stages - (1 if first else 0) - (1 if last else 0)", "2 * virtual_stages"),
            ),
        ),
    ),
    rights=(
        Right("counted one by one", program=bytes_by_counting),
        Right(
            "activations and gradients each by itself",
            edit=(
                "float(messages * microbatches * activation_bytes)",
                "float((virtual_stages - (rank == ranks - 1)) * (microbatches * activation_bytes)"
                " + (messages - virtual_stages + (rank == ranks - 1)) * (microbatches * activation_bytes))",
            ),
        ),
    ),
    promises=(
        Promise("unless the stage is the last of all", edit=(" - (1 if last else 0)", "")),
        Promise("and a gradient back, unless it is the first", edit=(" - (1 if first else 0)", "")),
        Promise("One rank sends nothing", edit=("    if ranks == 1:\n        return 0.0\n", "")),
    ),
)
