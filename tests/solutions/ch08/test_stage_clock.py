"""The time of a request by stage, against a clock that looks at every moment."""

from __future__ import annotations

from random import Random

import pytest

from solutions.ch08.stage_clock import stage_seconds


def nested(rng: Random, low: int, high: int, depth: int = 3) -> list[tuple[str, int, int]]:
    """Random spans with whole numbers of ticks, some inside others."""
    found, at = [], low
    while depth and high - at > 3:
        begin = rng.randint(at, high - 2)
        stop = rng.randint(begin + 1, high)
        found += [(rng.choice("abc") + str(depth), begin, stop), *nested(rng, begin, stop - 1, depth - 1)]
        at = stop
    return found


def tick_by_tick(spans, arrival: int, end: int) -> dict[str, float]:
    """Every tick goes to the shortest span around it."""
    found: dict[str, float] = {}
    for tick in range(arrival, end):
        around = [(stop - begin, stage) for stage, begin, stop in spans if begin <= tick < stop]
        stage = min(around)[1] if around else "waiting"
        found[stage] = found.get(stage, 0.0) + 1
    return found


@pytest.mark.parametrize("seed", range(20))
def test_every_moment_is_counted_once(seed):
    rng = Random(seed)
    spans = nested(rng, 5, 60)
    rng.shuffle(spans)
    found = stage_seconds(spans, 5, 60)
    assert found == tick_by_tick(spans, 5, 60)
    assert sum(found.values()) == 55


def test_a_request_without_spans_only_waits():
    assert stage_seconds([], 1.0, 3.0) == {"waiting": 2.0}
    assert stage_seconds([], 1.0, 1.0) == {}
    with pytest.raises(ValueError, match="end must be at least arrival"):
        stage_seconds([], 2.0, 1.0)
