"""Chapter 4: ``best_ring``, rings over links."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from autograder.bank.ch04.matrices import CODES
from autograder.bank.ch04.shared import cube_mesh, names
from autograder.items import Build, Case, Group, Promise, Slip

#: What text of the reference ranks the codes.
_NEARNESS = 'len(_FAR_TO_NEAR) - 1 + int(code[2:]) if code.startswith("NV") else _FAR_TO_NEAR.index(code)'


def _links(rng: Random, gpus: list[str], codes: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """One of ``codes`` for each pair."""
    links: dict[str, dict[str, str]] = {gpu: {} for gpu in gpus}
    for a in gpus:
        for b in gpus[gpus.index(a) + 1 :]:
            links[a][b] = links[b][a] = rng.choice(codes)
    return links


def _case(rng: Random, links: dict[str, dict[str, str]]) -> Case:
    """All GPUs of ``links``, in any order."""
    return Case(args=(links, rng.sample(list(links), len(links))))


def _mixed(rng: Random) -> Case:
    return _case(rng, _links(rng, names(rng.randint(5, 6)), ("NV1", "NV2", "NV4", "NV12", "NV18", "PIX", "SYS")))


def _slow_way_back(rng: Random) -> Case:
    """A path of NV12 from the first GPU to a last one that is far from it; NV4 everywhere else."""
    gpus = names(rng.randint(5, 6))
    links, path = _links(rng, gpus, ("NV4",)), ["GPU0", *rng.sample(gpus[1:], len(gpus) - 1)]
    for a, b in pairwise(path):
        links[a][b] = links[b][a] = "NV12"
    links[path[0]][path[-1]] = links[path[-1]][path[0]] = "SYS"
    return _case(rng, links)


def _two_digits(rng: Random) -> Case:
    """A ring of NV12 through links of NV4 and NV8: compared as text it is the worst of all."""
    gpus = names(rng.randint(5, 6))
    links, ring = _links(rng, gpus, ("NV4", "NV8")), rng.sample(gpus, len(gpus))
    for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
        links[a][b] = links[b][a] = "NV12"
    return _case(rng, links)


def _without_nvlink(rng: Random) -> Case:
    return _case(rng, _links(rng, names(rng.randint(4, 6)), CODES))


def _subset(rng: Random) -> Case:
    """Some of a machine's GPUs; numbers have one digit or two."""
    machine = [f"GPU{n}" for n in (*rng.sample(range(2, 10), 4), *rng.sample(range(10, 16), 3))]
    return Case(args=(_links(rng, machine, ("NV2", "NV4", "NV12", "PHB")), rng.sample(machine, 5)))


def _few(rng: Random) -> Case:
    gpus = ["GPU3", "GPU9", "GPU10", "GPU12"]
    return Case(args=(_links(rng, gpus, ("NV2", "SYS")), rng.sample(gpus, rng.randint(1, 2))))


EXERCISE = Build(
    "04 topology.best_ring",
    section="4.11",
    topic="rings over links",
    bonus=True,
    cases=(
        Case(args=(cube_mesh(), names(8))),
        *(Case(args=(cube_mesh(), [f"GPU{n}" for n in few])) for few in ((0, 1, 2, 3), (0, 1, 4, 5), (0, 3, 4, 7))),
        Case(args=(cube_mesh(), ["GPU7", "GPU4", "GPU2", "GPU1"])),
        Case(args=(cube_mesh(), ["GPU5", "GPU2"])),
    ),
    groups=(
        Group("mixed links", _mixed, 6, "The slowest of all hops counts, the one back to the first GPU too."),
        Group("a slow way back", _slow_way_back, 2, "The hop from the last GPU back to the first is part of the ring."),
        Group("two digits", _two_digits, 3, "NV12 is more than NV4: compare numbers."),
        Group("no NVLink", _without_nvlink, 2, "From far to near: SYS, NODE, PHB, PXB, PIX."),
        Group("some GPUs", _subset, 3, "Order GPUs by their numbers: GPU2 comes before GPU10."),
        Group("one or two GPUs", _few, 2, "One or two GPUs are in the order of their numbers."),
    ),
    slips=(
        Slip(
            "Going to the nearest neighbor each time ends on a slow hop: compare whole rings.",
            edit=(
                "    orders = permutations(rest)  # from the smallest to the largest\n"
                "    return [first, *max(orders, key=slowest_hop)]",
                (
                    "    ring = [first]\n"
                    "    while rest:\n"
                    "        ring.append(max(rest, key=lambda gpu: speed[ring[-1], gpu]))\n"
                    "        rest.remove(ring[-1])\n"
                    "    return ring"
                ),
            ),
        ),
        Slip(
            "The hop from the last GPU back to the first was forgotten.",
            edit=("zip((first, *order), (*order, first), strict=True)", "zip((first, *order), order)"),
        ),
        Slip(
            "NVLink codes were compared as text: then NV12 counts less than NV4.",
            edit=(_NEARNESS, '(5, code) if code.startswith("NV") else (_FAR_TO_NEAR.index(code), "")'),
        ),
        Slip(
            "Codes were compared by the alphabet: then SYS, the farthest, counts as best.",
            edit=(_NEARNESS, '("NV", int(code[2:])) if code.startswith("NV") else (code, 0)'),
        ),
        Slip(
            "The sum over the hops was maximized: a ring is as fast as its slowest hop.", edit=("min(map(", "sum(map(")
        ),
    ),
    promises=(
        Promise(
            "the hop from the last GPU back to the first is one of them",
            edit=("(*order, first), strict=True", "order, strict=False"),
        ),
        Promise(
            "of several best ones it is the smallest",
            edit=("[first, *max(orders, key=slowest_hop)]", "[first, *max(list(orders)[::-1], key=slowest_hop)]"),
        ),
        Promise(
            "number by number",
            edit=("sorted(gpus, key=_number)", "sorted(gpus, key=lambda gpu: (_number(gpu), gpu)[1])"),
        ),
    ),
)
