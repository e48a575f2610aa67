"""Alpha and B fitted to one half of a measurement and checked against the other half. Standard library only.

A row is ``(bytes, seconds)``, as :mod:`.all_reduce_runs` measures them. Every second size is held out: the fit never
sees it and has to predict it.

>>> fit = fit_rows([(size, 5e-6 + size / 50e9) for size in (1e3, 1e4, 1e5, 1e6, 1e7)])
>>> round(fit.latency, 9), [row.size for row in fit.held_out], fit.median_error < 1e-9
(5e-06, [10000.0, 1000000.0], True)
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rankzero.facts.units import format_bytes, format_time
from solutions.ch04.bandwidth import fit_alpha_beta

Row = tuple[float, float]
Fitter = Callable[[Sequence[float], Sequence[float]], tuple[float, float]]

#: Median relative errors below which two numbers describe a link well, or fairly well.
WELL, FAIRLY = 0.10, 0.30


#: Measurements before a machine counts as too busy.
TRIES = 3


def fitted(measure: Callable[[], dict[int, float]], fit: Fitter) -> tuple[dict[int, float], float, float]:
    """Seconds by size, latency and bandwidth of the first measurement that a line fits.

    Raises:
        ValueError: the fit refuses the last measurement, too.
    """
    for _ in range(TRIES - 1):
        times = measure()
        try:
            return times, *fit(list(times), list(times.values()))
        except ValueError as error:
            print(f"measured again: {error}")
    times = measure()
    return times, *fit(list(times), list(times.values()))


@dataclass(frozen=True)
class HeldOut:
    """A size that the fit did not see: bytes, and the seconds that were measured and predicted."""

    size: float
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """The error of the prediction as a share of the measurement; negative if the prediction is too short."""
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class Fit:
    """A straight line through one half of the sizes.

    Attributes:
        latency: fitted start-up time of one whole operation, seconds.
        bandwidth: fitted bytes of the tensor per second of one whole operation.
        fitted: the rows it was fitted to.
        held_out: the other rows, with their predictions.
    """

    latency: float
    bandwidth: float
    fitted: tuple[Row, ...]
    held_out: tuple[HeldOut, ...]

    def seconds(self, size: float) -> float:
        """The predicted time for ``size`` bytes."""
        return self.latency + size / self.bandwidth

    @property
    def median_error(self) -> float:
        """The median of the absolute relative errors over the held-out sizes."""
        return median_error([self])

    @property
    def worst(self) -> HeldOut:
        """The held-out size with the worst prediction."""
        return max(self.held_out, key=lambda row: abs(row.error))


def split(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Rows to fit and rows to hold out: in order of size, the first, third, fifth, ... are fitted.

    Raises:
        ValueError: fewer than three different sizes; then nothing can be both fitted and held out.
    """
    ordered = sorted(rows)
    if len({size for size, _ in ordered}) < len(ordered) or len(ordered) < 3:
        raise ValueError(f"rows must hold at least three sizes, each once, got {[size for size, _ in ordered]}")
    return ordered[::2], ordered[1::2]


def undisturbed(rows: Sequence[Row]) -> list[Row]:
    """Rows by size, each time lowered to the least time of any larger size.

    A message should take no longer than a larger one. If the clock says that it did, the machine was busy with
    something else.
    """
    kept: list[Row] = []
    for size, seconds in sorted(rows, reverse=True):
        kept.append((size, min(seconds, kept[-1][1] if kept else seconds)))
    return kept[::-1]


def fit_rows(rows: Sequence[Row], fit: Fitter = fit_alpha_beta) -> Fit:
    """Fit one half of ``rows``, made :func:`undisturbed`, and predict the other half, which stays as measured.

    Args:
        rows: the measurements, in any order.
        fit: a function from sizes and seconds to latency and bandwidth.

    Raises:
        ValueError: there are too few sizes, or the largest fitted size took no longer than the others.
    """
    fitted, others = split(rows)
    fitted = undisturbed(fitted)
    latency, bandwidth = fit([size for size, _ in fitted], [seconds for _, seconds in fitted])
    held_out = tuple(HeldOut(size, seconds, latency + size / bandwidth) for size, seconds in others)
    return Fit(latency, bandwidth, tuple(fitted), held_out)


def describe(name: str, fit: Fit) -> str:
    """The fit and how well it predicts, in sentences that are true for any numbers."""
    error, worst = fit.median_error, fit.worst
    quality = "well" if error <= WELL else "fairly" if error <= FAIRLY else "badly"
    return (
        f"{name}: alpha {format_time(fit.latency)}, B {format_bytes(fit.bandwidth)}/s; two numbers predict this run "
        f"{quality}:\n    median error over {len(fit.held_out)} held-out sizes {error:.1%}, "
        f"the worst {worst.error:+.1%} at {_size(worst.size)}"
    )


def median_error(fits: Iterable[Fit]) -> float:
    """The median of the absolute relative errors over the held-out sizes of several fits."""
    return statistics.median(abs(row.error) for fit in fits for row in fit.held_out)


def crossing(small: Fit, large: Fit) -> float | None:
    """The size below which ``small`` and above which ``large`` is faster, by their fitted lines; None if none."""
    saved, gained = _start_up_and_slope(small, large)
    return saved / gained if saved > 0 and gained > 0 else None


def measured_crossing(small: Sequence[Row], large: Sequence[Row]) -> Row | None:
    """The two adjacent sizes between which ``large`` overtakes ``small`` for good; None if it never does.

    Both must be measured at the same sizes. If ``large`` is faster from the first size on, there is no crossing.
    """
    pairs = list(zip(sorted(small), sorted(large), strict=True))
    behind = [index for index, (one, other) in enumerate(pairs) if other[1] >= one[1]]
    if not behind or behind[-1] == len(pairs) - 1:
        return None
    return pairs[behind[-1]][0][0], pairs[behind[-1] + 1][0][0]


def describe_measured(names: tuple[str, str], small: Sequence[Row], large: Sequence[Row]) -> str:
    """Where the second of two ways overtook the first in the measurement, as a sentence."""
    found = measured_crossing(small, large)
    if found:
        return f"measured: the {names[1]} takes the lead for good between {_size(found[0])} and {_size(found[1])}."
    last, last_of_large = max(small), max(large)
    if last_of_large[1] < last[1]:
        return f"measured: the {names[1]} is faster at every size from {_size(min(large)[0])} to {_size(last[0])}."
    return f"measured: the {names[1]} has not taken the lead at {_size(last[0])}, the largest size."


def describe_crossing(names: tuple[str, str], small: Fit, large: Fit) -> str:
    """Where the second of two ways is faster according to two fitted lines, as a sentence."""
    saved, gained = _start_up_and_slope(small, large)
    if saved * gained > 0:
        side = "above" if gained > 0 else "below"
        return f"predicted by the fits: the {names[1]} is faster {side} {_size(saved / gained)}."
    if saved == gained == 0:
        return f"predicted by the fits: {names[0]} and {names[1]} take the same time."
    faster = names[1] if saved < 0 or gained > 0 else names[0]
    return f"predicted by the fits: the {faster} is faster at every size."


def _start_up_and_slope(small: Fit, large: Fit) -> tuple[float, float]:
    """How much start-up ``small`` saves, in seconds, and how much ``large`` saves per byte, in s/byte."""
    return large.latency - small.latency, 1 / small.bandwidth - 1 / large.bandwidth


def _size(size: float) -> str:
    return format_bytes(round(size), binary=True)
