"""Section 3.1, The contract: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="03-late-broadcast",
        kind="trace",
        title="One rank is late to a broadcast",
        section="3.1",
        options=(
            "no rank has to: nobody needs anything from rank 3",
            "ranks 0, 1 and 2: a collective starts when the last rank calls it",
            "rank 0: the root is done when everyone has its data",
            "ranks 1 and 2: all that receive do so together",
        ),
        correct=0,
        derivation="A rank has to wait for the data that it needs. In a broadcast this data comes from the root, so a "
        "late *root* holds up everybody, and a late receiver need not hold up anyone. A library may still make some "
        "ranks wait: those that hand the data on to the late rank. The MPI standard leaves that open. A completed "
        "collective tells you only that the ranks whose data you needed have called it. A barrier waits for all ranks.",
        slips={
            1: "In an all-reduce they wait, because all need rank 3's numbers. Whose numbers does a broadcast need?",
            2: "The root may leave once its own sends are done. Another rank may hand the data on to rank 3.",
            3: "Each of them needs only the root's tensor, and may go on as soon as it arrives.",
        },
    ),
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
        "$a$. Operation, size and type agree, so the library cannot notice.",
        slips={
            1: "Both ranks make two calls of the same kind and size. The calls pair up, but not in the way you meant.",
            2: "For that, the library would have to know which tensor is which. It pairs first calls with first calls.",
            3: "To the library a tensor has no name: it could only compare operation, size and type, which agree.",
        },
    ),
)
