"""Chapter 04: the build item that reads a link matrix. Wrong programs are edits, or complete in themselves."""

from __future__ import annotations

from random import Random

from autograder.bank.ch04 import matrices
from autograder.items import Build, Case, Group, Slip


def slip_titles_as_devices(text):
    import re
    from dataclasses import make_dataclass

    topology = make_dataclass("Topology", ["devices", "links", "cpus", "numa"], frozen=True)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    heads = [i for i, line in enumerate(lines) if re.match(r"\s+GPU\d", line) and not re.match(r"GPU\d", line)]
    if not heads:
        raise ValueError("no matrix")
    titles = ("CPU Affinity", "NUMA Affinity")
    devices = re.split(r"\t+|\s\s+", lines[heads[0]].strip())
    columns = [title for title in titles if title in lines[heads[0]]]
    real = [name for name in devices if name not in (*titles, "GPU NUMA ID")]
    rows = {line.split()[0]: line.split()[1:] for line in reversed(lines[heads[0] + 1 :]) if line.split()}
    if any(name not in rows or len(rows[name]) < len(real) for name in real):
        raise ValueError("row")
    full = {a: dict(zip(devices, rows[a], strict=False)) for a in real}
    for a in real:
        for b in real:
            is_code = re.fullmatch(r"NV\d+|PIX|PXB|PHB|NODE|SYS", full[a][b])
            if full[a][b] != full[b][a] or (full[a][b] != "X" if a == b else not is_code):
                raise ValueError("codes")
    links = {a: {b: full[a][b] for b in full[a] if b != a} for a in real}
    own = {a: dict(zip(columns, rows[a][len(real) :], strict=False)) for a in real}
    cpus, numa = ({a: own[a][title] for a in real if title in own[a]} for title in titles)
    return topology(tuple(devices), links, cpus, numa)


def slip_legend_as_rows(text):
    import re
    from dataclasses import make_dataclass

    topology = make_dataclass("Topology", ["devices", "links", "cpus", "numa"], frozen=True)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    heads = [i for i, line in enumerate(lines) if re.match(r"\s+GPU\d", line) and not re.match(r"GPU\d", line)]
    if not heads:
        raise ValueError("no matrix")
    titles = ("CPU Affinity", "NUMA Affinity")
    devices = re.split("CPU Affinity|NUMA|GPU NUMA", lines[heads[0]])[0].split()
    columns = [title for title in titles if title in lines[heads[0]]]
    rows = {line.split()[0]: line.split()[1:] for line in reversed(lines[heads[0] + 1 :]) if line.split()}
    if any(name not in rows or len(rows[name]) < len(devices) for name in devices):
        raise ValueError("row")
    full = {a: dict(zip(devices, rows[a], strict=False)) for a in [*devices, *(a for a in rows if a not in devices)]}
    for a in devices:
        for b in devices:
            is_code = re.fullmatch(r"NV\d+|PIX|PXB|PHB|NODE|SYS", full[a][b])
            if full[a][b] != full[b][a] or (full[a][b] != "X" if a == b else not is_code):
                raise ValueError("codes")
    links = {a: {b: code for b, code in row.items() if b != a} for a, row in full.items()}
    own = {a: dict(zip(columns, rows[a][len(devices) :], strict=False)) for a in devices}
    cpus, numa = ({a: own[a][title] for a in devices if title in own[a]} for title in titles)
    return topology(tuple(devices), links, cpus, numa)


def slip_matrix_unchecked(text):
    import re
    from dataclasses import make_dataclass

    topology = make_dataclass("Topology", ["devices", "links", "cpus", "numa"], frozen=True)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    heads = [i for i, line in enumerate(lines) if re.match(r"\s+GPU\d", line) and not re.match(r"GPU\d", line)]
    head = heads[0] if heads else 0
    titles = ("CPU Affinity", "NUMA Affinity")
    devices = re.split("CPU Affinity|NUMA|GPU NUMA", lines[head])[0].split() if lines else []
    columns = [title for title in titles if title in (lines or [""])[head]]
    rows = {line.split()[0]: line.split()[1:] for line in reversed(lines[head + 1 :]) if line.split()}
    links = {a: {b: c for b, c in zip(devices, rows.get(a, []), strict=False) if b != a} for a in devices}
    own = {a: dict(zip(columns, rows.get(a, [])[len(devices) :], strict=False)) for a in devices}
    cpus, numa = ({a: own[a][title] for a in devices if title in own[a]} for title in titles)
    return topology(tuple(devices), links, cpus, numa)


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


def _broken_of_each(rng: Random) -> list[Case]:
    return [Case(args=(text,), raises="ValueError") for text in matrices.broken(rng)]


def _broken_one(rng: Random) -> Case:
    return rng.choice(_broken_of_each(rng))


PARSE_TOPOLOGY = Build(
    id="04-parse-topology",
    module="topology",
    function="parse_topology",
    grade="call",
    section="4.8",
    topic="link matrix",
    cases=(
        Case(args=(matrices.PRINTED,)),
        Case(args=(matrices.TWO_CARDS,)),
        Case(args=("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-15\tN/A\n",)),
        Case(args=(matrices.PRINTED.replace("GPU1\tNV12", "GPU1\tNV4"),), raises="ValueError"),
        Case(args=("Legend:\n  X = Self\n",), raises="ValueError"),
    ),
    groups=(
        Group(
            "tabs and a legend",
            _tabbed,
            4,
            "Columns after the devices belong to GPUs, the legend to nobody; a code may name any number of NVLinks.",
            _tabbed_of_each,
        ),
        Group("underlined headers", _underlined, 3, "The header may be underlined, and text may stand before it."),
        Group(
            "blanks",
            _on_screen,
            4,
            "Blanks may stand for tabs, and the legend and the columns after the devices may be missing.",
            _large,
        ),
        Group(
            "bad input",
            _broken_one,
            7,
            "Bad input must raise ValueError: no matrix, a row that is missing or too short, a diagonal without X, an "
            "unknown code, two codes for a pair.",
            _broken_of_each,
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
        Slip("A column's title was taken for a device: CPU Affinity is none.", slip_titles_as_devices),
        Slip("The legend was read as rows of the matrix.", slip_legend_as_rows),
        Slip("Impossible arguments were accepted: no matrix, a missing row, codes that differ.", slip_matrix_unchecked),
    ),
)

ITEMS = (PARSE_TOPOLOGY,)
