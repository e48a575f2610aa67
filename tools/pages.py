"""What each page asks of its reader, counted: ``python -m tools.pages [NN ...]`` (``make pages``).

A section shows a picture and a worked example before it sets a task, its runs show what they are about, and a group of
runs is predicted before it is seen. A page has few sums among its questions, and can be read and worked in the time
that it states. :data:`REBUILT` names the pages that keep these limits; one that breaks a limit makes the command fail.
The others are counted too, and listed as not yet rebuilt.

An example is a text cell with the tag ``example``. Printed pages are those that Chromium prints of the built book;
without a built book they are not counted.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from autograder import bank
from autograder.items import Build, Choice, Debug, Design, Estimate, Item, Order, Question
from rankzero.facts.chapters import CHAPTERS, Chapter, PartName
from tools import browser, page_cells, prose_numbers, statements
from tools.common import BOOK, HTML, fail, say

#: The pages that keep the limits, by the number of their chapter.
REBUILT: frozenset[int] = frozenset(range(1, 16))

WORDS_A_MINUTE = 200
#: Minutes that a reader needs, beyond the words, for each thing on the path.
MINUTES = {"picture": 0.5, "run": 0.5, "derive": 3.0, "explain": 2.0, "trace": 2.0, "estimate": 1.0, "design": 5.0}
MINUTES |= {"build": 12.0, "repair": 8.0}
#: Minutes for a line of a milestone's program, of as many lines as it may have.
MINUTES |= {"line": 0.6}
MOST_PRINTED = 35
MOST_READING = 45.0
MOST_DERIVED = 1 / 3
#: Hours of reading and work of parts, taken together, whose pages are rebuilt.
MOST_HOURS: dict[tuple[PartName, ...], float] = {
    ("I. Foundations",): 8.0,
    ("II. Parallelism", "Capstone"): 13.0,
    ("III. Serving",): 10.75,
    ("IV. RLHF systems",): 10.25,
}
#: Words of the opening page before its first program.
MOST_BEFORE = 150

KINDS: dict[type, str] = {
    Question: "derive",
    Choice: "explain",
    Order: "trace",
    Estimate: "estimate",
    Design: "design",
    Debug: "repair",
    Build: "build",
}
FIRST_RUN = "<!-- first run -->"
TASKS = frozenset({"predict", "design", "check"})
DRAWN = frozenset({"explore", "stepper"})
EXAMPLE = "example"
_PICTURE = re.compile(r"!\[|<svg|<img")


@dataclass
class Section:
    """What stands between two headings of the second level.

    Attributes:
        title: its heading.
        tasks: the ids of its items, in order; without those that are optional.
        counts: how many of each key of :data:`MINUTES` it has.
        words: of its text.
        before: of its text before the first task.
        picture: whether a picture stands before the first task.
        example: whether a worked example does.
        groups: runs in a row, with nothing but text between them, that do not use what the reader has just built. What
            a page opens with, before its first section, needs no prediction.
        predicted: how many of them a question stands before.
        hidden: the functions of the chapter that runs call and that the page neither shows nor links.
    """

    title: str
    tasks: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    words: int = 0
    before: int = 0
    picture: bool = False
    example: bool = False
    groups: int = 0
    predicted: int = 0
    hidden: set[str] = field(default_factory=set)

    @property
    def reading(self) -> float:
        """Minutes to read it and look at its pictures and runs."""
        return self.words / WORDS_A_MINUTE + sum(MINUTES[name] * self.counts[name] for name in ("picture", "run"))

    @property
    def work(self) -> float:
        """Minutes for its questions and functions."""
        return sum(MINUTES[name] * self.counts[name] for name in KINDS.values())

    def breaks(self) -> Iterator[str]:
        """Each limit that the section breaks, as a sentence."""
        if self.tasks and not self.picture:
            yield "no picture before the first task"
        if self.tasks and not self.example:
            yield "no worked example before the first task"
        if self.predicted < self.groups:
            yield f"{self.groups - self.predicted} of {self.groups} groups of runs without a prediction"
        if self.hidden:
            yield f"calls what it neither shows nor links: {', '.join(sorted(self.hidden))}"


@dataclass
class Page:
    """A chapter's page.

    Attributes:
        chapter: which.
        sections: in order; the first has the title of the page.
        stated: the minutes of reading that its first text states, or None.
        printed: pages on paper, or None where they were not counted.
        lines: that the programs of its milestones may have: it says how to have them graded.
    """

    chapter: Chapter
    sections: list[Section]
    stated: float | None = None
    printed: int | None = None
    lines: int = 0

    @property
    def counts(self) -> Counter[str]:
        """How many of each key of :data:`MINUTES` are on the path."""
        return sum((section.counts for section in self.sections), Counter())

    @property
    def reading(self) -> float:
        """Minutes to read the page."""
        return sum(section.reading for section in self.sections)

    @property
    def work(self) -> float:
        """Minutes for its questions, functions and milestones."""
        return sum(section.work for section in self.sections) + MINUTES["line"] * self.lines

    @property
    def questions(self) -> int:
        """How many questions it asks."""
        return sum(self.counts[name] for name in ("derive", "explain", "trace", "estimate", "design"))

    def breaks(self) -> Iterator[str]:
        """Each limit that the page or one of its sections breaks, as a sentence."""
        yield from (f"{section.title}: {broken}" for section in self.sections for broken in section.breaks())
        if self.counts["derive"] > MOST_DERIVED * self.questions:
            yield f"{self.counts['derive']} of {self.questions} questions derive a number, at most a third may"
        if self.reading > MOST_READING:
            yield f"{self.reading:.0f} minutes of reading, at most {MOST_READING:.0f}"
        if self.stated is not None and abs(self.stated - self.reading) > 5:
            yield f"it states {self.stated:.0f} minutes of reading, and the rule says {self.reading:.0f}"
        if self.printed is not None and self.printed > MOST_PRINTED:
            yield f"{self.printed} printed pages, at most {MOST_PRINTED}"


# What a cell is


def _calls(cell: Any) -> list[ast.Call]:
    return [node for node in ast.walk(statements.parse(cell.source)) if isinstance(node, ast.Call)]


def _named(cell: Any, names: Iterable[str]) -> list[ast.Call]:
    """The calls in a code cell of one of the functions ``names``."""
    return [call for call in _calls(cell) if isinstance(call.func, ast.Name) and call.func.id in names]


def item_of(cell: Any) -> Item | None:
    """The item whose card a code cell shows; None for any other cell."""
    calls = _named(cell, TASKS)
    if not calls or not calls[0].args:
        return None
    first = calls[0].args[0]
    if isinstance(first, ast.Constant):
        return bank.find(str(first.value))
    function = ast.unparse(first)
    return next((item for item in bank.builds() if item.function == function), None)


def _draws(cell: Any, drawing: set[str]) -> bool:
    """Whether a code cell shows a picture; ``drawing`` are the names of modules that draw."""
    return bool(_named(cell, DRAWN)) or any(
        ast.unparse(call.func).partition(".")[0] in drawing for call in _calls(cell)
    )


def _runs(cell: Any) -> bool:
    """Whether a code cell prints or runs something, and is no card, picture of its own, import or program to read."""
    shown = page_cells.treatment(cell.source) == "" and not {"install", "source"} & {*cell.metadata.get("tags", ())}
    return shown and any(ast.unparse(call.func) in ("print", "world.run") for call in _calls(cell))


def count_words(text: str) -> int:
    """The words of a text cell; a formula counts as one, and code as its words.

    >>> count_words("A ring of $N$ ranks sends $$2 (N - 1)$$ chunks.")
    8
    """
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "formula", prose_numbers.stripped(text), flags=re.DOTALL)
    return len(re.findall(r"[^\s|#*>-]\S*", re.sub(r"<[^>]*>", " ", text)))


# What the page shows


def _imports(cells: Iterable[Any], *packages: str) -> dict[str, str]:
    """The names on the page of what it imports from some packages, and where they come from."""
    found = statements.imported(cell.source for cell in cells)
    return {name: path for name, path in found.items() if path.startswith(packages)}


def used(cell: Any, imports: dict[str, str]) -> set[str]:
    """The functions that a code cell uses of what the page imports, by their full names."""
    result = set()
    for node in ast.walk(statements.parse(cell.source)):
        first, dot, rest = ast.unparse(node).partition(".") if isinstance(node, ast.Attribute) else ("", "", "")
        if first in imports and "." not in rest and not rest[:1].isupper():
            result.add(f"{imports[first]}{dot}{rest}")
        elif isinstance(node, ast.Name) and imports.get(node.id, "").count(".") > 2:  # a function, not a module
            result.add(imports[node.id])
    return result


def in_view(cells: Sequence[Any]) -> tuple[set[str], str]:
    """The names of functions whose source the page shows or sets as a task, and all of its text, which holds links."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    shown = {name for cell in code for name in re.findall(r"inspect\.getsource\((?:\w+\.)*(\w+)\)", cell.source)}
    written = {item.function for cell in code if isinstance(item := item_of(cell), Build)}
    return shown | written, "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def hidden(cell: Any, imports: dict[str, str], shown: set[str], text: str) -> set[str]:
    """The functions of the chapter that a run uses and that the page neither shows nor links."""
    result = set()
    for name in used(cell, imports):
        module, _, function = name.rpartition(".")
        if function not in shown and f"{module.replace('.', '/')}.py" not in text:
            result.add(f"{module.rpartition('.')[2]}.{function}")
    return result


