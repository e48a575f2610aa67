"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "hybrid engine": [f"{140 * (1 / 2 - 1 / 8):.1f} of 140 GB", f"{140 * 7 / 8 / 450:.2f} s"],
    "zero-copy": [f"{140 / 8} GB", "140 GB do not fit into 80"],
    "_cuda_ipc_handle": ["reduce_tensor", "same node"],
    "src=0": ["rank of the world", "group_src=0"],
    "55.6 s": [f"{30 + 20 + 140 / 50} s", f"{140 / 50} s"],
    "A cluster's network": ["50 GB/s", f"{140 / 400:.2f} s", f"{2 * 140 / 7:.0f} s", "8 times less"],
    "the same GPUs": ["policy generates"],
    "1.5 to 2": [f"{(100 + 35) / 100} times", f"{304_096 / 100:.0f} s", f"{304_096 / 3200:.1f} s", "81.9 s"],
    "6N for each token": [f"{4 * 2 + 12}N", f"{2 + 2 + 6}N"],
    "Adam states": [f"{2 * 8 * 70 / 8:.0f} GB", f"{2 * 12 * 70 / 8:.0f} with", f"{24 * 0.07:.2f} TB"],
    "cache of a token": [f"{32 * 2048 * 327_680 / 1e9:.1f} GB", f"{32 * 2048 * 8 * 327_680 / 1e9:.0f};", "16 times"],
    "Four models of 7B": [f"{36 * 7} GB", f"{36 * 7 / 8} on", f"{16 * 70 / 16:.0f} GB"],
    "times 0.7": [f"{36 * 70 / 80} full", f"{36 * 70 / 80 / 0.7:.0f}, not {0.7 * 36 * 70 / 80:.0f}"],
    "scales with the batch": [f"{24 * 0.07:.2f} TB", f"{327_680 / 2**20:.2f} MiB"],
    "max_staleness 1": ["4 versions late"],
}
