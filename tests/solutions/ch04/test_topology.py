"""The parser against matrices that are known, repaired and broken; the ring against another search."""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankzero.facts.topologies import CODE, MEANINGS, SAMPLES, nearness
from solutions.ch04.topology import Topology, best_ring, parse_topology

COLUMNS = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")
LEGEND = "\nLegend:\n\n  X    = Self\n" + "".join(f"  {code:4} = {text}\n" for code, text in MEANINGS.items())
CODES = st.one_of(st.sampled_from(["PIX", "PXB", "PHB", "NODE", "SYS"]), st.integers(1, 36).map("NV{}".format))
CORES = st.sampled_from(["0-31,64-95", "32-63", "0", "N/A"])


@st.composite
def machines(draw):
    """A machine that is known before it is printed."""
    cards = draw(st.sampled_from(["NIC{}", "mlx5_{}", "mlx5_bond_{}"]))
    gpus = draw(st.integers(1, 12))
    devices = [f"GPU{n}" for n in range(gpus)] + [cards.format(n) for n in range(draw(st.integers(0, 6)))]
    links: dict[str, dict[str, str]] = {name: {} for name in devices}
    for a, b in combinations(devices, 2):
        links[a][b] = links[b][a] = draw(CODES)
    columns = draw(st.integers(0, 3))  # how many of the columns a driver prints
    cpus = {f"GPU{n}": draw(CORES) for n in range(gpus)} if columns > 0 else {}
    numa = {f"GPU{n}": draw(st.sampled_from(["0", "1", "N/A"])) for n in range(gpus)} if columns > 1 else {}
    ordered = {a: {b: links[a][b] for b in devices if b != a} for a in devices}
    return Topology(tuple(devices), ordered, cpus, numa), columns


def printed(topology: Topology, columns: int, gap: str = "\t", pad: str = "") -> list[str]:
    """The rows of the matrix: header first; ``gap`` before the columns after the codes, ``pad`` after a card's row."""
    rows = ["\t".join(["", *topology.devices]) + (gap + "\t".join(COLUMNS[:columns]) if columns else "")]
    for a in topology.devices:
        codes = [" X " if a == b else topology.links[a][b] for b in topology.devices]
        own = [mine[a] for mine in (topology.cpus, topology.numa) if a in mine]
        own += ["", "N/A"] if own and columns == 3 else []
        rows.append("\t".join([a, *codes]) + (gap + "\t".join(own) if own else pad))
    return rows


