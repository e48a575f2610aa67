"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "two sends block": ["Without buffers 0 rounds complete and 2 ranks", "with buffers 2 rounds complete and 0 ranks"],
    "hide work": [f"message of {(5e-6 + 64e6 / 50e9) * 1e3:.4g} ms", "hides 1 ms"],
    "pipeline of blocking calls": [
        f"is {3 + 2 * 7} rounds, not {3 + 8 - 1}",
        f"{17 * (5e-6 + 8e6 / 50e9) * 1e3:.4g} ms in place of {10 * (5e-6 + 8e6 / 50e9) * 1e3:.4g} ms",
    ],
    "no bubble": [f"{1 / 4:.1%} on 4 stages and {1 / 8:.1%} on 8"],
}
