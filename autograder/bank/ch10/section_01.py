"""Section 10.1, Who is late, the CPU or the GPU?: its questions."""

from __future__ import annotations

from autograder.bank.ch10.quantities import eager
from autograder.items import Question, Slip
from rankzero.facts.units import us

QUESTIONS = (
    Question(
        id="10-five-big",
        kind="derive",
        title="Five long kernels",
        section="10.1",
        ask="time",
        unit="s",
        answer=lambda: eager(5, 100 * us, 50 * us),
        slips=(
            Slip("Launches do not wait for kernels: only the first one is not hidden.", value=750 * us),
            Slip("The first kernel waits for its launch.", value=500 * us),
        ),
        derivation="A kernel takes longer than a launch, so the GPU is the slower side. It waits for the first launch "
        "and then never again: $t_l + n\\,t_k$.",
    ),
)
