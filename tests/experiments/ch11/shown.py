"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

BATCHED = (1 - 0.8**5) / 0.2 / (0.2 + 256 * 5 * 3.35 / 989.4)

SHOWN = {
    "Tokens per pass": [f"{(1 - 0.8**6) / 0.2:.2f} tokens", f"{(1 - 0.8**6) / 0.2 / 1.25:.2f}."],
    "threshold": [f"is {1.5 / 1.2:.2f};", "length is 2", f"{1.24 / 1.04:.2f}."],
    "Verification": [f"{(1 - 0.8**5) / 0.2 / 1.2:.2f} for one", f"{BATCHED:.2f} in a batch"],
    "valid beginning": ["0.0% are not"],
    "conditioning": ["90% of the texts", f"{0.9 * 0.01 / (0.9 * 0.01 + 0.1 * 0.9):.1%} do"],
}
