"""What several exercises of chapter 4 share."""

from __future__ import annotations

from random import Random

NAMES = ("ring", "tree", "double_tree", "halving_doubling")


def link(rng: Random) -> tuple[float, float]:
    """A bandwidth and a latency."""
    return 10 ** rng.uniform(9, 12), 10 ** rng.uniform(-7, -4)


def uneven(rng: Random) -> int:
    """A number of ranks that is not a power of two."""
    power = rng.randint(2, 14)
    return rng.randint(2**power + 1, 2 ** (power + 1) - 1)


CUBE_ROWS = (  # the hybrid cube mesh of eight V100: for each GPU, its links to those after it
    "NV1 NV1 NV2 NV2 SYS SYS SYS",
    "NV2 NV1 SYS NV2 SYS SYS",
    "NV2 SYS SYS NV1 SYS",
    "SYS SYS SYS NV1",
    "NV1 NV1 NV2",
    "NV2 NV1",
    "NV2",
)


def names(count: int) -> list[str]:
    """``["GPU0", "GPU1", ...]``."""
    return [f"GPU{n}" for n in range(count)]


def cube_mesh() -> dict[str, dict[str, str]]:
    """The links of the hybrid cube mesh."""
    links: dict[str, dict[str, str]] = {name: {} for name in names(8)}
    for a, row in enumerate(CUBE_ROWS):
        for b, code in enumerate(row.split(), start=a + 1):
            links[f"GPU{a}"][f"GPU{b}"] = links[f"GPU{b}"][f"GPU{a}"] = code
    return links
