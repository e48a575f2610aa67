"""Chapter 8: ``prefill_time``, roofline of prefill."""

from __future__ import annotations

from random import Random

from autograder.bank.ch08.machines import A100, H100, LLAMA, machine, model
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _prefill(rng: Random, least: int, most: int, attention: bool = True) -> Case:
    shape = (rng.randint(16, 128), rng.choice((1024, 4096, 8192, 18_432))) if attention else ()
    return Case((*model(rng, 8, 11.8), rng.randint(least, most), *machine(rng), *shape))


EXERCISE = Build(
    "08 serving.prefill_time",
    section="8.13",
    topic="roofline of prefill",
    bonus=True,
    cases=(
        Case((*LLAMA[:2], 2048, *H100, 32, 4096)),
        Case((*LLAMA[:2], 16, *H100, 32, 4096)),
        Case((*LLAMA[:2], 131_072, *H100, 32, 4096)),
        Case((8.03e9, 16.06e9, 1024, *H100)),
        Case((70_553_706_496, 141_107_412_992, 4096, 8 * H100[0], 8 * H100[1], 80, 8192)),
        Case((*LLAMA[:2], 0, *A100)),
    ),
    groups=(
        Group(
            "prompts",
            lambda rng: _prefill(rng, 4096, 32_000),
            5,
            "2 N s for the matrices, 2 L d s² for causal attention.",
        ),
        Group(
            "short prompts",
            lambda rng: _prefill(rng, 1, 90),
            4,
            "However short the prompt, all weights are read once.",
            lambda rng: [Case((*model(rng), 0, *machine(rng), 32, 4096))],
        ),
        Group(
            "very long prompts", lambda rng: _prefill(rng, 60_000, 200_000), 3, "Attention grows with the square of s."
        ),
        Group(
            "without attention",
            lambda rng: _prefill(rng, 1, 8192, False),
            3,
            "Without layers, attention costs nothing.",
            lambda rng: [Case((*model(rng), 8192, *machine(rng)), one) for one in ({"layers": 32}, {"hidden": 4096})],
        ),
    ),
    slips=(
        Slip(
            "You also computed the masked half: causal attention forms half of the scores.",
            edit=("2 * layers", "4 * layers"),
        ),
        Slip("Attention grows with the square of the prompt.", edit=("prompt_tokens**2", "prompt_tokens")),
        Slip(
            "That is per token, not per prompt: every one of s tokens passes through all N parameters.",
            edits=(
                ("2 * parameters * prompt_tokens / peak", "2 * parameters / peak"),
                ("prompt_tokens**2 / peak", "prompt_tokens / peak"),
            ),
        ),
        Slip(
            "A short prompt still reads all weights: take the maximum with W / BW.",
            edit=(
                "max(2 * parameters * prompt_tokens / peak, weight_bytes / bandwidth)",
                "2 * parameters * prompt_tokens / peak",
            ),
        ),
        Slip(
            "The weights are read while the matrices multiply: the slower one counts, not their sum.",
            edit=(
                "max(2 * parameters * prompt_tokens / peak, weight_bytes / bandwidth)",
                "2 * parameters * prompt_tokens / peak + weight_bytes / bandwidth",
            ),
        ),
        Slip(
            "Attention runs in kernels of its own: its time is added to that of the matrices.",
            edits=(
                (
                    "max(2 * parameters * prompt_tokens / peak, weight_bytes / bandwidth)",
                    "2 * parameters * prompt_tokens / peak",
                ),
                (
                    "return matrices + 2 * layers * hidden * prompt_tokens**2 / peak",
                    "return max(matrices + 2 * layers * hidden * prompt_tokens**2 / peak, weight_bytes / bandwidth)",
                ),
            ),
        ),
        Slip(
            "All tokens of the prompt share one reading of the weights.",
            edit=("weight_bytes / bandwidth", "weight_bytes * max(1, prompt_tokens) / bandwidth"),
        ),
    ),
    rights=(
        Right(
            "the peak divided out of both",
            edits=(
                (
                    "max(2 * parameters * prompt_tokens / peak, weight_bytes / bandwidth)",
                    "max(parameters * prompt_tokens, weight_bytes / bandwidth * peak / 2)",
                ),
                (
                    "matrices + 2 * layers * hidden * prompt_tokens**2 / peak",
                    "2 * (matrices + layers * hidden * prompt_tokens**2) / peak",
                ),
            ),
        ),
        Right(
            "attention first",
            edit=(
                "matrices + 2 * layers * hidden * prompt_tokens**2 / peak",
                "hidden / peak * layers * (2 * prompt_tokens**2) + matrices",
            ),
        ),
    ),
    promises=(
        Promise(
            "An empty prompt reads the weights once.",
            edit=("    matrices = max(", "    matrices = bool(prompt_tokens) * max("),
        ),
        Promise("which computes half of the scores", edit=("2 * layers * hidden", "4 * layers * hidden")),
        Promise(
            "the slower of the two counts",
            edits=(
                ("matrices = max(", "matrices = sum(("),
                ("weight_bytes / bandwidth)", "weight_bytes / bandwidth))"),
            ),
        ),
    ),
)
