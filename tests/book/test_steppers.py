"""Steppers of the built chapters: by slider, buttons and keys, playing, with less motion, on paper, without scripts."""

from __future__ import annotations

import re

import pytest

from tests.book.conftest import proof
from tools.browser import AXE

pytestmark = pytest.mark.browser

#: The pages that have a stepper, and how many steps each of theirs has.
STEPS = {
    "book/02-point-to-point.html": [2, 3, 2, 2, 6],
    "book/03-collectives.html": [2, 3, 6, 3],
    "book/04-topology.html": [6, 4],
    "book/05-data-parallel.html": [3, 3, 3, 3, 6],
    "book/06-tensor-parallel.html": [4, 4, 3, 4],
    "book/07-pipeline-expert.html": [6, 6, 3],
    "book/deeper/07-pipeline-expert-deeper.html": [3],
    "book/15-capstone.html": [4, 3, 4],
    "book/deeper/06-tensor-parallel-deeper.html": [3],
}

SEEN = """(figure) => [...figure.querySelectorAll(".rz-frames > li")].flatMap((frame, place) =>
  frame.checkVisibility({ checkVisibilityCSS: true }) ? [place] : [])"""

pages = pytest.mark.parametrize("chapter", STEPS)


def steppers(watch) -> list:
    return watch.page.locator("figure.rz-stepper").all()


def seen(figure) -> list[int]:
    """The pictures that are seen, by number."""
    return figure.evaluate(SEEN)


STATE = f"""(figure) => [({SEEN})(figure), figure.querySelector(".rz-value").innerText,
  figure.querySelector(".rz-heard").textContent]"""


def state(figure) -> tuple[list[int], str, str]:
    """What is seen, what the read-out says, and what was read aloud last."""
    return tuple(figure.evaluate(STATE))


def sentences(figure) -> list[str]:
    return figure.locator(".rz-frames > li > p").all_text_contents()


#: What the slider says, and whether the picture that is shown has a name.
SPOKEN = """(figure) => [figure.querySelector("input[type=range]").getAttribute("aria-valuetext"),
  Boolean(figure.querySelector("li[data-shown] svg").getAttribute("aria-label"))]"""


@pytest.mark.proof(part="pages")
@pages
@pytest.mark.parametrize("way", ["http", pytest.param("file", marks=proof)])
def test_the_slider_steps_by_key(shared, way, chapter):
    """Arrows, Home and End; one picture at a time, its read-out, and its sentence for who cannot see it."""
    watch = shared(way, chapter)
    figures = steppers(watch)
    assert len(figures) == len(STEPS[chapter])
    for figure, last in zip(figures, STEPS[chapter], strict=True):
        said, slider = sentences(figure), figure.get_by_role("slider", name="step")
        slider.press("Home")
        for key, step in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("Home", 0)]:
            slider.press(key)
            assert state(figure) == ([step], f"{step} of {last}", said[step]), key
            assert figure.evaluate(SPOKEN) == [f"step {step} of {last}", True]
    assert watch.problems == []


@proof
@pages
def test_the_buttons_step_and_stop_at_the_ends(shared, chapter):
    """At an end a button says so, does nothing and keeps the focus; the arrow keys work on buttons too."""
    for figure, last in zip(steppers(shared("http", chapter)), STEPS[chapter], strict=True):
        back, forward = figure.get_by_role("button", name="Back"), figure.get_by_role("button", name="Next")
        back.press("Home")
        assert back.get_attribute("aria-disabled") == "true"
        back.press("Enter")
        assert seen(figure) == [0]
        for step in range(1, last + 1):
            forward.press("Enter")
            assert seen(figure) == [step]
        assert forward.get_attribute("aria-disabled") == "true"
        forward.press("Enter")
        assert seen(figure) == [last]
        assert forward.evaluate("(button) => button === document.activeElement")
        forward.press("ArrowLeft")
        assert seen(figure) == [last - 1]
        back.press("Enter")
        assert seen(figure) == [last - 2]


@proof
@pages
def test_nothing_on_the_page_jumps(shared, chapter):
    for figure in steppers(shared("http", chapter)):
        slider, heights = figure.get_by_role("slider"), set()
        for key in ("Home", "ArrowRight", "End"):
            slider.press(key)
            heights.add(figure.bounding_box()["height"])
        assert len(heights) == 1


@pages
def test_it_plays_pauses_and_ends(visit, addresses, chapter):
    """Play goes on by itself, Pause and any key stop it, and the end stops it; then Play begins anew."""
    watch = visit(f"{addresses['http']}/{chapter}")
    clock = watch.page.clock
    clock.install(time=0)
    clock.pause_at(3600)
    for figure, last in zip(steppers(watch), STEPS[chapter], strict=True):
        if last < 3:
            continue  # it ends before anybody can press Pause
        play, step = figure.locator("[data-move=play]"), round(1000 * float(figure.get_attribute("data-pause")))
        play.press("Enter")
        assert seen(figure) == [1], "a press shows at once that it plays"
        assert play.inner_text() == "Pause"
        clock.run_for(step)
        assert seen(figure) == [2]
        play.press("Enter")
        assert play.inner_text() == "Play"
        assert state(figure)[2] == sentences(figure)[2]
        clock.run_for(10 * step)
        assert seen(figure) == [2]
        play.press("Enter")
        clock.run_for(last * step)
        assert play.inner_text() == "Play"
        assert state(figure) == ([last], f"{last} of {last}", sentences(figure)[last])
        play.press("Enter")
        assert seen(figure) == [0]
        figure.get_by_role("slider").press("ArrowRight")
        assert play.inner_text() == "Play"
    assert watch.problems == []


