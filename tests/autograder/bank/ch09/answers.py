"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

import math

EXACT = 1e-5
TOKEN = 2 * 80 * 8 * 128 * 2
ANSWERS = {
    "09-llama70": (327_680,),
    "09-32k": (10.7374, 10.0),
    "09-mla": (70_272, 70_272),
    "09-your-model": (52,),
    "09-node-plan": (357, 178, 44, 11),
    "09-fp8": (480_000_000_000 // (163_840 * 32_768),),
    "09-weights-vs-kv": (math.ceil(141.1e9 / (TOKEN * 32_768)),),
    "09-reservation": (0.958333,),
    "09-four-fleets": (0.0625, 0.25, 0.125, 0.0625),
    "09-block-256": (127.5,),
    "09-sharing-3": (14 / 310, 14 * TOKEN / 1e6),
    "09-sharing-limit": (0.825, 0.833333),
    "09-few-shot": (0.942857,),
    "09-chat-hits": (2800 / 3250,),
    "09-quant": (166_400, 92_160),
}
ESTIMATES = {
    "09-token-forwards": 6225 / 149,
}
#: Wrong numbers that are explained, by question and part.
SLIPS = {
    ("09-llama70", 0): {2_621_440, 163_840},
    ("09-mla", 0): {140_544, 62_464},
    ("09-mla", 1): {8_784},
    ("09-your-model", 0): {53, 13},
    ("09-node-plan", 0): {375},
    ("09-node-plan", 1): {187},
    ("09-node-plan", 2): {46},
    ("09-fp8", 0): {44, 88},
    ("09-block-256", 0): {255, 128},
}
