"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-5

ANSWERS = {
    "10-five-big": (0.00055,),
    "10-many-small": (0.002502, 0.00101),
    "10-graph-gain": (2.47723,),
    "10-pad-5": (0.375,),
    "10-pow2-waste": (0.247076,),
    "10-sizes-count": (35,),
    "10-overlap-20": (0.203,),
    "10-overlap-cpu-bound": (0.007,),
    "10-overhead-def": (0.166667,),
    "10-wasted-eos": (0.00332226,),
    "10-chunks": (8,),
    "10-stall": (0.0691696, 0.00883053),
    "10-swap": (0.00852176, 0.0709338),
    "10-ahead-step": (4 + 2,),  # the CPU's part is the longer one
}
