"""What several exercises of chapter 9 share."""

from __future__ import annotations

import math
from random import Random

from autograder.items import Tensor


def drawn(rng: Random, *shape: int) -> Tensor:
    return Tensor.of([rng.uniform(-2, 2) for _ in range(math.prod(shape))], "float64", shape)


MASKED = ".masked_fill(~visible, -torch.inf)"
