# Generated from solutions/checkpointing.py by make stubs. Write the bodies; names and signatures stay.
"""How often to save a training job that failures interrupt.

Standard library only. Times are in seconds, but any one unit will do: the same unit comes out.
"""

from __future__ import annotations


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
    raise NotImplementedError("cap-optimal-checkpoint-interval: not written yet")
