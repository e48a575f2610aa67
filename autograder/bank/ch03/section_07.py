"""Section 3.7, Ring all-gather, then all-reduce: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip, lazily
from rankzero.facts.units import GB

cost = lazily("solutions.ch03.collective_cost")

RING_VOLUME = (
    "A rank sends one chunk in each of the $N-1$ steps of the reduce-scatter, and one in each of the $N-1$ steps of "
    "the all-gather:\n\n"
    "$$2(N-1)\\cdot\\frac{S}{N} = \\frac{2(N-1)}{N}\\,S .$$"
)


QUESTIONS = (
    Question(
        id="03-eight-gpus-volume",
        kind="derive",
        title="Bytes of a ring over 8 ranks",
        section="3.7",
        ask="sent by each rank",
        unit="GB",
        answer=lambda: cost.traffic("all_reduce", 1 * GB, 8, 0)[0] / GB,
        slips=(
            Slip("That is one trip: the all-gather sends as much again.", value=0.875),
            Slip("That is sent plus received; the question asks for what is sent.", value=3.5),
            Slip(
                "That is the limit for many ranks: on each trip a rank sends seven of the eight chunks.",
                value=2.0,
            ),
        ),
        derivation=RING_VOLUME + "\n\nHere $N = 8$ and $S = 1$ GB.",
    ),
    Choice(
        id="03-race",
        kind="trace",
        title="Three programs, one sum",
        section="3.7",
        options=(
            "in the ring of whole tensors, each rank sends as much as the star's rank 0",
            "both rings send the same bytes; chunks only make the messages smaller",
            "the star sends the most in total, since everything passes through rank 0",
            "the ring of chunks sends the least in total, less than the star",
        ),
        correct=0,
        derivation="Rank 0 of the star sends $N-1$ whole tensors, and so does *every* rank of the ring of whole "
        "tensors. The ring of chunks sends $2\\frac{N-1}{N}$ tensors per rank, $2(N-1)$ in total, exactly as many as "
        "the star. It does not save bytes. It spreads them evenly.",
        slips={
            1: "A rank of either ring sends a message in every step, but one ring sends the whole tensor each time.",
            2: "The star sends $2(N-1)$ tensors in total, the ring of whole tensors $N(N-1)$.",
            3: "It sends exactly as much as the star. Its advantage is that no link carries more than the others.",
        },
    ),
)
