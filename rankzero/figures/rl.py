"""Figures of reinforcement learning: an episode, a training run, advantages, the clipped objective.

Every function returns a :class:`~rankzero.figures.picture.Picture` with a sentence that says what it shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from rankzero.charts.marks import COLOURS
from rankzero.figures.picture import INK, QUIET, Live, Picture, counted, key, legend, panels, styled
from rankzero.figures.plots import GRID

#: The four numbers of CartPole's state, with the limits at which an episode fails.
STATES: tuple[tuple[str, float | None], ...] = (
    ("cart (m)", 2.4),
    ("cart (m/s)", None),
    ("pole (rad)", math.radians(12)),
    ("pole (rad/s)", None),
)

#: Styles of lines that can be told apart without colour.
DASHED: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (2, 1.5)))

#: The panels of a training run: the title, and the fields of a row that are plotted.
PANELS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("return of an episode", ("episode_return",)),
    ("explained variance", ("explained_variance",)),
    ("approximate KL (nats)", ("approx_kl",)),
    ("share of the samples", ("outside_fraction", "clipped_fraction")),
    ("entropy (nats)", ("entropy",)),
)


@styled
def episode_traces(states: Sequence[Sequence[float]]) -> Picture:
    """The four numbers of CartPole's state over an episode, with the limits of cart and pole.

    Args:
        states: for each step, position in m, velocity in m/s, angle in rad, angular velocity in rad/s.
    """
    picture, axes = panels(2, 2, (6.4, 4.0), sharex=True)
    for index, (panel, (name, limit)) in enumerate(zip(axes, STATES, strict=True)):
        panel.plot(range(len(states)), [state[index] for state in states], color=COLOURS[index], linewidth=2)
        for end in (-limit, limit) if limit else ():
            panel.axhline(end, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        _plain(panel, "step" if index > 1 else "", name)
    tilts = [abs(math.degrees(state[2])) for state in states]
    picture.alt = (
        f"Position, speed, angle and angular speed over {counted(len(states), 'step')} of CartPole; the pole leans "
        f"{tilts[-1]:.1f} degrees at the end, and the episode fails beyond 12, or 2.4 m from the middle."
    )
    return picture


@styled
def training(rows: Sequence[Any]) -> Picture:
    """A training run of PPO in five panels, over the steps of the environment.

    Args:
        rows: for each iteration, an object or a mapping with ``steps``, ``episode_return``, ``explained_variance``,
            ``approx_kl``, ``outside_fraction``, ``clipped_fraction`` and ``entropy``; None or NaN leaves a gap.
    """
    picture, axes = panels(5, 1, (6.0, 7.6), sharex=True)
    steps = [_number(row, "steps") for row in rows]
    for panel, (title, names) in zip(axes, PANELS, strict=True):
        for index, name in enumerate(names):
            look: Any = {"color": COLOURS[index], "linestyle": DASHED[index]}
            panel.plot(steps, [_number(row, name) for row in rows], **look)
        _plain(panel, "", title)
        panel.yaxis.label.set(rotation=0, ha="left")
        panel.yaxis.set_label_coords(0, 1.06)
    axes[-1].set_xlabel("steps of the environment")
    names_of_shares = ("outside the range", "without gradient")
    samples = [Line2D([], [], color=COLOURS[i], linestyle=DASHED[i], label=n) for i, n in enumerate(names_of_shares)]
    key(picture, samples)
    returns = [value for row in rows if not math.isnan(value := _number(row, "episode_return"))]
    picture.alt = (
        f"Return, explained variance, KL, clip fractions and entropy over {counted(len(rows), 'iteration')}; "
        f"the return goes from {returns[0]:.0f} to {returns[-1]:.0f}."
        if returns
        else f"A training of {counted(len(rows), 'iteration')} without a finished episode."
    )
    return picture


class LiveTraining:
    """Redraws :func:`training` during a run: a callback that takes one row at a time.

    Args:
        every: number of rows between two drawings.

    Attributes:
        rows: the rows so far.
    """

    def __init__(self, every: int = 15) -> None:
        self.every = every
        self.rows: list[Any] = []
        self._place = Live()

    def __call__(self, row: Any) -> None:
        self.rows.append(row)
        if len(self.rows) % self.every == 0:
            self.draw()

    def draw(self) -> None:
        """Draw all rows so far, in place of the previous drawing."""
        self._place.show(training(self.rows))


@styled
def advantages(deltas: Sequence[float], by_lambda: Mapping[float, Sequence[float]]) -> Picture:
    """TD errors over the steps of an episode as bars, and below them the advantages for each lambda.

    Args:
        deltas: the TD error of each step.
        by_lambda: the advantage of each step, by lambda.
    """
    picture, (above, under) = panels(2, 1, (6.0, 4.6), sharex=True)
    above.bar(range(len(deltas)), deltas, color=QUIET, width=0.6)
    above.axhline(0, color=INK, linewidth=0.8)
    _plain(above, "", "TD error")
    lines = []
    for index, (trace, found) in enumerate(by_lambda.items()):
        look: Any = {"color": COLOURS[index % 8], "linestyle": DASHED[index % 3], "marker": "."}
        lines += under.plot(range(len(found)), found, label=f"lambda {trace:g}", **look)
    under.axhline(0, color=INK, linewidth=0.8)
    _plain(under, "step", "advantage")
    key(picture, lines)
    firsts = ", ".join(f"{found[0]:.3g} for lambda {trace:g}" for trace, found in by_lambda.items() if found)
    picture.alt = f"TD errors of {counted(len(deltas), 'step')} and the advantages made of them; the first: {firsts}."
    return picture


@styled
def clipped_objective(objective: Callable[[float, float], float], clip: float = 0.2) -> Picture:
    """The objective of one sample against its probability ratio, for advantages 1 and -1; the flat parts are shaded.

    Args:
        objective: the objective as a function of the ratio and the advantage.
        clip: the clip range, epsilon.
    """
    picture, axes = panels(1, 2, (6.4, 3.0))
    ratios = [index / 100 for index in range(1, 251)]
    for panel, advantage in zip(axes, (1.0, -1.0), strict=True):
        flat = (1 + clip, ratios[-1]) if advantage > 0 else (0.0, 1 - clip)
        panel.axvspan(*flat, color=QUIET, alpha=0.3, linewidth=0)
        panel.plot(ratios, [ratio * advantage for ratio in ratios], color=QUIET, linestyle=DASHED[1])
        panel.plot(ratios, [objective(ratio, advantage) for ratio in ratios], color=COLOURS[0], linewidth=2.2)
        panel.axvline(1, color=INK, linewidth=0.8)
        panel.set_title(f"advantage {advantage:+.0f}")
        _plain(panel, "ratio", "objective of a sample")
    lines = [
        Line2D([], [], color=COLOURS[0], linewidth=2.2, label="clipped"),
        Line2D([], [], color=QUIET, linestyle=DASHED[1], label="not clipped"),
    ]
    key(picture, [*lines, Patch(facecolor=QUIET, alpha=0.3, label="no gradient")])
    picture.alt = (
        f"The clipped objective is flat above a ratio of {1 + clip:g} where the advantage is positive, and below "
        f"{1 - clip:g} where it is negative; elsewhere it is the plain one."
    )
    return picture


@styled
def spread_of_gradients(
    probabilities: Sequence[float], rewards: Sequence[float], baselines: Sequence[float]
) -> Picture:
    """The policy gradient estimates of a bandit, one panel for each baseline: an arrow for each arm, and their mean.

    The axes are the first two logits. The width of an arrow shows the probability of its arm.

    Args:
        probabilities: probability of each arm.
        rewards: reward of each arm.
        baselines: baselines to subtract from the rewards.
    """
    picture, axes = panels(1, len(baselines), (2.5 * len(baselines), 2.9), sharex=True, sharey=True)
    for panel, baseline in zip(axes, baselines, strict=True):
        mean = [0.0, 0.0]
        for arm, (p, reward) in enumerate(zip(probabilities, rewards, strict=True)):
            tip = [(reward - baseline) * ((index == arm) - probabilities[index]) for index in (0, 1)]
            mean = [m + p * t for m, t in zip(mean, tip, strict=True)]
            _arrow(panel, tip, COLOURS[arm % 8], 1 + 5 * p)
        _arrow(panel, mean, INK, 1.5)
        panel.set_title(f"baseline {baseline:.3g}")
        panel.margins(0.2)
        _plain(panel, "logit 0", "logit 1" if panel is axes[0] else "")
    arms = {f"arm {arm}": COLOURS[arm % 8] for arm in range(len(probabilities))}
    legend(picture, {**arms, "mean": INK})
    picture.alt = (
        f"Estimates of {counted(len(rewards), 'arm')} for {counted(len(baselines), 'baseline')}: the arrows move, "
        f"their mean stays at ({mean[0]:.3g}, {mean[1]:.3g})."
    )
    return picture


def _arrow(axes: Axes, tip: Sequence[float], colour: str, width: float) -> None:
    axes.plot([0, tip[0]], [0, tip[1]], color=colour, linewidth=width, solid_capstyle="round")
    axes.plot([tip[0]], [tip[1]], color=colour, marker="o", markersize=3 + width)


def _number(row: Any, name: str) -> float:
    """A field of an object or a mapping as a float; NaN for None."""
    value = row[name] if isinstance(row, Mapping) else getattr(row, name)
    return math.nan if value is None else float(value)


def _plain(axes: Axes, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=y)
    axes.grid(**GRID)
    axes.set_axisbelow(True)
