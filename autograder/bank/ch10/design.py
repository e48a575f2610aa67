"""Chapter 10: the design ``10-design``, two promises to keep, and ``10-reason``, why one of its rows breaks them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from autograder.items import Axis, Choice, Design, Knob, Simulated, lazily
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB, ms

if TYPE_CHECKING:
    from solutions.ch09.replicas import Load, Replica, Steady

loads = lazily("solutions.ch09.replicas")

SECTION = "10.3"
#: Requests per second, tokens of a prompt and of an answer.
RATE, PROMPT, ANSWER = 6, 2000, 300
#: The promises, seconds: the first token on average, and the longest gap. And the GPUs that there are.
FIRST, GAP, GPUS = 1.5, 50 * ms, 16
#: Costs of what cannot be built.
NONE = (math.inf, math.inf)


def two_promises(gpus: int, replicas: int, budget: int, weights: int) -> Simulated:
    """What ``replicas`` replicas of ``gpus`` GPUs each come to."""
    taken = gpus * replicas
    if taken > GPUS:
        return Simulated(f"{replicas} replicas of {gpus} GPUs:", NONE, f"that is {taken}, and you have {GPUS}.")
    replica, load = loads.Replica(LLAMA3_70B, H100_SXM, gpus, weights), loads.Load(RATE / replicas, PROMPT, ANSWER)
    if replica.room <= 0:
        usable = loads.USABLE * gpus * H100_SXM.memory
        told = f"The weights take {replica.weight_bytes / GB:.0f} GB."
        return Simulated(told, NONE, f"But a replica may use {usable / GB:.0f} GB of its memory.")
    found = loads.steady(replica, load, budget)
    if found.busy >= 1:
        told = f"Prompts bring {load.rate * PROMPT:,.0f} tokens per second to a replica."
        computed = max(0.0, found.free) / found.full
        return Simulated(told, NONE, f"But with this budget it computes {computed:,.0f} at most: prompts pile up.")
    told = (
        f"A full pass takes {found.full / ms:.1f} ms and carries {found.running:.0f} answers. Passes are full "
        f"{found.busy:.0%} of the time, and the first token comes after {found.first_token:.2f} s on average."
    )
    return Simulated(told, (taken, found.full / ms), broken(replica, load, budget, found))


def broken(replica: Replica, load: Load, budget: int, found: Steady) -> str:
    """The sentence about the constraint that binds; empty where both promises are kept."""
    if found.tokens > replica.room:
        needed, left = found.tokens * replica.kv_bytes / GB, replica.room * replica.kv_bytes / GB
        return f"But the caches of these answers take {needed:.0f} GB, and the weights leave {left:.0f} GB."
    if found.first_token > FIRST:
        return f"But you promised {FIRST:g} s: prompts wait for those in front of them."
    if found.full > GAP:
        binds = replica.binds(budget, [found.running * load.context, load.prompt])
        return f"But you promised gaps of at most {GAP / ms:.0f} ms. The largest part of a pass: {binds}."
    return ""


QUESTIONS = (
    Design(
        id="10-design",
        title="Keep two promises",
        section=SECTION,
        knobs=(
            Knob("gpus", "GPUs of a replica (`gpus`)", (1, 2, 4, 8)),
            Knob("replicas", "replicas (`replicas`)", (1, 2, 3, 4)),
            Knob("budget", "tokens of a pass (`budget`)", (128, 256, 512, 1024, 2048)),
            Knob("weights", "bytes of a weight: 1 fp8, 2 bf16 (`weights`)", (1, 2)),
        ),
        axes=(Axis("all replicas", "GPUs"), Axis("a full pass", "ms")),
        simulate=two_promises,
        derivation=(
            "The budget decides both promises, in opposite directions. A full pass is the gap that others see, so the "
            "promise of 50 ms rules out 2,048 tokens everywhere, and 1,024 on all but eight GPUs with fp8. But a pass "
            "also has to carry one token of every running answer, and prompts get the rest: with too small a budget "
            "they pile up, and long before that they wait for one another. So the best budget is the smallest with "
            "which the first token still comes in time: 256 on four GPUs, 128 on more, where each replica gets fewer "
            "prompts or computes them faster."
            "\n\n"
            "Four GPUs are enough, as two replicas. Up to eight, more GPUs shorten the gap to almost half. From "
            "there to sixteen it hardly changes, because launches and the starts of messages do not get shorter with "
            "more GPUs. fp8 wins here in every row: weights of one byte leave more room, and are read and multiplied "
            "twice as fast. Its price, accuracy, is not counted: measure it on your own tasks. And these are averages. "
            "What you promise to 99 of 100 users needs spare capacity."
        ),
    ),
    Choice(
        id="10-reason",
        kind="design",
        title="The same four GPUs",
        section=SECTION,
        options=(
            "the all-reduces: each GPU sends half as much again for a token, and a pass has twice as many tokens",
            "the products: a GPU of the four multiplies twice as many tokens in a pass as one of the two",
            "the weights: a GPU of the four reads as many bytes of weights as one of the two",
            "launches and scheduling: they grow with the number of GPUs that have to be started",
        ),
        correct=0,
        derivation=(
            "In a ring of $N$, each rank sends $2(N-1)/N$ of the tensor: all of it with two, one and a half with four. "
            "With twice as many tokens these are three times as many bytes, in three times as many steps. The products "
            "take equally long: twice as many tokens on twice as many GPUs. (The caches add a little: longer passes "
            "mean that more answers run at a time.) So split a replica no further than memory and the promised gap "
            "ask for."
        ),
        slips={
            1: "It multiplies all 512 tokens, but by a quarter of the weights instead of half of them: as much work.",
            2: "It reads a quarter of the weights instead of half of them, and at this size multiplying takes longer.",
            3: "Each GPU has a process of its own that launches its kernels, and all of them do so at the same time.",
        },
    ),
)
