"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-3

ANSWERS = {
    "07-naive-split": (380, 31.579),
    "07-two-bubbles": (20, 25),
    "07-4p-rule": (15.789, 20),
    "07-first-backward": (17, 10),
    "07-fixed-batch": (64, 32),
    "07-interleaved": (5.8824, 4.75),
    "07-min-microbatches": (134, 72, 40),
    "07-zero-bubble": (17.949, 9.2628, 4.1916),
    "07-p2p-total": (180,),
    "07-p2p-time": (106.667,),
    "07-slow-stage": (38.52,),
    "07-mixtral": (46.703, 12.880),
    "07-capacity": (160,),
    "07-experts-vs-ranks": (14.68, 58.72, 117.44),
    "07-distinct-ranks": (5.2947,),
    "07-group-counts": (128, 256, 32),
    "07-advisor-table": (1120, 140, 70, 35),
    "07-floor": (140, 14),
    "07-five-cases": (1.984, 1.984, 1, 49, 140, 3, 43.75),
    "07-hybrid-512": (8.59375,),
}