# A page


class _Reading:
    """Goes through the cells of a page from first to last."""

    def __init__(self, chapter: Chapter, cells: Sequence[Any]) -> None:
        code = [cell for cell in cells if cell.cell_type == "code"]
        self.page = Page(chapter, [])
        self.imports = _imports(code, f"experiments.{chapter.package}", f"solutions.{chapter.package}")
        self.drawing = {*_imports(code, "rankzero.figures")}
        self.shown, self.text = in_view(cells)
        self.before = ""  # what stands before the next run: a question, what was built, or a run of the same group

    def text_cell(self, cell: Any) -> None:
        if match := re.match(r"##? (.*)", cell.source):
            self.page.sections.append(Section(match[1]))
            self.before = ""
        section, words = self.page.sections[-1], count_words(cell.source)
        section.words += words
        if not section.tasks:
            section.before += words
            section.example |= EXAMPLE in cell.metadata.get("tags", ())
            section.picture |= bool(_PICTURE.search(cell.source))

    def code_cell(self, cell: Any) -> None:
        section = self.page.sections[-1]
        if item := item_of(cell):
            self._task(section, item)
        elif "exercise" not in cell.metadata.get("tags", ()):
            drawn, runs = _draws(cell, self.drawing), _runs(cell)
            section.picture |= drawn and not section.tasks
            section.counts += Counter(picture=drawn, run=runs)
            if runs:
                self._run(section, cell)

    def _task(self, section: Section, item: Item) -> None:
        kind = KINDS[type(item)]
        self.before = "built" if isinstance(item, Build) else "asked"
        if not item.bonus:
            section.tasks.append(item.id)
            section.counts[kind] += 1

    def _run(self, section: Section, cell: Any) -> None:
        section.hidden |= hidden(cell, self.imports, self.shown, self.text)
        opens = len(self.page.sections) == 1
        if self.before in ("", "asked") and not opens:
            section.groups += 1
            section.predicted += self.before == "asked"
        self.before = "run"