MUTATIONS = {
    "plain": lambda rows: "\n".join(rows),
    "legend": lambda rows: "\n".join(rows) + "\n" + LEGEND,
    "legend of cards": lambda rows: "\n".join(rows) + LEGEND + "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n",
    "underlined": lambda rows: "\n".join([f"\x1b[4m{rows[0]}\x1b[0m", *rows[1:]]),
    "coloured everywhere": lambda rows: "\x1b[1;32m" + "\x1b[0m\n\x1b[1;32m".join(rows) + "\x1b[0m",
    "text before": lambda rows: "user@node7:~$ nvidia-smi topo -m\nGPU 0: a name (UUID: GPU-1)\n\n" + "\n".join(rows),
    "blanks": lambda rows: "\n".join(row.expandtabs(18) for row in rows) + "\n" + LEGEND.expandtabs(),
    "carriage returns": lambda rows: "\r\n".join(rows) + "\r\n",
    "blank lines": lambda rows: "\n\n".join(rows) + "\n\n",
    "indented": lambda rows: "\n".join("   " + row for row in rows),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
@given(machine=machines(), ragged=st.sampled_from([("\t", ""), ("\t\t", ""), ("\t", "\t\t"), ("\t\t\t", "\t")]))
@settings(max_examples=25, deadline=None)
def test_what_was_printed_is_read(mutation, machine, ragged):
    """Kills: a list of known codes, escapes in the header, cores cut at commas, titles or the legend taken for rows."""
    topology, columns = machine
    assert parse_topology(MUTATIONS[mutation](printed(topology, columns, *ragged))) == topology


@given(machines(), st.data())
@settings(max_examples=40, deadline=None)
def test_what_is_broken_is_named(machine, data):
    """Kills: a parser that fills in what is missing."""
    topology, columns = machine
    rows = printed(topology, columns)
    name = data.draw(st.sampled_from(topology.devices))
    at = 1 + topology.devices.index(name)
    with pytest.raises(ValueError, match=f"found none for {re.escape(name)}"):
        parse_topology("\n".join(rows[:at] + rows[at + 1 :]))
    with pytest.raises(ValueError, match=f"the code of {re.escape(name)} and itself must be X, got 'PIX'"):
        parse_topology("\n".join([*rows[:at], rows[at].replace("\t X ", "\tPIX", 1), *rows[at + 1 :]]))
    if len(topology.devices) > 1:
        other = data.draw(st.sampled_from([each for each in topology.devices if each != name]))
        cells = rows[at].split("\t")
        cells[1 + topology.devices.index(other)] = "NV37"
        with pytest.raises(ValueError, match=r"the codes of .* must agree, got .*'NV37'"):
            parse_topology("\n".join([*rows[:at], "\t".join(cells), *rows[at + 1 :]]))
        cells[1 + topology.devices.index(other)] = "NV0"
        with pytest.raises(ValueError, match=f"the code of .*{re.escape(other)}.* must be NV#, .*, got 'NV0'"):
            parse_topology("\n".join([*rows[:at], "\t".join(cells), *rows[at + 1 :]]))


@pytest.mark.parametrize("text", ["", "Legend:\n  X = Self\n", "GPU0\t X \tNV12\nGPU1\tNV12\t X \n", "no GPU0 here"])
def test_without_a_header_there_is_no_matrix(text):
    with pytest.raises(ValueError, match="text must hold the matrix of nvidia-smi topo -m, found no row of device"):
        parse_topology(text)


def test_cells_that_are_empty_keep_their_columns():
    """As on a machine that knows no affinity: what follows is the "GPU NUMA ID"."""
    header = "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    assert parse_topology(header + "GPU0\t X \t\t\t\tN/A\n") == Topology(("GPU0",), {"GPU0": {}}, {}, {})
    assert parse_topology(header + "GPU0\t X \t\t0\t\tN/A\n") == Topology(("GPU0",), {"GPU0": {}}, {}, {"GPU0": "0"})
    assert parse_topology(header + "GPU0\t X \t0-7\t0\t\tN/A\n").cpus == {"GPU0": "0-7"}


def test_the_published_example():
    text = (
        "\x1b[4m\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
        "GPU0\t X \tNV12\tPXB\t0-31,64-95\t0\t\tN/A\nGPU1\tNV12\t X \tSYS\t32-63\t1\t\tN/A\nNIC0\tPXB\tSYS\t X \n"
        "\nLegend:\n  X = Self\n"
    )
    assert parse_topology(text) == Topology(
        ("GPU0", "GPU1", "NIC0"),
        {
            "GPU0": {"GPU1": "NV12", "NIC0": "PXB"},
            "GPU1": {"GPU0": "NV12", "NIC0": "SYS"},
            "NIC0": {"GPU0": "PXB", "GPU1": "SYS"},
        },
        {"GPU0": "0-31,64-95", "GPU1": "32-63"},
        {"GPU0": "0", "GPU1": "1"},
    )


# The best ring.


def cube_mesh() -> dict[str, dict[str, str]]:
    return parse_topology(SAMPLES["cube-mesh"].text).links


def has_cycle(edges: set[frozenset[str]], gpus: list[str]) -> bool:
    """Whether a cycle over ``edges`` visits every GPU once, by walking from the first."""
    if len(gpus) <= 2:
        return len(gpus) == 1 or frozenset(gpus) in edges

    def walk(at: str, left: frozenset[str]) -> bool:
        if not left:
            return frozenset((at, gpus[0])) in edges
        return any(frozenset((at, to)) in edges and walk(to, left - {to}) for to in left)

    return walk(gpus[0], frozenset(gpus[1:]))


def bottleneck(links: dict[str, dict[str, str]], gpus: list[str]) -> int:
    """The best slowest hop: the highest threshold above which a cycle over all GPUs remains."""
    speeds = {frozenset((a, b)): nearness(links[a][b]) for a, b in combinations(gpus, 2)}
    return max(t for t in set(speeds.values()) if has_cycle({pair for pair, s in speeds.items() if s >= t}, gpus))


def hops(links: dict[str, dict[str, str]], ring: list[str]) -> list[int]:
    return [nearness(links[a][b]) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]


@pytest.mark.parametrize("seed", range(8))
def test_the_slowest_hop_is_the_bottleneck(seed):
    """Kills: the nearest neighbour each time, a forgotten way back, codes compared as text, the largest sum."""
    rng = random.Random(seed)
    for _ in range(25):
        gpus = [f"GPU{n}" for n in rng.sample(range(16), rng.choice([2, 3, 4, 5, 6, 7]))]
        links: dict[str, dict[str, str]] = {name: {} for name in gpus}
        for a, b in combinations(gpus, 2):
            code = rng.choice(["SYS", "NODE", "PHB", "PXB", "PIX", "NV1", "NV2", "NV4", "NV12", "NV18"])
            links[a][b] = links[b][a] = code
        ring = best_ring(links, gpus)
        assert sorted(ring) == sorted(gpus)
        assert ring[0] == min(gpus, key=lambda name: int(name[3:]))
        assert min(hops(links, ring)) == bottleneck(links, gpus)


def test_of_equal_rings_the_smallest_is_taken():
    """All links alike: numbers count as numbers, GPU10 after GPU9."""
    gpus = ["GPU10", "GPU2", "GPU9", "GPU0"]
    links = {a: {b: "NV4" for b in gpus if b != a} for a in gpus}
    assert best_ring(links, gpus) == ["GPU0", "GPU2", "GPU9", "GPU10"]


@pytest.mark.parametrize(
    ("gpus", "ring"),
    [
        ((0, 1, 2, 3, 4, 5, 6, 7), (0, 3, 2, 1, 5, 6, 7, 4)),
        ((0, 1, 2, 3), (0, 1, 2, 3)),
        ((0, 1, 4, 5), (0, 1, 5, 4)),
        ((4, 7, 0, 3), (0, 3, 7, 4)),
        ((1, 2, 4, 7), (1, 2, 4, 7)),
        ((5, 2), (2, 5)),
        ((3,), (3,)),
    ],
)
def test_published_rings(gpus, ring):
    assert best_ring(cube_mesh(), [f"GPU{n}" for n in gpus]) == [f"GPU{n}" for n in ring]


def test_the_cube_mesh_has_one_ring_of_double_links():
    ring = best_ring(cube_mesh(), [f"GPU{n}" for n in range(8)])
    assert set(hops(cube_mesh(), ring)) == {nearness("NV2")}


def test_every_code_has_its_place():
    places = [nearness(code) for code in ("SYS", "NODE", "PHB", "PXB", "PIX", "NV1", "NV2", "NV10")]
    assert places == sorted(set(places))
    assert all(CODE.fullmatch(code) for code in ("NV1", "NV36", "PIX"))
    with pytest.raises(ValueError, match=r"code must be NV#, .*, got 'NV0'"):
        nearness("NV0")


@pytest.mark.parametrize("gpus", [[], ["GPU0", "GPU1", "GPU0"], [f"GPU{n}" for n in range(9)]])
def test_a_ring_has_one_to_eight_different_gpus(gpus):
    with pytest.raises(ValueError, match="gpus must be from 1 to 8 different names, got "):
        best_ring(cube_mesh(), gpus)
