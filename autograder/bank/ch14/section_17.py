"""Section 14.17, What a change costs: its questions."""

from __future__ import annotations

from autograder.bank.ch14.quantities import MODEL
from autograder.items import Question, Slip, lazily
from rankzero.facts.units import GB

sync = lazily("solutions.ch14.weight_sync")


def _transition(engine: str, replicas: int = 1, parts: int = 8, slices: int = 2):
    return sync.transition_cost(MODEL, parts, 1, replicas, slices, 1, engine)


QUESTIONS = (
    Question(
        id="14-mode-switch",
        kind="derive",
        title="From eight slices to two",
        section="14.17",
        bonus=True,
        ask="received",
        unit="GB",
        answer=lambda: _transition("nested").received / GB,
        tolerance=0.005,
        slips=(
            Slip("The layouts differ: a rank holds an eighth and needs a half.", value=0),
            Slip("That counts the eighth that the rank has already.", value=lambda: MODEL / 2 / GB),
            Slip("That is a full gather: a half of the model is enough.", value=lambda: MODEL * 7 / 8 / GB),
        ),
        derivation="A rank needs $M/2$ and holds $M/8$ of that: it receives $(8-2)/(8 \\cdot 2)\\,M$.",
    ),
    Question(
        id="14-hybrid-saving",
        kind="derive",
        title="A full gather beside nested slices",
        section="14.17",
        bonus=True,
        ask="ratio",
        unit="times",
        answer=lambda: _transition("zero3", 2).received / _transition("nested").received,
        slips=(
            Slip(
                "Both leave out what the rank has already.",
                value=lambda: MODEL / _transition("nested").received,
            ),
            Slip("That compares what is held, not what is received.", value=2),
            Slip(
                "ZeRO-3 gathers from 16 ranks, not from 8.",
                value=lambda: _transition("gather").received / _transition("nested").received,
            ),
        ),
        derivation="ZeRO-3 receives $15/16\\,M$. Nested slices receive $(8-2)/(8 \\cdot 2)\\,M$.",
    ),
)
