"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-5

ANSWERS = {
    "06-shapes": (1024, 8_388_608, 67.1089),
    "06-weights": (17.6384, 16.1061),
    "06-init": (3.33333,),
    "06-bias-error": (3,),
    "06-gqa": (4, 2),
    "06-vocab": (51_200, 1.83868e9, 172_032),
    "06-count": (4, 2, 341.333),
    "06-bytes": (117.441, 18.7905, 37.5810),
    "06-links": (0.260979, 0.391468, 2.34881, 9),
    "06-overhead": (27.8378, 250.540),
    "06-ratio": (0.208749, 0.208749, 0.104375),
    "06-sp-traffic": (46.9762, 25),
    "06-tp-acts": (578.814, 358.613, 106.955, 18.4783),
    "06-batch": (88.5837, 5669.36),
    "06-gpt3": (275.415, 7.70074),
    "06-selective": (2.7027, 0.90090),
    "06-microbatch": (32, 42.6667),
    "06-segment": (10, 20, 2),
}
ESTIMATES = {
    "06-step-traffic": 80 * 4 * 2 * 7 / 8 * 2 * 4096 * 8192 / 1e9,
    "06-one-layer": 2048 * 12_288 * (34 + 5 * 96 * 2048 / 12_288) / 1e9,
}
