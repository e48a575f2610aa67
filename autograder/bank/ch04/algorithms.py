"""Chapter 04: the time of an all-reduce by algorithm, and the size at which the ring overtakes the trees."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip
from rankzero.facts.units import GB, MB, TB, us

NAMES = ("ring", "tree", "double_tree", "halving_doubling")


def _link(rng: Random) -> tuple[float, float]:
    """A bandwidth and a latency."""
    return 10 ** rng.uniform(9, 12), 10 ** rng.uniform(-7, -4)


def _uneven(rng: Random) -> int:
    """A number of ranks that is not a power of two."""
    power = rng.randint(2, 14)
    return rng.randint(2**power + 1, 2 ** (power + 1) - 1)


def _time(rng: Random) -> Case:
    return Case(args=(rng.choice(NAMES[:3]), 10 ** rng.uniform(4, 12), rng.randint(2, 32768), *_link(rng)))


def _times(rng: Random) -> list[Case]:
    """Each algorithm that takes any number of ranks, twice, on a number that is not a power of two."""
    names = [name for name in NAMES[:3] for _ in range(2)]
    return [Case(args=(name, 10 ** rng.uniform(6, 12), _uneven(rng), *_link(rng))) for name in names]


def _power(rng: Random) -> Case:
    ranks = 2 ** rng.randint(1, 15)
    return Case(args=(rng.choice(NAMES), 10 ** rng.uniform(4, 12), ranks, *_link(rng)))


def _powers(rng: Random) -> list[Case]:
    """Each algorithm, and the double tree on two ranks."""
    ranks = [*((name, 2 ** rng.randint(3, 15)) for name in NAMES), ("double_tree", 2)]
    return [Case(args=(name, 10 ** rng.uniform(4, 12), number, *_link(rng))) for name, number in ranks]


def _nothing(rng: Random) -> Case:
    """One rank, or zero bytes."""
    return Case(args=(rng.choice(NAMES), *rng.choice([(1 * GB, 1), (0.0, 8)]), *_link(rng)))


def _nothings(rng: Random) -> list[Case]:
    return [Case(args=(name, rng.choice([0.0, 1 * TB]), 1, *_link(rng))) for name in NAMES]


ALL_REDUCE_TIME = Build(
    id="04-all-reduce-time",
    module="all_reduce_algorithms",
    function="all_reduce_time",
    grade="call",
    section="4.4",
    topic="all-reduce algorithms",
    cases=(
        *(Case(args=(name, 4 * GB, 8, 50 * GB, 5 * us)) for name in NAMES),
        *(Case(args=(name, 1 * MB, 1024, 50 * GB, 5 * us)) for name in ("ring", "double_tree")),
        Case(args=("tree", 1 * MB, 6, 12.5 * GB, 10 * us)),
        Case(args=("double_tree", 1 * GB, 1, 50 * GB, 5 * us)),
    ),
    groups=(
        Group(
            "rings and trees", _time, 9, "The number of ranks need not be a power of two: count levels upwards.", _times
        ),
        Group("powers of two", _power, 6, "All four algorithms take a power of two.", _powers),
        Group("nothing to send", _nothing, 5, "One rank moves nothing; zero bytes cost start-ups alone.", _nothings),
    ),
    slips=(
        Slip(
            "The levels were rounded down: 6 ranks need three levels, not two.",
            edit=("(ranks - 1).bit_length()", "ranks.bit_length() - 1"),
        ),
        Slip(
            "Only one way was counted: an all-reduce goes up and down again.",
            edits=(
                ("return ring_all", "return 0.5 * ring_all"),
                ("return 2 * levels * (latency", "return levels * (latency"),
                ("2 * levels * latency + (2 * message", "levels * latency + (message"),
                ("2 * levels * latency + 2 * (ranks", "levels * latency + (ranks"),
            ),
        ),
        Slip(
            "The plain tree waits for the whole message on every level: its bytes count once per level.",
            edit=(
                "2 * levels * (latency + message_bytes / bandwidth)",
                "2 * levels * latency + (2 * message_bytes / bandwidth if ranks > 1 else 0.0)",
            ),
        ),
        Slip(
            "The latency was counted once: every step or level starts up.",
            edits=(
                (
                    "levels = (ranks - 1).bit_length()",
                    "if ranks == 1:\n        return 0.0\n    levels = (ranks - 1).bit_length()",
                ),
                (
                    "ring_all_reduce_time(message_bytes, ranks, bandwidth, latency)",
                    "latency + ring_all_reduce_time(message_bytes, ranks, bandwidth)",
                ),
                (
                    "2 * levels * (latency + message_bytes / bandwidth)",
                    "latency + 2 * levels * message_bytes / bandwidth",
                ),
                ("2 * levels * latency + (2", "latency + (2"),
                ("2 * levels * latency + 2 * (ranks", "latency + 2 * (ranks"),
            ),
        ),
        Slip(
            "The double tree was halved twice: two trees carry half each, up and down: 2 S/B.",
            edit=("(2 * message_bytes / bandwidth if", "(message_bytes / bandwidth if"),
        ),
    ),
)


def _crossover(rng: Random) -> Case:
    return Case(args=(rng.randint(4, 8192), *_link(rng)), kwargs={"algorithm": rng.choice(NAMES[1:3])})


def _crossovers(rng: Random) -> list[Case]:
    """Both trees, on powers of two and between them."""
    named = [(name, ranks) for name in NAMES[1:3] for ranks in (2 ** rng.randint(2, 12), _uneven(rng), _uneven(rng))]
    return [Case(args=(ranks, *_link(rng)), kwargs={"algorithm": name}) for name, ranks in named]


def _default(rng: Random) -> Case:
    return Case(args=(rng.randint(4, 8192), *_link(rng)))


def _nevers(rng: Random) -> list[Case]:
    """One, two or three ranks."""
    return [Case(args=(ranks, *_link(rng), name)) for name in NAMES[1:3] for ranks in (1, 2, 3)]


CROSSOVER_BYTES = Build(
    id="04-crossover-bytes",
    module="all_reduce_algorithms",
    function="crossover_bytes",
    grade="call",
    section="4.13",
    topic="ring against tree",
    bonus=True,
    cases=(
        *(Case(args=(ranks, 50 * GB, 5 * us)) for ranks in (8, 64, 1024, 4, 2)),
        *(Case(args=(ranks, 50 * GB, 5 * us), kwargs={"algorithm": "tree"}) for ranks in (8, 64, 1024)),
    ),
    groups=(
        Group("both trees", _crossover, 8, "Set the two times equal and solve for the size.", _crossovers),
        Group("the double tree", _default, 3, "The double tree is the default."),
        listed("few ranks", _nevers, "For one, two or three ranks the ring is never slower."),
    ),
    slips=(
        Slip(
            "A constant was returned: the crossover depends on ranks, latency and bandwidth.",
            edit=("if ranks == 1:\n        return 0.0", "return 256 * 1024.0 if ranks > 3 else 0.0"),
        ),
        Slip(
            "The ring's bytes were counted for one step: it moves S/N in each of N-1 steps.",
            edits=(
                (
                    "return ranks * more_steps * latency * bandwidth",
                    "return more_steps * latency * bandwidth / (1 - 1 / ranks)",
                ),
                ("(levels - (ranks - 1) / ranks)", "(levels - 1 / ranks)"),
            ),
        ),
        Slip(
            "The factor N is missing: the bandwidth terms of ring and double tree differ by S/N.",
            edit=("ranks * more_steps * latency", "more_steps * latency"),
        ),
        Slip(
            "The levels were rounded down: then three ranks seem to have a crossover.",
            edit=("(ranks - 1).bit_length()", "ranks.bit_length() - 1"),
        ),
        Slip(
            "The plain tree was given the double tree's bytes: it moves S on every level.",
            edit=(
                "more_steps * latency * bandwidth / (levels - (ranks - 1) / ranks)",
                "ranks * (ranks - 1 - levels) * latency * bandwidth",
            ),
        ),
    ),
)

ITEMS = (ALL_REDUCE_TIME, CROSSOVER_BYTES)
