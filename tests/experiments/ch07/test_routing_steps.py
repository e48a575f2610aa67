"""Six tokens and three experts, step by step: what the picture shows is what the course's own functions decide."""

from __future__ import annotations

import pytest
import torch

from experiments.ch07 import routing_steps
from experiments.ch07.routing_steps import PERCENT, chosen, routing_scene, rows_of
from rankzero.explore import Arrow, Box, frames
from solutions.ch07.moe import route


def test_the_tokens_choose_as_the_course_routes_them():
    percent = torch.tensor(PERCENT, dtype=torch.float64)
    assert percent.sum(dim=1).tolist() == [100] * len(PERCENT)
    weights, experts = route((percent / 100).log(), 1, renormalize=False)
    assert experts.flatten().tolist() == [chosen(token) for token in range(len(PERCENT))]
    assert weights.flatten().tolist() == pytest.approx([max(row) / 100 for row in PERCENT])


def test_no_token_is_dropped():
    assert [rows_of(expert) for expert in range(routing_steps.EXPERTS)] == [[0, 2, 4], [3], [1, 5]]


def test_the_pictures_show_it():
    scenes = frames(routing_scene, 3)
    assert [sum(isinstance(mark, Arrow) for mark in scene.marks) for scene in scenes] == [0, 0, 6, 6]
    for scene in scenes[1:]:
        strong = [mark.text for mark in scene.marks if isinstance(mark, Box) and mark.strong]
        assert strong == [str(max(row)) for row in PERCENT]
    for scene in scenes[2:]:
        texts = [mark.text for mark in scene.marks if isinstance(mark, Box) and mark.tone == "right"]
        assert texts == ["t0", "t2", "t4", "t3", "t1", "t5"]
    assert "E0 gets 3, E1 gets 1, E2 gets 2" in scenes[2].says
    assert "70 percent, 60 percent, 50 percent" in scenes[3].says
