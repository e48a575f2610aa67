"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-5

ANSWERS = {
    "01-gpt3-bill": (1.68269e6,),
    "01-llama2-mfu": (0.434723,),
    "01-attention-share": (
        0.0277778,
        73_728,
    ),
    "01-chinchilla-size": (6.92820e10,),
    "01-moe-two-sizes": (7.728e22,),
    "01-group-count": (512,),
    "01-coordinates-405b": (39,),
    "01-failed-starts": (3, 1, 4, 2),
    "01-sampler-padding": (48,),
    "01-eval-bias": (0.333333,),
    "01-fixed-batch": (0.529412,),
}
ESTIMATES = {
    "01-gpt3-one-gpu": 63.9856,
    "01-memory-wall": 35,
}
#: Wrong numbers that are explained, by question and part.
SLIPS = {
    ("01-gpt3-bill", 0): {26_280},
    ("01-llama2-mfu", 0): {0.217, 0.145},
    ("01-attention-share", 0): {56.9},
    ("01-chinchilla-size", 0): {4.8e21, 1.70e11},
    ("01-moe-two-sizes", 0): {2.80e23, 2.58e22},
    ("01-group-count", 0): {16, 1024, 128},
    ("01-coordinates-405b", 0): {49, 78},
    ("01-failed-starts", 0): {1, 2, 4},
    ("01-failed-starts", 1): {2, 3, 4},
    ("01-failed-starts", 2): {1, 2, 3},
    ("01-failed-starts", 3): {1, 3, 4},
    ("01-sampler-padding", 0): {16, 782},
    ("01-eval-bias", 0): {0.2},
    ("01-fixed-batch", 0): {0.9},
    ("01-gpt3-one-gpu", 0): {355, 32.0, 21.3},
    ("01-memory-wall", 0): {27, 5, 9},
}
