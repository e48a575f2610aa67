"""Section 9.4, What fits: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="09-fp8-room",
        kind="trace",
        title="Keys and values in 8 bits",
        section="9.4",
        options=(
            "twice as many: the room stays, and a token takes half",
            "fewer than twice as many, because the weights still take their 141 GB",
            "more than twice as many, because the weights shrink as well",
            "as many as before: requests are limited by computing",
        ),
        correct=0,
        derivation="Weights are subtracted before the room is divided among tokens. The room is 147 GB either way, and "
        "each token takes half of what it took. What it costs is precision, and scales have to be stored and applied.",
        slips={
            1: "The weights were subtracted already: the whole room is for keys and values.",
            2: "The format of the cache says nothing about the weights, which stay in 16 bits here.",
            3: "The question is how many fit, and that is a matter of bytes.",
        },
    ),
)
