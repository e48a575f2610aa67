"""Section 3.1, The contract: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="03-order-swap",
        kind="trace",
        title="Two all-reduces in opposite order",
        section="3.1",
        options=(
            "a = 11 and b = 11 on both ranks, without an error",
            "nothing: both ranks wait for each other until the timeout",
            "a = 2 and b = 20 on both ranks, without an error",
            "an error on both ranks that names the two tensors",
        ),
        correct=0,
        derivation="The library pairs calls by their order, not by their tensors: the first call of one rank meets "
        "the first call of the other. So rank 0's $a$ is added to rank 1's $b$, and then rank 0's $b$ to rank 1's "
        "$a$. Operation, size and type agree, so nothing can notice.",
        slips={
            1: "Both ranks make two calls of the same kind and size. They pair up, only not in the way you meant.",
            2: "For that, the library would have to know which tensor is which. It pairs first with first.",
            3: "To the library a tensor has no name: it could only compare operation, size and type, which agree.",
        },
    ),
)
