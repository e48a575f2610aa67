"""Chapter 14's weights on the road beside published updates. Standard library only."""

from __future__ import annotations

from solutions.ch14.weight_sync import chain_broadcast_time

from ..comparison import Compared, Comparison
from . import published

#: So many that a chunk is next to nothing.
CHUNKS = 10**6
#: GPUs of one engine.
ENGINE = 16


def chain(engines: int) -> float:
    """Time until the last engine has the weights, which pass from one to the next."""
    return chain_broadcast_time(1.0, engines, 1.0, chunks=CHUNKS)


def longer(name: str, seconds: dict[int, float]) -> Compared:
    """The update of the most engines over that of one."""
    few, many = min(seconds), max(seconds)
    ours = chain(many // ENGINE) / chain(few // ENGINE)
    return Compared(f"{name}, {many // ENGINE} engines over 1", seconds[many] / seconds[few], ours, "x")


_CARD = published.CARD

COMPARISONS = (
    Comparison(
        "14.5",
        "Update of many engines over that of one, as a pipeline",
        "ch14.weight_sync.chain_broadcast_time",
        "measured",
        "MoonshotAI/checkpoint-engine, README.md, commit 415c320",
        (longer("Kimi K2", published.KIMI), longer("DeepSeek-V3.1", published.DEEPSEEK)),
        "The start of the pipeline, which grows with the engines, is left out.",
        "that more receivers lengthen an update by little",
    ),
    Comparison(
        "14.5",
        "Time for a GPU to receive its part of the weights, bytes over the card's rate",
        "ch14.weight_sync.chain_broadcast_time",
        "measured",
        "NVIDIA-NeMo/RL, docs/guides/checkpoint-engine-refit.md, commit 0692f4c",
        (
            Compared(
                "DeepSeek-V3, whole experts",
                published.REFIT["whole experts"],
                chain_broadcast_time(published.DEEPSEEK_BYTES, 1, _CARD),
                "s",
            ),
            Compared(
                "DeepSeek-V3, slices",
                published.REFIT["slices"],
                chain_broadcast_time(published.REFIT_LOADED, 1, _CARD),
                "s",
            ),
        ),
        "A floor: gathering, converting and loading are left out, and they can take most of the time.",
        "which way of sending is cheaper; not the seconds",
    ),
)
