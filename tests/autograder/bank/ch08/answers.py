"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-4

ANSWERS = {
    "08-kv-exercise": (0,),
    "08-decode-steps": (49,),
    "08-prefill-8b": (0.0343556,),
    "08-attention-crossover": (61_266,),
    "08-ridge": (295.343,),
    "08-e2e": (5.275,),
    "08-little-inflight": (522.4, 9),
    "08-little-rate": (40,),
    "08-static-vs-continuous": (12, 8),
    "08-waste": (0.246771,),
    "08-handoff": (1.34218, 0.0268435),
    "08-design-slo": (324, 218, 15.2815),
}
ESTIMATES = {
    "08-floor-70b": 2 * 2.039e12 / (2 * 68_976_648_192),  # two GPUs read all weights once for a token
    "08-batch-cost": (256 * 2048 * 131_072 + 16_060_522_496) / (2048 * 131_072 + 16_060_522_496),  # bytes read
}
