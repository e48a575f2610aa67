"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-5

ANSWERS = {
    "13-kl-k2": (0.0173727,),
    "13-7b": (252,),
    "13-min-gpus": (32, 40),
    "13-peak": (2.28129,),
}
ESTIMATES = {"13-silent-groups": 430.46722, "13-whole-noise": 6.32456e-4, "13-node-tokens": 40_371.16}
