"""Chapter 14: ``memory_timeline``, memory by phase."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB

N = LLAMA3_70B.parameters
DISCARDABLE = ("activations", "gradients", "kv", "rollout")
WEIGHTS = ("actor_weights", "critic_weights", "reference", "reward")

#: The page's job: 64 GPUs, states shared by all of them, a rollout copy over 8.
SIZES = {
    **dict.fromkeys(WEIGHTS, 2 * N / 64),
    "actor_optimizer": 12 * N / 64,
    "critic_optimizer": 12 * N / 64,
    "gradients": 4 * N / 64,
    "rollout": 2 * N / 8,
    "kv": 40 * GB,
    "activations": 12 * GB,
}

TRAIN = ("actor_weights", "critic_weights", "actor_optimizer", "critic_optimizer", "gradients", "activations")
PHASES = [("generate", [*WEIGHTS, "rollout", "kv"]), ("score", [*WEIGHTS]), ("train", [*TRAIN])]
NAMES = ("actor", "critic", "reference", "reward", "optimizer", "kv", "rollout", "activations")


def _sizes(rng: Random) -> dict[str, float]:
    return {name: float(rng.randint(1, 40)) * GB for name in NAMES}


def _held(rng: Random, count: int) -> list[tuple[str, list[str]]]:
    return [(f"phase {index}", sorted(rng.sample(NAMES, rng.randint(2, 6)))) for index in range(count)]


def _cycle(rng: Random) -> Case:
    return Case((_held(rng, rng.randint(3, 5)), _sizes(rng), ["activations", "kv", "rollout"]))


def _all_copied(rng: Random) -> Case:
    return Case((_held(rng, rng.randint(2, 4)), _sizes(rng)))


def _alone(rng: Random) -> list[Case]:
    """One phase, which follows itself; none; one that keeps everything; a discardable tenant that is nowhere."""
    sizes = _sizes(rng)
    return [
        Case((_held(rng, 1), sizes)),
        Case(([], sizes)),
        Case(([("all", [*NAMES])] * 2, sizes, ["kv"])),
        Case((_held(rng, 2), sizes, ["draft"])),
    ]


def timeline_by_arrays(phases, sizes, discardable=frozenset()):
    import numpy

    from solutions.ch14 import rlhf_schedule
    from solutions.ch14.rlhf_schedule import PhaseUse

    rlhf_schedule.memory_timeline(phases, sizes, discardable)
    names = list(sizes)[::-1]
    amounts = numpy.array([sizes[name] for name in names], dtype=float)
    copied = numpy.array([name not in discardable for name in names], dtype=bool)
    held = [numpy.array([name in set(tenants) for name in names], dtype=bool) for _, tenants in phases]
    uses = []
    for index, (name, _) in enumerate(phases):
        now, before = held[index], held[index - 1]
        parts = now, now & ~before & copied, before & ~now & copied
        uses.append(PhaseUse(name, *(float(amounts @ part) for part in parts)))
    return uses


EXERCISE = Build(
    "14 rlhf_schedule.memory_timeline",
    section="14.15",
    bonus=True,
    topic="memory by phase",
    cases=(
        Case((PHASES, SIZES, [*DISCARDABLE])),
        Case(([("a", ["x", "y"]), ("b", ["y", "z"])], {"x": 1.0, "y": 2.0, "z": 4.0})),
        Case(([("a", ["x"])], {"x": 1.0, "y": 2.0})),
        Case(([], {})),
    ),
    groups=(
        Group("cycles", _cycle, 5, "Compare each phase with the one before it, tenant by tenant."),
        Group("all copied", _all_copied, 3, "Without discardable tenants, whatever comes or goes is copied."),
        listed("one phase, or none", _alone, "A single phase follows itself. A discardable tenant may be in no phase."),
    ),
    slips=(
        Slip(
            "The phases repeat: the first one follows the last, and finds what that one held.",
            edit=("set(phases[place - 1][1])", "set(phases[place - 1][1] if place else ())"),
        ),
        Slip(
            "Compare tenants, not totals: one may leave while another comes.",
            edit=(
                "total(here - before - free), total(before - here - free)",
                "max(0.0, total(here - free) - total(before - free)), max(0.0, total(before - free) - total(here "
                "- free))",
            ),
        ),
        Slip(
            "Discardable tenants are allocated and freed; nothing of them is copied.",
            edit=("set(discardable)", "set()"),
        ),
        Slip(
            "Discardable tenants take room, too: they are resident.",
            edit=("PhaseUse(name, total(here),", "PhaseUse(name, total(here - free),"),
        ),
        Slip(
            "Copies belong to the phase before which they are made, not after which.",
            edits=(
                (
                    "total(here - before - free), total(before - here - free)",
                    "total(after - here - free), total(here - after - free)",
                ),
                (
                    "phases[place - 1][1]), set(discardable)",
                    "phases[place - 1][1]), set(discardable)\n"
                    "        after = set(phases[(place + 1) % len(phases)][1])",
                ),
            ),
        ),
        Slip(
            "What the phase before already held needs no copy.",
            edit=(
                "total(here - before - free), total(before - here - free)",
                "total(here - free), total(before - free)",
            ),
        ),
    ),
    rights=(
        Right("arrays of flags", program=timeline_by_arrays),
        Right(
            "exact sums in another order",
            edit=(
                "sum((sizes[tenant] for tenant in sorted(tenants)), 0.0)",
                "math.fsum(sizes[tenant] for tenant in sorted(tenants, reverse=True))",
            ),
        ),
    ),
    promises=(
        Promise(
            "what had to be copied in and out before it",
            edit=("phases[place - 1][1]", "phases[max(place - 1, 0)][1]"),
        ),
        Promise("one that only the phase before held is evicted", edit=("before - here - free", "before - free")),
        Promise(
            "Discardable tenants (caches, activations, gradients, a copy that is",
            edit=("total(here),", "total(here - free),"),
        ),
        Promise("they are allocated and freed, but never copied", edit=("here - before - free", "here - before")),
        Promise("tenants that need no copy", edit=("before - here - free", "before - here")),
        Promise(
            "those that no phase holds are ignored",
            edit=("    uses = []\n", "    uses = [sizes[name] for name in discardable][:0]\n"),
        ),
    ),
)
