"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

#: A year and an hour in seconds, and GPT-3's training: FLOP, and A100-hours at half of 312 TFLOP/s.
YEAR, HOUR = 365.25 * 24 * 3600, 3600
GPT3 = 6 * 175e9 * 300e9
HOURS = GPT3 / (0.5 * 312e12) / HOUR

SHOWN = {
    "355 years": [f"takes {GPT3 / 156e12 / YEAR:.1f} years", f"{3.14e23 / 28e12 / YEAR:.2f} years", "3.15e+23 FLOP"],
    "20,833 hours": ["3e+08 s", f"{3e8 / HOUR:,.0f} hours", f"{3e8 / 86_400:,.0f} days", "1.05 PFLOP/s", "3.4 times"],
    "26,280 USD": [
        f"{HOURS:,.0f} A100-hours",
        "1.68 million",
        f"{8760 / HOURS:.1%}".replace("%", " %"),
        "1.87 million",
    ],
    "12 bytes": ["keeps 16:", "copy of the weight 4", "moments 8", "2.8 TB on 35 devices of 80 GB", "2.1 TB on 27"],
    "too big for one device": [f"{70e9 * 16 / 1e12:.3g} TB as a full copy", f"{70e9 * 16 / 8 / 1e9:.0f} GB as"],
    "interpreter's lock": ["release the lock", "a crash is confined to one rank"],
    "spawn helper": ["none of the 5", "RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT"],
    "Twenty tokens per parameter": [
        "6e+18 to 3e+21 FLOP",
        "196 times",
        f"GPT-3 {300 / 175:.2f}",
        f"405B {15_600 / 405.8533888:.1f}",
        f"8B {15_000 / 8.030261248:,.0f}",
    ],
    "2 d s²": [
        f"{100 * 2048 / (6 * 12_288):.1f} %",
        f"{2048**2 / (12 * 12_288):.0f} times",
        f"{100 * 131_072 / (6 * 16_384):.0f} %",
    ],
    "Amdahl's": ["7.2 or 4.8", f"{1 / (0.1 + 0.9 / 8):.2f} or {1 / (0.4 + 0.6 / 8):.2f}"],
    "time of an epoch": [f"{51_200 // 32:,} steps on one rank", f"{51_200 // 1024} on 32"],
    "60 % is excellent": ["reached 56 %", f"{100 * 380 / 989.4:.0f} to {100 * 430 / 989.4:.0f} %"],
}
