"""Section 9.3, How big is it: its questions."""

from __future__ import annotations

from autograder.bank.ch09.quantities import per_token
from autograder.items import Choice, Question, Slip, lazily
from rankzero.facts.models import LLAMA3_70B, Model

kv = lazily("solutions.ch09.kv_cache")


def per_token_of_queries(model: Model) -> float:
    """The same, with query heads counted in place of key-value heads."""
    return kv.kv_bytes_per_token(model.layers, model.heads, model.head_dim)


QUESTIONS = (
    Question(
        id="09-llama70",
        kind="derive",
        title="A token of Llama 3 70B",
        section="9.3",
        ask="keys and values",
        unit="B",
        answer=lambda: per_token(LLAMA3_70B),
        tolerance=0,
        slips=(
            Slip(
                "Query heads were counted: 8 key-value heads serve all 64.",
                value=lambda: per_token_of_queries(LLAMA3_70B),
            ),
            Slip("That is the keys alone: values are kept as well.", value=lambda: per_token(LLAMA3_70B) / 2),
        ),
        derivation="$2 L n_{kv} d w = 2 \\cdot 80 \\cdot 8 \\cdot 128 \\cdot 2$: keys and values, layers, key-value "
        "heads, elements of a head, bytes of an element.",
    ),
    Choice(
        id="09-tp16",
        kind="trace",
        title="From TP 8 to TP 16",
        section="9.3",
        options=("it stays: heads are copied", "it halves", "it doubles"),
        correct=0,
        derivation="With TP 8 each rank has one of the 8 key-value heads. A head is not cut further: with 16 ranks, "
        "two keep a copy of the same one.",
        slips={
            1: "8 heads give each of 8 ranks one: with 16 ranks there is no half head to keep.",
            2: "Each rank still keeps one head; all ranks together keep twice as much.",
        },
    ),
)
