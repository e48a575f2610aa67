# Generated from solutions/ch08/stage_clock.py by make stubs. Write the bodies; names and signatures stay.
"""Where the time of one request goes, from the spans that a server's own lines recorded. Standard library only.

>>> stage_seconds([("runner", 2.0, 5.0), ("model", 3.0, 4.5)], 0.0, 6.0)
{'waiting': 3.0, 'runner': 1.5, 'model': 1.5}
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks


def stage_seconds(spans: Sequence[tuple[str, float, float]], arrival: float, end: float) -> dict[str, float]:
    """Seconds that a request spent in each stage of a server, and in none of them.

    Spans nest, as calls do: any two are apart, or one lies inside the other. Time inside an inner span counts for it
    and not for the outer one. Time in no span is ``"waiting"``. So all seconds add up to ``end - arrival``.

    Args:
        spans: (stage, begin, end), in any order, all from ``arrival`` to ``end``; a stage may come several times.
        arrival: when the request came; finite.
        end: when its last text was sent; finite, not before ``arrival``.

    Returns:
        The seconds of each stage that has any time of its own.
    """
    checks.finite(arrival=arrival, end=end)
    checks.require(arrival <= end, f"be at least arrival = {arrival!r}", end=end)
    raise NotImplementedError("08-stage-seconds: not written yet")
