"""Section 8.5, Waiting for a stranger's answer: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily

serving = lazily("solutions.ch08.serving")

LENGTHS = [3, 1, 2, 5, 4]


def _last(policy: str, slots: int = 2) -> int:
    spans = getattr(serving, f"{policy}_batching")(LENGTHS, slots)
    return max(finish for _, finish in spans)


QUESTIONS = (
    Question(
        id="08-static-vs-continuous",
        kind="derive",
        title="Five requests, two slots",
        section="8.5",
        parts=(
            Part(
                "last finish, static",
                "steps",
                lambda: _last("static"),
                0.0,
                (
                    Slip("That is one slot.", value=15),
                    Slip("That is continuous: a static batch waits for its longest.", value=8),
                ),
            ),
            Part(
                "last finish, continuous",
                "steps",
                lambda: _last("continuous"),
                0.0,
                (Slip("That is a slot for everyone.", value=5), Slip("That is the static policy.", value=12)),
            ),
        ),
        derivation="Static: $\\max(3, 1) + \\max(2, 5) + 4$. Continuous: the slot of the second request is free at "
        "step 1 and takes the third, both are free at step 3.",
    ),
    Choice(
        id="08-latency-changes",
        kind="trace",
        title="Latency under continuous batching",
        section="8.5",
        options=(
            "yes, it falls: less queueing, and nobody waits for the longest of a batch",
            "no, only throughput changes",
            "yes, it rises: batches are larger",
        ),
        correct=0,
        derivation="A request's latency has three parts: waiting for a slot, its own steps, waiting to be released. "
        "Continuous batching shortens the first and removes the last.",
        slips={
            1: "True for the steps in a slot only; the wait before and after them shrinks.",
            2: "Batches are no larger than the slots in either policy; the wait shrinks.",
        },
    ),
)
