"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

import random


def mean(seed):
    generator = random.Random(seed)
    return sum(generator.gauss(0, 1) for _ in range(1000)) / 1000


SHOWN = {
    "42 + 10 (W-1)": ["42 + 10 (W-2)", f"gives {42 + 10 * 3}, the second {42 + 10 * 2};"],
    "wait forever": ["Without buffers 0 rounds complete and 2 ranks", "with buffers 2 rounds complete and 0 ranks"],
    "isend copies": ["until then the buffer belongs to the transport", "as all zeros"],
    "50 ms, and 40 %": [
        f"forward pass takes {12 * 10 + 2 * 5} ms",
        f"takes {3 * 12 * 10 + 4 * 5} ms",
        f"{100 * 360 / (3 * 380):.1f} %",
        f"{2 * 12 * 10 + 4 * 5} ms, and the devices are busy {100 * 240 / (3 * 260):.1f} %",
    ],
    "pipeline bubble": ["1 - 1/P", f"{100 / 4:.1f} % of the time on 4 stages and {100 / 8:.1f} % on 8"],
    "calls are faster": [f"message of {(5e-6 + 64e6 / 50e9) * 1e3:.4g} ms", "hides 1 ms"],
    "stage 0 chunk 2": [
        f"take {3 + 2 * 7} rounds, not {3 + 8 - 1}",
        f"{17 * (5e-6 + 8e6 / 50e9) * 1e3:.4g} ms against {10 * (5e-6 + 8e6 / 50e9) * 1e3:.4g} ms",
    ],
    "same means": [f"mean {mean(1):.3g} with one seed and {mean(2):.3g} with another"],
}
