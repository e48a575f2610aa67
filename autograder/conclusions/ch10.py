"""Chapter 10: whether other coroutines got their turns in the event loop, and which batches went through a graph."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from autograder.items import Case, Tensor

#: What is added to everything that the model computes outside of a graph, in ``probes/ch10_graphs.py``.
EAGER = 1000.0


def beside(_case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """Whether another coroutine had a turn between any two steps, and whether nothing blocked the loop by sleeping."""
    turns = answer["turns of the neighbour before each step"]
    return {
        "value": answer["value"],
        "steps that ran": len(turns),
        "a turn after every step but the last": [later > earlier for earlier, later in pairwise(turns)],
        "the loop never stood still": not answer["seconds slept in place"],
    }


def batches(_case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """Whether each batch went through a graph. The outputs show it: outside a graph the model adds a constant."""
    return {
        "outputs": answer["outputs"],
        "captures": answer["captures"],
        "graphs recorded": len(answer["shapes of each recorded graph"]),
        "with gradients": answer["outputs with gradients"],
        "went through a graph": [_replayed(output) for output in answer["outputs"]],
        "inputs after the calls": answer["inputs after the calls"],
    }


def _replayed(output: Any) -> bool:
    return isinstance(output, Tensor) and all(abs(number) < EAGER / 2 for number in output.tolist())
