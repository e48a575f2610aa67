"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

import math

EXACT = 1e-5

#: Parameters of Llama 3 70B.
N = 70_553_706_496

ANSWERS = {
    "14-trunc-bias": (2.2, 1.6, 1.5),
    "14-flops": (8 + 12 * 4,),
    "14-7b-node": (252, 31.5),
    "14-70b-8": (315, 78.75, 39.375, 32, 40),
    "14-phase-peak": (4 * 2 * N / 64e9 + 2 * N / 8e9 + 40, 24 * N / 64e9),
    "14-host": (1680,),
    "14-assignment": (33.554432, 16.777216),
    "14-mode-switch": (52.5,),
    "14-hybrid-saving": (2.5,),
    "14-bandwidth": (14, 1),
    "14-disk": (40,),
    "14-chain": (3.10625,),
    "14-bucket": (2.80444,),
    "14-iteration": (52.8, 5.30303),
    "14-sync-async": (100, 100, 130),
    "14-tail-gain": (1.35, 135 / (6000 / 63)),  # 63 and 37 GPUs: writing is the longer half
    "14-straggler": (100 * 650 / 4096,),
    "14-sim": (4,),
    "14-gate": (15 * 64 - 932,),
    "14-ess": ((math.exp(0.5) + math.exp(-1) + 1) ** 2 / (math.e + math.exp(-2) + 1),),
    "14-design-64": (8, 36 * N / 64e9 + 2 * N / 8e9 + 20, 120, 150, 80),
}
#: A token of 64 answers to a copy: 141 GB of weights, and keys and values of 80 layers with 8 heads of 128.
ESTIMATES = {
    "14-decode-guess": 8192 * (2 * N + 64 * 4196 * 80 * 2 * 2 * 8 * 128) / (8 * 3.35e12),
    "14-servers-guess": 16.04,
    "14-pool-room": 100 * 8 * (72 - N / 4e9) / (32 * (72 - N / 4e9 - N / 2e9)),
    "14-flip-share": 100 * -math.expm1(48 * math.log(0.99)),
    "14-changed-share": 4.23313,  # the integral over the normal density, on a grid of eight million points
}
