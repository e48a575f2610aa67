"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "passes over a token": [f"{4 * 2 + 12}N", f"{2 + 2 + 6}N"],
    "layout": [f"{140 * (1 / 2 - 1 / 8):.1f} GB of a 70B model's 140", f"{140 * 7 / 8 / 450:.2f} s"],
    "Overlap alone": ["95.0 s in turn", f"{6000 / 63:.1f} s side", f"{100 + 35:.1f} s in turn, 100.0 s if"],
    "gate": ["4 versions late"],
}
