"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

POWERS = 1 - 256 * 257 / 2 / (1 + sum(2 ** (2 * k - 1) for k in range(1, 9)))

SHOWN = {
    "only launches": [f"{0.005 + 0.5:.4g} ms", f"{500 * 0.005 + 0.002:.4g} ms", "1.01 ms"],
    "padded": ["9 powers", f"{POWERS:.1%}", "35 sizes"],
    "costs a token": [f"{2 + 20 * 10 + 1} ms in place of {20 * 13} ms", "1 of 301"],
}
