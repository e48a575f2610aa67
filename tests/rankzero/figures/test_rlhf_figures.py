"""Pictures of RLHF: what is drawn is what was given, the same every time, with a sentence that says what to see."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, Rectangle

from rankzero import figures
from rankzero.charts.marks import COLOURS
from rankzero.figures.rlhf import (
    ENDS,
    KINDS,
    batch_grid,
    curves_of_loops,
    data_flow,
    gradient_arrows,
    over_distance,
    token_values,
)

SHAPES = {
    "prompts": (64, 4),
    "tokens": (64, 20),
    "log-probs": (64, 16),
    "reference log-probs": (64, 16),
    "scores": (64,),
    "values": (64, 16),
    "rewards": (64, 16),
    "advantages": (64, 16),
    "returns": (64, 16),
}
WORDS = [["<bos>", "the", "good", "<eos>", "<pad>"], ["<bos>", "the", "bad", "bad", "bad"]]
MASK = [[1, 1, 0], [1, 1, 1]]
TABLES = {"before": [[1.0, 2.0, 9.0], [0.0, -1.0, 1.0]], "after": [[0.5, -0.5, 9.0], [0.1, 0.2, 0.3]]}
ARROWS = {
    "in the reward": {"k1": (1.0, -0.5, -0.5), "k2": (1.0, -0.5, -0.5)},
    "as a loss": {"k1": (0.0, 1e-17, -1e-17), "k3": (0.0, 1.0, -1.0)},
}
RUNS = {"beta 0": [(0.0, 0.0, -0.2), (9.0, 2.0, -6.0)], "beta 0.1": [(0.0, 0.0, -0.2), (4.0, 1.5, 1.7)]}
USUAL = [[0.0, 1.0, 2.0], [0.0, 1.2, 1.8]]
LOOPS = {"as good": [[0.0, 0.9, 1.9]], "away": [[0.0, 4.0, 9.0], [0.0, 1.0, 2.0]], "down": [[0.0, -2.0, -4.0]] * 2}

DRAWN = {
    "data_flow": lambda: data_flow(SHAPES),
    "batch_grid": lambda: batch_grid(WORDS, 2, MASK),
    "token_values": lambda: token_values(TABLES, MASK),
    "gradient_arrows": lambda: gradient_arrows(ARROWS, {"KL": (1.0, -0.5, -0.5)}),
    "over_distance": lambda: over_distance(RUNS),
    "curves_of_loops": lambda: curves_of_loops(USUAL, LOOPS),
}


def texts(picture) -> list[str]:
    return [text.get_text() for axes in picture.axes for text in axes.texts]


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_the_same_twice_and_says_what_to_see(name):
    first, second = DRAWN[name](), DRAWN[name]()
    assert first.html() == second.html()
    assert first.alt.endswith(".")
    assert first.alt[0].isupper() or first.alt[0].isdigit()
    assert "\n" not in first.alt
    ET.fromstring(re.search(r"<svg .*</svg>", first.html(), re.DOTALL)[0])


def test_every_picture_is_listed():
    public = {name for name, value in vars(figures.rlhf).items() if hasattr(value, "__wrapped__")}
    assert public == set(DRAWN)


def test_arrows_carry_the_tensors_of_the_run():
    picture = data_flow(SHAPES)
    shown = " ".join(texts(picture))
    for name, shape in SHAPES.items():
        label = f"[{', '.join(map(str, shape))}]"
        assert re.search(rf"{name}\s{re.escape(label)}", shown)
    with pytest.raises(KeyError):
        data_flow({"prompts": (1, 1)})


def test_a_batch_shows_what_each_token_is():
    picture = batch_grid(WORDS, 2, MASK)
    (axes,) = picture.axes
    cells = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    colours = [to_hex(cell.get_facecolor()) if cell.get_fill() else None for cell in cells]
    prompt, response, end = KINDS["prompt"], KINDS["response"], KINDS[ENDS]
    assert colours == [prompt, prompt, response, end, None, prompt, prompt, response, response, response]
    assert texts(picture) == [word for row in WORDS for word in row]
    assert "responses of 2, 3 real tokens" in picture.alt
    with pytest.raises(ValueError, match="mask must have 2 rows of 3"):
        batch_grid(WORDS, 2, [[1, 1]])


def test_masked_numbers_are_left_out():
    picture = token_values(TABLES, MASK)
    assert texts(picture) == ["1.00", "2.00", "0.00", "-1.00", "1.00", "0.50", "-0.50", "0.10", "0.20", "0.30"]
    assert "before: row means 1.50, 0.00" in picture.alt


def test_equal_arrows_share_their_name_and_nothing_is_a_dot():
    picture = gradient_arrows(ARROWS, {"KL": (1.0, -0.5, -0.5)})
    left, right = picture.axes
    assert [text.get_text() for text in left.texts] == ["k1, k2"]
    assert sorted(text.get_text() for text in right.texts) == ["k1", "k3"]
    assert len([patch for patch in right.patches if isinstance(patch, FancyArrowPatch)]) == 2  # the target and k3
    assert "as a loss, k1 at (0.000, 0.000)" in picture.alt
    with pytest.raises(ValueError, match="three numbers"):
        gradient_arrows({"": {"k1": (1.0, -1.0)}}, {})


def test_runs_are_drawn_over_the_root_of_their_distance():
    picture = over_distance(RUNS)
    for axes, column in zip(picture.axes, (1, 2), strict=True):
        lines = [line for line in axes.get_lines() if len(line.get_xdata()) > 1]
        assert [list(line.get_xdata()) for line in lines] == [[0, 3], [0, 2]]
        assert [list(line.get_ydata()) for line in lines] == [[p[column] for p in run] for run in RUNS.values()]
        assert [line.get_color() for line in lines] == list(COLOURS[:2])
    assert "beta 0: score 2.00, judge -6.00 at KL 9.0" in picture.alt


def test_a_loop_that_leaves_its_panel_says_where_it_ends():
    """Kills a curve that is cut off without a word, and a word where nothing is cut off."""
    picture = curves_of_loops(USUAL, LOOPS)
    named = {axes.get_title(): [text.get_text() for text in axes.texts] for axes in picture.axes if axes.get_title()}
    assert named == {"as good": [], "away": ["ends at 9"], "down": ["ends at -4"]}
    assert [len(axes.lines) for axes in picture.axes[:3]] == [1, 2, 2]
    assert "away 2.0 to 9.0; down -4.0" in picture.alt
