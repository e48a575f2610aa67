"""Section 11.11, Milestone: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-own-engine",
        kind="trace",
        title="Two engines, one model",
        section="11.11",
        options=(
            "When each token is computed, and how many tokens the device computes. The texts are the same.",
            "The texts, too: requests that share a pass see each other's keys.",
            "The texts, too: a request that lost its blocks goes on without what it had read.",
            "Nothing: the same requests lead to the same passes.",
        ),
        correct=0,
        slips={
            1: "They share the read of the weights. Attention reads the blocks of a request's own table.",
            2: "Its prompt and its answer so far are computed again before it goes on, and give the same keys.",
            3: "The engine decides who joins a pass, and whether a known beginning is found or computed again.",
        },
        derivation="The next token of a request depends on its own tokens alone, whoever shares the pass and wherever "
        "the keys lie. In exact arithmetic the texts are therefore equal; float64 comes close enough on this page.",
    ),
)
