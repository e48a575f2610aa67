"""Section 7.6, What crosses a boundary: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily

cost = lazily("solutions.ch03.collective_cost")

#: A stage of Llama 3 405B, and how many all-reduces tensor parallelism needs in a layer: 2 forward, 2 backward.
LAYERS, ALL_REDUCES, TP = 8, 4, 8


def _inside_over_boundary() -> float:
    """Activations that tensor parallelism sends in a stage, over the two that the boundary sends."""
    return LAYERS * ALL_REDUCES * cost.traffic("all_reduce", 1.0, TP, 0)[0] / 2


QUESTIONS = (
    Estimate(
        id="07-boundary-guess",
        title="Inside a stage and between two",
        section="7.6",
        label="bytes that a rank sends for tensor parallelism, over the bytes of one boundary",
        unit="times",
        answer=_inside_over_boundary,
        factor=1.6,
        scale=(0.01, 1e4),
        landmarks=(
            Landmark(0.1, "0.1", "the boundary sends ten times as much"),
            Landmark(1.0, "1", "both send the same"),
            Landmark(100.0, "100", "the boundary hardly matters"),
        ),
        slips=(
            Slip(
                "That is a single layer. A stage has eight of them, and one boundary.",
                value=lambda: _inside_over_boundary() / LAYERS,
            ),
            Slip(
                "That counts half of each all-reduce. A ring sends almost every byte twice: once to add, once to "
                "hand out the sum.",
                value=lambda: _inside_over_boundary() / 2,
            ),
            Slip(
                "That counts the boundary once. The gradient comes back, and it is as large as the activation.",
                value=lambda: 2 * _inside_over_boundary(),
            ),
        ),
        derivation=(
            "Per micro-batch, the boundary sends one activation and one gradient of the same size. Inside the stage, "
            "each of 8 layers needs 4 all-reduces of an activation, and in each a rank sends $2 \\cdot \\frac{7}{8}$ "
            "of its size: $8 \\cdot 4 \\cdot 1.75$ activations against 2."
        ),
    ),
)
