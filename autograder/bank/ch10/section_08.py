"""Section 10.8, Record once, replay: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="10-stale",
        kind="trace",
        title="A new tensor under an old name",
        section="10.8",
        options=("f(zeros)", "f(new)", "zeros", "an error"),
        correct=0,
        derivation="The name `x` moved to another tensor. The graph knows no names: it reads the buffer that it was "
        "captured with, which still holds zeros.",
        slips={
            1: "The graph reads the buffer that was captured; the new tensor lies elsewhere.",
            2: "The replay computes f, of what the old buffer holds.",
            3: "Nothing looks wrong to the graph: its buffer is still there. That is why this mistake is so common.",
        },
    ),
    Choice(
        id="10-frozen-branch",
        kind="trace",
        title="A branch in a graph",
        section="10.8",
        options=("[-2, -2]", "[1, 1]", "[2, 2]", "an error"),
        correct=0,
        derivation="Python decided once, during the capture. What was recorded is $2x$, and $x$ now holds $-1$.",
        slips={
            1: "The condition is not part of the graph: the branch was chosen during the capture.",
            2: "The replay reads the buffer anew: it holds -1 now.",
            3: "The host decides from its own list, so the GPU has nothing to wait for, and nobody notices.",
        },
    ),
)
