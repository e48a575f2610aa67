"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

TOKEN = 2 * 80 * 8 * 128 * 2

SHOWN = {
    "2 L d_model": [f"{TOKEN:,} B", "8 times less", f"{2 * 80 * 8192 * 2 / 1e6:.3g} MB"],
    "2 GB": [f"{TOKEN * 2**15 / 1e9:.2f} GB", f"{100 * TOKEN * 2**15 / 1e9:,.0f} GB"],
    "10.24 GB": [f"{TOKEN * 2**15 / 1e9:.4f} GB", "is 10 GiB", f"{TOKEN * 4096 / 1e9:.3f} GB or 1.25 GiB", "320 KiB"],
    "480 GB": ["357 of 4K, 178 of 8K, 44 of 32K, 11 of 128K", "1.28 GB"],
    "num_heads": ["320 KiB", "not 2.5 MiB"],
    "Qwen2-72B": ["keeps 2.5 MiB", "Qwen2-72B 320 KiB"],
    "TP 8": [f"{2 * 80 * 128 * 2 * 8192 / 2**30:g} GiB", "10.00 GiB"],
    "O(N²)": ["O(N²) with a cache and O(N³) without"],
    "dwarf": [f"{2 * 70_553_706_496 / 1e9:.1f} GB", "from 14 requests", "10.7 GB"],
    "doubles the capacity": ["20.4 to 38.2 %", "over 96 %", f"{100 * (1 - 100 / 256):.3g} %"],
    "oldest unused": ["only leaves", "all ancestors"],
    "90 % and more": ["82.5 %", f"{100 * 99 * 1000 / (100 * 1050):.3g} %", "83.3 %", f"{100 * 1000 / 1050:.3g} %"],
}
