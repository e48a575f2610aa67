"""Section 13.21, Memory by role: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import GB

memory = lazily("solutions.ch13.rlhf_memory")

#: Bytes of one GPU.
GPU = 80 * GB


def _job(parameters: float, algorithm: str = "ppo", **settings: bool) -> float:
    return memory.rlhf_bytes(algorithm, parameters, **settings)["total"]


def _gpus(size: float, usable: float = 1.0) -> int:
    return math.ceil(size / (usable * GPU))


QUESTIONS = (
    Question(
        id="13-7b",
        kind="derive",
        title="PPO with four models of 7B",
        section="13.21",
        bonus=True,
        ask="states",
        unit="GB",
        answer=lambda: _job(7e9) / GB,
        tolerance=0.001,
        slips=(
            Slip("Those are the weights of the four models alone.", value=56.0),
            Slip("Both models that learn have an optimizer, and gradients.", value=140.0),
            Slip("The fp32 masters are missing.", value=lambda: _job(7e9, masters=False) / GB),
            Slip("Only actor and critic have gradients and optimizer states.", value=4 * 112.0),
        ),
        derivation="Actor and critic: $2+2+12$ bytes per parameter each. Reward model and reference: 2 each. Times "
        "$7 \\cdot 10^9$.",
    ),
    Question(
        id="13-min-gpus",
        kind="derive",
        title="GPUs for PPO with 70B",
        section="13.21",
        bonus=True,
        parts=(
            Part(
                "of 80 GB",
                "GPUs",
                lambda: _gpus(_job(70e9)),
                tolerance=0,
                slips=(
                    Slip("Those hold the weights of the four models alone.", value=lambda: _gpus(4 * 140 * GB)),
                    Slip("Those hold one model that learns: there are two.", value=lambda: _gpus(1120 * GB)),
                    Slip("Part of a GPU is a GPU: round up.", value=lambda: _gpus(_job(70e9)) - 1),
                ),
            ),
            Part(
                "with 80 % usable",
                "GPUs",
                lambda: _gpus(_job(70e9), 0.8),
                tolerance=0,
                slips=(
                    Slip("Each GPU now holds less.", value=lambda: _gpus(_job(70e9))),
                    Slip("Part of a GPU is a GPU: round up.", value=lambda: _gpus(_job(70e9), 0.8) - 1),
                ),
            ),
        ),
        derivation="36 bytes per parameter, times $70 \\cdot 10^9$, over $80 \\cdot 10^9$ bytes, rounded up; then over "
        "80 % of that.",
    ),
    Choice(
        id="13-8gpu-70b",
        kind="design",
        title="What eight GPUs hold",
        section="13.21",
        bonus=True,
        options=(
            "scoring alone, and GRPO with a rule and adapters",
            "scoring alone",
            "scoring alone, and both kinds of GRPO",
            "all four",
        ),
        correct=0,
        derivation="Eight GPUs hold $8 \\cdot 80$ GB. Scoring: 2 bytes per parameter. Adapters: 2, and 16 for each of "
        "the few that learn; the body without them is the reference. GRPO with a rule: $16 + 2$. PPO: 36.",
        slips={
            1: "With adapters the body is frozen: 2 bytes per parameter, and its optimizer is tiny.",
            2: "GRPO that trains all parameters takes 18 bytes for each, twice as much as there is.",
            3: "PPO takes 36 bytes per parameter, four times as much as there is.",
        },
    ),
)
