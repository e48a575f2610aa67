"""The stepper of the three levels: the tree stores once what both share, and the rows lead to the same blocks."""

from __future__ import annotations

from experiments.ch09 import level_steps
from rankzero.explore import Box


def test_what_both_share_lies_in_the_same_blocks():
    first, second = (level_steps.slots_of(name) for name in level_steps.REQUESTS)
    assert first[:8] == second[:8]
    assert not set(first[8:]) & set(second[8:])
    used = {level_steps.block_of(slot) for slot in (*first, *second)}
    assert used == {0, 1, 2, 3}
    assert [len(node.tokens) for node in level_steps.nodes()] == [8, 4, 4]


def test_one_position_is_strong_in_all_three_levels():
    strong = [mark.text for mark in level_steps.levels_scene(3).marks if isinstance(mark, Box) and mark.strong]
    assert strong == ["well: 3", "3", "3"]
    assert "block 3, and there it is place 1" in level_steps.levels_scene(3).says
    assert [len(level_steps.levels_scene(step).marks) for step in range(4)] == [6, 15, 22, 22]
