"""Chapter 14: the questions about phases, memory, the two kinds of iteration, the tail, and the placement."""

from __future__ import annotations

from autograder.items import Choice, Item, Part, Question, Slip, lazily
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB

profile = lazily("solutions.ch14.rlhf_profile")
memory = lazily("solutions.ch13.rlhf_memory")
schedule = lazily("solutions.ch14.rlhf_schedule")

#: A 70B model, in round numbers, and a 7B one.
N70, N7 = 70e9, 7e9

_SIZES = {
    "train_bytes": 36 * LLAMA3_70B.parameters,
    "rollout_bytes": 2 * LLAMA3_70B.parameters,
    "rollout_tp": 8,
    "gpu_memory": 80 * GB,
    "reserve": 20 * GB,
}


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


def _placed(gpus: int, tail: float) -> float:
    return schedule.best_placement(gpus, 3840, 3840, tail, **_SIZES).iteration_time


def _smallest_for_two_pools() -> int:
    """From 64 GPUs on: with fewer the two phases do not fit in turn, so that there is nothing to win against."""
    counts = range(64, 257, 8)
    found = (schedule.best_placement(gpus, 3840, 3840, 90, **_SIZES) for gpus in counts)
    return next(
        gpus for gpus, one in zip(counts, found, strict=True) if one is not None and one.kind == "disaggregated"
    )


def _resident(tensor_parallel: int) -> float:
    """GB on one of 64 colocated GPUs."""
    return (_SIZES["train_bytes"] / 64 + _SIZES["rollout_bytes"] / tensor_parallel + _SIZES["reserve"]) / GB


def _stale() -> int:
    run = schedule.simulate_async([9] + [1] * 11, 2, 2, 1, 1, 0, 1)
    return max(max(step[2]) for step in run.steps)


LOOP: tuple[Item, ...] = (
    Choice(
        id="14-reference-role",
        kind="trace",
        title="The reference in a rollout",
        section="14.1",
        options=(
            "It makes one forward pass over prompts and responses, for their log-probabilities",
            "It generates responses beside the policy, token by token",
            "It gives each response a reward",
            "It learns from the responses, more slowly than the policy",
        ),
        correct=0,
        derivation="The policy generates. The reference is frozen and looks once at what was written.",
        slips={
            1: "The policy generates; the reference never writes a token.",
            2: "That is the reward model, or a rule.",
            3: "The reference is frozen.",
        },
    ),
    Question(
        id="14-flops",
        kind="derive",
        title="The work behind one token",
        section="14.1",
        parts=(
            Part(
                "FLOPs of the whole iteration",
                "N",
                lambda: profile.flops_per_response_token(profile.Iteration(epochs=4)),
                tolerance=0,
                slips=(
                    Slip("Two models learn, the actor and the critic.", value=32),
                    Slip("The training passes over the batch in each epoch.", value=20),
                    Slip("That is the training alone; four models make a forward pass each.", value=48),
                ),
            ),
        ),
        derivation="Generate, reference, reward and critic: $2N$ each. Training: $6N$ for each of two models in each "
        "of $E$ epochs. Together $(8 + 12E)\\,N$.",
    ),
)

