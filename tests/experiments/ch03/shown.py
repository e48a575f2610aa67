"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "[sum(A)]": ["10, 20, 30, 40"],
    "After reduce": [str([1 + 2 + 3 + 4, 2 + 3 + 4, 3 + 4, 4])],
    "dividing by the world size": [
        f"{(100 * 0 + 100 * 1 + 100 * 2 + 50 * 3) / 350:.6g};",
        f"{(0 + 1 + 2 + 3) / 4:.6g}.",
    ],
    "whole tensors around": [f"{8 - 1} S per rank", f"{2 * 7 / 8:.6g} S:", "4 times less"],
    "All-gather moves": [f"{7 / 8:.6g} S and {14 / 8:.6g} S"],
    "for any number of ranks": ["is 1 for 2 ranks", f"{2 * 999 / 1000:.6g} for 1,000"],
    "All-to-all moves": ["2 ranks 0.5 S", "8 ranks 0.875 S", f"64 ranks {63 / 64:.4g} S"],
    "2 S/B": ["factor is 1.75", f"{2 * 1023 * 5e-6 * 1e3:.4g} ms pass"],
    "bucketing": ["25 MiB", "1 MiB"],
    "barrier": ["after its own wait"],
    "1.71 ms": ["take 14 ms", "1.709 ms", "400 Gb/s 3.5 ms", "1 GB 140 ms", "64 ranks 15.75 ms"],
}
