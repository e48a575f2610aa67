"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "one direction": ["18 links", "450 GB/s (3,600 Gb/s)", "9 times less", f"{1 / 0.45:.4g} ms or 20 ms"],
    "pipelined tree": [
        f"{2 * 3 * (4 / 50 * 1e3 + 0.005):.4g} ms level",
        f"{2 * 4 / 50 * 1e3 + 0.03:.4g} ms in two",
        f"{1.75 * 4 / 50 * 1e3 + 0.07:.4g} ms in a ring",
        f"{20 * 5 + 2 * 20} µs",
        f"{2 * 1023 * 5e-3 + 0.04:.4g} ms in a ring",
    ],
    "no fixed size": [
        "1 MB for 4",
        f"{64 * (63 - 6) * 5e-6 * 50e3:.0f} MB for 64",
        f"{8 * 4 * 50e-6 * 1.25e3:g} MB for 8",
    ],
    "data sheet": [f"{367.61:.0f} of 450 GB/s", f"{367.61 / 450:.0%}"],
}
