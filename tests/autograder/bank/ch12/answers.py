"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-5

ANSWERS = {
    "12-return": (1.5,),
    "12-horizon": (50,),
    "12-bellman": (3.83562,),
    "12-baseline-100": (0.25, 4950.125),
    "12-best-baseline": (1.95806,),
    "12-td": (-0.004,),
    "12-gae-first": (0.701751,),
    "12-gae-weight": (0.541487,),
    "12-gae-half": (11.2994,),
    "12-lambda-for": (0.965936,),
    "12-clip-five": (-5,),
    "12-optimizer-steps": (80, 20),
    "12-explained": (0.45, 1),
}

ESTIMATES = {"12-gamma-long": 4.36073e-5}
