"""Chapter 1: ``compute_optimal``, compute-optimal training."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip


def _budget(rng: Random) -> Case:
    return Case((10 ** rng.uniform(18, 27),))


def _ratios(rng: Random) -> list[Case]:
    """Among them a budget of a few FLOP, which buys parts of a parameter and of a token."""
    return [Case((rng.uniform(1, 100), rng.uniform(1, 30)))]


def _ratio(rng: Random) -> Case:
    return Case((10 ** rng.uniform(18, 27), rng.choice((1, 2, 5, 40, 100.0, 1875, 10 ** rng.uniform(0, 1.2)))))


EXERCISE = Build(
    "01 scale.compute_optimal",
    section="1.16",
    topic="compute-optimal training",
    bonus=True,
    cases=(
        Case((5.76e23,)),  # the budget of Gopher and Chinchilla; the latter has 70 billion parameters
        Case((5.88e23,)),
        Case((1e21,)),
        Case((3.8e25, 40)),
    ),
    groups=(
        Group("budgets", _budget, 5, "A budget buys parameters and tokens, and both grow with its root."),
        Group("other ratios", _ratio, 6, "The ratio of tokens to parameters may be given.", _ratios),
    ),
    slips=(
        Slip(
            "The 6 FLOP for each parameter and token were left out.",
            edit=("math.sqrt(flops / (6 * tokens_per_parameter))", "(flops / tokens_per_parameter) ** 0.5"),
        ),
        Slip(
            "The root is missing: with D = r N, the budget is 6 r times N squared.",
            edit=("math.sqrt(flops / (6 * tokens_per_parameter))", "flops / (6 * tokens_per_parameter)"),
        ),
        Slip(
            "Tokens came first: the answer is parameters, then tokens.",
            edits=(
                ("return parameters", "return tokens_per_parameter * parameters"),
                ("tokens_per_parameter * parameters", "parameters"),
            ),
        ),
        Slip(
            "The ratio that was given was not used.",
            edits=(
                ("math.sqrt(flops / (6 * tokens_per_parameter))", "(flops / 120) ** 0.5"),
                ("tokens_per_parameter * parameters", "20 * parameters"),
            ),
        ),
    ),
    rights=(
        Right(
            "tokens first",
            edits=(
                (
                    "parameters = math.sqrt(flops / (6 * tokens_per_parameter))",
                    "tokens = (tokens_per_parameter * flops / 6) ** 0.5",
                ),
                (
                    "return parameters, tokens_per_parameter * parameters",
                    "return tokens / tokens_per_parameter, tokens",
                ),
            ),
        ),
        Right(
            "by logarithms",
            edit=(
                "math.sqrt(flops / (6 * tokens_per_parameter))",
                "math.exp((math.log(flops) - math.log(6 * tokens_per_parameter)) / 2)",
            ),
        ),
    ),
    promises=(
        Promise(
            "``6 * parameters * tokens == flops``",
            edit=("return parameters, tokens_per_parameter * parameters", "return parameters, 20 * parameters"),
        ),
    ),
)
