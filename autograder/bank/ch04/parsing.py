"""Chapter 04: the build item that reads a link matrix. Wrong programs are edits, or complete in themselves."""

from __future__ import annotations

from random import Random

from autograder.bank.ch04 import matrices
from autograder.items import Build, Case, Group, Slip


def _tabbed(rng: Random) -> Case:
    return Case(args=(matrices.printed(rng, matrices.machine(rng), rng.choice(matrices.COLUMNS)),))


def _tabbed_of_each(rng: Random) -> list[Case]:
    """Switched machines with each driver's columns, with cores in two ranges."""
    cases = []
    for columns in matrices.COLUMNS:
        text = matrices.printed(rng, matrices.switched(rng), columns)
        while not matrices.shared_cores(text):
            text = matrices.printed(rng, matrices.switched(rng), columns)
        cases.append(Case(args=(text,)))
    return cases


def _underlined(rng: Random) -> Case:
    before = rng.choice(["", *matrices.BEFORE])
    return Case(
        args=(before + matrices.printed(rng, matrices.machine(rng), rng.choice(matrices.COLUMNS), underlined=True),)
    )


def _on_screen(rng: Random) -> Case:
    return Case(
        args=(
            matrices.printed(
                rng, matrices.machine(rng), rng.choice(matrices.COLUMNS), tabs=False, legend=rng.random() < 0.5
            ),
        )
    )


def _large(rng: Random) -> list[Case]:
    """Many devices; devices alone, without columns after them; a single GPU."""
    plain, single = matrices.switched(rng), {"GPU0": dict[str, str]()}
    return [
        Case(args=(matrices.printed(rng, matrices.large(rng), rng.choice(matrices.COLUMNS), tabs=False),)),
        *(Case(args=(matrices.printed(rng, links, (), tabs=False, legend=False),)) for links in (plain, single)),
    ]


PARSE_TOPOLOGY = Build(
    id="04-parse-topology",
    module="topology",
    function="parse_topology",
    grade="call",
    section="4.11",
    bonus=True,
    topic="link matrix",
    cases=(
        Case(args=(matrices.PRINTED,)),
        Case(args=(matrices.TWO_CARDS,)),
        Case(args=("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-15\tN/A\n",)),
    ),
    groups=(
        Group(
            "tabs and a legend",
            _tabbed,
            4,
            "Columns after the devices belong to GPUs, the legend to nobody; a code may name any number of NVLinks.",
            _tabbed_of_each,
        ),
        Group("underlined headers", _underlined, 3, "The header may be underlined, and text may come before it."),
        Group(
            "blanks",
            _on_screen,
            4,
            "Blanks may replace tabs, and the legend and the columns after the devices may be missing.",
            _large,
        ),
    ),
    slips=(
        Slip(
            "Only a list of known NVLink codes was kept: NV18 and others were dropped silently.",
            edits=(
                ("for b, code in row.items() if b != a}", "for b, code in row.items() if b != a and code in _KNOWN}"),
                (
                    '_FAR_TO_NEAR = ("SYS", "NODE", "PHB", "PXB", "PIX")',
                    (
                        '_KNOWN = {"NV1", "NV2", "NV4", "NV6", "NV8", "NV12", "PIX", "PXB", "PHB", "NODE", '
                        '"SYS"}\n'
                        '_FAR_TO_NEAR = ("SYS", "NODE", "PHB", "PXB", "PIX")'
                    ),
                ),
            ),
        ),
        Slip(
            "The header was not found behind its terminal escapes: strip them first.",
            edit=('re.sub(r"\\x1b\\[[0-9;]*[A-Za-z]", "", text)', "text"),
        ),
        Slip(
            "Processor ranges were cut at the comma: 0-31,64-95 is one cell.",
            edits=(
                ("else rest.split()", 'else re.split(r"[\\s,]+", rest)'),
                (
                    '[cell.strip() for cell in rest.split("\\t")] if "\\t" in rest',
                    're.split(r"[\\s,]+", rest) if "\\t" in rest',
                ),
            ),
        ),
        Slip(
            "A column's title was taken for a device: CPU Affinity is none.",
            edits=(
                ("devices=tuple(devices),", "devices=(*devices, *columns),"),
                (
                    "if b != a} for a, row",
                    "if b != a} | dict(zip(columns, rows[a].split()[len(devices) :])) for a, row",
                ),
            ),
        ),
        Slip(
            "The legend was read as rows of the matrix.",
            edit=(
                "    _check_pairs(links)\n",
                (
                    "    _check_pairs(links)\n"
                    "    legend = {name: rest for name, rest in rows.items() if name and name not in links}\n"
                    "    links |= {name: dict(zip(devices, rest.split())) for name, rest in legend.items()}\n"
                ),
            ),
        ),
    ),
)

ITEMS = (PARSE_TOPOLOGY,)
