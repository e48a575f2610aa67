"""Section 4.13, Where the curves cross: its questions."""

from __future__ import annotations

import math

from autograder.bank.ch04.quantities import all_reduce_ms
from autograder.items import Choice, Question, Slip

QUESTIONS = (
    Question(
        id="04-latency-24576",
        kind="derive",
        title="Start-ups on 24,576 ranks",
        section="4.13",
        bonus=True,
        ask="ring over tree",
        unit="x",
        answer=lambda: all_reduce_ms("ring", 0.0, 24576, 1.0, 1.0)() / all_reduce_ms("tree", 0.0, 24576, 1.0, 1.0)(),
        slips=(
            Slip(
                "That ratio was measured, where most hops stay inside a node and are cheap; the question is "
                "about the model.",
                value=180,
            ),
            Slip("That is the number of ranks: a tree has start-ups, too.", value=24576),
            Slip("A tree has a whole number of levels: round log2 N up.", value=24575 / math.log2(24576)),
            Slip("14 levels hold 16,384 ranks: one more is needed.", value=24575 / 14),
        ),
        derivation="$2(N-1)\\alpha$ against $2\\lceil\\log_2 N\\rceil\\alpha$, with $N = 24576$, which lies between "
        "$2^{14}$ and $2^{15}$.",
    ),
    Choice(
        id="04-never-slower",
        kind="trace",
        title="The ring, never slower",
        section="4.13",
        bonus=True,
        options=("for 1, 2 and 3 ranks", "for no number of ranks", "for every number of ranks", "for 1 and 2 ranks"),
        correct=0,
        derivation="The crossover is $N(N-1-d)\\,\\alpha B$ with $d = \\lceil\\log_2 N\\rceil$. It is zero while $N - "
        "1 = d$; from $N = 4$ on the ring has more steps than the tree has levels.",
        slips={
            1: "Two ranks exchange halves in two steps: no tree is faster.",
            2: "For small messages and many ranks the ring's start-ups decide.",
            3: "With three ranks the ring takes two steps each way and the tree has two levels each way, because 3 "
            "is not a power of two.",
        },
    ),
    Choice(
        id="04-tree-or-ring",
        kind="design",
        title="Three sizes, two algorithms",
        section="4.13",
        bonus=True,
        options=(
            "1 KB double tree, 1 MB double tree, 100 MB ring",
            "1 KB double tree, 1 MB ring, 100 MB ring",
            "the ring for all three",
            "the double tree for all three",
        ),
        correct=0,
        derivation="$S^* = N(N-1-d)\\,\\alpha B$ with $N = 8$, $d = 3$, $\\alpha = 5$ µs and $B = 50$ GB/s; below it "
        "the double tree wins, above it the ring.",
        slips={
            1: "The crossover is not a constant such as 256 KB: work it out from N, alpha and B.",
            2: "For a kilobyte only start-ups matter: the ring has 14 of them, the trees have 6.",
            3: "For large messages bytes decide, and the ring moves an eighth less.",
        },
    ),
)
