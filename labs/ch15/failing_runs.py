# Generated from solutions/ch15/failing_runs.py by make stubs. Write the bodies; names and signatures stay.
"""A training run that fails again and again, second by second. Standard library only.

>>> run = simulate_run(100, 30, 5, 10, [50])
>>> run["wall"], run["lost"], run["failures"]
(145.0, 15.0, 1)
"""

from __future__ import annotations

from collections.abc import Iterable

from rankzero import checks


def simulate_run(
    work: float, interval: float, checkpoint_time: float, restart_time: float, failure_gaps: Iterable[float]
) -> dict[str, float]:
    """The wall-clock of a run that saves its work at intervals and resumes from the last checkpoint after a failure.

    The work is cut into segments of ``interval``, the last one perhaps shorter: ``ceil(work / interval - 1e-9)`` of
    them, at least one. Each is computed, then saved, the last one too. A failure before the end of a segment's
    checkpoint loses the segment so far, then the job restarts. A failure exactly at that end loses nothing, but the job
    restarts all the same, also after the last segment. A failure during a restart begins the restart again.

    Args:
        work: useful compute, seconds; positive.
        interval: useful compute between two checkpoints, seconds; positive.
        checkpoint_time: seconds that the job stops for one; not negative.
        restart_time: seconds; not negative.
        failure_gaps: seconds to the first failure, then from each failure to the next, in wall-clock, whatever the job
            is doing; each > 0, an infinite one if no failure follows. When they end there are no more failures. They
            may never end: take one at a time, and none before it is needed.

    Returns:
        ``wall``, the seconds until the last checkpoint is safe and no restart is left to do, and its four parts
        ``useful`` (equal to ``work``), ``checkpoint`` (only those that were finished), ``lost`` and ``restart``; and
        ``failures``, an int.
    """
    checks.positive(work=work, interval=interval)
    checks.amount(checkpoint_time=checkpoint_time, restart_time=restart_time)
    raise NotImplementedError("cap-simulate-run: not written yet")
