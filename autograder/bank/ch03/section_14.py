"""Section 3.14, The bytes of all eight: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import GB

cost = lazily("solutions.ch03.collective_cost")


QUESTIONS = (
    Question(
        id="03-steps",
        kind="derive",
        title="Messages of a ring",
        section="3.14",
        bonus=True,
        ask="messages that each rank sends",
        unit="messages",
        answer=lambda: 2 * (16 - 1),
        tolerance=0,
        slips=(
            Slip("That is one trip: the reduce-scatter and the all-gather take as many each.", value=15),
            Slip("A chunk needs one step fewer than there are ranks to pass them all.", value=32),
        ),
        derivation="Each of the two phases has $N-1$ steps, and each step one message per rank: $2(N-1)$ with $N "
        "= 16$.",
    ),
    Question(
        id="03-whole-tensor-ring",
        kind="derive",
        title="A ring that passes whole tensors",
        section="3.14",
        bonus=True,
        parts=(
            Part(
                "sent by each rank",
                "GB",
                lambda: 7 * 1.0,
                slips=(Slip("That is the ring of chunks: here every message is the whole tensor.", value=1.75),),
            ),
            Part(
                "times the bytes of the ring of chunks",
                "x",
                lambda: 7 * GB / cost.traffic("all_reduce", 1 * GB, 8, 0)[0],
                slips=(
                    Slip("That compares with one trip: an all-reduce makes two.", value=8.0),
                    Slip("That compares with 2 S: the ring of chunks sends 2(N-1)/N of S.", value=3.5),
                ),
            ),
        ),
        derivation=(
            "A rank sends the whole tensor in each of $N-1$ steps: $(N-1)\\,S$. Against the ring of chunks:\n\n"
            "$$\\frac{(N-1)\\,S}{2(N-1)\\,S/N} = \\frac{N}{2} .$$"
        ),
    ),
    Question(
        id="03-all-gather-vs",
        kind="derive",
        title="Gather all gradients, then add",
        section="3.14",
        bonus=True,
        ask="times the bytes received under all-reduce",
        unit="x",
        answer=lambda: (
            cost.traffic("all_gather", 64 * 14 * GB, 64, 0)[1] / cost.traffic("all_reduce", 14 * GB, 64, 0)[1]
        ),
        slips=(
            Slip("Every rank's gradient is a full tensor, and 64 of them are gathered.", value=0.5),
            Slip("That counts one trip of the all-reduce: it makes two.", value=64.0),
        ),
        derivation="Each rank's gradient is a full tensor $S$. Gathered, a rank receives the $N-1$ others, "
        "$(N-1)\\,S$. The all-reduce brings it $2(N-1)S/N$. The ratio is $N/2$, with $N = 64$.",
    ),
    Choice(
        id="03-pick",
        kind="design",
        title="Which two collectives",
        section="3.14",
        bonus=True,
        options=(
            "reduce-scatter, then all-gather; together as many bytes as one all-reduce",
            "all-reduce, then broadcast; together 1.5 times the bytes of one all-reduce",
            "reduce-scatter, then all-gather; together half the bytes of one all-reduce",
            "reduce, then scatter; together as many bytes as one all-reduce",
        ),
        correct=0,
        derivation="Each owner needs the sum of its own chunk, which a reduce-scatter gives it. Afterwards every rank "
        "needs all chunks of the new weights: an all-gather. Those are the two halves of an all-reduce, with the "
        "optimizer step between them.",
        slips={
            1: "An all-reduce brings every rank all gradients, and an owner needs its own chunk only.",
            2: "Each of the two is half of an all-reduce: together they are a whole one.",
            3: "A reduce brings the whole sum to one root, and after the scatter no rank would have all weights.",
        },
    ),
)
