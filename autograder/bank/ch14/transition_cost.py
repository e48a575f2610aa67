"""Chapter 14: ``transition_cost``, from training to generation."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB

#: Those that gather the whole model.
ENGINES = ("zero3", "gather")


def _layout(rng: Random, engine: str) -> Case:
    """Powers of two and three, with more than one replica; each axis of generation divides that of training."""
    base = rng.choice((2, 2, 3))
    tp, pp, dp = base ** rng.randint(1, 2), base ** rng.randint(0, 2), base ** rng.randint(1, 3)
    divisors = (1, base, base**2)
    generate = rng.choice([(t, p) for t in divisors for p in divisors if tp % t == pp % p == 0 and t * p < tp * pp])
    return Case((rng.randint(10, 900) * GB, tp, pp, dp, *generate, engine))


def _nested(rng: Random) -> Case:
    return _layout(rng, "nested")


def _gathers(rng: Random) -> list[Case]:
    """Also to generation layouts whose slices do not nest in those of training: these engines do not use them."""
    apart = [Case((rng.randint(10, 900) * GB, 4, 2, 2, rng.choice((3, 5, 16)), 1, engine)) for engine in ENGINES]
    return [*apart, *(_layout(rng, engine) for engine in ENGINES for _ in range(2))]


def _equal(rng: Random) -> list[Case]:
    tp, size = rng.choice((2, 4, 8)), rng.randint(10, 900) * GB
    ends = [Case((size, tp, 1, rng.randint(1, 4), tp, 1, "nested")), Case((size, tp, 4, 2, tp, 4, "nested"))]
    return [*ends, Case((size, 1, 1, 1, 1, 1, rng.choice(("zero3", "gather"))))]


def transition_by_parts(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine):
    """What is held less what was there."""
    from solutions.ch14 import weight_sync
    from solutions.ch14.weight_sync import Transition

    weight_sync.transition_cost(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine)
    own = model_bytes / train_tp / train_pp
    if engine == "nested":
        peak = model_bytes / generate_tp / generate_pp
        return Transition(peak - own, peak, 0.0)
    own = own / train_dp if engine == "zero3" else own
    return Transition(model_bytes - own, float(model_bytes), own)


EXERCISE = Build(
    "14 weight_sync.transition_cost",
    section="14.17",
    bonus=True,
    topic="from training to generation",
    cases=(
        *(Case((140 * GB, 8, 1, 2, 2, 1, engine)) for engine in ("zero3", "gather", "nested")),
        *(Case((140 * GB, 8, 2, 4, 4, 1, engine)) for engine in ("zero3", "gather", "nested")),
        Case((140 * GB, 4, 1, 1, 4, 1, "nested")),
    ),
    groups=(
        Group("nested slices", _nested, 6, "A rank lacks its generation slice less its training slice."),
        listed(
            "full gathers",
            _gathers,
            "zero3 gathers from all ranks, gather from the ranks of one replica; a rank has its own part already.",
        ),
        listed("equal layouts", _equal, "Where the layout does not change, or one rank has all, nothing is received."),
    ),
    slips=(
        Slip(
            "A change of layout moves data: a rank lacks a part of its new slice.",
            edit=("Transition(model_bytes * (parts - slices) / (parts * slices), model", "Transition(0.0, model"),
        ),
        Slip(
            "A rank has its own part already: it does not arrive.",
            edits=(
                ("Transition(model_bytes * (parts - slices) / (parts * slices),", "Transition(model_bytes / slices,"),
                ("Transition(model_bytes * (ranks - 1) / ranks,", "Transition(float(model_bytes),"),
            ),
        ),
        Slip(
            "The model-parallel group is one replica: data-parallel ranks hold the same slices.",
            edits=(
                (
                    "model_bytes * (parts - slices) / (parts * slices)",
                    "model_bytes * (parts * train_dp - slices) / (parts * train_dp * slices)",
                ),
                ('parts * train_dp if engine == "zero3" else parts', "parts * train_dp"),
            ),
        ),
        Slip(
            "ZeRO-3 shards over the ranks of all replicas.",
            edit=('parts * train_dp if engine == "zero3" else parts', "parts"),
        ),
        Slip(
            "That counts the training shard once more.",
            edits=(
                ("model_bytes / slices, 0.0)", "model_bytes / slices, model_bytes / parts)"),
                ("float(model_bytes), model_bytes / ranks", "model_bytes * (ranks + 1) / ranks, model_bytes / ranks"),
            ),
        ),
    ),
    rights=(
        Right("what is held less what was there", program=transition_by_parts),
        Right(
            "shares subtracted",
            edits=(
                (
                    "model_bytes * (parts - slices) / (parts * slices)",
                    "model_bytes * (1 / slices - 1 / parts)",
                ),
                ("model_bytes * (ranks - 1) / ranks", "model_bytes * (1 - 1 / ranks)"),
            ),
        ),
    ),
    promises=(
        Promise(
            "it receives what it lacks of that slice and keeps nothing twice",
            edit=("model_bytes / slices, 0.0)", "model_bytes / slices, model_bytes / parts)"),
        ),
        Promise(
            'Only ``"nested"`` uses them.',
            edit=(
                "    parts, slices = train_tp * train_pp, generate_tp * generate_pp\n",
                "    parts, slices = train_tp * train_pp, generate_tp * generate_pp\n"
                "    if parts % slices:\n        raise ValueError('slices do not nest')\n",
            ),
        ),
    ),
)
