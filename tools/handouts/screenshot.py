"""Pictures for the README: ``python -m tools.handouts.screenshot [NAME ...] [--html FOLDER]``.

``ring`` is a stepper, ``deadlock`` a program that a reader broke in the page, with what it said then, and ``report``
the page that a learner gets for a wrong function.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from tools.browser import chromium
from tools.common import HTML, ROOT, fail, say
from tools.serve import server

FOLDER = ROOT / "docs"
WIDTH, HEIGHT = 1100, 1000
#: Seconds in which Python starts in the page.
START = 400
#: Pictures after which a page that still moves is given up.
TRIES = 9
#: What the report is about: a function that is wrong in the way of its slip of this number, beside two right ones.
ITEMS, WRONG, SLIP = ("02-message-time", "03-ring-all-reduce-time", "05-zero-memory"), "03-ring-all-reduce-time", 1


def clip(page: Any, *places: Any, margin: int = 12) -> bytes:
    """A picture of the part of a page that holds all of some places, taken again if they moved meanwhile."""
    for _ in range(TRIES):
        boxes = boxes_of(page, places)
        left, top = (min(box[side] for box in boxes) - margin for side in ("x", "y"))
        right = max(box["x"] + box["width"] for box in boxes) + margin
        bottom = max(box["y"] + box["height"] for box in boxes) + margin
        inside = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        picture = page.screenshot(clip=inside, full_page=True)
        if boxes_of(page, places) == boxes:
            return picture
    raise RuntimeError(f"the page did not come to rest in {TRIES} pictures")


def boxes_of(page: Any, places: Sequence[Any]) -> list[dict[str, float]]:
    """Where some places are, from the page's upper end: nothing that follows the reader lies above them."""
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    return [place.bounding_box() for place in places]


def ring(page: Any, book: str) -> bytes:
    """The ring all-reduce of four ranks in its third step."""
    page.goto(f"{book}/book/03-collectives.html", wait_until="load")
    figure = page.locator("figure.rz-stepper", has=page.get_by_label("A ring all-reduce on four ranks")).first
    for _ in range(3):
        figure.locator('[data-move="next"]').click()
    return clip(page, figure)


def deadlock(page: Any, book: str) -> bytes:
    """The program of the opening page, changed as it proposes, and who waits for whom."""
    page.goto(f"{book}/book/intro.html", wait_until="load")
    cell = page.locator(".rz-ranks").first
    cell.get_by_role("button", name="Edit").click()
    code = cell.locator(".cm-content")
    code.wait_for(timeout=1000 * START)
    code.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(json.loads(cell.get_attribute("data-ranks"))["code"].replace("rank > 0", "True"))
    cell.get_by_role("button", name="Run", exact=True).click()
    cell.locator(".rz-ranks-why").wait_for(timeout=1000 * START)
    return clip(page, cell)


def hand_in() -> str:
    """Two functions that are right, and one that is wrong in a known way."""
    from autograder import bank

    found = [item for item in bank.builds() if item.id in ITEMS]
    (wrong,) = (item.source_of(item.slips[SLIP]) for item in found if item.id == WRONG)
    files = dict.fromkeys(item.file for item in found)
    texts = [*((ROOT / "solutions" / file).read_text(encoding="utf-8") for file in files), wrong]
    return "\n\n".join(texts).replace("from __future__ import annotations\n", "")


def report(page: Any, book: str) -> bytes:
    """The upper part of the page that the grader writes for a learner."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "class" / "Ada").mkdir(parents=True)
        (folder / "class" / "Ada" / "functions.py").write_text(hand_in(), encoding="utf-8")
        options = ["--out", str(folder / "graded"), "--sandbox", "best"]
        grade = [sys.executable, "-m", "autograder", "grade-class", str(folder / "class"), *options, "--only", *ITEMS]
        subprocess.run(grade, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (written,) = (path for path in (folder / "graded" / "pages").glob("*.html") if path.stem != "index")
        page.goto(written.as_uri(), wait_until="load")
        return clip(page, page.locator("h1"), page.locator("section").last)


PICTURES: dict[str, Callable[[Any, str], bytes]] = {"ring": ring, "deadlock": deadlock, "report": report}


@contextmanager
def served(html: Path) -> Iterator[str]:
    """The address of a book that is served on this machine."""
    with server(html) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{running.server_port}"
        finally:
            running.shutdown()


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.handouts.screenshot", description="Take the pictures of the README."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}; default: all")
    parser.add_argument("--html", type=Path, default=HTML, help="the built book")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write")
    chosen = parser.parse_args(argv)
    if unknown := {*chosen.names} - PICTURES.keys():
        return fail(f"there is no picture {' or '.join(sorted(unknown))}; there are {', '.join(PICTURES)}")
    if not (chosen.html / "index.html").is_file():
        return fail(f"there is no built book in {chosen.html}: run make book")
    try:
        with served(chosen.html) as book, chromium() as browser:
            for name in chosen.names or PICTURES:
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
                (chosen.out / f"{name}.png").write_bytes(PICTURES[name](page, book))
                page.close()
                say(f"wrote {chosen.out / f'{name}.png'}")
    except FileNotFoundError as error:
        return fail(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
