"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "Bytes per parameter": [
        "copy and moments are 16",
        "copy 12",
        "in fp32 18",
        "both 20",
        f"{70 * 12} to {70 * 20:,} GB",
    ],
    "ZeRO-1": [f"{2 * 63 / 64 * 140:.1f} and {2 * 63 / 64 * 140:.1f} GB", f"ZeRO-3 {3 * 63 / 64 * 140:.1f}"],
    "equal ranks": [f"{(100 + 200 + 150) / 350:.6g}", f"means is {6 / 4}"],
    "subnormals": ["is 5.96e-8", "becomes 5.96e-8", "neighbor, 0"],
    "linear rule": [f"{3e-4 * 8:.3g} and {3e-4 * 8**0.5:.3g}"],
    "Loss scalers": [
        "2,048 (torch.amp.GradScaler)",
        "8,192 (Megatron, hysteresis 2)",
        "512 (DeepSpeed, delayed shift 1)",
    ],
}
