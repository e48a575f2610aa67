"""Chapter 1: ``rendezvous``, launch environment."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip

VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


def read(environ: dict[str, str]) -> Case:
    """A set of variables that is accepted."""
    return Case((environ,))


def refused(environ: dict[str, str]) -> Case:
    """A set of variables that is not."""
    return Case((environ,), raises="ValueError")


def launch(
    rank: int, world_size: int, local_rank: int, address: str = "localhost", port: int = 29_500
) -> dict[str, str]:
    """The variables as a launcher sets them."""
    values = (rank, world_size, local_rank, address, port)
    return dict(zip(VARIABLES, map(str, values), strict=True))


def _process(rng: Random) -> dict[str, str]:
    """A process of a run on nodes of one size; ranks of two digits and more."""
    size, nodes = rng.choice((4, 8)), rng.randint(4, 64)
    rank = rng.randrange(10, size * nodes)
    host = rng.choice(("localhost", "node-0", "10.0.0.7", "fd00::1", f"gpu{rng.randrange(100)}.cluster.local"))
    return launch(rank, size * nodes, rank % size, host, rng.randrange(1024, 65_536))


def _accepted(rng: Random) -> Case:
    return read(_process(rng))


def _on_one_node(rng: Random) -> Case:
    size = rng.randint(2, 8)
    rank = rng.randrange(size)
    return read(launch(rank, size, rank) | {"LOCAL_WORLD_SIZE": str(size)})


def _bounds(rng: Random) -> list[Case]:
    """One process alone, the largest and the smallest port, a local rank equal to the rank, names that do not count."""
    size = rng.randint(2, 64)
    return [
        read(launch(0, 1, 0, port=65_535)),
        read(launch(size - 1, size, size - 1, port=1)),
        read(launch(size - 1, size, 0) | {"LOCAL_WORLD_SIZE": "x", "HOME": ""}),
    ]


def _without(rng: Random) -> list[Case]:
    """Each variable removed, then RANK again, some, and all."""
    single = []
    for name in (*VARIABLES, "RANK"):
        environ = launch(rng.randrange(1, 4), 4, 0)
        del environ[name]
        single.append(refused(environ))
    return [*single, refused({"RANK": "0", "WORLD_SIZE": "1"}), refused({})]


EXERCISE = Build(
    "01 ranks.rendezvous",
    section="1.11",
    topic="launch environment",
    bonus=True,
    cases=(read(launch(1, 2, 1)), read(launch(11, 16, 3, "node-0")), refused({})),
    groups=(
        Group("processes of a run", _accepted, 5, "A set that a launcher makes is read, numbers as integers."),
        listed(
            "bounds",
            _bounds,
            "One process may be alone; any port from 1 to 65535 will do; other variables do not count.",
        ),
        listed("not set", _without, "A variable that is not set must raise ValueError: nothing has a default."),
        Group("one node", _on_one_node, 3, "On one node the local rank is the rank."),
    ),
    slips=(
        Slip(
            "RANK became 0 where it is not set: then every process is rank 0, and they never meet.",
            edit=('names = ("RANK",', 'environ = {"RANK": "0", **environ}\n    names = ("RANK",'),
        ),
        Slip(
            'The numbers stayed text: "10" is less than "9".',
            edit=(
                "int(rank), int(world_size), int(local_rank), address, int(port)",
                "rank, world_size, local_rank, address, port",
            ),
        ),
        Slip(
            "A variable that is not set raised KeyError: collect the names and raise ValueError.",
            edit=(
                "    if missing:\n"
                "        raise ValueError(f\"environ must have {', '.join(names)}; not set: {', "
                "'.join(missing)}\")\n",
                "",
            ),
        ),
    ),
    promises=(
        Promise(
            "Nothing has a default",
            edits=(
                ("if name not in environ]", 'if name not in (*environ, "MASTER_PORT")]'),
                ("(environ[name] for name", '({"MASTER_PORT": "29500", **environ}[name] for name'),
            ),
        ),
        Promise("other names are ignored", edit=("if missing:", "if missing or len(environ) > len(names):")),
    ),
)
