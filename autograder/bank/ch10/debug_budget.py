"""Chapter 10: ``debug_budget``, scheduling."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Promise, Slip


def wrong_budget(arrivals, prompts, outputs, budget):
    missing, unsaid = list(prompts), list(outputs)
    steps: list[list[int]] = []
    while any(unsaid):
        left, step = budget, [0] * len(prompts)
        here = [i for i, arrival in enumerate(arrivals) if arrival <= len(steps) and unsaid[i]]
        filling = [i for i in here if missing[i]]
        for i in filling + [i for i in here if not missing[i]]:
            step[i] = min(missing[i] or 1, left)
            left -= step[i]
            missing[i] -= min(missing[i], step[i])
            unsaid[i] -= step[i] > 0 and not missing[i]
        steps.append(step)
    return steps


def _stream_first(rng: Random) -> Case:
    """Streams that decode when long prompts arrive; the later ones have smaller numbers half of the time."""
    budget, streams = rng.randint(6, 16), rng.randint(1, 3)
    arrivals = [0] * streams + [rng.randint(1, 3) for _ in range(2)]
    prompts = [rng.randint(1, 4) for _ in range(streams)] + [rng.randint(2, 4) * budget for _ in range(2)]
    outputs = [rng.randint(8, 16) for _ in range(streams)] + [rng.randint(1, 4) for _ in range(2)]
    order = rng.sample(range(streams + 2), streams + 2) if rng.random() < 0.6 else range(streams + 2)
    return Case(([arrivals[i] for i in order], [prompts[i] for i in order], [outputs[i] for i in order], budget))


def _prompt_first(rng: Random) -> Case:
    """A long prompt that comes later and has the smaller number."""
    budget = rng.randint(6, 12)
    return Case(([2, 0], [rng.randint(3, 5) * budget, rng.randint(1, 4)], [2, rng.randint(12, 20)], budget))


def _late(rng: Random) -> Case:
    """A prompt before a stream: its last chunk leaves room, and the stream is admitted beside it."""
    budget = rng.randint(5, 12)
    return Case(
        ([0, 1, rng.randint(6, 20)], [3 * budget, 2, budget], [rng.randint(3, 9), rng.randint(3, 9), 2], budget)
    )


def _many(rng: Random) -> Case:
    """More streams than budget: the first in order get their tokens."""
    count = rng.randint(4, 7)
    return Case(([0] * count, [1] * count, [rng.randint(2, 6) for _ in range(count)], rng.randint(1, 3)))


EXERCISE = Debug(
    "10 scheduling.debug_budget",
    section="10.12",
    bonus=True,
    topic="scheduling",
    wrong=wrong_budget,
    cases=(
        Case(([0, 0, 3], [3, 5, 20], [6, 8, 3], 8)),
        Case(([0, 2], [4, 30], [9, 2], 10)),
        Case(([], [], [], 4)),
    ),
    groups=(
        Group(
            "long prompts beside streams",
            _stream_first,
            6,
            "Who decodes comes first; prompts get what is left.",
            lambda rng: [_prompt_first(rng) for _ in range(3)],
        ),
        Group("prompts that came before", _late, 4, "The order is by phase, and only then by number."),
        Group("many streams", _many, 3, "A budget smaller than the number of streams serves the first ones."),
    ),
    slips=(
        Slip("Prompts come first there: a long one takes the whole budget, and every stream waits.", wrong_budget),
        Slip(
            "Two fixed halves waste what one of them leaves: decodes first, prompts get all the rest.",
            edits=(
                (
                    "        for i in decoding + [i for i in here if missing[i]]:\n",
                    (
                        "        for i in decoding + [i for i in here if missing[i]]:\n"
                        "            if i in here and missing[i] and not any(step[j] for j in here if j "
                        "not in decoding):\n"
                        "                left = max(1, budget - budget // 2)\n"
                    ),
                ),
                ("left, step = budget, [0]", "left, step = max(1, budget // 2), [0]"),
            ),
        ),
        Slip(
            "The order is by number alone: a prompt with a small number still goes before the streams.",
            edit=("decoding + [i for i in here if missing[i]]", "here"),
        ),
        Slip(
            "Prompts are computed beside the decodes, in the same step; yours wait until nobody decodes.",
            edit=("decoding + [i for i in here if missing[i]]", "decoding or here"),
        ),
        Slip(
            "Every prompt gets of what is left while there is some; yours computes one prompt a step.",
            edit=("[i for i in here if missing[i]]", "[i for i in here if missing[i]][:1]"),
        ),
    ),
    promises=(
        Promise(
            "both in the order of their numbers",
            edit=("[i for i in here if missing[i]]:", "[i for i in here[::-1] if missing[i]]:"),
        ),
        Promise(
            "In each step those that decode get one token each, then those",
            edit=("in decoding + [i for i in here if missing[i]]:", "in [i for i in here if missing[i]] + decoding:"),
        ),
        Promise(
            "The step that ends a prompt yields the first output token",
            edit=("unsaid[i] -= step[i] > 0 and not missing[i]", "unsaid[i] -= step[i] > 0 and i in decoding"),
        ),
        Promise(
            "the first step in which it may run",
            edit=("if arrival <= len(steps)", "if arrival < len(steps) + (not arrival)"),
        ),
    ),
)
