"""Chapter 4: ``parse_topology``, link matrix."""

from __future__ import annotations

from random import Random

from autograder.bank.ch04.matrices import CODES
from autograder.items import Build, Case, Group, Promise, Slip

#: Columns after the devices: an old driver's, one with NUMA nodes, a new one's.
COLUMNS = (("CPU Affinity",), ("CPU Affinity", "NUMA Affinity"), ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID"))

LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes
  NODE = Connection traversing PCIe as well as the interconnect between host bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge
  PXB  = Connection traversing multiple PCIe bridges
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""

BEFORE = ("$ nvidia-smi topo -m\n", "Driver Version: 550.54.15\n\n", "node7: 8 GPUs, 4 network cards\n\n")

PRINTED = (  # the example of the page
    "\x1b[4m\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV12\tPXB\t0-31,64-95\t0\t\tN/A\n"
    "GPU1\tNV12\t X \tSYS\t32-63\t1\t\tN/A\n"
    "NIC0\tPXB\tSYS\t X \n\nLegend:\n  X = Self\n"
)

TWO_CARDS = (  # an old driver's, on a screen: blanks for tabs
    "        GPU0    mlx5_0  mlx5_1  CPU Affinity\n"
    "GPU0     X      PIX     SYS     0-7,16-23\n"
    "mlx5_0  PIX      X      SYS\n"
    "mlx5_1  SYS     SYS      X\n"
)


def drawn_links(rng: Random, names: list[str], codes: tuple[str, ...] = CODES) -> dict[str, dict[str, str]]:
    """A code for each pair: NVLinks among GPUs or none at all, other codes elsewhere."""
    with_nvlink = rng.random() < 0.7
    links: dict[str, dict[str, str]] = {a: {} for a in names}
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            nvlink = with_nvlink and a[:3] == b[:3] == "GPU" and rng.random() < 0.8
            links[a][b] = links[b][a] = f"NV{rng.randint(1, 36)}" if nvlink else rng.choice(codes)
    return links


def printed(
    rng: Random,
    links: dict[str, dict[str, str]],
    columns: tuple[str, ...],
    tabs: bool = True,
    underlined: bool = False,
    legend: bool = True,
) -> str:
    """The command's output for a matrix: with tabs, or with blanks as a screen shows them."""
    names, gap = list(links), [""] * rng.randint(0, 1)  # a doubled tab after the codes
    lines = [["", *names, *gap, *columns]]
    for name in names:
        codes = [" X " if other == name else links[name][other] for other in names]
        own = [*gap, *_own(rng, columns)] if name.startswith("GPU") else [""] * rng.randint(0, 2)
        lines.append([name, *codes, *own])
    if tabs:
        rows = ["\t".join(cells) for cells in lines]
    else:
        rows = ["".join(f"{cell:<{max(8, len(cell) + 2)}}" for cell in cells).rstrip() for cells in lines]
    if underlined:
        rows[0] = f"\x1b[4m{rows[0]}\x1b[0m"
    cards = "".join(f"  {name}: mlx5_{n}\n" for n, name in enumerate(names) if name.startswith("NIC"))
    after = LEGEND + (f"\nNIC Legend:\n\n{cards}" if cards else "")
    return "\n".join(rows) + "\n" + (after if legend else "")


def _own(rng: Random, columns: tuple[str, ...]) -> list[str]:
    """A GPU's processor cores, memory node and, on a new driver, what follows a doubled tab."""
    if not columns:
        return []
    first = 16 * rng.randint(0, 7)
    cells = [f"{first}-{first + 15}" + rng.choice(["", f",{first + 128}-{first + 143}"])]
    if "NUMA Affinity" in columns:
        cells.append(rng.choice(["0", "1", "3", "N/A"]))
    return [*cells, "", "N/A"] if "GPU NUMA ID" in columns else cells


def devices(rng: Random, gpus: int, cards: int) -> list[str]:
    name = rng.choice(["NIC", "mlx5_"])
    return [f"GPU{n}" for n in range(gpus)] + [f"{name}{n}" for n in range(cards)]


def machine(rng: Random) -> dict[str, dict[str, str]]:
    return drawn_links(rng, devices(rng, rng.choice([1, 2, 3, 4, 8]), rng.choice([0, 1, 2, 4])))


def large(rng: Random) -> dict[str, dict[str, str]]:
    """A machine with device numbers of two digits."""
    return drawn_links(rng, devices(rng, rng.randint(11, 16), rng.randint(0, 12)))


def switched(rng: Random) -> dict[str, dict[str, str]]:
    """GPUs behind a switch: one NVLink code for all pairs."""
    links = drawn_links(rng, devices(rng, rng.randint(2, 4), rng.randint(1, 2)))
    code = f"NV{rng.choice([3, 5, 9, 18, 36])}"
    gpus = [name for name in links if name.startswith("GPU")]
    for a in gpus:
        links[a].update({b: code for b in gpus if b != a})
    return links


def shared_cores(text: str) -> bool:
    """Whether a GPU's cores are printed as two ranges."""
    return any("," in line for line in text.splitlines() if line.startswith("GPU"))


def _tabbed(rng: Random) -> Case:
    return Case(args=(printed(rng, machine(rng), rng.choice(COLUMNS)),))


def _tabbed_of_each(rng: Random) -> list[Case]:
    """Switched machines with each driver's columns, with cores in two ranges."""
    cases = []
    for columns in COLUMNS:
        text = printed(rng, switched(rng), columns)
        while not shared_cores(text):
            text = printed(rng, switched(rng), columns)
        cases.append(Case(args=(text,)))
    return cases


def _underlined(rng: Random) -> Case:
    before = rng.choice(["", *BEFORE])
    return Case(args=(before + printed(rng, machine(rng), rng.choice(COLUMNS), underlined=True),))


def _on_screen(rng: Random) -> Case:
    return Case(args=(printed(rng, machine(rng), rng.choice(COLUMNS), tabs=False, legend=rng.random() < 0.5),))


def _large(rng: Random) -> list[Case]:
    """Many devices; devices alone, without columns after them; a single GPU."""
    plain, single = switched(rng), {"GPU0": dict[str, str]()}
    return [
        Case(args=(printed(rng, large(rng), rng.choice(COLUMNS), tabs=False),)),
        *(Case(args=(printed(rng, links, (), tabs=False, legend=False),)) for links in (plain, single)),
    ]


EXERCISE = Build(
    "04 topology.parse_topology",
    section="4.11",
    topic="link matrix",
    bonus=True,
    cases=(
        Case(args=(PRINTED,)),
        Case(args=(TWO_CARDS,)),
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
    promises=(
        Promise("underlined with terminal escapes", edit=('re.sub(r"\\x1b\\[[0-9;]*[A-Za-z]", "", text)', "text")),
        Promise(
            "Text before and after the matrix is skipped.",
            edit=("in enumerate(lines) if", "in enumerate(lines[:1]) if"),
        ),
    ),
)
