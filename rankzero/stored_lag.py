"""Runs that take minutes, stored: ``python -m demos async_rlhf --store`` writes this file.

A row is (lag in versions, correction, seed, mean verdict of the judge and mean share of effective samples over the last
ten of 60 steps).
"""

ROWS = (
    (0, "none", 0, 1.972, 1.000),
    (0, "none", 1, 1.973, 1.000),
    (0, "none", 2, 1.988, 1.000),
    (1, "none", 0, 1.972, 0.996),
    (1, "none", 1, 1.977, 0.992),
    (1, "none", 2, 1.863, 0.937),
    (1, "behaviour", 0, 1.955, 0.978),
    (1, "behaviour", 1, 1.939, 0.985),
    (1, "behaviour", 2, 1.977, 0.999),
    (1, "decoupled", 0, 1.956, 0.998),
    (1, "decoupled", 1, 1.970, 0.999),
    (1, "decoupled", 2, 1.688, 0.801),
    (4, "none", 0, 1.695, 0.353),
    (4, "none", 1, 1.459, 0.285),
    (4, "none", 2, 1.880, 0.783),
    (4, "behaviour", 0, 1.820, 0.922),
    (4, "behaviour", 1, 1.834, 0.906),
    (4, "behaviour", 2, 1.902, 0.866),
    (4, "decoupled", 0, 1.933, 0.623),
    (4, "decoupled", 1, 1.970, 0.974),
    (4, "decoupled", 2, 1.973, 0.986),
    (16, "none", 0, 1.078, 0.137),
    (16, "none", 1, 0.588, 0.111),
    (16, "none", 2, 1.769, 0.325),
    (16, "behaviour", 0, 1.234, 0.178),
    (16, "behaviour", 1, 1.141, 0.287),
    (16, "behaviour", 2, 1.391, 0.259),
    (16, "decoupled", 0, 1.708, 0.428),
    (16, "decoupled", 1, 0.738, 0.074),
    (16, "decoupled", 2, 1.817, 0.090),
)
