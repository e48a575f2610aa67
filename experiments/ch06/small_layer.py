"""A layer small enough to count by hand: what it keeps, part by part, and what recomputation leaves of it.

Standard library only.

>>> sum(parts().values())
1248.0
"""

from __future__ import annotations

from rankzero.facts.models import GPT3_175B
from rankzero.facts.units import GB
from solutions.ch06.layer_memory import stored_by_layer

from .explorers import layer_parts

#: Tokens, sequences, width and heads.
SEQUENCE, BATCH, HIDDEN, HEADS = 4, 1, 8, 2

Parts = dict[str, float]


def parts(recompute: str = "none") -> Parts:
    """Bytes kept around the split matrices, between them, and for the attention matrix; or for the input alone."""
    shape = (SEQUENCE, BATCH, HIDDEN, HEADS)
    if recompute == "full":
        return {"input of the layer": stored_by_layer(*shape, recompute="full")}
    kept = stored_by_layer(*shape, recompute="selective")
    around = 2 * (kept - stored_by_layer(*shape, ranks=2, recompute="selective"))  # what is split, twice its half
    matrix = stored_by_layer(*shape, recompute=recompute) - kept
    found = {"around the matrices": kept - around, "between them": around}
    return found | ({"attention matrix": matrix} if matrix else {})


def by_recompute() -> dict[str, Parts]:
    """The same layer with nothing, the attention core, and everything computed again."""
    return {f"{name} recomputed": parts(how) for name, how in _NAMES.items()}


_NAMES = {"nothing": "none", "attention core": "selective", "whole layer": "full"}


def gpt3_by_split() -> dict[str, Parts]:
    """One layer of GPT-3 with one sequence of 2,048 tokens on one GPU and on eight, in GB."""
    plans = {"1 GPU": (1, False), "8 GPUs": (8, False), "8 GPUs, sequence split": (8, True)}
    result = {}
    for name, plan in plans.items():
        sizes = layer_parts(GPT3_175B, 2048, 1, *plan, "materialised", "none")
        result[name] = {part: size / GB for part, size in sizes.items()}
    return result
