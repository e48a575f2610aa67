"""Section 14.8, A bound that does not bound: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-gate-bound",
        kind="trace",
        title="What the gate bounds",
        section="14.8",
        options=(
            "no: it bounds how far production runs ahead; one slow response can still arrive many versions late",
            "yes: no sample is older than the bound when it is trained on",
            "yes, as long as no response is rejected",
            "no: it bounds nothing once the trainer is faster than the rollout",
        ),
        correct=0,
        derivation="The gate counts what has started. While a long response runs, shorter ones that started after it "
        "finish, are trained on, and raise the version. The long one joins whatever batch is next when it ends.",
        slips={
            1: "It would be so if responses were trained on in the order in which they started.",
            2: "A rejected response is replaced by a fresh one; the slow one is the trouble.",
            3: "It bounds what may start at any time, whoever is faster.",
        },
    ),
)
