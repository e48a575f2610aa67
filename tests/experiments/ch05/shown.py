"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

SHOWN = {
    "12 bytes": ["That is 16,", f"{12 / 16:.0%}", "12 bytes, 840 GB", "16 bytes, 1,120 GB", f"18 bytes, {70 * 18:,} GB"]
    + ["8 bytes, 560 GB", "20 bytes, 1,400 GB"],
    "20 times": ["16 to 20 bytes", "8 to 10 times", "124.4M", f"{124.44 * 16 / 1000:.3g} GB"],
    "halves the memory": ["16 bytes per parameter in fp32, 16 in"],
    "1B to 10B": [f"{7 * 16} GB", "80 GB", "2 GPUs under stage 3, 2 under stage 1"],
    "Tensor parallelism over 8": ["64 GPUs", f"{(4 + 12 / 8) * 70 / 8:g} GB on each of 64", "385 GB on each of 8"],
    "210 GB": ["385, 262.5, 140 GB", "350, 227.5, 105 GB", f"{70 * 2 / 8:g} GB"],
    "gathers the optimizer": ["2 bytes per parameter on the wire instead of 12"],
    "half as much as DDP": ["1, 1, 1, 1.5 times", "275.6, 275.6, 275.6, 413.4 GB"],
    "41 GB": [f"{63 / 64 * 42:.1f} GB is all", f"is {63 / 64 * 14:.1f} GB", "275.6 ms"],
    "ZeRO-2 by default": ["413.4 GB with", "275.6 GB without"],
    "use data parallelism": ["112 GB of states on one rank and 112 GB on each of 64", f"{112 / 64:g} GB"],
    "memory-bound": ["80 GB and 3.35 TB/s"],
    "needs ZeRO and tensor": [f"{1120 / 8:g} GB and has", "It takes 14 of them"],
    "30B fits": [f"{30 * (2 + 14 / 16):g} GB", "60 GB", f"stage 3 holds {30 * 16 / 16:g} GB"],
    "Averaging": [f"{(100 + 200 + 150) / 350:.6g}, not {(0 + 1 + 2 + 3) / 4:g}"],
    "This loop": ["no device 8"],
    "DDP broadcasts": ["in 1 bucket in the first", "in 3 from then on"],
    "The overlap": [f"{1 - 1 / 40:.1%}, not {1 - 1.5 / 200:.2%}", f"{5 + 40 * 7 - 40 * 5} ms stay visible"],
    "Accumulate with a loop": ["no_sync"],
    "costs no memory": ["2 bytes per parameter, or 4 in fp32", f"{14 * 63 / 64:.1f} GB more"],
    "Without a larger": ["1/8 of the steps", f"{3e-4 * 8:g}"],
    "Scale Adam": [f"{3e-4 * 8:g}", f"{3e-4 * 8**0.5:.3g}", f"{8 / 1200:.2%}"],
    "counts double": ["7.5e-11 before and 7.5e-11 after"],
    "6.1e-5": ["down to 5.96e-08", "3.1e-08 becomes 5.96e-08", "half, becomes 0"],
    "then look for inf": ["Look while unscaling, before clipping"],
    "172": [f"{80 * 2 * 4 * 4096 * 8192 / 1e9:.1f} GB, of {80 * 4 * 4 * 4096 * 8192 / 1e9:.1f}", "8 times"],
    "one protocol": ["GradScaler: 2,048", "hysteresis 2: 8,192", "delayed shift 1: 512", "delayed shift 2: 2,048"],
}
