"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

LAYER = 16 * 4096 * 8192 * 7 / 8  # bytes of a 70B layer in a step
GPT3 = 2048 * 12_288  # tokens times width

SHOWN = {
    "heads can be copied": ["held by 2 ranks", "4 query heads and 1 key-value head"],
    "Sequence parallelism": [f"{LAYER * 10 / 8 / 1e6:.4g} MB", f"{LAYER / 1e6:.4g} MB", "25% more"],
    "what is recomputed": [
        f"{1 / 3:.0%} of a step",
        f"{2 * GPT3 / 1e6:.4g} MB of the {114 * GPT3 / 1e9:.4g} GB",
        f"{2048 / (18 * 12_288 + 3 * 2048):.1%}",
        f"{34 * GPT3 / 1e6:.4g} MB",
    ],
    "square root": [
        "57 times its input",
        "distance is 1 layer",
        f"{(2 * 96 + 114) * GPT3 / 1e9:.4g} GB",
        f"{(2 * 10 + 10 * 114) * GPT3 / 1e9:.4g} GB",
    ],
}
