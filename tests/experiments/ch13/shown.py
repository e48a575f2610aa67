"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

import math

RATIOS = (-0.2, 0.2, -0.3, 0.1, -0.1, 0.1, 0.3, -0.3)

SHOWN = {
    "negative KL": [f"sum of {sum(RATIOS):.2f}", f"k3 of {sum(math.exp(-d) - 1 + d for d in RATIOS):.3f}"],
    "k3": ["0.752 for k1 and 1.044 for k3", "(0.0592, -0.225, 0.166)", "(0.0224, -0.179, 0.157)"],
    "best-of-n": [f"is {math.log(16) - 15 / 16:.3f}"],
    "How many models": ["36 bytes", "judge needs neither critic nor reward model, 18 bytes"],
}
