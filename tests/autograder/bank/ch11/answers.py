"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-5

ANSWERS = {
    "11-alpha": (0.7, 5 / 6, 1 / 6),
    "11-tokens-8-5": (3.68928,),
    "11-speedup-75": (3.05078, 2.54232),
    "11-all-five": (0.16807, 1.94117, 2.94117),
    "11-best-k": (3, 1.58312),
    "11-perfect-draft": (3.46154,),
    "11-below-half": (1, 1.25),
    "11-batch-256": (0.741430,),
    "11-break-even": (186.751,),
    "11-design-serve": (2, 1.74263),
    "11-distance": (4, 2),
    "11-mask-not-condition": (0.9, 0.0909091),
}
