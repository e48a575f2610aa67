"""Rank arithmetic against NumPy, a real device mesh, Megatron's documentation, torchrun and the library's reader."""

from __future__ import annotations

import contextlib
import importlib
import math

import numpy as np
import pytest
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st
from torch.distributed.device_mesh import init_device_mesh

from rankzero import world
from solutions.ch01.ranks import Rendezvous, coordinates, debug_device, locate, process_groups, rendezvous

#: The library's module; the package's attribute of this name is a function in it.
library = importlib.import_module("torch.distributed.rendezvous")

AXES = st.lists(st.sampled_from(["dp", "pp", "tp", "cp", "ep"]), min_size=1, max_size=4, unique=True)


@st.composite
def layouts(draw) -> dict[str, int]:
    """Axes in any order, a world of at most 4,096 ranks."""
    return {axis: draw(st.integers(1, 8)) for axis in draw(AXES)}


# locate


@pytest.mark.parametrize(
    ("rank", "ranks_per_node", "place"),
    [(0, 8, (0, 0)), (13, 8, (1, 5)), (1234, 8, (154, 2)), (16_383, 8, (2047, 7)), (9, 8, (1, 1)), (5, 1, (5, 0))],
)
def test_places(rank, ranks_per_node, place):
    assert locate(rank, ranks_per_node) == place


@pytest.mark.parametrize("ranks_per_node", [1, 2, 6, 8, 72])
def test_nodes_are_filled_one_after_the_other(ranks_per_node):
    """Brute force: hand out the ranks, node by node."""
    dealt = [(node, local) for node in range(7) for local in range(ranks_per_node)]
    assert [locate(rank, ranks_per_node) for rank in range(len(dealt))] == dealt


# coordinates


def test_coordinates_of_published_layouts():
    """Llama 3 405B on 8,192 GPUs, in two orders of the axes."""
    assert coordinates(5000, {"dp": 64, "pp": 16, "tp": 8}) == {"dp": 39, "pp": 1, "tp": 0}
    assert coordinates(5000, {"pp": 16, "dp": 64, "tp": 8}) == {"pp": 9, "dp": 49, "tp": 0}
    assert coordinates(11, {"pp": 4, "dp": 2, "tp": 2}) == {"pp": 2, "dp": 1, "tp": 1}
    assert coordinates(11, {"dp": 2, "pp": 4, "tp": 2}) == {"dp": 1, "pp": 1, "tp": 1}
    assert coordinates(0, {"dp": 1}) == {"dp": 0}


@given(layouts(), st.data())
def test_coordinates_are_those_of_an_array(sizes, data):
    """Kills the first axis as the fastest, and axes sorted by name."""
    rank = data.draw(st.integers(0, math.prod(sizes.values()) - 1))
    places = np.unravel_index(rank, tuple(sizes.values()))
    assert list(coordinates(rank, sizes).items()) == list(zip(sizes, map(int, places), strict=True))


# process_groups


def test_groups_that_megatron_s_documentation_prints():
    """Sixteen GPUs, tensor 2, pipeline 4: the lists in the docstring of ``initialize_model_parallel``."""
    sizes = {"pp": 4, "dp": 2, "tp": 2}
    assert process_groups(sizes, "tp") == [[rank, rank + 1] for rank in range(0, 16, 2)]
    assert process_groups(sizes, "dp") == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9, 11], [12, 14], [13, 15]]
    assert process_groups(sizes, "pp") == [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]


@given(layouts(), st.data())
def test_groups_are_lines_of_an_array(sizes, data):
    """Also the laws: they partition the world, and members differ in one coordinate only."""
    axis = data.draw(st.sampled_from(list(sizes)))
    groups = process_groups(sizes, axis)
    ranks = np.arange(math.prod(sizes.values())).reshape(tuple(sizes.values()))
    lines = np.moveaxis(ranks, list(sizes).index(axis), -1).reshape(-1, sizes[axis])
    assert groups == sorted(lines.tolist())
    assert sorted(rank for group in groups for rank in group) == list(range(ranks.size))
    others = [{name: place for name, place in coordinates(rank, sizes).items() if name != axis} for rank in groups[-1]]
    assert all(other == others[0] for other in others)


