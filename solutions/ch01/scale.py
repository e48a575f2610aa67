"""The first estimates of a training plan: how much work, how long, how many tokens and devices. Standard library only.

>>> from rankzero.facts.units import GB, TFLOP, day
>>> minimum_ranks(175e9, memory=80 * GB)
35
>>> round(training_time(8 * 175e9 * 300e9, ranks=1024, peak=140 * TFLOP, utilization=1.0) / day, 2)
33.91
"""

from __future__ import annotations

import math

from rankzero import checks


def training_flops_per_token(
    parameters: float, layers: int = 0, width: int = 0, context: int = 0, causal: bool = False
) -> float:
    """Floating-point operations that training spends on one token: forward and backward.

    A matrix parameter costs 2 FLOP forward (multiply and add) and 4 backward. Attention multiplies each query with
    ``context`` keys and values: 4 FLOP per layer, unit of width and position forward, and twice that backward.

    Args:
        parameters: those in matrices that a token is multiplied by: the head is counted, the embedding look-up is not,
            and of a mixture only the experts that a token visits; not negative.
        layers: transformer blocks; not negative. 0 leaves attention out.
        width: query heads times their width; not negative.
        context: tokens of one sequence; not negative.
        causal: count only the half of the attention that a causal model needs.

    Returns:
        FLOP per token.

    Source: Kaplan et al. (2020), arXiv:2001.08361, section 2.1; Chowdhery et al. (2022), arXiv:2204.02311, appendix B.
    """
    checks.amount(parameters=parameters)
    checks.count(0, layers=layers, width=width, context=context)
    return 6.0 * parameters + 12 * layers * width * context * (0.5 if causal else 1)


def training_time(flops: float, ranks: int, peak: float, utilization: float) -> float:
    """Time of a training run, in seconds.

    Args:
        flops: FLOP of the whole run; not negative.
        ranks: devices; at least 1.
        peak: of one device, dense, FLOP/s; positive.
        utilization: the share of the peak that the run sustains, above 0 and at most 1.

    Source: Narayanan et al. (2021), arXiv:2104.04473, section 5.1 (there with 8 P T FLOP, because activations are
    recomputed).
    """
    checks.amount(flops=flops)
    checks.count(ranks=ranks)
    checks.positive(peak=peak, utilization=utilization)
    checks.between(0, 1, utilization=utilization)
    return flops / (ranks * peak * utilization)


def compute_optimal(flops: float, tokens_per_parameter: float = 20.0) -> tuple[float, float]:
    """The parameters and the tokens that spend a training budget, for a given ratio of the two.

    With 6 FLOP per parameter and token: ``6 * parameters * tokens == flops``.

    Args:
        flops: FLOP of the whole run; positive.
        tokens_per_parameter: positive. About 20 is an extrapolation from runs of 6e18 to 3e21 FLOP.

    Returns:
        ``(parameters, tokens)``.

    Source: Hoffmann et al. (2022), arXiv:2203.15556, table 3.
    """
    checks.positive(flops=flops, tokens_per_parameter=tokens_per_parameter)
    parameters = math.sqrt(flops / (6 * tokens_per_parameter))
    return parameters, tokens_per_parameter * parameters


def minimum_ranks(parameters: float, memory: float, bytes_per_parameter: float = 16.0, reserve: float = 0.0) -> int:
    """The fewest devices whose memory holds a model's states, when every device holds an equal share of them.

    Args:
        parameters: of the whole model; not negative. 0 parameters need one device.
        memory: of one device, bytes; positive.
        bytes_per_parameter: positive. 16 is mixed-precision Adam: bf16 weight 2 and gradient 2, and in fp32 the master
            copy of the weight 4 and two moments 4 each.
        reserve: bytes that stay free on each device, for activations and buffers; from 0 to less than ``memory``.

    Source: Rajbhandari et al. (2020), arXiv:1910.02054, section 3.1.
    """
    checks.amount(parameters=parameters, reserve=reserve)
    checks.positive(memory=memory, bytes_per_parameter=bytes_per_parameter)
    checks.require(reserve < memory, f"be less than memory = {memory!r}", reserve=reserve)
    return max(1, math.ceil(parameters * bytes_per_parameter / (memory - reserve)))
