"""Chapter 5: ``gradient_noise_scale``, gradient noise."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip


def _two_batches(rng: Random) -> tuple[int, int]:
    small = rng.randint(1, 64)
    return small, small * rng.choice((2, 3, 4, 8, 64))


def _measured(rng: Random) -> Case:
    """Squared norms as they are in the mean, for some signal and noise."""
    small, large = _two_batches(rng)
    signal = 10 ** rng.uniform(-2, 1)
    noise = signal * small * rng.uniform(0.5, 50)
    return Case((small, large, signal + noise / small, signal + noise / large))


def _no_noise(rng: Random) -> Case:
    """The large batch's norm is the larger one, by chance, or they are equal."""
    small, large = _two_batches(rng)
    norm = 10 ** rng.uniform(-2, 2)
    return Case((small, large, norm, norm * rng.uniform(1.01, 1.5)))


def _no_signal(rng: Random) -> Case:
    small, large = _two_batches(rng)
    norm = 10 ** rng.uniform(-2, 2)
    return Case((small, large, norm, norm * small / large * rng.uniform(0.3, 0.9)))


EXERCISE = Build(
    "05 batching.gradient_noise_scale",
    section="5.12",
    topic="gradient noise",
    bonus=True,
    cases=(
        Case((32, 256, 5, 1.5)),
        Case((4, 16, 5, 2)),
        Case((8, 64, 0.04, 0.03)),
        Case((4, 16, 2, 2)),
        Case((4, 16, 8, 2)),
    ),
    groups=(
        Group(
            "two batches",
            _measured,
            8,
            "Two equations, signal plus noise over the batch, and two unknowns. The arguments are squared norms.",
        ),
        Group("no noise", _no_noise, 4, "When the larger batch has the larger norm, the noise is taken to be 0."),
        Group(
            "no signal",
            _no_signal,
            4,
            "When the estimate of the signal is not positive, the noise scale is inf.",
            lambda _rng: [Case((2, 8, 4.0, 1.0))],
        ),
    ),
    slips=(
        Slip(
            "The arguments are squared norms already; yours squares them again.",
            edit=(
                "signal = (large_batch",
                "small_norm_squared, large_norm_squared = small_norm_squared**2, large_norm_squared**2\n"
                "    signal = (large_batch",
            ),
        ),
        Slip(
            "The two norms are swapped in the estimate of the signal.",
            edits=(
                ("large_batch * large_norm_squared", "large_batch * small_norm_squared"),
                ("small_batch * small_norm_squared", "small_batch * large_norm_squared"),
            ),
        ),
        Slip(
            "The squared norm of the large batch still holds noise: take it out of the signal.",
            edits=(
                ("max(noise, 0.0) / signal", "max(noise, 0.0) / large_norm_squared"),
                ("signal > 0", "large_norm_squared > 0"),
            ),
        ),
        Slip(
            "The difference of the norms is not yet S: each holds S over its own batch.",
            edit=("max(noise, 0.0)", "max(small_norm_squared - large_norm_squared, 0.0)"),
        ),
        Slip("A negative estimate of the noise counts as 0.", edit=("max(noise, 0.0)", "noise")),
        Slip("Where the estimate of the signal is negative, the noise scale is inf.", edit=("signal > 0", "signal")),
    ),
    rights=(
        Right(
            "products in place of reciprocals",
            edit=(
                "(small_norm_squared - large_norm_squared) / (1 / small_batch - 1 / large_batch)",
                "small_batch * large_batch * (small_norm_squared - large_norm_squared) / (large_batch - small_batch)",
            ),
        ),
        Right(
            "the signal from the noise",
            edits=(
                (
                    "    signal = (large_batch * large_norm_squared - small_batch * small_norm_squared)"
                    " / (large_batch - small_batch)\n",
                    "",
                ),
                (
                    "    return max(noise, 0.0) / signal if",
                    "    share = small_batch / (large_batch - small_batch)\n"
                    "    signal = large_norm_squared + share * (large_norm_squared - small_norm_squared)\n"
                    "    return max(noise, 0.0) / signal if",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "inf where the estimate of ``G`` is not positive",
            edit=("if signal > 0 else math.inf", "if signal else math.inf"),
        ),
        Promise("``max(S, 0) / G`` in rows", edit=("max(noise, 0.0)", "noise")),
    ),
)
