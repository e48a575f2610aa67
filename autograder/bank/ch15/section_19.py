"""Section 15.19, What failed: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import part
from autograder.items import Question, lazily

facts = lazily("solutions.ch15.llama_405b")


def _share(causes: int, total: int = 419) -> float:
    return 100 * causes / total


def _gpu_causes() -> int:
    return sum(cause.count for cause in facts.CAUSES if cause.kind == "GPU")


QUESTIONS = (
    Question(
        id="cap-table5",
        kind="debug",
        title="Two percentages of a table",
        section="15.19",
        bonus=True,
        parts=(
            part(
                "faulty GPUs",
                "%",
                lambda: _share(148),
                ("That is the misprint; 148 of 419 is more.", 30.1),
                ("The shares are of the unexpected interruptions, 419.", lambda: _share(148, 466)),
            ),
            part(
                "all GPU causes",
                "%",
                lambda: _share(_gpu_causes()),
                ("That sums the printed percentages, misprint and all.", 58.7),
                ("The shares are of the unexpected interruptions, 419.", lambda: _share(_gpu_causes(), 466)),
            ),
        ),
        derivation="Counts over the total of unexpected interruptions, 419. Faulty GPUs: 148. GPU causes are those, "
        "their HBM3 (72), SRAM (19), system processor (17), silent data corruption (6) and thermal interface (6).",
    ),
)
