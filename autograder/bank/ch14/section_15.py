"""Section 14.15, Memory in numbers: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB

memory = lazily("solutions.ch13.rlhf_memory")
profile = lazily("solutions.ch14.rlhf_profile")
schedule = lazily("solutions.ch14.rlhf_schedule")

#: A 70B model, in round numbers, and a 7B one.
N70, N7 = 70e9, 7e9


def _states(parameters: float) -> float:
    """Bytes of the states of a PPO job with four equal models."""
    return memory.rlhf_bytes("ppo", parameters)["total"]


def _use(phase: int, field: str, discard: bool = True) -> float:
    """GB of a phase of the page's job; ``phase`` counts from 0."""
    sizes = profile.tenants(LLAMA3_70B.parameters, 64)
    free = profile.DISCARDABLE if discard else frozenset()
    return getattr(schedule.memory_timeline(profile.cycle(sizes), sizes, free)[phase], field) / GB


def _copied_all() -> float:
    """GB that somebody loads before training who copies gradients and activations, too."""
    return _use(2, "loaded", discard=False)


QUESTIONS = (
    Question(
        id="14-7b-node",
        kind="derive",
        title="Four models of 7 billion",
        section="14.15",
        bonus=True,
        parts=(
            Part(
                "states on each GPU, nothing sharded",
                "GB",
                lambda: _states(N7) / GB,
                tolerance=0.005,
                slips=(
                    Slip("Those are the weights of four models: gradients and optimizer states are missing.", value=56),
                    Slip("Two models are trained, actor and critic.", value=lambda: 22 * N7 / GB),
                ),
            ),
            Part("states on each of 8 GPUs, sharded", "GB", lambda: _states(N7) / 8 / GB, tolerance=0.005),
        ),
        derivation="A trained model takes $2 + 2 + 12$ bytes for each parameter, a frozen one 2: $2 \\cdot 16 + 2 "
        "\\cdot 2$ bytes for each of the $7 \\cdot 10^9$.",
    ),
    Question(
        id="14-70b-8",
        kind="design",
        title="How many GPUs for 70 billion",
        section="14.15",
        bonus=True,
        parts=tuple(
            Part(
                f"states on each of {gpus} GPUs",
                "GB",
                lambda gpus=gpus: _states(N70) / gpus / GB,
                tolerance=0.005,
                slips=(
                    Slip(
                        "That is one trained model: critic, reference and reward model are missing.",
                        value=lambda gpus=gpus: 16 * N70 / gpus / GB,
                    ),
                ),
            )
            for gpus in (8, 32, 64)
        )
        + (
            Part(
                "fewest whole nodes' GPUs whose states fit",
                "GPUs",
                lambda: next(n for n in range(8, 999, 8) if _states(N70) / n <= 80 * GB),
                tolerance=0,
                slips=(Slip("Split over 8 GPUs each would hold far more than 80 GB.", value=8),),
            ),
            Part(
                "the same with a fifth of the memory left free",
                "GPUs",
                lambda: next(n for n in range(8, 999, 8) if _states(N70) / n <= 0.8 * 80 * GB),
                tolerance=0,
                slips=(Slip("Divide by what may be used; do not take a share of the quotient.", value=24),),
            ),
        ),
        derivation="$2 \\cdot 16 + 2 \\cdot 2$ bytes for each of $70 \\cdot 10^9$ parameters, shared by all GPUs. "
        "States that fill a GPU leave nothing for activations and caches.",
    ),
    Question(
        id="14-phase-peak",
        kind="derive",
        title="Peak and copies by phase",
        section="14.15",
        bonus=True,
        parts=(
            Part(
                "largest resident bytes of a phase",
                "GB",
                lambda: _use(0, "resident"),
                tolerance=0.01,
                slips=(
                    Slip(
                        "That is everything at once; no phase needs it all.",
                        value=lambda: sum(profile.tenants(LLAMA3_70B.parameters, 64).values()) / GB,
                    ),
                    Slip("That is the training phase; another one needs more.", value=lambda: _use(2, "resident")),
                ),
            ),
            Part(
                "copied in before training",
                "GB",
                lambda: _use(2, "loaded"),
                tolerance=0.01,
                slips=(
                    Slip("Gradients and activations are allocated, not copied.", value=_copied_all),
                    Slip("The weights are there already.", value=lambda: _use(2, "resident")),
                    *(
                        Slip(
                            "The weights are there already, and gradients are allocated, not copied.",
                            value=lambda each=each: each * LLAMA3_70B.parameters / 64 / GB,
                        )
                        for each in (28, 32)
                    ),
                ),
            ),
        ),
        derivation="Generation holds four weight sets, the rollout copy and the cache. Training holds two weight "
        "sets, two optimizers, gradients and activations; of these only the optimizers were elsewhere and must be "
        "copied.",
    ),
    Question(
        id="14-host",
        kind="derive",
        title="Where the optimizer waits",
        section="14.15",
        bonus=True,
        ask="masters and both moments of actor and critic",
        unit="GB",
        answer=lambda: 2 * memory.role_bytes(N70, trained=True)["optimizer"] / GB,
        tolerance=0.005,
        slips=(
            Slip("Those are the moments of one model.", value=560),
            Slip("The masters are missing.", value=1120),
            Slip("Two models are trained.", value=840),
        ),
        derivation="Twelve bytes for each parameter of each of two trained models.",
    ),
)
