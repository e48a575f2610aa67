"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "two-dimensional": ["Four numbers", "475 over 100"],
    "clip fraction of 0.00": [f"clip fraction {0:.2f} forever"],
    "ten-step": [
        f"{1 + 0.99 * 0.4 - 0.8:.3f}, {0.99 * 0.5 - 0.4:.3f}, {1 + 0.99 * 0.9 - 0.8:.3f}",
        "1.17611",
        "0.221, 0.175",
    ],
    "(gamma lambda)^10": [f"{0.9405**10:.6f}", "11.3 steps"],
    "terminated or truncated": [f"then {1 - 50}, and should be {1 + 0.98 * 50 - 50:.0f}"],
    "at every step": [f"A is {1 + 0.9 * 9 - 0.5:.1f} instead of {1 - 0.5:.1f}"],
    "sample-efficient": [f"by {1.2**10:.1f}"],
    "bounds the ratio": [f"objective is {-5}"],
    "in a log": ["1.0 in the four-sample example, of which 0.5"],
    "trades bias": ["0.25", f"{(99**2 + 100**2) / 4 - 0.125:,.0f} in place of 0.125"],
    "least variance": [f"{(0.234 * 1 + 0.196 * 5) / 0.62:.3f} against V = 1.3", "1.78 against 2.05"],
    "low bias": [f"off by {1 / 6:.3f}", "off by 0.000"],
}
