"""Diagrams: their sentences count what an independent count finds, their shapes are what was given."""

from __future__ import annotations

import functools
import io
import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.legend import Legend
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from rankzero.figures import diagrams
from rankzero.figures.machines import CODES
from rankzero.figures.picture import INK, Picture

#: The hybrid cube mesh of a machine with eight V100: the upper triangle of its matrix.
CUBE = (
    "NV1 NV1 NV2 NV2 SYS SYS SYS",
    "NV2 NV1 SYS NV2 SYS SYS",
    "NV2 SYS SYS NV1 SYS",
    "SYS SYS SYS NV1",
    "NV1 NV1 NV2",
    "NV2 NV1",
    "NV2",
)
GPUS = [f"GPU{i}" for i in range(8)]
RING = [GPUS[i] for i in (0, 3, 2, 1, 5, 6, 7, 4)]
#: Two trees over eight ranks, as a library draws them.
PAIR = [[None, 2, 4, 2, 0, 6, 4, 6], [1, 3, 1, 7, 5, 3, 5, None]]


def cube() -> dict[str, dict[str, str]]:
    """The whole matrix, both ways."""
    links: dict[str, dict[str, str]] = {name: {} for name in GPUS}
    for i, row in enumerate(CUBE):
        for j, code in enumerate(row.split(), i + 1):
            links[GPUS[i]][GPUS[j]] = links[GPUS[j]][GPUS[i]] = code
    return links


def chain(ranks: int) -> list[int | None]:
    return [None, *range(ranks - 1)]


PICTURES = {
    "wait_graph": lambda: diagrams.wait_graph({0: ("send", 1), 1: ("send", 0), 2: ("recv", 1)}, 4),
    "trees": lambda: diagrams.trees(PAIR, [[1.0] * 8, [2.0] * 8], "GB"),
    "one_tree": lambda: diagrams.trees([chain(5)]),
    "link_circle": lambda: diagrams.link_circle(GPUS, cube(), RING),
    "rank_grid": lambda: diagrams.rank_grid({"dp": 2, "pp": 2, "tp": 4}, 8, "pp"),
}
pytestmark = pytest.mark.xdist_group("diagrams")
#: Each is drawn once for the tests that look at it.
every_picture = pytest.mark.parametrize("draw", [*map(functools.cache, PICTURES.values())], ids=PICTURES)


def texts(picture: Picture) -> list[str]:
    return [text.get_text() for axes in picture.axes for text in axes.texts]


def shapes(picture: Picture, kind: type) -> list:
    return [patch for axes in picture.axes for patch in axes.patches if type(patch) is kind]


@pytest.mark.proof(part="runs")
@every_picture
def test_the_same_diagram_gives_the_same_bytes(draw):
    first, second = draw.__wrapped__(), draw()
    assert first.html() == second.html()
    files = [io.BytesIO(), io.BytesIO()]
    for picture, file in zip((first, second), files, strict=True):
        picture.savefig(file, format="png", dpi=30)
    assert files[0].getvalue() == files[1].getvalue()


@every_picture
def test_a_diagram_is_a_drawing_with_a_sentence(draw):
    picture = draw()
    assert re.fullmatch(r"[A-Z\d][^\n]+\.", picture.alt)
    html = picture.html()
    svg = ET.fromstring(html).find("{*}svg")
    assert svg is not None
    assert svg.get("aria-label") == picture.alt
    assert "currentColor" in html
    assert INK not in html


# Who waits for whom


def walk_cycle(blocked: dict[int, tuple[str, int]]) -> set[int]:
    """Ranks that come back to themselves by following who they wait for."""
    found = set()
    for start in blocked:
        rank = start
        for _ in blocked:
            rank = blocked[rank][1] if rank in blocked else -1
            if rank == start:
                found.add(start)
    return found


WAITS = {
    "pair": ({0: ("send", 1), 1: ("send", 0)}, 2),
    "chain": ({0: ("recv", 1), 1: ("recv", 2)}, 3),
    "tail": ({0: ("send", 1), 1: ("recv", 2), 2: ("recv", 1), 4: ("send", 0)}, 6),
    "ring": ({r: ("send", (r + 1) % 12) for r in range(12)}, 12),
    "nobody": ({}, 3),
}
every_wait = pytest.mark.parametrize(("blocked", "ranks"), WAITS.values(), ids=WAITS)


