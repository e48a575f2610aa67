"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-3

ANSWERS = {
    "05-uneven-mean": (2.6,),
    "05-hidden-share": (1.5, 97.5),
    "05-saturated": (85,),
    "05-comm-ratio": (0.361, 1.44375),
    "05-scaling": (0.925926, 0.833333, 0.520833),
    "05-accumulate": (64, 3150, 264.942),
    "05-lr-rule": (2.4e-3, 8.48528e-4, 8.48528e-4),
    "05-critical": (20_000, 4e10, 11_250, 1.8e11),
    "05-cosine-end": (50_000, 15, 15),
    "05-states": (840, 1120, 1260, 1400, 1.0),
    "05-zero1-70b": (385, 262.5, 140),
    "05-zero-7b": (112, 29.3125, 15.5312, 1.75),
    "05-zero-30b": (3, 80, 106.25),
    "05-zero3-traffic": (41.3438, 13.7812, 0.826875),
    "05-fit-175b": (35, 27),
    "05-design-13b": (2, 6, 74.333, 43.333),
    "05-no-sync-memory": (13.78,),
    "05-fp16-edge": (6.10352e-5, 5.96046e-8, 0, 65504),
    "05-fp8-activations": (42.9497, 21.4748),
    "05-scale-trace": (16_384, 2048),
    "05-scale-credit": (8192,),
    "05-doublings": (2,),
    "05-staleness": (0.209057, 9.567),
    "05-profile-hidden": (95.559, 9.4561),  # counted in microseconds in test_bank_ch05_profile.py
}
ESTIMATES = {
    "05-exposed-guess": 1.5,  # the last of forty transfers of 1.5 ms
    "05-state-guess": 112.0,  # 16 bytes for each of 7e9 parameters
}
