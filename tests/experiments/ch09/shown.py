"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

TOKEN = 2 * 80 * 8 * 128 * 2

SHOWN = {
    "query heads": [f"{8 * TOKEN / 2**20:g} MiB", f"{TOKEN / 2**10:g} KiB", "8 times less"],
    "a K is": [f"{TOKEN:,} bytes", f"{TOKEN * 2**15 / 1e9:.4g} GB or {TOKEN * 2**15 / 2**30:g} GiB"],
    "paging": ["20.4 to 38.2", "over 96", f"{1 - 100 / 256:.1%}"],
    "ceiling": [f"{9 * 500 / 6000:.1%} with 10", f"{99 * 500 / 60_000:.1%} with 100", f"{5 / 6:.1%}"],
}
