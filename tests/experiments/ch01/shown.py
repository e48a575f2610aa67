"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

YEAR = 365.25 * 24 * 3600

SHOWN = {
    "names the GPU": [f"{3.14e23 / 28e12 / YEAR:.1f} years", f"takes {3.14e23 / 156e12 / YEAR:.1f} years"],
    "Amdahl's": ["reach 7.2 or 4.8", f"{1 / (0.1 + 0.9 / 8):.2f} or {1 / (0.4 + 0.6 / 8):.2f}"],
    "utilization": ["reached 56%", f"{380 / 989.4:.0%} to {430 / 989.4:.0%}"],
    "attention can be ignored": [f"adds {2048 / (6 * 12_288):.1%}", f"adds {131_072 / (6 * 16_384):.0%}"],
}
