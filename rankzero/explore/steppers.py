"""Steppers: explorers whose one control is the step. A ring, a schedule, a block table that the reader steps through.

``stepper(draw, steps=6, title=..., alt=...)`` shows the pictures ``draw(0)`` to ``draw(6)``, each a
:class:`~rankzero.explore.scene.Scene`. All of them are drawn at once, so the page needs no Python:
``book/_static/stepper.js`` shows one at a time, and without scripts or on paper they stand in a list. In a notebook
ipywidgets show one at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from rankzero import checks
from rankzero.explore.display import FULL_LABEL, in_kernel, show_with_still
from rankzero.explore.scene import Scene, with_ghosts

#: Seconds for which a picture stands while they play; ``stepper.js`` reads it from the page.
PAUSE = 3.0

#: The colours of a scene outside the book, where no style sheet names them: in between, for light and dark pages.
COLOURS = "--rz-accent:#2a8c99;--rz-right:#2f9460;--rz-quiet:currentColor;--rz-line:#8c8c8c"


def stepper(draw: Callable[[int], Scene], *, steps: int, title: str, alt: str) -> None:
    """Show the pictures of a process, one for each step, and the start.

    Args:
        draw: a pure function; ``draw(0)`` is the start and ``draw(steps)`` the end. All pictures have one size.
        steps: number of steps; at least 1.
        title: what the pictures are about.
        alt: one sentence that says how to read the pictures.
    """
    scenes = frames(draw, steps)
    if not in_kernel():
        print("\n".join([f"{title}: {alt}", *(scene.says for scene in scenes)]))
        return
    if os.environ.get("RANKZERO_BOOK") == "1":
        from IPython.display import display

        display({"text/html": step_figure(scenes, title, alt), "text/plain": f"{title}. {alt}"}, raw=True)
    else:
        show_with_still(step_widget(scenes, title, alt), _stills(scenes, title, alt))


def frames(draw: Callable[[int], Scene], steps: int) -> list[Scene]:
    """The start and the picture after each step, with outlines of what is still to come.

    Raises:
        ValueError: the pictures differ in size, so that the page would jump.
    """
    checks.count(steps=steps)
    scenes = [draw(step) for step in range(steps + 1)]
    sizes = {(scene.width, scene.height) for scene in scenes}
    checks.require(len(sizes) == 1, "have one size", pictures=sorted(sizes))
    return with_ghosts(scenes)


def step_widget(scenes: Sequence[Scene], title: str, alt: str) -> Any:
    """The stepper as an ipywidgets box: title, a slider and a button that plays, the picture, and its sentence."""
    import ipywidgets

    last = len(scenes) - 1
    slider = ipywidgets.IntSlider(value=0, min=0, max=last, description="step", style=FULL_LABEL)
    play = ipywidgets.Play(value=0, min=0, max=last, interval=round(1000 * PAUSE))
    ipywidgets.jslink((play, "value"), (slider, "value"))
    picture = ipywidgets.HTML()

    def show(_change: Any = None) -> None:
        scene = scenes[slider.value]
        picture.value = f'<div style="{COLOURS}">{scene.svg()}<p aria-live="polite">{escape(scene.says)}</p></div>'

    slider.observe(show, "value")
    show()
    head, foot = ipywidgets.HTML(f"<b>{escape(title)}</b>"), ipywidgets.HTML(escape(alt))
    return ipywidgets.VBox([head, ipywidgets.HBox([play, slider]), picture, foot])


def _stills(scenes: Sequence[Scene], title: str, alt: str) -> dict[str, str]:
    """All pictures without controls: the first after the start, and the others below it, folded."""
    pictures = [f"<div>{scene.svg()}<p>{escape(scene.says)}</p></div>" for scene in scenes]
    folded = f"<details><summary>All {len(scenes)} pictures</summary>{''.join(pictures)}</details>"
    shown = f'<div style="{COLOURS}"><p><b>{escape(title)}</b></p>{pictures[1]}{folded}<p>{escape(alt)}</p></div>'
    return {"text/html": shown, "text/plain": "\n".join([f"{title}. {alt}", *(scene.says for scene in scenes)])}


def step_figure(scenes: Sequence[Scene], title: str, alt: str) -> str:
    """The stepper as HTML for the page: every picture with its sentence, and controls that ``stepper.js`` shows."""
    last = len(scenes) - 1
    items = "".join(f"<li>{scene.svg()}<p>{escape(scene.says)}</p></li>" for scene in scenes)
    return (
        f'<figure class="rz-stepper" data-pause="{PAUSE:g}">'
        f'<fieldset class="rz-controls" hidden aria-label="{escape(title)}">'
        f'<label><span>step</span><span class="rz-value" aria-hidden="true">0 of {last}</span>'
        f'<input type="range" min="0" max="{last}" step="1" value="0" autocomplete="off"></label>'
        '<div class="rz-buttons"><button type="button" data-move="back">Back</button>'
        '<button type="button" data-move="next">Next</button>'
        '<button type="button" data-move="play">Play</button></div></fieldset>'
        f'<ol class="rz-frames">{items}</ol><p class="rz-heard" aria-live="polite"></p>'
        f"<figcaption><b>{escape(title)}.</b> {escape(alt)}</figcaption></figure>"
    )
