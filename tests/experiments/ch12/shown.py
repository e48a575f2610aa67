"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "no bias": [
        "is 0.25 without one and 0.25 with 100",
        f"0.125 to {(99**2 + 100**2) / 4 - 0.125:,.0f}",
        f"{(0.234 * 1 + 0.196 * 5) / 0.62:.3f} for three arms with V = {0.3 + 0.2 * 5:.1f}",
    ],
    "time limit": [f"should be {1 + 0.98 * 50 - 50:.0f} and is {1 - 50}"],
    "small lambda": [f"off by {1 / 6:.3f}", "by 0.000"],
    "clip": ["is -5."],
}
