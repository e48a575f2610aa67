"""Where the time of one request goes, from the spans that a server's own lines recorded. Standard library only.

>>> stage_seconds([("runner", 2.0, 5.0), ("model", 3.0, 4.5)], 0.0, 6.0)
{'waiting': 3.0, 'runner': 1.5, 'model': 1.5}
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

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
    times = sorted({arrival, end, *(time for _, *edges in spans for time in edges)})
    found: dict[str, float] = {}
    for low, high in pairwise(times):
        around = [(begin, -stop, stage) for stage, begin, stop in spans if begin <= low and high <= stop]
        stage = max(around)[2] if around else "waiting"
        found[stage] = found.get(stage, 0.0) + high - low
    return found