def mesh_groups(shape: tuple[int, int]) -> dict[str, list[int]]:
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=("dp", "tp"))
    return {axis: dist.get_process_group_ranks(mesh.get_group(axis)) for axis in ("dp", "tp")}


def test_groups_are_those_of_a_real_mesh():
    seen = world.run(mesh_groups, (2, 2), ranks=4).values
    for axis in ("dp", "tp"):
        for group in process_groups({"dp": 2, "tp": 2}, axis):
            assert [seen[rank][axis] for rank in group] == [group, group]


# rendezvous and the launcher

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


def variables(*values: object) -> dict[str, str]:
    return dict(zip(NAMES, map(str, values), strict=True))


def test_the_five_variables():
    assert rendezvous(variables(1, 2, 1, "localhost", 29_500)) == Rendezvous(1, 2, 1, "localhost", 29_500)


def test_every_missing_name_is_listed_in_order():
    with pytest.raises(ValueError) as caught:
        rendezvous({"WORLD_SIZE": "2", "MASTER_ADDR": "a"})
    assert str(caught.value).endswith("not set: RANK, LOCAL_RANK, MASTER_PORT")
    with pytest.raises(ValueError) as caught:
        rendezvous({})
    assert str(caught.value).endswith(f"not set: {', '.join(NAMES)}")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ((2, 2, 0, "a", 1), "rank must be an integer from 0 to 1, got 2"),
        ((0, 0, 0, "a", 1), "world_size must be an integer >= 1, got 0"),
        ((1, 4, 2, "a", 1), "local_rank must be an integer from 0 to 1, got 2"),
        ((1, 4, 0, "a", 65_536), "port must be an integer from 1 to 65535, got 65536"),
        ((1, 4, 0, "", 1), "address must not be empty, got ''"),
    ],
)
def test_a_meeting_that_cannot_be(values, sentence):
    with pytest.raises(ValueError) as caught:
        rendezvous(variables(*values))
    assert str(caught.value) == sentence


def read_by_the_library(environ: dict[str, str], monkeypatch) -> tuple[str, int, int, int] | None:
    """``(address, port, rank, world size)`` as ``env://`` reads them, None where it refuses; no store is made."""
    seen = {}

    def store(host, port, rank, world_size, *_args, **_kwargs):
        seen["store"] = (host, port, rank, world_size)

    with monkeypatch.context() as patch:
        patch.setattr(library, "_create_c10d_store", store)
        for name in NAMES:
            patch.delenv(name, raising=False)
        for name, value in environ.items():
            patch.setenv(name, value)
        with contextlib.suppress(ValueError):
            next(library.rendezvous("env://"))
    return seen.get("store")


def test_the_library_accepts_what_we_accept(monkeypatch):
    """It reads four of the five; one of those that is missing is refused by both."""
    for rank, size, local, address in ((0, 1, 0, "localhost"), (1, 2, 1, "10.0.0.7"), (1234, 16_384, 2, "node-0")):
        environ = variables(rank, size, local, address, 29_500)
        ours = rendezvous(environ)
        assert read_by_the_library(environ, monkeypatch) == (ours.address, ours.port, ours.rank, ours.world_size)
        for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            fewer = {key: value for key, value in environ.items() if key != name}
            assert read_by_the_library(fewer, monkeypatch) is None
            with pytest.raises(ValueError, match=rf"not set: {name}$"):
                rendezvous(fewer)


def test_the_device_is_local():
    """Kills the global rank, and a number of devices that is assumed: node 0 has 4 of them here, node 1 has 8."""
    assert debug_device({"RANK": "9", "WORLD_SIZE": "16", "LOCAL_RANK": "1"}) == 1
    assert debug_device({"RANK": "10", "WORLD_SIZE": "12", "LOCAL_RANK": "6"}) == 6
