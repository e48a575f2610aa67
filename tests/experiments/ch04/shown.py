"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "NVLink 4 is": [
        f"{18 * 25} GB/s per direction",
        f"{2 * 18 * 25} GB/s",
        "18 links of 25",
        f"{12 * 25 * 2} GB/s is the",
    ],
    "InfiniBand": [
        f"{400 / 8:g} GB/s per direction",
        f"8 ports of a DGX H100 make {8 * 50} GB/s",
        f"{450 / 50:g} times",
    ],
    "PCIe 4": ["31.5 GB/s per direction", f"{2 * 31.5:g} GB/s", f"{8 * 450 / 1000:g} TB/s at once"],
    "2.2 ms": [f"{1.75 / 450 * 1e3:.4g} ms", f"{1.75 / 31.5 * 1e3:.4g} ms", f"{450 / 31.5:.3g} times", "1.75 S"],
    "nearly all": ["about 80 percent", f"{367.61 / 450:.0%}", f"{4 / 0.03 * 1.75 / 300:.1%}"],
    "idle": [f"{2 * 3 * (4 / 50 * 1e3 + 0.005):.4g} ms level", f"{2 * 4 / 50 * 1e3:.4g} ms in two"],
    "always wins": [f"{8 * (8 - 1 - 3) * 5e-6 * 50e9 / 1e6:g} MB", f"{1024 * 1013 * 5e-6 * 50:.4g} GB"],
    "24,000": ["roots are 0 and 7", "[0, 2, 4, 6]", "[1, 3, 5, 7]", f"{20 * 5 + 2 * 20:g} µs", "10.27 ms"],
    "complete chunk 0": ["It owns chunk 1,", "rank 3 chunk 0"],
    "log N": [f"{1.75 / 50 * 1e3:g} ms", f"{2 * 1023 * 5e-3:.4g} ms", f"{2 * 3 * 5} µs and {2 * 10 * 5} µs"],
    "65.6": [f"{2 * 63 / 64 * 20 / 300 * 1e3:.4g} ms at 300", f"{2 * 63 / 64 * 20 / 50 * 1e3:g} ms"],
    "350 ms": [
        f"{1.75 * 2.5 / 50 * 1e3:g} ms across",
        f"{35 / 450 * 1e3:.4g} ms inside",
        f"{35 / 300 * 1e3:.4g} ms over NVLink 3",
    ],
    "NODE": ["GPU0 has NV12 to GPU1", "NV12 to GPU7", "through several PCIe bridges"],
    "NCCL_DEBUG": ["unset", "INIT, BOOTSTRAP and ENV"],
    "256 KB": ["4 ranks, 5 µs, 50 GB/s: 1 MB", "8 MB", "912 MB", f"{8 * 4 * 50e-6 * 1.25e3:g} MB."],
    "L2": [
        "3.35 TB/s, NVLink 4 450 GB/s",
        "63 GB/s, a network port 50 GB/s",
        f"{31.5 / 4:g} GB/s",
        f"{50 / (31.5 / 4):.3g} times",
    ],
}