@every_wait
def test_a_wait_graph_names_its_cycle(blocked, ranks):
    alt = diagrams.wait_graph(blocked, ranks).alt
    named = re.search(r"the cycle ([\d →]+) never ends", alt)
    cycle = [int(rank) for rank in named[1].split(" → ")] if named else []
    assert set(cycle) == walk_cycle(blocked)
    assert all(blocked[a][1] == b for a, b in itertools.pairwise(cycle))
    assert not cycle or cycle[0] == cycle[-1] == min(cycle)
    assert alt.startswith(f"{len(blocked)} of {ranks} ranks wait" if blocked else f"{ranks} ranks, and none waits")


@every_wait
def test_a_wait_graph_has_a_node_for_each_rank_and_an_arrow_for_each_wait(blocked, ranks):
    picture = diagrams.wait_graph(blocked, ranks)
    assert len(shapes(picture, Circle)) == ranks
    arrows = shapes(picture, FancyArrowPatch)
    assert len(arrows) == len(blocked)
    thick = sum(arrow.get_linewidth() > 2 for arrow in arrows)
    assert thick == len(walk_cycle(blocked))
    assert Counter(texts(picture)) == Counter([*map(str, range(ranks)), *(verb for verb, _ in blocked.values())])


@pytest.mark.parametrize("words", [{}, {"others": "can go on"}])
def test_the_key_says_what_the_other_ranks_do(words):
    picture = diagrams.wait_graph({0: ("send", 1), 1: ("send", 2)}, 3, **words)
    labels = [text.get_text() for key in picture.findobj(Legend) for text in key.get_texts()]
    assert labels == ["waits", *(words.values() or ["has finished"])]


def test_an_arrow_leads_from_the_waiting_rank():
    """Kills arrows that point the other way."""
    picture = diagrams.wait_graph({0: ("recv", 2)}, 3)
    tail, head = shapes(picture, FancyArrowPatch)[0]._posA_posB
    centres = [circle.center for circle in shapes(picture, Circle)]
    assert (tail, head) == (centres[0], centres[2])


@every_wait
def test_verbs_lie_neither_on_nodes_nor_on_each_other(blocked, ranks):
    picture = diagrams.wait_graph(blocked, ranks)
    renderer = FigureCanvasAgg(picture).get_renderer()
    words = [text for text in picture.axes[0].texts if not text.get_text().isdigit()]
    boxes = [text.get_window_extent(renderer) for text in words]
    nodes = [circle.get_window_extent(renderer) for circle in shapes(picture, Circle)]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    for box in boxes:
        centre = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        assert all(math.dist(centre, ((n.x0 + n.x1) / 2, (n.y0 + n.y1) / 2)) > n.width / 2 for n in nodes)


# Trees


def test_trees_count_depths_and_ranks_that_pass_on_in_both():
    inner = [{parent for parent in tree if parent is not None} for tree in PAIR]
    assert not inner[0] & inner[1]
    alt = diagrams.trees(PAIR, [1.5, 2.0, *[2.0] * 6], "GB received").alt
    assert alt.startswith("2 trees of depth 3 and 3 over 8 ranks; ")
    assert "children in every tree: none" in alt
    assert alt.endswith("the most at one rank is 2 GB received.")
    assert "children in every tree: 3;" in diagrams.trees([chain(4), chain(4)], [1, 2, 3, 4]).alt
    assert diagrams.trees([chain(4)]).alt == "A tree of depth 3 over 4 ranks; ranks that are leaves: 1."


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", [1, 2, 16, 32])
def test_every_rank_stands_in_every_tree_under_its_parent(ranks):
    tree = [None, *(rank - (rank & -rank) for rank in range(1, ranks))]
    picture = diagrams.trees([tree, chain(ranks)], list(range(ranks)), "bytes")
    for axes, parents in zip(picture.axes, (tree, chain(ranks)), strict=False):
        places = {int(text.get_text()): text.get_position() for text in axes.texts}
        assert sorted(places) == list(range(ranks))
        assert all(x == rank for rank, (x, _) in places.items())
        assert all(
            places[rank][1] == (0 if parent is None else places[parent][1] + 1) for rank, parent in enumerate(parents)
        )
        assert len(axes.get_lines()) == ranks - 1


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", [8, 16, 17, 32])
def test_ranks_of_a_tree_do_not_hide_each_other(ranks):
    tree = [None, *(rank - (rank & -rank) for rank in range(1, ranks))]
    picture = diagrams.trees([tree, tree])
    picture.draw_without_rendering()
    renderer = FigureCanvasAgg(picture).get_renderer()
    for axes in picture.axes:
        boxes = [text.get_bbox_patch().get_window_extent(renderer) for text in axes.texts]
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_bars_under_trees_add_up_over_the_trees():
    picture = diagrams.trees(PAIR, [[1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1]], "GB")
    bars = picture.axes[-1].patches
    assert [(bar.get_y(), bar.get_height()) for bar in bars[8:]] == [(n, 9 - n) for n in range(1, 9)]
    assert picture.axes[-1].get_ylabel() == "GB"
    assert picture.alt.endswith("the most at one rank is 9 GB.")


