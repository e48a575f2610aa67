"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "root's buffer": [str([1 + 2 + 3 + 4, 2 + 3 + 4, 3 + 4, 4])],
    "S is the same": [f"{7 / 8} S and {14 / 8} S"],
    "twice the tensor": ["1 S on 2 ranks", f"{2 * 999 / 1000} S on 1,000"],
    "start-ups": [f"{2 * 1023 * 5e-6 * 1e3:.4g} ms pass", f"{2 * 1023 / 1024 * 1e6 / 50e9 * 1e6:.4g} µs"],
}
