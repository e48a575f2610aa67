"""Section 7.21, Mixtures in numbers: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.models import MIXTRAL_8X7B
from rankzero.facts.units import billion

experts = lazily("solutions.ch07.experts")


def _mixtral(index: int, gated: bool = True, top_k: int = 2) -> float:
    """Total or active parameters of Mixtral 8x7B, in billions."""
    m = MIXTRAL_8X7B
    sizes = (m.hidden, m.expert_ffn, m.experts, top_k, m.moe_layers, 1_605_636_096)
    return experts.moe_parameters(*sizes, gated=gated)[index] / billion


QUESTIONS = (
    Question(
        id="07-mixtral",
        kind="derive",
        title="Eight experts are not eight models",
        section="7.21",
        bonus=True,
        parts=(
            Part(
                "total",
                "billion parameters",
                lambda: _mixtral(0),
                slips=(
                    Slip("That counts eight whole models, but attention and embeddings exist only once.", value=56),
                    Slip("The experts have a gate: three matrices each.", value=lambda: _mixtral(0, gated=False)),
                ),
            ),
            Part(
                "active",
                "billion parameters",
                lambda: _mixtral(1),
                slips=(
                    Slip("That counts two whole models, but attention and embeddings exist only once.", value=14),
                    Slip("The experts have a gate: three matrices each.", value=lambda: _mixtral(1, gated=False)),
                    Slip("A token visits two experts.", value=lambda: _mixtral(1, top_k=1)),
                ),
            ),
        ),
        derivation="An expert has $3 h f$ parameters, with $h = 4096$ and $f = 14336$; each of 32 layers has 8, of "
        "which a token visits 2. The 1.6056 billion of attention, norms, routers and embeddings count once, in both.",
    ),
    Choice(
        id="07-router-gradient",
        kind="trace",
        title="One expert, and its weight renormalized",
        section="7.21",
        bonus=True,
        options=(
            "nothing: the weight is the constant 1",
            "as usual: the softmax passes the gradient on",
            "only from tokens whose expert changes",
        ),
        correct=0,
        derivation="With $k = 1$ the kept probability is divided by itself. A constant has no gradient, so the task's "
        "loss says nothing to the router. Without renormalizing, the output is scaled by the probability, "
        "which has one.",
        slips={
            1: "The softmax is divided out: its value, divided by itself, is 1 for every token.",
            2: "Which expert is chosen is a comparison: it has no gradient at all.",
        },
    ),
)
