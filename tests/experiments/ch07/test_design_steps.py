"""Chapter 7's designs: the ports work as in chapter 4, and the stepper shows what they do."""

from __future__ import annotations

import pytest

from experiments.ch07 import design_steps as steps
from rankzero.explore import Arrow, Box, frames
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.models import LLAMA3_8B
from rankzero.facts.units import GB
from solutions.ch04.all_reduce_algorithms import hierarchical_all_reduce_time
from solutions.ch07.placed_groups import bandwidths

TENSOR, REPLICAS, STAGES = steps.WAYS
SHARE = steps.ACTIVATION / steps.PER_NODE


def two_levels(tensor: float, inside: float = 1e30) -> float:
    """Chapter 4's all-reduce, with links inside the node so fast that only the ports take time."""
    return hierarchical_all_reduce_time(tensor, steps.NODES, steps.PER_NODE, inside, steps.PORT)


def test_the_ports_work_as_long_as_in_chapter_4():
    """Kills a share that is not divided among the GPUs of a node, and an all-reduce of two that sends twice as much."""
    count = 4 * steps.LAYERS * steps.MICROBATCHES
    assert TENSOR.seconds == pytest.approx(count * two_levels(steps.ACTIVATION))
    assert REPLICAS.seconds == pytest.approx(two_levels(steps.GRADIENTS))
    assert STAGES.seconds == pytest.approx(steps.MICROBATCHES * SHARE / steps.PORT)


def test_the_ports_are_those_that_the_designs_count():
    """A job on the same machine: TP 8 has four ports for its all-reduce, a pair of replicas or of stages has one."""
    machine = Job(LLAMA3_8B, 8, 20, 4096, gpus_per_node=4, node_bandwidth=1e30, network_bandwidth=steps.PORT)
    found = [bandwidths(layout, machine) for layout in (Layout(8, 1, 1, 1), Layout(4, 1, 1, 2), Layout(4, 1, 2, 1))]
    sent = 2 * 7 / 8 * steps.ACTIVATION
    assert sent / found[0]["tp"] == pytest.approx(TENSOR.size / steps.PORT)
    assert found[1]["dp"] == pytest.approx(steps.PORT)
    assert found[2]["pp"] == steps.PORT


def test_the_picture_shows_every_gpu_and_what_crosses():
    scenes = frames(steps.placement_scene, len(steps.WAYS))
    for scene, way in zip(scenes, (None, *steps.WAYS), strict=True):
        assert sum(isinstance(mark, Box) for mark in scene.marks) == steps.NODES * steps.PER_NODE
        assert sum(isinstance(mark, Arrow) for mark in scene.marks) == (2 * steps.PER_NODE if way else 0)
        if way:
            assert f"{way.count * way.size / GB:g} GB in {way.seconds:g} s" in scene.says
            assert way.name in scene.says
            assert all(owner in scene.alt for owner in way.owners)
