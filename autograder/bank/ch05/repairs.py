"""Chapter 5: four programs to fix. The labs contain their wrong versions exactly as they are here."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Slip


def wrong_loss(losses, tokens):
    return sum(losses) / len(losses)


def _uneven(rng: Random, zeros: bool = False) -> Case:
    count = rng.randint(2, 6)
    tokens = [rng.randint(1, 50) * 4**place for place in range(count)]
    rng.shuffle(tokens)
    if zeros:
        tokens[rng.randrange(count)] = 0
    return Case(([rng.uniform(0.5, 9) for _ in range(count)], tokens))


def _even(rng: Random) -> Case:
    count = rng.randint(1, 5)
    return Case(([rng.uniform(0.5, 9) for _ in range(count)], [rng.randint(2, 500)] * count))


LOSS = Debug(
    id="05-debug-loss",
    module="batching",
    function="debug_loss",
    grade="call",
    cases=(Case(([2, 4], [100, 300])), Case(([1.0, 3.0], [8, 8])), Case(([2.0, 4.0], [0, 8]))),
    groups=(
        Group("uneven counts", _uneven, 5, "A mean over more tokens weighs more."),
        Group("even counts", _even, 3, "Equal counts weigh the same."),
        Group(
            "a part without tokens", lambda rng: _uneven(rng, zeros=True), 3, "A part without tokens weighs nothing."
        ),
    ),
    slips=(
        Slip("The means were averaged as if each had been taken over equally many tokens.", wrong_loss),
        Slip(
            "The sum over all tokens must be divided by their number.",
            edit=(
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / sum(tokens)",
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True))",
            ),
        ),
        Slip(
            "The sum over all tokens was divided by the number of parts: divide by the tokens.",
            edit=(
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / sum(tokens)",
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / len(losses)",
            ),
        ),
    ),
    wrong=wrong_loss,
    section="5.1",
    topic="means over unequal counts",
)


def wrong_stage(params, stage, ranks):
    weights = 2 / ranks if stage == 3 else 2
    gradients = 2 / ranks if stage == 2 else 2
    optimizer = 12 / ranks if stage == 1 else 12
    return params * (weights + gradients + optimizer)


def _stage(rng: Random, stage: int | None = None) -> Case:
    params = rng.choice((1e9, 7e9, 13e9, 70e9, 405e9))
    return Case((params, rng.randrange(4) if stage is None else stage, rng.choice((2, 3, 8, 64, 1000))))


STAGE = Debug(
    id="05-debug-stage",
    module="zero",
    function="debug_stage",
    grade="call",
    cases=(*(Case((70e9, stage, 8)) for stage in (1, 2, 3)), Case((7.5e9, 0, 64))),
    groups=(
        Group(
            "higher stages",
            lambda rng: _stage(rng, rng.choice((2, 3))),
            5,
            "A stage slices what the stages below it slice, and one thing more.",
            lambda rng: [_stage(rng, stage) for stage in (2, 2, 3, 3)],
        ),
        Group(
            "all stages", _stage, 5, "Stages 0 and 1 were right before.", lambda rng: [_stage(rng, s) for s in (0, 1)]
        ),
    ),
    slips=(
        Slip("Stages add up: `>=`, not `==`. Your stages 2 and 3 keep the whole optimizer.", wrong_stage),
        Slip("The optimizer's line still says `==`: stages 2 and 3 slice it too.", edit=("stage >= 1", "stage == 1")),
        Slip(
            "Everything is sliced from stage 1 on: that is stage 3.",
            edit=("params * (weights + gradients + optimizer)", "params * 16 / (ranks if stage >= 1 else 1)"),
        ),
        Slip(
            "The comparison is reversed: a higher stage slices more.",
            edits=(("stage >= 3", "stage <= 3"), ("stage >= 2", "stage <= 2"), ("stage >= 1", "stage <= 1")),
        ),
    ),
    wrong=wrong_stage,
    section="5.13",
    bonus=True,
    topic="memory of model states",
)


def wrong_clip(gradients, scale, max_norm):
    import math

    norm = math.sqrt(sum(gradient * gradient for gradient in gradients))
    return [gradient * min(1, max_norm / norm) / scale for gradient in gradients]


def _scaled(rng: Random, length: float) -> Case:
    """Gradients whose true norm is ``length`` times the largest allowed."""
    scale, most = rng.choice((3.0, 1024.0, 65536.0)), rng.choice((0.5, 1.0, 2.0))
    raw = [rng.choice((1, -1)) * rng.uniform(0.2, 1) for _ in range(rng.randint(2, 6))]
    norm = sum(gradient * gradient for gradient in raw) ** 0.5
    return Case(([gradient / norm * length * most * scale for gradient in raw], scale, most))


def _no_gradient(rng: Random) -> Case:
    return Case(([0.0] * rng.randint(1, 4), rng.choice((3.0, 1024.0)), rng.choice((0.5, 1.0))))


CLIP = Debug(
    id="05-debug-clip",
    module="precision",
    function="debug_clip",
    grade="call",
    cases=(Case(([3072.0, 4096.0], 1024.0, 1.0)), Case(([8.0, -6.0], 100.0, 1.0)), Case(([0.0, 0.0], 8.0, 1.0))),
    groups=(
        Group("too long", lambda rng: _scaled(rng, rng.uniform(1.5, 40)), 5, "The limit is for the true gradients."),
        Group("short enough", lambda rng: _scaled(rng, rng.uniform(0.1, 0.9)), 4, "Short gradients stay as they are."),
        Group("zero", _no_gradient, 3, "Gradients of norm 0 stay 0."),
    ),
    slips=(
        Slip("The scaled gradients were measured: unscale first, then clip; and a norm of 0 needs care.", wrong_clip),
        Slip(
            "The limit was scaled although the gradients are unscaled already.",
            edit=("gradient * shrink", "gradient * (min(1, scale * max_norm / norm) if norm else 1)"),
        ),
        Slip("Gradients below the limit were made longer: clipping only shortens.", edit=("norm > max_norm", "norm")),
        Slip(
            "Gradients of norm 0 divide by zero: leave them.",
            edit=("gradient * shrink", "gradient * min(1, max_norm / norm)"),
        ),
        Slip(
            "Each gradient was cut alone: clipping by norm keeps the direction.",
            edit=(
                "[gradient * shrink for gradient in true]",
                "[max(-max_norm, min(max_norm, gradient / scale)) for gradient in gradients]",
            ),
        ),
    ),
    wrong=wrong_clip,
    section="5.16",
    bonus=True,
    topic="clipping scaled gradients",
)


def wrong_norm(shard_norms):
    return sum(shard_norms)


def _shards(rng: Random) -> Case:
    return Case(([rng.uniform(0.1, 5) for _ in range(rng.randint(2, 8))],))


NORM = Debug(
    id="05-debug-norm",
    module="precision",
    function="debug_norm",
    grade="call",
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
    wrong=wrong_norm,
    section="5.16",
    bonus=True,
    topic="norm of a sharded gradient",
)

ITEMS = (LOSS, STAGE, CLIP, NORM)
