"""Six tokens and three experts, step by step: what the picture shows is what the course's own functions decide."""

from __future__ import annotations

import pytest
import torch

from experiments.ch07 import routing_steps
from experiments.ch07.routing_steps import PERCENT, chosen, kept, routing_scene, rows_of
from rankzero.explore import Arrow, Box, frames
from solutions.ch07.moe import route


def test_the_tokens_choose_as_the_course_routes_them():
    percent = torch.tensor(PERCENT, dtype=torch.float64)
    assert percent.sum(dim=1).tolist() == [100] * len(PERCENT)
    weights, experts = route((percent / 100).log(), 1, renormalize=False)
    assert experts.flatten().tolist() == [chosen(token) for token in range(len(PERCENT))]
    assert weights.flatten().tolist() == pytest.approx([max(row) / 100 for row in PERCENT])


def test_each_token_has_a_place_or_is_dropped():
    places = [token for expert in range(routing_steps.EXPERTS) for token in rows_of(expert)]
    assert sorted(places) == [token for token, place in enumerate(kept()) if place]
    assert max(len(rows_of(expert)) for expert in range(routing_steps.EXPERTS)) == routing_steps.PLACES == 2


def test_the_pictures_show_it():
    scenes = frames(routing_scene, 3)
    assert [sum(isinstance(mark, Arrow) for mark in scene.marks) for scene in scenes] == [0, 0, 5, 5]
    for scene in scenes[1:]:
        strong = [mark.text for mark in scene.marks if isinstance(mark, Box) and mark.strong]
        assert strong == [str(max(row)) for row in PERCENT]
    for scene in scenes[2:]:
        texts = [mark.text for mark in scene.marks if isinstance(mark, Box) and mark.tone == "right"]
        assert texts == ["t0", "t2", "t3", "", "t1", "t5"]
    assert "Token 4 finds E0 full and is dropped" in scenes[2].says
    assert "70 percent, 60 percent" in scenes[3].says