MEMORY: tuple[Item, ...] = (
    Question(
        id="14-7b-node",
        kind="derive",
        title="Four models of 7 billion",
        section="14.3",
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
        section="14.3",
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
        section="14.3",
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
                    Slip("The weights are there already.", value=lambda: 28 * LLAMA3_70B.parameters / 64 / GB),
                    Slip(
                        "The weights are there already, and gradients are allocated, not copied.",
                        value=lambda: 32 * LLAMA3_70B.parameters / 64 / GB,
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
        section="14.3",
        parts=(
            Part(
                "masters and both moments of actor and critic",
                "GB",
                lambda: 2 * memory.role_bytes(N70, trained=True)["optimizer"] / GB,
                tolerance=0.005,
                slips=(
                    Slip("Those are the moments of one model.", value=560),
                    Slip("The masters are missing.", value=1120),
                    Slip("Two models are trained.", value=840),
                ),
            ),
        ),
        derivation="Twelve bytes for each parameter of each of two trained models.",
    ),
)

TIMES: tuple[Item, ...] = (
    Question(
        id="14-sync-async",
        kind="derive",
        title="In turn and side by side",
        section="14.7",
        parts=(
            Part(
                "synchronous iteration",
                "s",
                lambda: 60.0 + 5 + 35,
                tolerance=0.005,
                slips=(Slip("Scoring takes time, too.", value=95),),
            ),
            Part(
                "two pools, the best split",
                "s",
                lambda: 65.0 + 35,
                tolerance=0.005,
                slips=(Slip("A pool has a part of the GPUs: its phase takes longer.", value=65),),
            ),
            Part(
                "two pools of half the GPUs each",
                "s",
                lambda: 65 / 0.5,
                tolerance=0.005,
                slips=(
                    Slip("A pool has a part of the GPUs: its phase takes longer.", value=65),
                    Slip("Scoring runs in the rollout pool.", value=120),
                ),
            ),
        ),
        derivation="With a share $f$ of the GPUs for rollout the iteration takes $\\max(65/f, 35/(1-f))$ seconds. The "
        "best $f$ makes both equal.",
    ),
    Choice(
        id="14-never",
        kind="trace",
        title="Can two pools win",
        section="14.7",
        options=(
            "No",
            "Yes, because generation and training overlap",
            "Yes, with enough GPUs",
            "Yes, if generation takes as long as training",
        ),
        correct=0,
        derivation="Both pools together do $W_g + W_t$ of work in the time of an iteration, on $N$ GPUs: none does it "
        "in less than $(W_g + W_t)/N$, which is what all GPUs need in turn.",
        slips={
            1: "While they overlap, each has only some of the GPUs.",
            2: "With perfect scaling their number divides both sides.",
            3: "Then both are equally fast at best.",
        },
    ),
    Question(
        id="14-tail-gain",
        kind="derive",
        title="What the tail is worth",
        section="14.7",
        parts=(
            Part(
                "best speed-up of two pools",
                "",
                lambda: (
                    profile.synchronous_time(100, 6000, 3500, 100) / profile.asynchronous_time(100, 6000, 3500, 100)
                ),
                tolerance=0.005,
                slips=(
                    Slip("That holds without a tail; here training need not wait for the longest response.", value=1),
                    Slip("Overlapping two phases of equal length would double the speed; these are not.", value=2),
                ),
            ),
        ),
        derivation="In turn: $\\max(W_g/N, L) + W_t/N$. Side by side: $\\max(W_g/g, L, W_t/(N-g))$ at the best $g$.",
    ),
)

TAIL: tuple[Item, ...] = (
    Question(
        id="14-straggler",
        kind="derive",
        title="Slots that wait",
        section="14.8",
        parts=(
            Part(
                "slot use while the batch is generated",
                "%",
                lambda: 100 * 650 / 4096,
                tolerance=0.01,
                slips=(
                    Slip("Mean over longest, not one half.", value=50),
                    Slip("That is the share in which they wait.", value=lambda: 100 - 100 * 650 / 4096),
                ),
            ),
        ),
        derivation="The batch lasts as long as its longest response. In that time its slots could write $64 \\cdot "
        "4096$ tokens, and write $64 \\cdot 650$.",
    ),
    Question(
        id="14-sim",
        kind="trace",
        title="One straggler under bound 1",
        section="14.8",
        parts=(
            Part(
                "largest staleness of a trained response",
                "versions",
                _stale,
                tolerance=0,
                slips=(
                    Slip("The bound limits how far production runs ahead, not one sample's age.", value=1),
                    Slip("Count the steps that end while the straggler is written.", value=9),
                ),
            ),
        ),
        derivation="The straggler starts with version 0 and takes the time of nine others. Meanwhile the other slot "
        "feeds the trainer, two responses a step; count the steps that have ended when the trainer takes the "
        "straggler.",
    ),
)

SEARCH: tuple[Item, ...] = (
    Question(
        id="14-design-64",
        kind="design",
        title="Place a 70B job on 64 GPUs",
        section="14.12",
        parts=(
            Part(
                "smallest tensor parallelism of the rollout copy that fits, colocated",
                "GPUs",
                lambda: next(t for t in (1, 2, 4, 8) if _resident(t) <= 80),
                tolerance=0,
                slips=(Slip("States, a slice of the copy and the reserve exceed 80 GB there.", value=4),),
            ),
            Part(
                "bytes then on each GPU, the reserve included",
                "GB",
                lambda: _resident(8),
                tolerance=0.01,
                slips=(
                    Slip("One model's trained states over 8 GPUs; the job has 64, and four models.", value=140),
                    Slip("The reserve counts, too.", value=lambda: _resident(8) - 20),
                ),
            ),
            Part(
                "best iteration without a tail",
                "s",
                lambda: _placed(64, 0),
                tolerance=0.01,
                slips=(Slip("That is one phase alone.", value=60),),
            ),
            Part(
                "best iteration with a tail of 90 s",
                "s",
                lambda: _placed(64, 90),
                tolerance=0.01,
                slips=(
                    Slip("32 GPUs hold the states, but nothing beside them: the reserve is missing.", value=120),
                    Slip("The training comes after the longest response.", value=90),
                ),
            ),
            Part(
                "fewest GPUs, in steps of 8 from 64, with which two pools win at 90 s",
                "GPUs",
                _smallest_for_two_pools,
                tolerance=0,
                slips=(
                    Slip("There 48 GPUs must train to keep their reserve, and 16 generate for 240 s.", value=64),
                    Slip("Pools of 24 and 48 take 160 s there; in turn it is faster.", value=72),
                    Slip("There turns do not fit, and 8 GPUs generate alone: that is no win.", value=56),
                ),
            ),
        ),
        derivation="Colocated a GPU holds $36N/64$ bytes of states, $2N/t$ of the copy and the reserve. In two pools "
        "the training GPUs hold $36N/(n-g)$ and the reserve, so they must be many. Compare $\\max(W_g/n, L) + W_t/n$ "
        "with $\\max(W_g/g, L, W_t/(n-g))$ for every $g$ that fits.",
    ),
)

#: In the order of the page.
ITEMS: tuple[Item, ...] = (*LOOP, *MEMORY, *TIMES, *TAIL, *SEARCH)
