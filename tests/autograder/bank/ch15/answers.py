"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

import math

EXACT = 3e-3
#: The table of the page, computed by hand. "6N" takes the matrix parameters, 403,747,897,344; figures that take all of
#: them lie within the tolerance.
ANSWERS = {
    "cap-params": (405_853_388_800,),
    "cap-gqa-layer": (3_187_703_808,),
    "cap-attention-share": (4.19, 67.0),
    "cap-long-context": (2.94,),
    "cap-chinchilla": (563, 11.25),
    "cap-gpt3-ratio": (1.718, 29.0, 38.44),
    "cap-hfu": (53.9,),
    "cap-70b-a100": (42.8,),
    "cap-mfu-hours": (34.4,),
    "cap-dp": (128, 8),
    "cap-tokens": (16_777_216,),
    "cap-steps": (1.10,),
    "cap-stages": (7, 8, 7),
    "cap-weights": (6.38,),
    "cap-bubble": (11.7, 10.5),
    "cap-infer-v": (0.905, 0.948, 0.930),
    "cap-dp-traffic": (19.0, 0.380),
    "cap-table5": (35.3, 64.0),
    "cap-100k": (30.4, 7.15, 35.1),
    "cap-70b-size": (980, 840),
    "cap-70b-write": (98,),
    "cap-async": (14.7, 2.96),
    "cap-daly": (67.5,),
    "cap-waste": (4.82,),
    "cap-every-1000": (6.77, 4.82),
    "cap-crash": (628,),
    "cap-month": (737_280, 35_540),
    "cap-90": (16.7,),
    "cap-kwh": (21_194_342, 1_059_717),
    "cap-mfu-point": (1.294,),
}
ESTIMATES = {
    "cap-pfdays": 6 * 405e9 * 15.6e12 / (1e15 * 86_400),
    "cap-days-40": 6 * 405e9 * 15.6e12 / (16_384 * 989.4e12 * 0.4) / 86_400,
    "cap-tp-traffic": 4 * 8 * 16 * 2 * 7 / 8 * 2 * 8192 * 16_384 / 50e9,
    "cap-405b-write": 14 * 405_853_388_800 / 2e12,
    "cap-mtbf": 54 * 24 / 419,
    "cap-young": math.sqrt(2 * 98 * 86_400) / 60,
    "cap-spares": 28,
}