def test_parents_that_go_round_are_refused():
    with pytest.raises(ValueError, match="circle"):
        diagrams.trees([[1, 0, None]])


# Machines


def test_links_are_counted_and_the_slowest_hop_is_named():
    alt = diagrams.link_circle(GPUS, cube(), RING).alt
    counts = Counter(" ".join(CUBE).split())
    assert f"NV2 {counts['NV2']}, NV1 {counts['NV1']}, SYS {counts['SYS']};" in alt
    assert alt.endswith("is NV2.")
    assert diagrams.link_circle(GPUS, cube(), GPUS).alt.endswith("is SYS.")
    assert diagrams.link_circle(GPUS, cube()).alt.endswith(f"SYS {counts['SYS']}.")


def test_links_given_one_way_are_drawn_once():
    half = {a: {b: c for b, c in row.items() if a < b} for a, row in cube().items()}
    assert diagrams.link_circle(GPUS, half, RING).html() == diagrams.link_circle(GPUS, cube(), RING).html()


def test_the_ring_is_drawn_thick_with_its_closing_hop():
    lines = diagrams.link_circle(GPUS, cube(), RING).axes[0].get_lines()
    assert len(lines) == 28
    assert sum(line.get_linewidth() > 3 for line in lines) == len(RING)
    pair = diagrams.link_circle(GPUS[:2], cube(), GPUS[:2])
    assert len(pair.axes[0].get_lines()) == 1


def test_every_code_has_a_look_of_its_own():
    names = [f"d{i}" for i in range(9)]
    codes = ["NV18", "NV4", "NV1", *CODES]
    picture = diagrams.link_circle(names, {names[0]: dict(zip(names[1:], codes, strict=True))})
    lines = picture.axes[0].get_lines()
    assert len({(to_hex(line.get_color()), str(line._dash_pattern)) for line in lines}) == len(codes)
    assert [text.get_text() for text in picture.legends[0].get_texts()] == codes


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("order", "ranks_per_node"), list(zip(itertools.permutations(("dp", "pp", "tp")), (1, 4, 8) * 2, strict=True))
)
def test_groups_and_those_that_leave_a_node_are_counted(order, ranks_per_node):
    """Oracle: an array whose axes are the parallel axes; a group is a line of it."""
    sizes = {name: {"dp": 2, "pp": 3, "tp": 4}[name] for name in order}
    world = np.arange(24).reshape(tuple(sizes.values()))
    for axis in order:
        lines = np.moveaxis(world, order.index(axis), -1).reshape(-1, sizes[axis])
        leaving = sum(len(set(line // ranks_per_node)) > 1 for line in lines)
        picture = diagrams.rank_grid(sizes, ranks_per_node, axis)
        assert picture.alt.endswith(f"along {axis}; groups that leave a node: {leaving} of {len(lines)}.")


def test_ranks_of_a_group_have_one_colour():
    sizes = {"dp": 2, "tp": 4}
    for axis, lines in (("dp", np.arange(8).reshape(2, 4).T), ("tp", np.arange(8).reshape(2, 4))):
        cells = shapes(diagrams.rank_grid(sizes, 4, axis), Rectangle)
        colours = [to_hex(cell.get_facecolor()) for cell in cells]
        assert len(set(colours)) == len(lines)
        assert all(len({colours[rank] for rank in line}) == 1 for line in lines)


def test_every_rank_stands_at_its_node_and_device():
    axes = diagrams.rank_grid({"dp": 10}, 4, "dp").axes[0]
    places = {int(text.get_text()): text.get_position() for text in axes.texts}
    assert places == {rank: (rank % 4, rank // 4) for rank in range(10)}
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("device", "node")


def test_an_unknown_axis_is_refused():
    with pytest.raises(ValueError, match="axis must be one of"):
        diagrams.rank_grid({"dp": 2}, 1, "tp")
