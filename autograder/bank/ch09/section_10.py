"""Section 9.10, When memory runs out: its first question."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="09-short-memory",
        kind="trace",
        title="Ever fewer blocks",
        section="9.10",
        options=(
            "the number of steps, because fewer requests run at once; the answers stay",
            "the answers of those that were preempted",
            "nothing: blocks only say where the tokens lie",
            "the number of steps, and the answers get shorter",
        ),
        correct=0,
        derivation="A preempted request gives up its keys and values, not its tokens. It computes them again from "
        "prompt and answer so far, with the same result up to rounding, and goes on. The additional steps come from "
        "waiting: fewer requests run at once.",
        slips={
            1: "The tokens that it has written are kept; only their keys and values are computed again.",
            2: "Somebody has to wait when no block is free, and what is thrown away is computed again.",
            3: "A request that is preempted waits. It does not end early.",
        },
    ),
)
