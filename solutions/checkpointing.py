"""How often to save a training job that failures interrupt.

Standard library only. Times are in seconds, but any one unit will do: the same unit comes out.
"""

from __future__ import annotations

import math


def optimal_checkpoint_interval(checkpoint_time: float, mtbf: float, method: str = "daly") -> float:
    """Useful compute between the end of one checkpoint and the start of the next that wastes the least time.

    Checkpoint too often and the job writes; too rarely and it repeats work after a failure. Failures come at random
    (exponential), also during a checkpoint or a restart. The time of a restart does not move the optimum: it multiplies
    the expected wall-clock by a constant, so there is no argument for it. With C = ``checkpoint_time``, M = ``mtbf``:

    * ``"young"``: ``sqrt(2 C M)``, first order, for C much smaller than M. It has no guard: beyond C = M/2 it is longer
      than the MTBF itself.
    * ``"daly"``: ``sqrt(2 C M) (1 + sqrt(x)/3 + x/9) - C`` with ``x = C/(2M)`` while C < 2M, else M.
    * ``"exact"``: the minimum of ``(M/t) (exp((t + C)/M) - 1)``, the expected wall-clock per unit of work: ``t = M u``
      with ``u + ln(1 - u) + C/M = 0`` and 0 < u < 1.

    Args:
        checkpoint_time: time the job stands still for one checkpoint (the stall, not a write in the background); > 0.
        mtbf: mean time between failures of the whole job (one machine's, divided by the number of machines); > 0.
        method: ``"young"``, ``"daly"`` or ``"exact"``.

    Returns:
        The interval in the unit of the arguments. Checkpoints start every interval plus ``checkpoint_time``.

    Raises:
        ValueError: an argument is outside its range or not finite; the message names it and its value.

    Sources: Young (1974), doi:10.1145/361147.361115. Daly (2006), doi:10.1016/j.future.2004.11.016.
    """
    for name, time in (("checkpoint_time", checkpoint_time), ("mtbf", mtbf)):
        if isinstance(time, bool) or not (math.isfinite(time) and time > 0):
            raise ValueError(f"{name} must be finite and positive, got {time!r}")
    formulas = {"young": _young, "daly": _daly, "exact": _exact}
    if method not in formulas:
        raise ValueError(f"method must be one of {', '.join(formulas)}, got {method!r}")
    return formulas[method](checkpoint_time, mtbf)


def _young(checkpoint_time: float, mtbf: float) -> float:
    return math.sqrt(2 * checkpoint_time * mtbf)


def _daly(checkpoint_time: float, mtbf: float) -> float:
    if checkpoint_time >= 2 * mtbf:
        return float(mtbf)
    x = checkpoint_time / (2 * mtbf)
    return math.sqrt(2 * checkpoint_time * mtbf) * (1 + math.sqrt(x) / 3 + x / 9) - checkpoint_time


def _exact(checkpoint_time: float, mtbf: float) -> float:
    """Newton's method on the period ``y = (t + C)/M``, where the equation reads ``y - 1 + exp(-y) = C/M``.

    The left side is convex and the first guess lies right of the root, so every step goes left until rounding stops it.
    """
    ratio = checkpoint_time / mtbf
    if ratio < 1e-6:  # the equation loses its digits to cancellation, where Daly's series is right to 1e-11
        return _daly(checkpoint_time, mtbf)
    period = ratio + min(1.0, math.sqrt(2 * ratio))
    while True:
        closer = period - (period + math.expm1(-period) - ratio) / -math.expm1(-period)
        if not closer < period:
            return -math.expm1(-period) * mtbf
        period = closer
