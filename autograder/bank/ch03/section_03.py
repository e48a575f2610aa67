"""Section 3.3, Where the result lands: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="03-reduce-leftover",
        kind="trace",
        title="Buffers after a reduce",
        section="3.3",
        options=(
            "no, its tensor may hold anything now",
            "yes, only the root's tensor changes",
            "yes, unless the call was asynchronous",
        ),
        correct=0,
        derivation="`reduce` promises a result on the root. On the other ranks the buffer is scratch space: a library "
        "that adds along a chain or a tree may leave partial sums in it. Copy the tensor first if you still need it.",
        slips={
            1: "The result is promised on the root alone, but nothing protects the other ranks' tensors.",
            2: "A blocking call may leave partial sums behind just the same.",
        },
    ),
)
