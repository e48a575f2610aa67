"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

import math

ALL, LAYER = 405_853_388_800, 3_187_703_808
MTBF = 54 * 86_400 / 419


def waste(t: float, stall: float, mtbf: float, restart: float) -> float:
    return 1 - t * math.exp(-restart / mtbf) / (mtbf * math.expm1((t + stall) / mtbf))


YOUNG = math.sqrt(2 * 98 * 86_400)
MONTH = 512 * 30 * 24 * 2

SHOWN = {
    "actual configuration": [f"{16 * 128:,} sequences", f"{16 * 128 * 8192 / 1e6:.2f}M tokens"],
    "4 h²": [f"{LAYER / 1e9:.4f} billion", f"{LAYER * 2 / 1e9:.2f} GB", "3.69 billion"],
    "131,072": ["There are 8.", f"{8 * 16 * 16 * 8:,} GPUs"],
    "ordered": ["TP, CP, PP, DP", "400 Gb/s"],
    "41 %": [f"{400 / 989.4:.1%}", f"{0.41 * 989.4:.4g} would be 41%"],
    "54 days": [f"{30.84e6 / 16_384 / 24:.1f} days", f"{6 * ALL * 15.6e12 / (30.84e6 * 3600 * 989.4e12):.1%}"],
    "0.53": [f"{0.29 * 3.8e25**0.53 / 1e12:.1f} trillion", "0.5378", "37%"],
    "is a law": ["6e+18 to 3e+21 FLOP", "92.6", "18.4"],
    "line of twenty": [f"{300 / 175:.2f}", f"{15.6e12 / ALL:.1f}"],
    "left out": [f"{131_072 / (12 * 16_384):.0%} at 131,072", f"At most {0.8 / 15.6:.0%}", "six steps"],
    "s²": [f"{2048 / (6 * 12_288):.1%} of its", f"{2048**2 / (6 * 12_288):.0f} times"],
    "excellent": ["38% to 43%"],
    "GPT-4": ["Uncertain", f"{3.8e25 / 2.1e25:.1f} times"],
    "375 %": [f"{15 / 16:.2%}", f"{15 / 128:.1%} with 8"],
    "14.65": [f"{127 / 128 * 6 * LAYER / 1e9:.2f} GB", f"{127 / 128 * 6 * LAYER / 50e9:.3f} s"],
    "30.1 %": [f"{148 / 419:.1%}", f"{(148 + 72 + 19 + 17 + 6 + 6) / 419:.1%}"],
    "N writers": [f"{980 / 10:.0f} s", f"{980 / 640:.1f} s"],
    "bf16 weights": [f"{70 * 12} GB", f"{70 * 14} GB"],
    "24 hours": [f"{MTBF / 3600:.2f} h", f"{MTBF * 16_384 / 86_400 / 365.25:.1f} years"],
    "2.4 %": [f"{waste(YOUNG, 98, 86_400, 120):.2%}", f"{98 / YOUNG:.2%}"],
    "sqrt(2 C M)": ["60 min", "41.9 min"],
    "$618": [f"${waste(YOUNG, 98, 86_400, 120) * MONTH:,.0f} of ${MONTH:,.0f}", "costs $628"],
    "21,233,448": [f"{16_384 * 0.7 * 77 * 24:,.0f} kWh", f"${16_384 * 0.7 * 77 * 24 * 0.05:,.0f}"],
}
