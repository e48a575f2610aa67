"""Chapter 7: ``moe_parameters``, mixtures of experts."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Promise, Slip


def _mixture(rng: Random, **more: object) -> Case:
    experts = rng.choice((8, 16, 64, 128))
    sizes = (128 * rng.randint(2, 64), 128 * rng.randint(2, 128), experts, rng.randint(2, min(8, experts - 1)))
    return Case((*sizes, rng.randint(1, 64), rng.randint(10**6, 10**10)), more)


def _with_shared(rng: Random) -> Case:
    return _mixture(rng, shared_experts=rng.randint(1, 3))


def _ungated(rng: Random) -> Case:
    return _mixture(rng, gated=False, shared_experts=rng.randint(0, 2))


def _odd_mixtures(rng: Random) -> list[Case]:
    hidden, ffn = rng.randint(8, 64), rng.randint(8, 64)
    return [Case((hidden, ffn, 4, 4, 2, 100)), Case((hidden, ffn, 8, 2, 0, 500)), Case((hidden, ffn, 8, 2, 3, 0))]


EXERCISE = Build(
    "07 experts.moe_parameters",
    section="7.21",
    topic="mixtures of experts",
    bonus=True,
    cases=(
        Case((4096, 14336, 8, 2, 32, 1_605_636_096)),  # Mixtral 8x7B
        Case((7168, 2048, 256, 8, 58, 14_563_317_248, 1)),  # DeepSeek-V3
        Case((8, 16, 4, 4, 1, 100)),
        Case((8, 16, 4, 2, 1, 100), {"gated": False}),
    ),
    groups=(
        Group("routed experts", _mixture, 5, "All experts count in the total, k of them in what a token uses."),
        Group("shared experts", _with_shared, 4, "Every token visits the shared experts: they count in both numbers."),
        Group("without a gate", _ungated, 3, "An expert without a gate has two matrices."),
        one_of_each(
            "ends",
            _odd_mixtures,
            "All experts may be active, there may be no mixture layer, and a model may consist of experts alone.",
        ),
    ),
    slips=(
        Slip(
            "Only the experts exist several times. Attention and embeddings count once.",
            edits=(
                ("experts + shared_experts", "1 + shared_experts"),
                ("total, total - moe_layers * (experts - top_k) * expert", "(experts * total, top_k * total)"),
            ),
        ),
        Slip(
            "A token visits k experts, not one.",
            edit=(
                "total - moe_layers * (experts - top_k) * expert",
                "shared_parameters + moe_layers * (1 + shared_experts) * expert",
            ),
        ),
        Slip("A gated expert has three matrices.", edit=("3 if gated else 2", "2")),
        Slip(
            "Every token visits the shared experts, so they are active as well.",
            edit=("total - moe_layers * (experts - top_k) * expert", "shared_parameters + moe_layers * top_k * expert"),
        ),
        Slip(
            "What all tokens use is missing: it counts in both numbers.",
            edit=(
                "total, total - moe_layers * (experts - top_k) * expert",
                "(moe_layers * (experts + shared_experts) * expert, moe_layers * (top_k + shared_experts) * expert)",
            ),
        ),
    ),
    promises=(
        Promise(
            "further experts of a mixture layer that every token visits",
            edit=("total - moe_layers * (experts - top_k) * expert", "shared_parameters + moe_layers * top_k * expert"),
        ),
    ),
)
