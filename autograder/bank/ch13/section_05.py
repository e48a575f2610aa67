"""Section 13.5, How far, from samples: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-quietest",
        kind="trace",
        title="The quieter estimator",
        section="13.5",
        options=("k1", "k3"),
        correct=0,
        derivation="Where the policy is far from the reference, a rare token whose $d$ is strongly negative counts "
        "$e^{-d}$ in k3 and $d$ alone in k1.",
        slips={1: "That holds close to the reference. Here d is -1.9 for the rare tokens, and e^-d is 6.7."},
    ),
)
