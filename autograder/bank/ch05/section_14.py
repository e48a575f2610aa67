"""Section 5.14, Stages 2 and 3 as functions: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily
from rankzero.facts.units import GB

zero = lazily("solutions.ch05.zero")


QUESTIONS = (
    Question(
        id="05-no-sync-memory",
        kind="derive",
        title="Accumulating without reducing",
        section="5.14",
        bonus=True,
        ask="more bytes of gradients on each rank",
        unit="GB",
        answer=lambda: (zero.zero_memory(7e9, 0, 64, 0, 2, 0) - zero.zero_memory(7e9, 3, 64, 0, 2, 0)) / GB,
        slips=(
            Slip("Accumulation is not free: what is not reduced must be kept whole.", value=0.0),
            Slip(
                "That is the slice, which the rank holds in any case.",
                value=lambda: zero.zero_memory(7e9, 3, 64, 0, 2, 0) / GB,
            ),
            Slip(
                "Close: that is the whole gradient, and the rank holds its own slice in any case.",
                value=lambda: zero.zero_memory(7e9, 0, 64, 0, 2, 0) / GB,
            ),
        ),
        derivation="With every reduction a rank keeps the slice of the gradients that it owns, $2P/N$ bytes. Without, "
        "it has to keep all of its own, $2P$: more by $2P\\,(N-1)/N$, with $P = 7 \\cdot 10^9$ and $N = 64$.",
    ),
)
