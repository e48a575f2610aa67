"""Chapter 13: the questions about who learns, what an estimate of the KL is worth, where it is put, and what fits."""

from __future__ import annotations

import math

from autograder.items import Choice, Item, Part, Question, Slip, lazily
from rankzero.facts.units import GB

kl = lazily("solutions.ch13.kl")
memory = lazily("solutions.ch13.rlhf_memory")
models = lazily("rankzero.facts.models")

P, Q = (0.5, 0.5), (0.25, 0.75)

#: The divergences of the two questions about a loss.
DIVERGENCES = ("zero", "the gradient of KL(policy||reference)", "the gradient of KL(reference||policy)")

#: Bytes of one GPU.
GPU = 80 * GB


def _bias() -> float:
    """Mean of k2 minus the divergence, which k1 estimates without bias."""
    return kl.estimator_moments(P, Q, "k2")[0] - kl.estimator_moments(P, Q, "k1")[0]


def _job(parameters: float, algorithm: str = "ppo", **settings: bool) -> float:
    return memory.rlhf_bytes(algorithm, parameters, **settings)["total"]


def _gpus(size: float, usable: float = 1.0) -> int:
    return math.ceil(size / (usable * GPU))


def demands() -> dict[str, float]:
    """Bytes of the states of four jobs with Llama 3 70B; the adapter has 0.1 % of its parameters."""
    count = models.LLAMA3_70B.parameters
    adapted = memory.role_bytes(count, True, 0.001 * count)
    return {
        "PPO": _job(count),
        "GRPO with a rule": _job(count, "grpo"),
        "scoring alone": memory.role_bytes(count, False)["total"],
        "GRPO with a rule and adapters": adapted["total"],
    }


WHO: tuple[Item, ...] = (
    Choice(
        id="13-who-learns",
        kind="trace",
        title="Who learns",
        section="13.1",
        options=(
            "the actor and the critic",
            "the actor alone",
            "the actor and the reward model",
            "the actor, the critic and the reward model",
            "all four",
        ),
        correct=0,
        derivation="The reward model says what is good and the reference says where the actor came from: both are "
        "yardsticks, and a yardstick that moves measures nothing. The critic predicts returns, which change with the "
        "actor: it has to follow.",
        slips={
            1: "The critic predicts the returns of an actor that changes: it learns with it.",
            2: "The reward model is trained before and then frozen; the critic learns.",
            3: "The reward model is trained before and then frozen.",
            4: "Reward model and reference are frozen: they are what the actor is measured against.",
        },
    ),
)

ESTIMATORS: tuple[Item, ...] = (
    Question(
        id="13-kl-k2",
        kind="derive",
        title="The bias of k2",
        section="13.6",
        parts=(
            Part(
                "mean of k2 minus KL",
                "nats",
                _bias,
                tolerance=0.01,
                slips=(
                    Slip("k1 and k3 are unbiased; k2 is not.", value=0),
                    Slip("That is the mean of k2: subtract the KL.", value=lambda: kl.estimator_moments(P, Q, "k2")[0]),
                    Slip(
                        "Those samples came from q: the policy p draws them.",
                        value=lambda: kl.estimator_moments(Q, P, "k2")[0] - kl.estimator_moments(Q, P, "k1")[0],
                    ),
                ),
            ),
        ),
        derivation="$E[k_2] = \\tfrac12 \\cdot \\tfrac12 \\ln^2\\tfrac{0.5}{0.25} + \\tfrac12 \\cdot \\tfrac12 "
        "\\ln^2\\tfrac{0.5}{0.75}$ and $\\mathrm{KL} = \\tfrac12 \\ln\\tfrac{0.5}{0.25} + \\tfrac12 "
        "\\ln\\tfrac{0.5}{0.75}$.",
    ),
    Choice(
        id="13-quietest",
        kind="trace",
        title="The quieter estimator",
        section="13.6",
        options=("k1", "k3"),
        correct=0,
        derivation="Where the policy is far from the reference, a rare token whose $d$ is strongly negative counts "
        "$e^{-d}$ in k3 and $d$ alone in k1.",
        slips={1: "That holds close to the reference. Here d is -1.9 for the rare tokens, and e^-d is 6.7."},
    ),
)

PLACEMENTS: tuple[Item, ...] = (
    Choice(
        id="13-loss-k1",
        kind="trace",
        title="k1 as a loss",
        section="13.7",
        options=DIVERGENCES,
        correct=0,
        derivation="$k_1 = \\log\\pi - \\log\\pi_{\\text{ref}}$ has the gradient $\\nabla\\log\\pi$, the score, whose "
        "mean under the policy is 0.",
        slips={
            1: "k1 gives that in the reward, where it weighs the score.",
            2: "The reference enters k1 as a constant: its gradient does not know it.",
        },
    ),
    Choice(
        id="13-loss-k3",
        kind="trace",
        title="k3 as a loss",
        section="13.7",
        options=DIVERGENCES,
        correct=2,
        derivation="$\\nabla k_3 = (1 - \\pi_{\\text{ref}}/\\pi)\\nabla\\log\\pi$. The 1 has the mean 0; the rest is "
        "$-\\sum \\pi_{\\text{ref}} \\nabla\\log\\pi$, the gradient of $\\mathrm{KL}(\\pi_{\\text{ref}}\\|\\pi)$.",
        slips={
            0: "That is k1 as a loss. The slope of k3 is 1 - e^-d: it depends on the outcome.",
            1: "k3 estimates that divergence, yet its gradient belongs to the other one.",
        },
    ),
)

MEMORY: tuple[Item, ...] = (
    Question(
        id="13-7b",
        kind="derive",
        title="PPO with four models of 7B",
        section="13.13",
        parts=(
            Part(
                "states",
                "GB",
                lambda: _job(7e9) / GB,
                tolerance=0.001,
                slips=(
                    Slip("Those are the weights of the four models alone.", value=56.0),
                    Slip("Both models that learn have an optimizer, and gradients.", value=140.0),
                    Slip("The fp32 masters are missing.", value=lambda: _job(7e9, masters=False) / GB),
                    Slip("Only actor and critic have gradients and optimizer states.", value=4 * 112.0),
                ),
            ),
        ),
        derivation="Actor and critic: $2+2+12$ bytes per parameter each. Reward model and reference: 2 each. Times "
        "$7 \\cdot 10^9$.",
    ),
    Question(
        id="13-min-gpus",
        kind="derive",
        title="GPUs for PPO with 70B",
        section="13.13",
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
        section="13.13",
        options=(
            "scoring alone, and GRPO with a rule and adapters",
            "scoring alone",
            "scoring alone, and both kinds of GRPO",
            "all four",
        ),
        correct=0,
        derivation="Eight GPUs hold $8 \\cdot 80$ GB. Scoring: 2 bytes per parameter. Adapters: 2, and 18 for each of "
        "the few that learn; the body without them is the reference. GRPO with a rule: $16 + 2$. PPO: 36.",
        slips={
            1: "With adapters the body is frozen: 2 bytes per parameter, and its optimizer is tiny.",
            2: "GRPO that trains all parameters takes 18 bytes for each, twice as much as there is.",
            3: "PPO takes 36 bytes per parameter, four times as much as there is.",
        },
    ),
)

#: In the order of the page.
ITEMS: tuple[Item, ...] = (*WHO, *ESTIMATORS, *PLACEMENTS, *MEMORY)
