"""Steppers: pictures as data, their checks, the page's list of pictures, the notebook's slider, the script's lines."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET

import pytest

from experiments.ch05 import overlap_steps
from experiments.ch07 import pipeline_steps
from experiments.ch15 import save_steps
from rankzero import explore as ex
from rankzero.explore import Arrow, Box, Label, Scene, display, steppers

FOUND = re.compile(r"<svg.*?</svg>", re.DOTALL)


def toy(step: int) -> Scene:
    """A number that moves to the right."""
    marks = (Box(60.0 * step, 10, 50, 30, f"<{step}>", "1 of 4", fill=step / 3), Label(4, 90, "below", "start"))
    arrows = (Arrow(10, 60, 10 + 60 * step, 60),) if step else ()
    return Scene(240, 100, (*arrows, *marks), f"Step {step} & on.", f"The number {step} is in place {step}.")


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter("text")]


# The picture


def test_a_scene_is_well_formed_and_says_what_it_shows():
    svg = toy(2).svg()
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "The number 2 is in place 2."
    assert texts(svg) == ["<2>", "1 of 4", "below"]


def test_what_moves_stands_apart_so_that_it_can_appear():
    (moves,) = (node for node in ET.fromstring(toy(1).svg()).iter("g") if node.get("class") == "rz-moves")
    assert [node.tag for node in moves] == ["path", "polygon"]
    assert list(next(node for node in ET.fromstring(toy(0).svg()).iter("g"))) == []


def test_the_tip_of_an_arrow_is_where_it_points():
    points = re.search(r'points="([^"]+)"', Arrow(10, 20, 10, 60).svg())
    assert points
    assert points[1].split()[0] == "10,60"
    assert {float(point.split(",")[1]) for point in points[1].split()[1:]} == {53.0}


def test_colours_are_the_pages_own():
    """Kills a colour that is right in light pages alone."""
    boxes = (Box(0, 0, 40, 20, "1", fill=0.5, strong=True, tone="right"), Box(0, 30, 40, 20, "2"))
    svg = Scene(100, 60, (*boxes, Label(0, 55, "three", quiet=True)), "s", "a").svg()
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg))
    assert colours == {"currentColor", "none", "var(--rz-right)", "var(--rz-line)", "var(--rz-quiet)"}


def outlines(scene: Scene) -> list[Box]:
    return [mark for mark in scene.marks if isinstance(mark, Box) and mark.ghost]


def growing(step: int) -> Scene:
    """A box more in each step, to the right of a label; the first place is taken by another box at the start."""
    boxes = [Box(60.0 * place, 10, 50, 30, f"{place}") for place in range(step)]
    other = (Box(0, 10, 50, 30, "other"), Label(185, 30, "wait", "start")) if not step else ()
    return Scene(240, 60, (*boxes, *other), "s", "a")


def test_the_stage_shows_where_something_will_be():
    """Kills an empty first picture, an outline over what is there, and one that tells what will be in it."""
    start, *_, last = steppers.frames(growing, 4)
    assert [box.x for box in outlines(start)] == [60, 120]
    assert {box.text for box in outlines(start)} == {""}
    assert outlines(last) == []
    assert "stroke-dasharray" in start.svg()
    assert "stroke-dasharray" not in last.svg()


@pytest.mark.parametrize(
    ("draw", "steps"),
    [
        (pipeline_steps.gpipe_scene, 6),
        (pipeline_steps.one_f_one_b_scene, 6),
        (overlap_steps.stream_scene, 3),
        (overlap_steps.bucket_scene, 3),
        (save_steps.saves_scene, 3),
    ],
)
def test_no_process_opens_on_an_empty_stage(draw, steps):
    """The first picture has a box or an outline wherever the last one has a box."""
    start, *_, last = steppers.frames(draw, steps)
    places = [{(box.x, box.y) for box in scene.marks if isinstance(box, Box)} for scene in (start, last)]
    assert places[1] <= places[0]
    assert outlines(start)


def test_small_type_that_a_phone_would_shrink_is_refused():
    """At 390 pixels a page's column has 340, and text of ten pixels must keep ten."""
    Scene(480, 50, (Label(0, 20, "large", size=15),), "s", "a")
    with pytest.raises(ValueError, match="at most 340, so that a narrow screen has text of 10 pixels, got 480"):
        Scene(480, 50, (Label(0, 20, "small", size=10),), "s", "a")
    with pytest.raises(ValueError, match="got 400"):
        Scene(400, 50, (Box(0, 0, 40, 40, "1", "note"),), "s", "a")
    assert "min-width:240px" in toy(1).svg()


@pytest.mark.parametrize(("says", "alt"), [("", "a"), ("s", " ")])
def test_a_scene_without_a_sentence_is_refused(says, alt):
    with pytest.raises(ValueError, match="says and alt must be sentences"):
        Scene(100, 50, (), says, alt)


def test_an_arrow_that_is_shorter_than_its_head_is_refused():
    with pytest.raises(ValueError, match="at least 7 long"):
        Arrow(0, 0, 3, 4)


# The steps


def test_pictures_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match="pictures must have one size"):
        ex.frames(lambda step: Scene(100 + step, 50, (), "s", "a"), 2)


def test_a_plain_script_gets_the_sentences(capsys):
    ex.stepper(toy, steps=2, title="Toy", alt="It moves.")
    assert capsys.readouterr().out == "Toy: It moves.\nStep 0 & on.\nStep 1 & on.\nStep 2 & on.\n"


# The page


def test_the_page_holds_every_picture_with_its_sentence():
    html = ex.step_figure(ex.frames(toy, 3), "Toy & co", "It moves.")
    pictures = FOUND.findall(html)
    assert [texts(svg)[0] for svg in pictures] == ["<0>", "<1>", "<2>", "<3>"]
    assert re.findall(r"</svg><p>(.*?)</p></li>", html) == [f"Step {step} &amp; on." for step in range(4)]
    assert '<fieldset class="rz-controls" hidden aria-label="Toy &amp; co">' in html
    assert 'max="3"' in html
    assert not re.search(r'\bid="|https?:', html)
    assert html == ex.step_figure(ex.frames(toy, 3), "Toy & co", "It moves.")


def test_a_cell_shows_the_page_while_the_book_is_built_and_widgets_elsewhere(monkeypatch):
    shown: list[object] = []
    monkeypatch.setattr(steppers, "in_kernel", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda what, **_: shown.append(what))
    monkeypatch.setitem(os.environ, "RANKZERO_BOOK", "1")
    ex.stepper(toy, steps=2, title="Toy", alt="It moves.")
    monkeypatch.delitem(os.environ, "RANKZERO_BOOK")
    ex.stepper(toy, steps=2, title="Toy", alt="It moves.")
    page, box = shown
    assert page["text/html"] == ex.step_figure(ex.frames(toy, 2), "Toy", "It moves.")
    assert "application/vnd.jupyter.widget-view+json" in box
    assert display.in_kernel() is False


# The notebook


def test_the_widget_shows_the_step_of_its_slider():
    box = ex.step_widget(ex.frames(toy, 3), "Toy", "It moves.")
    play, slider = box.children[1].children
    picture = box.children[2]

    def place() -> str:
        return texts(FOUND.findall(picture.value)[0])[0]

    assert (place(), slider.min, slider.max, play.max) == ("<0>", 0, 3, 3)
    slider.value = 3
    assert place() == "<3>"
    assert "Step 3 &amp; on." in picture.value
    for name in re.findall(r"var\((--[\w-]+)\)", picture.value):
        assert f"{name}:" in picture.value, "a colour that no style sheet of a notebook names"