def read(chapter: Chapter, cells: Sequence[Any]) -> Page:
    """What the cells of a chapter's page ask of a reader."""
    reading = _Reading(chapter, cells)
    for cell in cells:
        (reading.text_cell if cell.cell_type == "markdown" else reading.code_cell)(cell)
    if match := re.search(r"Reading takes about\s+(\d+)\s+minutes", cells[0].source):
        reading.page.stated = float(match[1])
    reading.page.lines = sum(system.lines for system in bank.systems() if f"--only {system.id}" in reading.text)
    return reading.page


def printed(html: Path, chapters: Iterable[Chapter]) -> dict[int, int]:
    """How many pages of paper each chapter takes, by its number."""
    result = {}
    with browser.chromium() as chrome:
        page = chrome.new_page()
        for chapter in chapters:
            page.goto((html / "book" / f"{chapter.page}.html").as_uri(), wait_until="load")
            result[chapter.number] = paper(page)
    return result


def paper(page: Any) -> int:
    """How many sheets of A4 the page that is open in a browser takes."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4")))


# The report


def row(page: Page) -> str:
    """A line of the table."""
    counts = page.counts
    questions = " ".join(f"{counts[name]:>3}" for name in ("derive", "explain", "trace", "estimate", "design"))
    tasks = [section for section in page.sections if section.tasks]
    shown = sum(section.picture for section in tasks), sum(section.example for section in tasks)
    groups = sum(section.predicted for section in page.sections), sum(section.groups for section in page.sections)
    hides = sum(len(section.hidden) for section in page.sections)
    paper = "  -" if page.printed is None else f"{page.printed:>3}"
    return (
        f"{page.chapter.page:<20} {shown[0]:>2}/{len(tasks):<2} {shown[1]:>2}/{len(tasks):<2} {questions}"
        f" {counts['build']:>3} {counts['repair']:>2}  {groups[0]:>2}/{groups[1]:<2} {hides:>3}"
        f" {page.reading:>5.0f} {page.work / 60:>5.1f} {paper}"
    )


HEAD = (
    f"{'page':<20} {'pict.':<5} {'ex.':<5} der exp tra est des bld rp  pred. hid  read  work pap\n"
    f"{'':<20} sections with one      questions      tasks   runs       min     h"
)


def opening(text: str) -> str:
    """What the opening page breaks, as a sentence: a program is on its first screen. Empty if it breaks nothing."""
    before = count_words(text.partition(FIRST_RUN)[0])
    if FIRST_RUN not in text:
        return "intro: no program runs on it"
    return f"intro: {before} words before its first program, at most {MOST_BEFORE}" if before > MOST_BEFORE else ""


def parts(pages: Sequence[Page]) -> Iterator[str]:
    """The parts whose pages are all rebuilt and together take too long, each as a sentence."""
    for together, most in MOST_HOURS.items():
        numbers = {chapter.number for chapter in CHAPTERS if chapter.part in together}
        found = [page for page in pages if page.chapter.number in numbers & REBUILT]
        hours = sum(page.reading + page.work for page in found) / 60
        if len(found) == len(numbers) and hours > most:
            yield f"{' and '.join(together)}: {hours:.1f} hours, at most {most:g}"


def report(pages: Sequence[Page]) -> list[str]:
    """Print the table and what each section breaks; returns the sentences about pages that are to keep the limits."""
    say(HEAD)
    for page in pages:
        say(row(page))
    failures = []
    for page in pages:
        rebuilt = page.chapter.number in REBUILT
        say(f"\n{page.chapter.page}{'' if rebuilt else ' (not yet rebuilt)'}")
        for section in page.sections:
            say(f"  {section.title[:60]:<60} {section.before:>4} words before {len(section.tasks)} tasks")
        for broken in page.breaks():
            say(f"  - {broken}")
            if rebuilt:
                failures.append(f"{page.chapter.page}: {broken}")
    return failures


def main(arguments: list[str]) -> int:
    """The command line; returns the exit status."""
    numbers = [int(text) for text in arguments if text.isdecimal()]
    if len(numbers) < len(arguments) or not {*numbers} <= {chapter.number for chapter in CHAPTERS}:
        return fail(f"the arguments must be numbers of chapters, 1 to {CHAPTERS[-1].number}, got {' '.join(arguments)}")
    chapters = [chapter for chapter in CHAPTERS if not numbers or chapter.number in numbers]
    pages = [read(chapter, nbformat.read(BOOK / f"{chapter.page}.ipynb", 4).cells) for chapter in chapters]
    if browser.executable() and (HTML / "index.html").is_file():
        paper = printed(HTML, chapters)
        for page in pages:
            page.printed = paper[page.chapter.number]
    else:
        say("printed pages are not counted: there is no built book or no browser (make book)")
    failures = [
        *report(pages),
        *parts(pages),
        *filter(None, [opening((BOOK / "intro.md").read_text(encoding="utf-8"))]),
    ]
    return fail("broken on rebuilt pages:\n" + "\n".join(failures)) if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
