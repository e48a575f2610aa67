"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

import math

from solutions.ch13.beta_sweep import run_of

RATIOS = (-0.2, 0.2, -0.3, 0.1, -0.1, 0.1, 0.3, -0.3)
POSITIVE = sum(math.exp(-d) - 1 + d for d in RATIOS)
MORE = sum(math.exp(-d) - 1 + d for d in (-1, -1.5, -1))
KL = 0.5 * math.log(1.25) + 0.3 * math.log(0.75)

SHOWN = {
    "130 GB": [f"{7 * 36} GB", f"{7 * 28} without", "56 GB of weights, 28 of gradients and 168", "the sum is 36"],
    "exp(log pi)": [f"{0.25 * math.log(1.25) + 0.09 * math.log(0.75):.7f}", f"{KL:.7f}"],
    "-0.20": [f"k1 {sum(RATIOS):.2f}", f"k3 {POSITIVE:.6f}", "k1 -3.5", f"k3 {MORE:.5f}"],
    "rises with beta": [f"{0.45 + 0.5 * 0.2:.2f}"],
    ".73 minus": [f"{0.02 * 128 * 0.23:.4f}"],
    "each response": ["(-1.318, -0.470, 0.424, 1.364), the same"],
    "score - beta": ["(-0.02, 0.00, 1.10) sums to 1.08", "(0.98, 1.00, 1.10) sums to 3.08"],
    "critic learns": ["(1.007, 1.065, 1.100)"],
    "one epoch": ["is 0.0", "0 tokens are clipped"],
    "k3 always": ["0.752 for k1 and 1.044 for k3", "(0.059, -0.225, 0.166)", "(0.022, -0.179, 0.157)"],
    "clip prevents": [f"judge {run_of(0.0, 2).end.judge:.1f}", f"judge {run_of(0.1, 2).end.judge:.1f}"],
    "best-of-n": [f"{math.log(16) - 15 / 16:.4f}"],
    "four models": ["36 bytes", "18 bytes"],
}
