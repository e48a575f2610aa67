"""The map of ideas: no line runs behind a box, and no two lines run on one another for long."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from rankzero.facts.ideas import IDEAS, Idea
from tools.reference import ideas

#: Two chapters lie between the first and the last; both have a box in the way, and so has the row of "d".
CROWDED = (
    Idea("a name in the middle", "1.1"),
    Idea("left", "2.1"),
    Idea("another name in the middle", "2.2"),
    Idea("right", "2.3"),
    Idea("one name that is longer than the others", "3.1"),
    Idea("e", "4.1", ("a name in the middle",)),
    Idea("f", "4.2", ("a name in the middle", "left")),
    Idea("g", "4.3", ("e",)),
)


def corners(kind: str, numbers: list[float], x: float, y: float) -> list[tuple[float, float]]:
    """The four corners of the curve that a command draws from a place; a straight line is one as well."""
    if kind == "C":
        return [(x, y), *zip(numbers[::2], numbers[1::2], strict=True)]
    end = (numbers[0], y) if kind == "H" else (x, numbers[0])
    return [(x, y), (x, y), end, end]


def at(t: float, curve: list[tuple[float, float]], axis: int) -> float:
    """Where on an axis a curve is after the share ``t`` of its way."""
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    return sum(weight * corner[axis] for weight, corner in zip(weights, curve, strict=True))


def points(path: str) -> list[tuple[float, float]]:
    """Many points of a path that is made of M, H, V and C, in order."""
    (_, first), *commands = re.findall(r"([MHVC])([^MHVC]*)", path)
    x, y = map(float, first.split())
    found = [(x, y)]
    for kind, text in commands:
        curve = corners(kind, [float(one) for one in text.split()], *found[-1])
        found += [(at(step / 40, curve, 0), at(step / 40, curve, 1)) for step in range(1, 41)]
    return found


def behind(line: ideas.Line, boxes) -> list[str]:
    """The boxes behind which a line runs."""
    inside = 0.5  # a line touches the edges of its own boxes
    return [
        box.idea.name
        for box in boxes
        for x, y in points(ideas._path(line))
        if abs(x - box.x) < box.width / 2 - inside and abs(y - box.y) < ideas.HEIGHT / 2 - inside
    ]


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize("width", [ideas.WIDTH, ideas.PHONE])
@pytest.mark.parametrize("known", [IDEAS, CROWDED], ids=["the course", "crowded"])
def test_no_line_runs_behind_a_box(known, width):
    """Kills a line that seems to lead to every idea on its way, and one that leaves the drawing."""
    found = ideas.boxes(known, width)
    drawn = ideas.lines(found, width)
    assert len(drawn) == sum(len(idea.needs) for idea in known)
    assert [(line.lower.idea.name, name) for line in drawn for name in behind(line, found.values())] == []
    xs = [x for line in drawn for x, _ in points(ideas._path(line))]
    assert ideas.MARGIN <= min(xs) <= max(xs) <= width


def test_lines_in_one_gap_stand_apart():
    """Kills two lines that look like one."""
    found = ideas.boxes()
    crossed: dict[float, list[float]] = {}
    for line in ideas.lines(found):
        for x, y in line.through:
            crossed.setdefault(y, []).append(x)
    assert any(len(xs) > 3 for xs in crossed.values())
    assert min(right - left for xs in crossed.values() for left, right in pairwise(sorted(xs))) > 4


def test_it_ends_at_the_boxes():
    """Kills a line that leads nowhere."""
    for line in ideas.lines(ideas.boxes(CROWDED)):
        first, *_, last = points(ideas._path(line))
        for x, y in (first, last):
            assert any(
                abs(x - box.x) <= box.width / 2 + 0.1 and abs(y - box.y) <= ideas.HEIGHT / 2 + 0.1
                for box in (line.lower, line.upper)
            )
