"""Chapter 01: what a launcher tells a process, read from five variables, a build item.

The function returns a dataclass, which is compared by its name and its fields; wrong programs define one with the same
name.
"""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip

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


def _no_numbers(rng: Random) -> list[Case]:
    """Texts that int() accepts or that are not numbers, in each variable, and an invalid address."""
    rank = rng.randrange(1, 8)
    changed = [
        *(("RANK", text) for text in (f"+{rank}", f" {rank}", f"{rank}.0", "")),
        *(("WORLD_SIZE", text) for text in ("1_000", "08", "eight")),
        *(("LOCAL_RANK", text) for text in ("0 ", "00", "-0")),
        *(("MASTER_PORT", text) for text in ("29500\n", "0x7000")),
        *(("MASTER_ADDR", text) for text in ("", " ", " localhost")),
    ]
    return [refused(launch(rank, 8, 0) | {name: text}) for name, text in changed]


def _out_of_range(rng: Random) -> list[Case]:
    size = rng.randint(2, 64)
    return [
        refused(launch(size, size, 0)),
        refused(launch(1, 1, 0)),
        refused(launch(size + rng.randrange(1, 9), size, 0)),
        refused(launch(-1, size, 0)),
        refused(launch(0, 0, 0)),
        refused(launch(1, size, 2)),
        refused(launch(0, size, rng.randrange(1, size))),
        refused(launch(1, size, 0, port=0)),
        refused(launch(1, size, 0, port=65_536)),
    ]


RENDEZVOUS = Build(
    id="01-rendezvous",
    module="ranks",
    function="rendezvous",
    grade="call",
    section="1.11",
    topic="launch environment",
    bonus=True,
    cases=(read(launch(1, 2, 1)), refused({}), refused(launch(2, 2, 0)), refused(launch(0, 2, 0) | {"RANK": "+1"})),
    groups=(
        Group("processes of a run", _accepted, 5, "A set that a launcher makes is read, numbers as integers."),
        listed(
            "bounds",
            _bounds,
            "One process may be alone; the bounds belong to the ranges; other variables do not count.",
        ),
        listed("not set", _without, "A variable that is not set must raise ValueError: nothing has a default."),
        listed(
            "no number",
            _no_numbers,
            "A number is decimal digits without sign, blanks or leading zeros; an address is needed.",
        ),
        listed(
            "outside the range",
            _out_of_range,
            "Bad input must raise ValueError: a rank, local rank, world size or port outside its range.",
        ),
    ),
    slips=(
        Slip(
            "RANK became 0 where it is not set: then every process is rank 0, and the run hangs.",
            edit=('names = ("RANK",', 'environ = {"RANK": "0", **environ}\n    names = ("RANK",'),
        ),
        Slip(
            'The numbers stayed text: "10" is less than "9".',
            edit=(
                "return Rendezvous(rank, world_size, local_rank, address, port)",
                "return Rendezvous(*(environ[name] for name in names))",
            ),
        ),
        Slip(
            "A rank equal to the world size was accepted: ranks end one below it.",
            edit=('0, world_size - 1, f" for', '0, world_size, f" for'),
        ),
        Slip(
            "A local rank above the rank was accepted: a node holds no more ranks than there are.",
            edit=('"LOCAL_RANK", 0, rank, f" for RANK {rank}")', '"LOCAL_RANK", 0)'),
        ),
        Slip(
            "int() reads more than digits: signs, blanks, underscores and leading zeros.",
            edits=(
                (
                    '    if not re.fullmatch("0|[1-9][0-9]*", text):\n'
                    '        raise ValueError(f"{name} must be a decimal integer, got {text!r}")\n',
                    "",
                ),
                ('environ["MASTER_ADDR"]', 'environ["MASTER_ADDR"].strip()'),
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
)

ITEMS = (RENDEZVOUS,)
