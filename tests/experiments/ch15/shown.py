"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

import math

ALL = 405_853_388_800
FLOP = 6 * ALL * 15.6e12
YOUNG = math.sqrt(2 * 98 * 86_400)


def waste(t: float, stall: float, mtbf: float, restart: float) -> float:
    return 1 - t * math.exp(-restart / mtbf) / (mtbf * math.expm1((t + stall) / mtbf))


SHOWN = {
    "Twenty": ["6e18 to 3e21 FLOP", "92.6", "18.4", f"saw {15e12 / 8_030_261_248:,.0f} tokens"],
    "window": [
        f"{30.84e6 / 16_384 / 24:.1f} days",
        f"{FLOP / (30.84e6 * 3600 * 989.4e12):.1%}",
        f"{FLOP / (16_384 * 54 * 86_400 * 989.4e12):.1%}",
    ],
    "exponent": [f"{0.29 * 3.8e25**0.53 / 1e12:.1f} trillion", "0.5378", "37%"],
    "percentages": [f"{148 / 419:.1%}", f"{(148 + 72 + 19 + 17 + 6 + 6) / 419:.1%}"],
    "Young's": ["60 min", "41.9 min"],
    "only half": [f"{98 / (YOUNG + 98):.1%} of the time", f"{waste(YOUNG, 98, 86_400, 120):.1%} of the wall-clock"],
}