MOVING = "(figure) => figure.getAnimations({ subtree: true }).length"


@proof
@pages
def test_less_motion_means_steps_by_hand(shared, chapter):
    """No animation between two steps, and no button that plays; what plays stops when the wish changes."""
    watch = shared("http", chapter)
    watch.page.emulate_media(reduced_motion="no-preference")
    for figure in steppers(watch):
        play = figure.locator("[data-move=play]")
        figure.get_by_role("slider").press("Home")
        figure.get_by_role("slider").press("ArrowRight")
        assert figure.evaluate(MOVING) > 0
        play.press("Enter")
        watch.page.emulate_media(reduced_motion="reduce")
        play.wait_for(state="hidden")
        assert play.text_content() == "Play"
        figure.get_by_role("slider").press("Home")
        figure.get_by_role("slider").press("ArrowRight")
        assert seen(figure) == [1]
        assert figure.evaluate(MOVING) == 0
        watch.page.emulate_media(reduced_motion="no-preference")
        play.wait_for(state="visible")


def check_list(figure, last: int) -> None:
    """Every picture is seen, one under or beside another, each with its sentence; there are no controls."""
    assert seen(figure) == list(range(last + 1))
    places = [frame.bounding_box() for frame in figure.locator(".rz-frames > li").all()]
    assert len({(round(place["x"]), round(place["y"])) for place in places}) == last + 1
    assert all(frame.is_visible() for frame in figure.locator(".rz-frames > li > p").all())
    assert not figure.locator("fieldset").is_visible()


@pytest.mark.proof(part="pages")
@pages
@pytest.mark.parametrize("way", [pytest.param("http", marks=proof), "file"])
def test_without_scripts_all_pictures_are_a_list(shared, way, chapter):
    for figure, last in zip(steppers(shared(way, chapter, False)), STEPS[chapter], strict=True):
        check_list(figure, last)


@proof
@pages
def test_paper_shows_all_pictures(shared, chapter):
    watch = shared("http", chapter)
    watch.page.emulate_media(media="print")
    for figure, last in zip(steppers(watch), STEPS[chapter], strict=True):
        check_list(figure, last)
    watch.page.emulate_media(media="screen")


FITS = """(figure) => [...figure.querySelectorAll("svg")].every((svg) => {
  const inside = svg.closest("li").getBoundingClientRect(), box = svg.getBoundingClientRect();
  return box.left >= inside.left - 1 && box.right <= inside.right + 1 && inside.right <= innerWidth;
})"""
#: Texts that leave their picture or run into the outline of another box.
OUTSIDE = """(figure) => [...figure.querySelectorAll("svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
  }).map((text) => text.textContent);
})"""
SIZES = """(figure) => [...figure.querySelectorAll("svg text")].map((text) =>
  parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""


@pages
def test_a_phone_shows_all_of_it(shared, chapter):
    """At 390 px a picture fits its column without a bar, and its smallest text has ten pixels."""
    watch = shared("http", chapter)
    watch.page.set_viewport_size({"width": 390, "height": 900})
    for figure in steppers(watch):
        assert figure.evaluate(FITS)
        assert figure.evaluate(OUTSIDE) == []
        assert min(figure.evaluate(SIZES)) >= 9.99


CONTRAST = """(figure) => getComputedStyle(figure.querySelector("svg text")).fill"""


@proof
@pages
def test_dark_pages_have_light_text(shared, chapter):
    watch = shared("http", chapter)
    inks = []
    for scheme in ("light", "dark"):
        watch.page.emulate_media(color_scheme=scheme)
        inks.append([int(part) for part in re.findall(r"\d+", steppers(watch)[0].evaluate(CONTRAST))[:3]])
    light, dark = map(sum, inks)
    assert light < 3 * 128 < dark


SERIOUS = """async () => (await axe.run("figure.rz-stepper", { resultTypes: ["violations"] })).violations
  .filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => one.id)"""


@proof
@pages
def test_axe_finds_nothing_serious_in_a_stepper(shared, chapter):
    if not AXE.is_file():
        pytest.skip("axe is not here (make vendor)")
    watch = shared("http", chapter)
    watch.page.add_script_tag(path=str(AXE))
    for scheme in ("light", "dark"):
        watch.page.emulate_media(color_scheme=scheme)
        for figure in steppers(watch):
            figure.get_by_role("slider").press("ArrowRight")
        assert watch.page.evaluate(SERIOUS) == [], scheme
