"""Pictures of reinforcement learning: what is drawn is what was given, the same every time, readable on any page."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from matplotlib.patches import Rectangle

from rankzero import figures
from rankzero.figures.picture import INK

STATES = [(0.1 * t, 0.5, 0.02 * t, 0.4) for t in range(12)]


@dataclass(frozen=True)
class Row:
    steps: int
    episode_return: float | None
    explained_variance: float = 0.5
    approx_kl: float = 0.01
    outside_fraction: float = 0.2
    clipped_fraction: float = 0.1
    entropy: float = 0.6


ROWS = [Row(256, None), Row(512, 22.0), Row(768, 40.0)]


def clipped(ratio: float, advantage: float) -> float:
    return min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage)


PICTURES = {
    "episode_traces": lambda: figures.rl.episode_traces(STATES),
    "training": lambda: figures.rl.training(ROWS),
    "advantages": lambda: figures.rl.advantages([0.1, -0.2], {0.0: [0.1, -0.2], 1.0: [-0.1, -0.2]}),
    "clipped_objective": lambda: figures.rl.clipped_objective(clipped),
    "spread_of_gradients": lambda: figures.rl.spread_of_gradients((0.5, 0.3, 0.2), (0, 1, 5), (0, 1.3)),
}


def lines(axes) -> list[list[float]]:
    return [list(line.get_ydata()) for line in axes.get_lines()]


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("name", PICTURES)
def test_says_what_it_shows_and_is_the_same_twice(name):
    saved = []
    for _ in range(2):
        picture = PICTURES[name]()
        assert picture.alt.endswith(".")
        saved.append(picture.html())
        assert INK not in saved[-1]
    assert saved[0] == saved[1]


def test_the_limits_of_cart_and_pole_are_drawn():
    axes = PICTURES["episode_traces"]().axes
    assert lines(axes[0])[0] == [state[0] for state in STATES]
    assert [line[0] for line in lines(axes[2])[1:]] == pytest.approx([-math.radians(12), math.radians(12)])
    assert len(lines(axes[1])) == 1


@pytest.mark.proof(part="runs")
def test_a_training_from_rows_or_mappings():
    picture = PICTURES["training"]()
    assert "from 22 to 40" in picture.alt
    assert math.isnan(lines(picture.axes[0])[0][0])
    assert len(lines(picture.axes[3])) == 2
    mapped = figures.rl.training([vars(row) for row in ROWS])
    assert mapped.alt == picture.alt
    assert "without a finished episode" in figures.rl.training(ROWS[:1]).alt


def test_errors_are_bars_and_advantages_are_lines():
    above, under = PICTURES["advantages"]().axes
    bars = [patch.get_height() for patch in above.patches if isinstance(patch, Rectangle)]
    assert bars == [0.1, -0.2]
    assert lines(under)[:2] == [[0.1, -0.2], [-0.1, -0.2]]


def test_the_flat_parts_are_shaded():
    axes = PICTURES["clipped_objective"]().axes
    edges = [sorted((p.get_x(), p.get_x() + p.get_width())) for panel in axes for p in panel.patches]
    assert edges[0][0] == pytest.approx(1.2)
    assert edges[1] == pytest.approx([0, 0.8])


def test_the_mean_of_the_arrows_does_not_move():
    picture = PICTURES["spread_of_gradients"]()
    assert "(-0.65, -0.09)" in picture.alt
    means = [lines(panel)[-1] for panel in picture.axes]
    assert means[0] == pytest.approx(means[1])


@pytest.mark.proof(part="runs")
def test_a_training_is_drawn_while_it_goes_on(monkeypatch):
    """A drawing after every third row, and each takes the place of the one before."""
    shown = []

    class Handle:
        def update(self, forms, raw):
            shown.append(("again", forms["text/plain"]))

    def display(forms, raw, display_id):
        shown.append(("first", forms["text/plain"]))
        return Handle()

    monkeypatch.setattr("IPython.display.display", display)
    live = figures.rl.LiveTraining(every=3)
    names = ["steps", *(name for _, panel in figures.rl.PANELS for name in panel)]
    for place in range(7):
        live(dict.fromkeys(names, 20.0 + place))
    assert [kind for kind, _ in shown] == ["first", "again"]
    live.draw()
    assert shown[-1] == ("again", figures.rl.training(live.rows).alt)
    assert "goes from 20 to 26" in shown[-1][1]
