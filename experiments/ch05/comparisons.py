"""Chapter 5's memory beside a published table. Standard library only."""

from __future__ import annotations

from rankzero.facts.units import GB
from solutions.ch05.zero import zero_memory

from ..comparison import Compared, Comparison
from . import published

COMPARISONS = (
    Comparison(
        "5.6",
        "Bytes of model states on each rank, ZeRO 1 to 3",
        "ch05.zero.zero_memory",
        "computed",
        published.SOURCE,
        tuple(
            Compared(f"{model}, stage {stage}, {ranks} ranks", printed, zero_memory(params, stage, ranks) / GB, "GB")
            for ranks, models in published.ROWS.items()
            for (model, params), cells in zip(published.MODELS.items(), models, strict=True)
            for stage, printed in enumerate(cells, start=1)
        ),
        "The paper rounds, or drops decimals.",
        "states between two steps; activations, and a layer gathered for a moment, come on top",
    ),
)
