from __future__ import annotations

import math


def optimal_checkpoint_interval(checkpoint_time, mtbf, method="daly"):
    return math.sqrt(2 * checkpoint_time * mtbf)
