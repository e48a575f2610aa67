"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

LAYER = 16 * 4096 * 8192 * 7 / 8  # bytes of a 70B layer in a step
GPT3 = 2048 * 12_288  # tokens times width

SHOWN = {
    "just concatenate": ["complete slice", "all-gather"],
    "no communication in the backward": ["f all-reduces it"],
    "four collectives": ["2 all-reduces forward, 2 backward"],
    "rank 0": ["adds it once", "wrong by 7 biases"],
    "8 b s h": [f"{LAYER / 1e6:.4g} MB for a layer", f"not {LAYER / 2e6:.4g} MB"],
    "112 MB": [
        f"{LAYER / 4e6:.4g} MB of a tensor of {2 * 4096 * 8192 / 1e6:.4g} MB",
        f"{80 * LAYER / 2e9:.4g} GB",
        f"{LAYER / 4 / 450e9 * 1e6:.3g} µs",
        f"{LAYER / 4 / 300e9 * 1e6:.4g} µs",
        f"{LAYER / 4 / 50e9 * 1e3:.4g} ms",
        f"{80 * LAYER / 450e9 / 0.3:.1%}".replace("%", " %"),
        f"{80 * LAYER / 50e9 / 0.3:.0%}".replace("%", " %"),
    ],
    "InfiniBand": [f"{450 / 50:g} times", f"{2 * 300} GB/s", f"{8 * 50} GB/s of a node"],
    "2 MB": [f"{1.5 * 2 / 450 * 1e3:.4g} µs", "30 µs"],
    "overlapped": [f"{2 * 7 * 494.7e12 / (9 * 8192 * 450e9):.0%}".replace("%", " %")],
    "adds no traffic": [f"{LAYER * 10 / 8 / 1e6:.4g} MB", "25 % more"],
    "exceed the memory": [f"{2 * 50_257 * 12_288 / 1e9:.4g} GB"],
    "16.1": [f"{70_553_706_496 * 2 / 8 / 1e9:.4g} GB", f"{12 * 8192**2 * 80 / 1e9:.1f} billion of 70.55 billion"],
    "12 heads": [f"{4096 / 12:.1f} features", "it is 128"],
    "TP 16": ["on 2 ranks", "4 query heads and 1 key-value head"],
    "same seed": [f"{2560 / 768:.2f} times", f"{2560 / 768 / 64:.3f} times", f"{1 / 64:.3f}"],
    "number of ranks": ["8 times too small"],
    "10 times the parameters": [f"{96 * GPT3 * 114 / 1e9 * 1:.4g} GB", f"{8 * 96 * GPT3 / 1e9:.4g} GB"],
    "square root": [
        f"{2 * 96 * GPT3 / 1e9:.4g} GB + {114 * GPT3 / 1e9:.4g} GB",
        f"{8 * 96**0.5 * GPT3 / 1e9:.4g} GB",
        "57 checkpoints",
        f"{(2 * 96 + 114) * GPT3 / 1e9:.4g} GB",
    ],
    "33 to 100": ["33.3 %", f"{100 * 2048 / (18 * 12_288 + 3 * 2048):.1f} %", f"{100 * 2048 / (6 * 12_288):.1f} %"],
    "ring attention": [f"{2 * 2 * 131_072 * 8 * 128 / 1e6:.4g} MB"],
}
