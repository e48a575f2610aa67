"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "two shares": [f"{3 / 11:.1%} of the whole", f"{3 / 8:.1%} of the useful"],
    "1F1B": [f"at {11 * 3} and {11 * 3}", "hold 4, 3, 2, 1 in place of 8"],
    "Interleaving": [f"from {3 / 15:.1%} to {3 / 51:.1%}", f"{(6 + 12 + 1) / 4:g} whole stages", "holds 4."],
    "Eight experts": ["46.7 billion", "uses 12.9", "1.6 billion"],
}
