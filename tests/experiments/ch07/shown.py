"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "GPipe idles": [f"{300 / 11:.3g} % of the total", f"{300 / 8:.3g} % of the useful", f"at {11 * 3} and {11 * 3}"],
    "1F1B reduces": [f"{300 / 11:.3g} %", "from 8 micro-batches to 4", "end at 33"],
    "every stage holds": ["4, 3, 2, 1 of 12"],
    "right after its last forward": [f"at {11 + 3 * 2},", "not at 8", "through 3 stages"],
    "Filling": [f"{300 / 11:.3g} %", f"{100 * 24 / 35:.3g} %"],
    "efficiency": [f"{400 / 7:.3g} %", "not 25 %", f"{100 * (1 - 3 / 2):.3g} %"],
    "should read": [f"{100 / 17:.3g} %", f"{100 * 3 / 48:.3g} %"],
    "nothing but messages": [f"{(6 + 12 + 1) / 4:g} stages", "place of 4"],
    "More micro-batches": ["holds 512", f"{4 * 512 // 64} at m = 64", f"{4 * 512 // 16} at m = 16"],
    "12.6 GB": [
        f"{34 * 1024 * 32 * 4096 * 6 * 16 / 1e9:.4g} GB",
        f"{34 * 1024 * 32 * 4096 * 6 * 4 / 1e9:.4g} GB",
        "12.6 million",
        "25.17 MB",
    ],
    "as long as a forward": [f"{12 * 30 + 20} ms", f"not {12 * 20 + 20}"],
    "2kS/N": [f"{2 * 512 * 2 * 4096 * 2 * 7 / 8 / 1e6:.3g} MB", f"{2 * 4096 * 2 * 4096 * 2 * 7 / 8 / 1e6:.3g} MB"],
    "8x7B": ["46.7 billion", "uses 12.9", "1.6 billion"],
    "20 tokens": [f"{14.8e12 / 37_552_297_472:.0f} tokens", "37.6 billion", "671 billion"],
    "parameters/pp": ["parameters/(tp pp)", "8 times too large"],
    "global batch": [f"{1024 // 8} of 1024"],
    "is ZeRO-3": [f"takes {2 + 2 + 12 / 8:g} bytes", f"takes {16 / 8:g}."],
    "full sharding": [f"{16 * 70 / 8:g} GB for", f"need {-(-16 * 70 // 80)} GPUs"],
    "without end": ["from 32 to 16", "43 to 41 %"],
    "group 0": ["ranks 0 and 8", "ranks 0 to 7"],
    "sync.Pipe": ["torch.distributed.pipelining"],
}
