"""A pipeline of four stages small enough to count by hand: what one GPU of each stage holds. Standard library only.

>>> [round(row["total"]) for row in stages()]
[13280, 10240, 7840, 6120]
"""

from __future__ import annotations

from rankzero.facts.models import Model
from solutions.ch15.run_plan import memory_per_stage

#: Eight layers of 152 parameters: width 4, two heads that share one pair of keys and values, an inner width of 8.
SHAPE = Model("small", 8, 4, 2, 1, 2, 8, 16)
LAYERS = (2, 2, 2, 2)
REPLICAS, MICRO_BATCHES, TOKENS = 2, 4, 10

#: What the parts are called in the picture.
NAMES = {"parameters": "weights", "states": "gradients and optimizer", "activations": "activations"}


def stages() -> list[dict[str, float]]:
    """Bytes on a GPU of each stage, by part and in all."""
    return memory_per_stage(SHAPE, LAYERS, 1, 1, REPLICAS, MICRO_BATCHES, TOKENS)


def bars() -> dict[str, dict[str, float]]:
    """The parts of each stage under the names of the picture."""
    return {f"stage {index}": {name: row[key] for key, name in NAMES.items()} for index, row in enumerate(stages())}
