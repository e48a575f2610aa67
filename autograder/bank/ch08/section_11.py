"""Section 8.11, Parts of a server that go wrong: its questions."""

from __future__ import annotations

from autograder.items import Order

QUESTIONS = (
    Order(
        id="08-order-of-stages",
        kind="trace",
        title="The life of a request",
        section="8.11",
        steps=("API adapter", "tokenizer", "scheduler", "model runner", "detokenizer", "stream to the client"),
        derivation="The scheduler admits by the number of prompt tokens, so the tokenizer comes before it.",
        bonus=True,
    ),
)
