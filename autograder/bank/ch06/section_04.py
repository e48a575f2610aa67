"""Section 6.4, Attention by heads: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.models import LLAMA3_70B

attention_heads = lazily("solutions.ch06.heads")

HEADS, KV_HEADS = LLAMA3_70B.heads, LLAMA3_70B.kv_heads


def heads_of(ranks: int, index: int) -> int:
    """How many query (0) or key-value heads (1) a rank has, or how many ranks hold each of the latter (2)."""
    part = attention_heads.head_partition(HEADS, KV_HEADS, ranks, 0)[index]
    return part if isinstance(part, int) else len(part)


QUESTIONS = (
    Choice(
        id="06-replicas",
        kind="trace",
        title="One KV head on four ranks",
        section="6.4",
        options=(
            "Sum the four gradients: each rank has the part that comes from its own query heads.",
            "Average the four gradients: they are four estimates of the same quantity.",
            "Nothing: equal weights and equal inputs give the same gradient on every rank.",
            "Keep rank 0's gradient and broadcast it, so that the copies stay equal.",
        ),
        correct=0,
        derivation="The copies have equal weights and equal inputs, but different query heads read them. Each rank's "
        "gradient holds what flowed back from its own query heads, and the gradient of the shared head is the sum. It "
        "is the rule behind $f$: if several ranks use the same tensor, its gradient is the sum of theirs.",
        slips={
            1: "That is right in data parallelism, where ranks see different data. Here they hold parts of one sum.",
            2: "Weights and inputs are equal, but the gradients that arrive come from different query heads.",
            3: "The copies would stay equal, but the KV head would learn from one rank's query heads only.",
        },
    ),
    Question(
        id="06-gqa",
        kind="derive",
        title="64 query heads and 8 KV heads on 16 ranks",
        section="6.4",
        parts=(
            Part(
                "query heads of a rank",
                "",
                lambda: heads_of(16, 0),
                tolerance=0,
                slips=(
                    Slip(
                        "That is on 8 ranks. Twice as many ranks have half as many each.", value=lambda: heads_of(8, 0)
                    ),
                    Slip("That is how many ranks there are: the 64 query heads are divided among them.", value=16),
                ),
            ),
            Part(
                "ranks that hold the same KV head",
                "",
                lambda: heads_of(16, 2),
                tolerance=0,
                slips=(
                    Slip("With 8 KV heads on 16 ranks, more than one rank holds each head.", value=1),
                    Slip(
                        "This chapter cuts no head in two: where ranks outnumber the KV heads, these are copied.",
                        value=KV_HEADS / 16,
                    ),
                    Slip("That is how many query heads read one key-value head.", value=HEADS / KV_HEADS),
                ),
            ),
        ),
        derivation="Each of $t$ ranks holds $64/t$ query heads. As long as $t$ divides 8, it also holds $8/t$ KV "
        "heads. With 16, 32 or 64 ranks, each of these is copied to $t/8$ ranks, which add up its gradient. So from 8 "
        "ranks to 16, a rank's query heads halve, and its keys and values do not.",
    ),
)
