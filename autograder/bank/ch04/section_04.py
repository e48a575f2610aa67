"""Section 4.4, Which one wins: its questions."""

from __future__ import annotations

from autograder.bank.ch04.quantities import ALPHA
from autograder.items import Choice, Estimate, Landmark, Slip, lazily
from rankzero.facts.units import GB, MB

algorithms = lazily("solutions.ch04.all_reduce_algorithms")


QUESTIONS = (
    Estimate(
        id="04-crossover",
        title="Where does the ring overtake two trees?",
        section="4.4",
        label="size above which the ring is faster: 64 ranks, 50 GB/s, 5 µs, chunks without start-ups",
        unit="MB",
        answer=lambda: algorithms.crossover_bytes(64, 50 * GB, ALPHA) / MB,
        factor=2.5,
        scale=(1e-3, 1e6),
        landmarks=(
            Landmark(0.256, "256 kB", "a figure from the web"),
            Landmark(1e3, "1 GB", "gradients of half a billion parameters, bf16"),
            Landmark(1e6, "1 TB", "gradients of half a trillion parameters, bf16"),
        ),
        slips=(
            Slip(
                "That figure does not depend on the number of ranks. With 64 ranks the trees save 114 start-ups, and "
                "each of them is worth 250 KB on the wire.",
                value=0.256,
            ),
            Slip(
                "On each of the two trips the ring sends only a 64th of S less than two trees. So small a saving pays "
                "for 114 start-ups only if the tensor is large.",
                value=lambda: algorithms.crossover_bytes(64, 50 * GB, ALPHA) / 64 / MB,
            ),
            Slip(
                "That is the size for one tree of whole tensors. Two trees send far fewer bytes through the busiest "
                "port, so they stay ahead for longer.",
                value=lambda: algorithms.crossover_bytes(64, 50 * GB, ALPHA, "tree") / MB,
            ),
        ),
        derivation=(
            "The ring starts $2 \\cdot 63$ messages and the trees $2 \\cdot 6$, so the trees save 114 start-ups of 5 "
            "µs, or 570 µs. The ring sends $2 \\cdot \\frac{63}{64} S$ through its busiest port and the trees $2S$, so "
            "the ring saves $\\frac{2}{64} S$. At 50 GB/s, which S makes that worth 570 µs?"
        ),
    ),
    Choice(
        id="04-best-of-both",
        kind="trace",
        title="Few start-ups and few bytes",
        section="4.4",
        options=(
            "the distance: half of the data goes far, over shared links",
            "the bytes: every rank sends more of them than in a ring",
            "the start-ups: every rank has more than in two trees",
            "the memory: every rank keeps a copy for each partner",
        ),
        correct=0,
        derivation="In the model a message takes as long to a distant rank as to a near one. In a real machine distant "
        "partners may share links, and here half of the tensor goes to the most distant one. Besides, when $N$ is not "
        "a power of two some ranks have no partner. In a ring or a tree a rank talks only to a few neighbors.",
        slips={
            1: "It moves 2(N-1)/N of S, exactly as much as the ring.",
            2: "It has two start-ups on each of log2 N levels, as many as the model counts for two trees.",
            3: "It adds what arrives to its own part of the tensor; a buffer of half the tensor is enough.",
        },
    ),
)
