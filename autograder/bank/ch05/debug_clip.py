"""Chapter 5: ``debug_clip``, clipping scaled gradients."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Right, Slip


def wrong_clip(gradients, scale, max_norm):
    import math

    norm = math.sqrt(sum(gradient * gradient for gradient in gradients))
    return [gradient * min(1, max_norm / norm) / scale for gradient in gradients]


def _scaled(rng: Random, length: float) -> Case:
    """Gradients whose true norm is ``length`` times the largest allowed."""
    scale, most = rng.choice((3.0, 1024.0, 65536.0)), rng.choice((0.5, 1.0, 2.0))
    raw = [rng.choice((1, -1)) * rng.uniform(0.2, 1) for _ in range(rng.randint(2, 6))]
    norm = sum(gradient * gradient for gradient in raw) ** 0.5
    return Case(([gradient / norm * length * most * scale for gradient in raw], scale, most))


def _no_gradient(rng: Random) -> Case:
    return Case(([0.0] * rng.randint(1, 4), rng.choice((3.0, 1024.0)), rng.choice((0.5, 1.0))))


EXERCISE = Debug(
    "05 precision.debug_clip",
    section="5.16",
    topic="clipping scaled gradients",
    bonus=True,
    tolerance=1e-5,  # clip_grad_norm_ adds 1e-6 to the norm that it divides by
    wrong=wrong_clip,
    cases=(Case(([3072.0, 4096.0], 1024.0, 1.0)), Case(([8.0, -6.0], 100.0, 1.0)), Case(([0.0, 0.0], 8.0, 1.0))),
    groups=(
        Group("too long", lambda rng: _scaled(rng, rng.uniform(1.5, 40)), 5, "The limit is for the true gradients."),
        Group("short enough", lambda rng: _scaled(rng, rng.uniform(0.1, 0.9)), 4, "Short gradients stay as they are."),
        Group("zero", _no_gradient, 3, "Gradients of norm 0 stay 0."),
    ),
    slips=(
        Slip("The scaled gradients were measured: unscale first, then clip; and a norm of 0 needs care.", wrong_clip),
        Slip(
            "The limit was scaled although the gradients are unscaled already.",
            edit=("gradient * shrink", "gradient * (min(1, scale * max_norm / norm) if norm else 1)"),
        ),
        Slip("Gradients below the limit were made longer: clipping only shortens.", edit=("norm > max_norm", "norm")),
        Slip(
            "Gradients of norm 0 divide by zero: leave them.",
            edit=("gradient * shrink", "gradient * min(1, max_norm / norm)"),
        ),
        Slip(
            "Each gradient was cut alone: clipping by norm keeps the direction.",
            edit=(
                "[gradient * shrink for gradient in true]",
                "[max(-max_norm, min(max_norm, gradient / scale)) for gradient in gradients]",
            ),
        ),
    ),
    rights=(
        Right("as torch does", edit=("max_norm / norm if", "max_norm / (norm + 1e-6) if")),
        Right(
            "the norm of the scaled gradients",
            edit=(
                "    norm = math.sqrt(sum(gradient * gradient for gradient in true))\n",
                "    norm = math.sqrt(sum(gradient**2 for gradient in gradients)) / scale\n",
            ),
        ),
        Right(
            "one factor, and hypot",
            edits=(
                (
                    "    norm = math.sqrt(sum(gradient * gradient for gradient in true))\n",
                    "    norm = math.hypot(*true)\n",
                ),
                ("[gradient * shrink for gradient in true]", "[gradient * (shrink / scale) for gradient in gradients]"),
            ),
        ),
    ),
)
