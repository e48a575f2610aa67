"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

READ_8B, KV_8B = 2 * 8_030_261_248, 2 * 32 * 8 * 128 * 2

SHOWN = {
    "41.8 ms": ["140 GB", "80 GB", f"{140 / 2 / 3.35:.4g} ms", f"{140 / 3.35:.4g} ms"],
    "has no effect": [
        f"{(READ_8B + 2048 * KV_8B) / 3.35e9:.4g} ms",
        f"{(READ_8B + 256 * 2048 * KV_8B) / 3.35e9:.4g} ms",
    ],
    "compute-bound": [f"{989.4 / 3.35:.0f} prompt tokens", f"{READ_8B / 3.35e9:.4g} ms"],
    "gen_len": ["50 tokens takes 49 steps"],
    "request rate times": [f"{500 * (0.01417 + 49 * 0.0209):.0f} for 500", "64 slots", "9 replicas"],
    "does not change": ["Mean finish 219 instead of 539", "50 requests on 8 slots"],
    "no waste": [f"{100 * (1 - 3266 / 542 / 8):.3g} %", f"{100 * (1 - 3266 / 977 / 8):.3g} %"],
    "occupancy": [f"{(READ_8B + 64 * n * KV_8B) / 3.35e9:.4g} ms" for n in (16, 8192)],
    "32K": [f"{32_768 * 2 * 80 * 8 * 128 * 2 / 1e9:.4g} GB", "327,680"],
    "/ 1e9": ["8 billion leave 64 of 80 GB", "70 billion lack 60"],
    "gradients": ["12 of 16 bytes"],
    "to load": ["68.98 GB", "34.49 GB"],
    "hash()": ["every process"],
}
