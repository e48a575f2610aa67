"""Chapter 14, memory by phase: what stands there, what was copied in, what was copied out."""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip, invalid
from rankzero.models import LLAMA3_70B
from rankzero.units import GB

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


def slip_first_loads_all(phases, sizes, discardable=frozenset()):
    from dataclasses import make_dataclass

    if any(tenant not in sizes for _, held in phases for tenant in held) or min(sizes.values(), default=0) < 0:
        raise ValueError("out of range")
    use = make_dataclass("PhaseUse", ["name", "resident", "loaded", "evicted"])
    uses, before = [], set()
    for name, held in phases:
        here = set(held)
        loaded, evicted = here - before - set(discardable), before - here - set(discardable)
        uses.append(use(name, *(sum(sizes[tenant] for tenant in part) for part in (here, loaded, evicted))))
        before = here
    return uses


def slip_difference_of_totals(phases, sizes, discardable=frozenset()):
    from dataclasses import make_dataclass

    if any(tenant not in sizes for _, held in phases for tenant in held) or min(sizes.values(), default=0) < 0:
        raise ValueError("out of range")
    use = make_dataclass("PhaseUse", ["name", "resident", "loaded", "evicted"])
    uses = []
    for place, (name, held) in enumerate(phases):
        now, last = (
            sum(sizes[tenant] for tenant in set(one) - set(discardable)) for one in (held, phases[place - 1][1])
        )
        resident = sum(sizes[tenant] for tenant in set(held))
        uses.append(use(name, resident, max(0, now - last), max(0, last - now)))
    return uses


def slip_copies_all(phases, sizes, discardable=frozenset()):
    from dataclasses import make_dataclass

    if any(tenant not in sizes for _, held in phases for tenant in held) or min(sizes.values(), default=0) < 0:
        raise ValueError("out of range")
    use = make_dataclass("PhaseUse", ["name", "resident", "loaded", "evicted"])
    uses = []
    for place, (name, held) in enumerate(phases):
        here, before = set(held), set(phases[place - 1][1])
        uses.append(use(name, *(sum(sizes[t] for t in part) for part in (here, here - before, before - here))))
    return uses


def slip_resident_without_discardable(phases, sizes, discardable=frozenset()):
    from dataclasses import make_dataclass

    if any(tenant not in sizes for _, held in phases for tenant in held) or min(sizes.values(), default=0) < 0:
        raise ValueError("out of range")
    use = make_dataclass("PhaseUse", ["name", "resident", "loaded", "evicted"])
    uses = []
    for place, (name, held) in enumerate(phases):
        here, before = (set(one) - set(discardable) for one in (held, phases[place - 1][1]))
        uses.append(use(name, *(sum(sizes[t] for t in part) for part in (here, here - before, before - here))))
    return uses


def slip_looks_ahead(phases, sizes, discardable=frozenset()):
    from dataclasses import make_dataclass

    if any(tenant not in sizes for _, held in phases for tenant in held) or min(sizes.values(), default=0) < 0:
        raise ValueError("out of range")
    use = make_dataclass("PhaseUse", ["name", "resident", "loaded", "evicted"])
    uses = []
    for place, (name, held) in enumerate(phases):
        here, after = set(held), set(phases[(place + 1) % len(phases)][1])
        loaded, evicted = after - here - set(discardable), here - after - set(discardable)
        uses.append(use(name, *(sum(sizes[t] for t in part) for part in (here, loaded, evicted))))
    return uses


def slip_loads_whatever_is_there(phases, sizes, discardable=frozenset()):
    from dataclasses import make_dataclass

    if any(tenant not in sizes for _, held in phases for tenant in held) or min(sizes.values(), default=0) < 0:
        raise ValueError("out of range")
    use = make_dataclass("PhaseUse", ["name", "resident", "loaded", "evicted"])
    uses = []
    for place, (name, held) in enumerate(phases):
        here, before = set(held), set(phases[place - 1][1])
        loaded, evicted = here - set(discardable), before - set(discardable)
        uses.append(use(name, *(sum(sizes[t] for t in part) for part in (here, loaded, evicted))))
    return uses


