"""Section 8.18, Trace a request with your own lines: its question."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="08-growing-stage",
        kind="debug",
        title="A part that takes longer and longer",
        section="8.18",
        bonus=True,
        options=(
            "the detokenizer: it decodes the whole answer again in every pass",
            "the sampler: it looks at the logits of every token written so far",
            "the pass: it computes the whole answer again for every new token",
            "the waiting: each pass of the others makes a request wait once more",
        ),
        correct=0,
        derivation=(
            "The cell decodes `one.tokens`, which is the prompt and all of the answer so far. After $n$ tokens that is "
            "about $n^2/2$ tokens decoded. A detokenizer that keeps what it has sent decodes each of them once."
        ),
        slips={
            1: "Each request has one row of logits in a pass, whatever the length of its answer.",
            2: "The cache keeps keys and values, so a pass computes one token of each answer. Attention reads more of "
            "them each time, but that is needed.",
            3: "Waiting is no part of the loop, and a request that has a slot does not wait.",
        },
    ),
)
