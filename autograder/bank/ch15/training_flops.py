"""The capstone: ``training_flops``, FLOP of a run."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _phases(rng: Random, count: int) -> list[tuple[float, int]]:
    lengths = rng.sample((512, 2048, 4096, 8192, 32_768, 131_072, 1_000_000), count)
    return [(float(f"{10 ** rng.uniform(9, 13.3):.4g}"), length) for length in lengths]


def _trained(rng: Random, causal: bool | None = None, count: int | None = None) -> Case:
    parameters = float(f"{10 ** rng.uniform(6, 12):.4g}")
    causal = rng.random() < 0.5 if causal is None else causal
    return Case(
        (parameters, _phases(rng, count or rng.randint(2, 4)), rng.randint(2, 200), rng.randint(64, 20_000), causal)
    )


def _long_runs(rng: Random) -> list[Case]:
    """Short and long sequences in like amounts, so that attention counts."""
    cases = []
    for causal in (True, False) * 2:
        tokens = float(rng.randint(1, 900)) * 1e9
        phases = [(tokens, 2048), (2 * tokens, 131_072)]
        cases.append(Case((float(rng.randint(10, 900)) * 1e8, phases, rng.randint(20, 90), 4096), {"causal": causal}))
    return cases


def _plain_run(rng: Random) -> Case:
    return Case((float(f"{10 ** rng.uniform(6, 13):.4g}"), _phases(rng, rng.randint(1, 3))))


def _half_a_shape(rng: Random) -> list[Case]:
    """Layers without a width, a width without layers."""
    return [Case(_plain_run(rng).args, {"layers": 48}), Case(_plain_run(rng).args, {"width": 4096}), _plain_run(rng)]


def flops_by_parts(parameters, phases, layers=0, width=0, causal=False):
    """The operations of the matrices, then those of attention, each with an exact sum."""
    from solutions.ch15.flops import training_flops

    phases = list(phases)
    training_flops(parameters, phases, layers, width, causal)  # which refuses what must be refused
    dense = 6 * parameters * math.fsum(tokens for tokens, _ in phases)
    return dense + (6 if causal else 12) * layers * width * math.fsum(t * s for t, s in phases)


EXERCISE = Build(
    "cap flops.training_flops",
    section="15.1",
    topic="FLOP of a run",
    cases=(
        Case((174.6e9, [(300e9, 2048)])),  # GPT-3 prints 3.14e23
        Case((403_752_042_496, [(15.6e12, 8192)])),  # Llama 3.1 405B: the budget is 3.8e25
        Case((403_752_042_496, [(15.6e12, 8192)], 126, 16_384)),
        Case((403_752_042_496, [(15.6e12, 8192)], 126, 16_384, True)),
        Case((403_752_042_496, [(14.8e12, 8192), (0.8e12, 131_072)], 126, 16_384)),
        Case((403_752_042_496, [(14.8e12, 8192), (0.8e12, 131_072)], 126, 16_384), {"causal": True}),
        Case((1e9, [])),
    ),
    groups=(
        Group(
            "phases with attention",
            _trained,
            8,
            "Each phase has its own sequence length; count token by token.",
            _long_runs,
        ),
        listed("without attention", _half_a_shape, "Without layers or width only the parameters count."),
    ),
    slips=(
        Slip(
            "For one token, attention grows with the length of its sequence. The square is for a whole sequence.",
            edit=("width * sequence)", "width * sequence**2)"),
        ),
        Slip(
            "That is the forward pass alone. The backward pass costs twice as much.",
            edit=("6 * parameters + (6 if causal else 12)", "2 * parameters + (2 if causal else 4)"),
        ),
        Slip(
            "The parameters are right; attention has a backward pass, too.",
            edit=("(6 if causal else 12)", "(2 if causal else 4)"),
        ),
        Slip(
            "Attention is two products, scores and weighted values: you count one.",
            edit=("(6 if causal else 12)", "(3 if causal else 6)"),
        ),
        Slip(
            "You use one mean length for all tokens. Count each phase with its own length.",
            edits=(
                (
                    "    total = 0.0\n    for tokens, sequence in phases:",
                    "    total, phases = 0.0, list(phases)\n"
                    "    rows = sum(tokens / sequence for tokens, sequence in phases)\n"
                    "    for tokens, sequence in phases:",
                ),
                ("layers * width * sequence", "layers * width * sum(count for count, _ in phases) / (rows or 1)"),
            ),
        ),
        Slip("`causal` is ignored: it halves the attention.", edit=("(6 if causal else 12)", "12")),
    ),
    rights=(
        Right("matrices and attention apart", program=flops_by_parts),
        Right(
            "per token of all phases",
            edit=(
                "total += tokens * (6 * parameters + (6 if causal else 12) * layers * width * sequence)",
                "total += 6 * (tokens * parameters) + tokens * sequence * (layers * (6 if causal else 12)) * width",
            ),
        ),
    ),
    promises=(
        Promise(
            "count only the half of the attention that a causal model needs",
            edit=("return total", "return sum(t * (6 * parameters + 12 * layers * width * s) for t, s in phases)"),
        ),
        Promise("0 leaves attention out", edit=("* layers * width * sequence", "* max(1, layers) * width * sequence")),
        Promise("FLOP of all phases", edit=("total += tokens", "total = tokens")),
        Promise(
            "0.0 without phases",
            edit=("for tokens, sequence in phases:", "for tokens, sequence in phases or [(1, 1)]:"),
        ),
    ),
)
