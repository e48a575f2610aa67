"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-3

ANSWERS = {
    "04-hardware-rate": (300,),
    "04-utilization": (233.333, 0.777778),
    "04-ring-tree": (140, 480, 160),
    "04-pipelined-tree": (163.6,),
    "04-latency-24576": (24575 / 15,),
    "04-two-trees": (1, 5),
    "04-tree-bytes": (2,),
    "04-64-gpus-naive": (131.25,),
    "04-hierarchy-total": (165.278, 52.9),
    "04-one-port": (787.5, 98.4375),
    "04-compute-ratio": (1.44375, 0.409207),
    "04-cube-mesh": (12, 2),
    "04-slowest-hop": (111.1, 35),
    "04-ll": (0.5, 0.9375),
}
ESTIMATES = {
    "04-fetch-once": 140 / 400 + 7 / 8 * 140 / 450,
    "04-small-big-world": 1024 * 5e-6 * 50e9 / 1e6,
    "04-crossover": 114 * 5e-6 / (2 / 64) * 50e9 / 1e6,
    "04-cross-node": 2 * 7 / 8 * (20 / 450 + 2.5 / 50),
    "04-nvlink-pcie": 450 / 63,
    "04-tokens-to-balance": 2 * 7 / 8 * (20 / 450 + 2.5 / 50) * 495e12 / 60e9,
}