def slip_unknown_is_free(phases, sizes, discardable=frozenset()):
    from dataclasses import make_dataclass

    use = make_dataclass("PhaseUse", ["name", "resident", "loaded", "evicted"])
    uses = []
    for place, (name, held) in enumerate(phases):
        here, before, free = set(held), set(phases[place - 1][1]), set(discardable)
        parts = (here, here - before - free, before - here - free)
        uses.append(use(name, *(sum(sizes.get(tenant, 0) for tenant in part) for part in parts)))
    return uses


NAMES = ("actor", "critic", "reference", "reward", "optimizer", "kv", "rollout", "activations")


def _sizes(rng: Random) -> dict[str, float]:
    return {name: float(rng.randint(1, 40)) * GB for name in NAMES}


def _held(rng: Random, count: int) -> list[tuple[str, list[str]]]:
    return [(f"phase {place}", sorted(rng.sample(NAMES, rng.randint(2, 6)))) for place in range(count)]


def _cycle(rng: Random) -> Case:
    return Case((_held(rng, rng.randint(3, 5)), _sizes(rng), ["activations", "kv", "rollout"]))


def _all_copied(rng: Random) -> Case:
    return Case((_held(rng, rng.randint(2, 4)), _sizes(rng)))


def _alone(rng: Random) -> list[Case]:
    """One phase, which follows itself; none; and one that keeps everything."""
    sizes = _sizes(rng)
    return [Case((_held(rng, 1), sizes)), Case(([], sizes)), Case(([("all", [*NAMES])] * 2, sizes, ["kv"]))]


def _bad(rng: Random) -> list[Case]:
    sizes = _sizes(rng)
    return [invalid([("p", ["actor", "draft"])], sizes), invalid([("p", ["actor"])], sizes | {"actor": -1.0})]


MEMORY_TIMELINE = Build(
    id="14-memory-timeline",
    module="rlhf_schedule",
    function="memory_timeline",
    grade="call",
    section="14.3",
    topic="memory by phase",
    cases=(
        Case((PHASES, SIZES, [*DISCARDABLE])),
        Case(([("a", ["x", "y"]), ("b", ["y", "z"])], {"x": 1.0, "y": 2.0, "z": 4.0})),
        Case(([("a", ["x"])], {"x": 1.0, "y": 2.0})),
        Case(([], {})),
        invalid([("a", ["x", "w"])], {"x": 1.0}),
    ),
    groups=(
        Group("cycles", _cycle, 5, "Compare each phase with the one before it, tenant by tenant."),
        Group("all copied", _all_copied, 3, "Without discardable tenants, whatever comes or goes is copied."),
        Group("one phase, or none", lambda rng: rng.choice(_alone(rng)), 3, "A single phase follows itself.", _alone),
        Group("bad input", lambda rng: rng.choice(_bad(rng)), 2, "Bad input must raise ValueError.", _bad),
    ),
    slips=(
        Slip("The phases repeat: the first one follows the last, and finds what that one held.", slip_first_loads_all),
        Slip("Compare tenants, not totals: one may leave while another comes.", slip_difference_of_totals),
        Slip("Discardable tenants are allocated and freed; nothing of them is copied.", slip_copies_all),
        Slip("Discardable tenants take room, too: they are resident.", slip_resident_without_discardable),
        Slip("Copies belong to the phase before which they are made, not after which.", slip_looks_ahead),
        Slip("What the phase before held already needs no copy.", slip_loads_whatever_is_there),
        Slip("A tenant without a size, or with a negative one, was accepted: raise ValueError.", slip_unknown_is_free),
    ),
)

#: In the order of the page.
ITEMS = (MEMORY_TIMELINE,)
