"""Chapter 5: ``debug_norm``, norm of a sharded gradient."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Right, Slip


def wrong_norm(shard_norms):
    return sum(shard_norms)


def _shards(rng: Random) -> Case:
    return Case(([rng.uniform(0.1, 5) for _ in range(rng.randint(2, 8))],))


EXERCISE = Debug(
    "05 precision.debug_norm",
    section="5.16",
    topic="norm of a sharded gradient",
    bonus=True,
    wrong=wrong_norm,
    cases=(Case(([3.0, 4.0],)), Case(([5.0],)), Case(([0.0, 2.0],))),
    groups=(
        Group("several shards", _shards, 6, "The squares of the shards' norms add up."),
        Group(
            "one or none",
            lambda rng: Case(([rng.uniform(0.1, 5)],)),
            2,
            "One shard, or none.",
            lambda _rng: [Case(([],))],
        ),
    ),
    slips=(
        Slip("Norms do not add up; their squares do.", wrong_norm),
        Slip(
            "The largest shard alone is not the whole gradient.",
            edit=("math.sqrt(sum(norm * norm for norm in shard_norms))", "max(shard_norms, default=0.0)"),
        ),
        Slip(
            "That is the square of the norm.",
            edit=("math.sqrt(sum(norm * norm for norm in shard_norms))", "sum(norm * norm for norm in shard_norms)"),
        ),
        Slip(
            "The squares were averaged: the shards are parts of one vector, so they add up.",
            edit=(
                "math.sqrt(sum(norm * norm for norm in shard_norms))",
                "(sum(norm * norm for norm in shard_norms) / max(1, len(shard_norms))) ** 0.5",
            ),
        ),
    ),
    rights=(
        Right(
            "hypot",
            edit=("math.sqrt(sum(norm * norm for norm in shard_norms))", "math.hypot(*shard_norms)"),
        ),
        Right(
            "relative to the largest",
            edit=(
                "    return math.sqrt(sum(norm * norm for norm in shard_norms))\n",
                "    most = max(shard_norms, default=0.0) or 1.0\n"
                "    return most * sum((norm / most) ** 2 for norm in shard_norms) ** 0.5\n",
            ),
        ),
    ),
)
