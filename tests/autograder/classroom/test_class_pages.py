"""Pages: what a learner and an instructor read, what must never stand there, and how it looks in a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import toy_bank as toys

from autograder.bank import find
from autograder.classroom import pages
from autograder.classroom.collecting import Handed
from autograder.classroom.graded import Graded
from autograder.marking.marks import Answered, Grading, Mark, Share, refused

STAMPS = {"sandbox": "sandbox: bubblewrap", "vectors": "abcd", "book": "https://example.edu/book"}
ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title><b>",
    "&lt;",
]
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Read(HTMLParser):
    """A page as it is nested: text, headings, links, tables, and every tag that is not closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []
        self.tags: list[str] = []
        self.headings: list[int] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.feed(html)
        self.close()
        self.faults += self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name in ("href", "src")]
        self.headings += [int(tag[1])] if re.fullmatch(r"h[1-6]", tag) else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data):
        if not {"style", "title"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


def handed(name: str, identifier: str = "ana", late: bool = False) -> Handed:
    return Handed(identifier, Path("labs.py"), name, {}, late)


def marked(item, state: str, score: float = 0.0, public=(), hidden=(), slip: str = "") -> Mark:
    return Mark(item, state, (Share("public cases", 1, 1, score, item.points),), public, hidden, slip)


@pytest.fixture
def added(tmp_path) -> Graded:
    """A grading with a slip, a right item, an unwritten one and one that lacks another."""
    source = "def scale(value, factor):\n    return value + factor\n\ndef lowest(values):\n    return min(values)\n\n"
    source += "def spread(values):\n    raise NotImplementedError('91-spread: not written yet')\n"
    file = tmp_path / "toys.py"
    file.write_text(source)
    return Graded(handed("Ana Novak"), toys.graded(file))


def class_of(size: int) -> list[Graded]:
    """A class in which some are right, some make one slip or another, some hand in nothing or a broken archive."""
    slip, other = "The factor was added.", "A negative factor must raise."
    kinds = [
        (marked(toys.SCALE, "right", 4.0), marked(toys.LOWEST, "right", 4.0)),
        (marked(toys.SCALE, "wrong", 0.0, (), (slip,), slip), marked(toys.LOWEST, "right", 4.0)),
        (marked(toys.SCALE, "wrong", 0.0, (), (slip,), slip), marked(toys.LOWEST, "missing", 0.0, ("not there",))),
        (marked(toys.SCALE, "partly", 3.0, (), (other, "a factor of 0"), other), marked(toys.LOWEST, "right", 4.0)),
        (),
    ]
    rows = []
    for number in range(size):
        marks = kinds[number % len(kinds)]
        grading = Grading("labs.py", "0" * 64, marks) if marks else refused("a.zip", "the archive is encrypted")
        rows.append(Graded(handed(f"Learner {number}", f"id-{number}", number % 4 == 3), grading))
    return rows


# A learner's page


def test_what_is_right_comes_before_what_to_do_next(added):
    text = Read(pages.learner(added, STAMPS)).text
    right, next_, points = (text.index(words) for words in ("What is right", "What to do next", "Every item"))
    assert right < text.index("minimum") < next_ < text.index("The factor was added.") < points
    assert "Start with scaling : read section 91.1" in text
    assert "4 of 12 points" in text


def test_the_idea_stands_before_the_failing_cases(added):
    text = Read(pages.learner(added, STAMPS)).text
    assert text.index("The factor was added.") < text.index("On the public cases") < text.index("scale(2, 3): ")


def test_what_is_not_written_is_listed_with_where_to_read(added):
    text = Read(pages.learner(added, STAMPS)).text
    assert re.search(r"Not written yet .* spread spread section 91.2 4 state Tally section 92.1 4", text)


def test_next_steps_come_in_the_order_of_the_course():
    names = ["cap-parameter-count", "03-distributed-mean", "03-traffic"]
    marks = tuple(marked(find(name), "wrong", hidden=(f"hint of {name}",)) for name in names)
    text = Read(pages.learner(Graded(handed("A"), Grading("a", "b", marks)), STAMPS)).text
    assert sorted(names, key=lambda name: text.index(f"hint of {name}")) == names[::-1]


def test_sections_link_to_the_book(added):
    mark = marked(find("03-ring-all-gather"), "wrong", hidden=("A hint with `code`.",))
    html = pages.learner(Graded(handed("A"), Grading("a", "b", (mark,))), STAMPS)
    address = "https://example.edu/book/03-collectives.html#ring-all-gather-then-all-reduce"
    assert set(Read(html).links) == {address}
    assert "A hint with <code>code</code>." in html


def test_a_missing_helper_is_named_once(tmp_path):
    """Kills: a sentence about the whole function, shown as if it were one of its calls."""
    file = tmp_path / "toys.py"
    file.write_text("def spread(values):\n    low = lowest(values)\n    return [value - low for value in values]\n")
    text = Read(pages.learner(Graded(handed("A"), toys.graded(file)), STAMPS)).text
    assert text.count("spread needs lowest (91-lowest), which is not there") == 1
    assert "On the public cases" not in text


def test_public_cases_that_pass_are_never_all(tmp_path):
    mark = marked(toys.SCALE, "partly", 1.0, (), ("a factor of 0",))
    text = Read(pages.learner(Graded(handed("A"), Grading("a", "b", (mark,))), {})).text
    assert "The public checks pass and hidden ones do not" in text
    assert "all passed" not in text.lower()


@pytest.mark.parametrize("fault", [False, True])
def test_a_refusal_says_why_and_what_to_do(fault):
    text = Read(pages.learner(Graded(handed("A"), refused("a.zip", "the archive is encrypted"), fault), {})).text
    assert "Not graded: the archive is encrypted" in text.replace(" :", ":")
    assert "costs no attempt" in text
    assert ("not your fault" in text) is fault


def test_questions_are_named_by_their_titles():
    answers = (Answered(find("03-steps"), "wrong", ("Not this one.",)), Answered(find("03-ring-ms"), "right"))
    text = Read(pages.learner(Graded(handed("A"), Grading("a", "b", (), answers)), STAMPS)).text
    assert "Messages of a ring" in text
    assert "Not this one." in text


# What must never stand there


@pytest.mark.parametrize(
    "body",
    [
        "raise KeyError(f'hidden {value} {factor}')",
        "print('hidden', value, factor); return None",
        "return f'hidden {value} {factor}'",
        "raise type(f'hidden_{value}'.replace('.', '_'), (Exception,), {})('hidden')",
        "return value * factor * 1.0625",
    ],
)
def test_nothing_of_hidden_cases_is_told(tmp_path, body):
    """Kills: an input, an expected value or a ratio of a hidden case, or what the code says in it, on any page."""
    file = tmp_path / "toys.py"
    file.write_text(f"def scale(value, factor):\n    {body}\n")
    graded = Graded(handed("Mallory"), toys.graded(file, toys.SCALE))
    assert graded.grading.marks[0].state != "right"
    paper = toys.exam(toys.SCALE).paper(toys.SCALE)
    numbers = {number for asked in paper.asked if asked.group for number in (*asked.case.args, asked.expected.value)}
    for html in (pages.learner(graded, STAMPS), pages.classroom([graded], STAMPS)):
        text = Read(html).text
        assert "hidden_" not in text
        assert not any("'hidden {} {}".format(*asked.case.args) in text for asked in paper.asked if asked.group)
        said = set(re.findall(r"-?\d+\.\d+", text))
        assert not said & {f"{n:.{d}g}" for n in numbers if isinstance(n, float) for d in (4, 6, 15, 17)}
    assert (
        "1.06" not in Read(pages.classroom([graded], STAMPS)).text
    )  # the ratio of public cases is the learner's alone


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_people_chose_becomes_markup(attack):
    """Kills: a name, a file name, a problem or a reason that runs in the instructor's browser."""
    mark = marked(toys.SCALE, "wrong", 0.0, (f"scale(1): {attack}",), (attack,), attack)
    grading = Grading(attack, attack, (mark,), problems=(attack,))
    rows = [Graded(handed(attack, attack), grading), Graded(handed(attack, "b"), refused(attack, attack))]
    for html in (
        *(pages.learner(row, {"sandbox": attack}) for row in rows),
        pages.classroom(rows, {"sandbox": attack}),
    ):
        read = Read(html)
        assert read.faults == []
        assert not {"script", "img", "b"} & set(read.tags)
        assert not [name for name in read.attributes if name.startswith("on")]
        assert read.text.count(attack) >= 2
        assert all(not link.startswith(("javascript:", "data:")) for link in read.links)


def test_a_name_that_is_not_unicode_makes_a_page_all_the_same():
    page = pages.learner(Graded(handed("lone \udcff"), refused("a \udcff", "b")), {})
    assert "lone" in page.encode("utf-8").decode("utf-8")


def test_who_handed_in_something_wrong_is_led_to_the_page_that_says_what_to_hand_in():
    """Kills a note about the files that leaves a learner alone, and blame for a fault of the grader."""
    link, stamps = "https://example.org/book/hand-in.html", {"book": "https://example.org/book/"}
    right = Grading("a.zip", "s", (marked(toys.SCALE, "right", 1.0),))
    noted = replace(right, problems=("no notebook",))
    cases = [(noted, False), (refused("a.zip", "broken"), False)]
    for grading, fault in [*cases, (refused("a.zip", "broken"), True), (right, False)]:
        read = Read(pages.learner(Graded(handed("Ana"), grading, fault=fault), stamps))
        assert (link in read.links) == ((grading, fault) in cases)


# The class


def test_the_class_page_counts_scores_states_slips_and_hints():
    text = Read(pages.classroom(class_of(20), STAMPS)).text
    assert "20 submissions, 4 could not be graded, 5 late." in text
    assert "median 5.5, mean 4.75, lowest 0, highest 8." in text
    assert "8 of 16 The factor was added. 91-scale" in text
    assert "4 of 16 A negative factor must raise. 91-scale" in text
    assert "4 of 16 a factor of 0 91-scale" in text
    assert text.index("8 of 16 The factor") < text.index("4 of 16 A negative")
    assert re.search(r"91-scale section 91.1 44% 4 4 8 0 0 0 91-lowest section 91.2 75% 12 0 0 4 0 0", text)


def test_the_distribution_counts_everyone_once():
    """Kills: a full score, or one above full by optional items, that falls out of the last class."""
    rows = [
        *class_of(20),
        Graded(handed("B"), Grading("a", "b", (marked(toys.SCALE, "right", 4.0), marked(toys.TALLY, "right", 4.0)))),
    ]
    html = pages.classroom(rows, STAMPS)
    (found,) = re.findall(r"<caption>Learners by share.*?</table>", html, re.DOTALL)[:1]
    counted = [int(count) for count in re.findall(r'<td class="number">(\d+)</td>', found)]
    assert (len(counted), sum(counted)) == (10, 17)
    assert counted[9] == 5


def test_every_learner_is_linked_once_and_refusals_say_why():
    html = pages.classroom(class_of(20), STAMPS)
    links = Read(html).links
    assert {link for link in links if link.startswith("id-")} == {f"id-{n}.html" for n in range(20)}
    assert Read(html).text.count("the archive is encrypted") == 4


def test_what_nobody_tried_is_not_the_hardest():
    rows = [Graded(handed("A"), Grading("a", "b", (marked(toys.SCALE, "missing"), marked(toys.LOWEST, "wrong"))))]
    text = Read(pages.classroom(rows, STAMPS)).text
    assert text.index("91-lowest") < text.index("91-scale")


@pytest.mark.parametrize(
    ("line", "warned"),
    [
        ("sandbox: process limits, seccomp, bubblewrap", False),
        ("sandbox: process limits; not isolated: files, network", True),
        ("sandbox: none (process limits only, as asked)", True),
        ("", True),
    ],
)
def test_the_class_page_warns_of_what_was_not_isolated(line, warned):
    assert ("did not run in full isolation" in pages.classroom(class_of(4), {"sandbox": line})) is warned


@pytest.mark.parametrize("rows", [[], class_of(5)[4:]])
def test_a_class_without_a_grading_has_a_page(rows):
    assert f"{len(rows)} submissions" in Read(pages.classroom(rows, {})).text


# How it is made


@pytest.fixture(params=["learner", "refused", "class", "empty"])
def html(request, added) -> str:
    return {
        "learner": lambda: pages.learner(added, STAMPS),
        "refused": lambda: pages.learner(Graded(handed("A", late=True), refused("a", "b")), STAMPS),
        "class": lambda: pages.classroom(class_of(60), STAMPS),
        "empty": lambda: pages.classroom([], STAMPS),
    }[request.param]()


def test_pages_are_whole_and_ask_for_nothing(html):
    read = Read(html)
    assert read.faults == []
    assert html.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert {"script", "img", "link", "iframe", "form"} & set(read.tags) == set()
    assert "url(" not in html
    assert "@import" not in html


def test_no_template_lets_text_through_unescaped():
    """Kills: a template that switches escaping off for one value because it looks harmless."""
    templates = list(Path(pages.__file__).with_name("templates").iterdir())
    assert {"base.html", "class.html", "learner.html"} <= {template.name for template in templates}
    for template in templates:
        assert not re.search(r"\bsafe\b|\bautoescape\b", template.read_text(encoding="utf-8")), template.name


def test_headings_tables_and_columns_are_named(html):
    read = Read(html)
    assert read.headings[0] == 1
    assert read.headings.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(read.headings, read.headings[1:], strict=False))
    assert html.count("<table>") == html.count("<caption>") == html.count('role="region" tabindex="0" aria-label=')
    assert not re.search(r"<th[^>]*></th>", html)
    assert not re.search(r"<th(?![^>]*scope=)[ >]", html)


def test_colours_have_contrast_in_light_and_dark():
    """WCAG 2.1, 1.4.3: text at least 4.5 to 1 against what it stands on; bars at least as far as the eye needs."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    schemes = re.findall(r":root\{(.*?)\}", pages.classroom([], {}), re.DOTALL)
    assert len(schemes) == 2
    for scheme in schemes:
        light = {name: luminance(colour) for name, colour in re.findall(r"--(\w+):(#[0-9a-f]{6})", scheme)}
        for ground in ("page", "panel"):
            for name in ("text", "quiet", "accent", "right", "wrong"):
                high, low = sorted((light[name], light[ground]), reverse=True)
                assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground, scheme)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_pages_fit_the_screen_in_light_and_dark(browser, added, tmp_path, scheme, width):
    """Nothing is wider than the screen but tables, which scroll by themselves; no policy is broken."""
    long = Graded(
        handed("N" * 90, "n" * 40), Grading("f" * 200 + ".py", "a" * 64, added.grading.marks, problems=("x" * 300,))
    )
    files = {"learner": pages.learner(long, STAMPS), "class": pages.classroom([*class_of(40), long], STAMPS)}
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    for name, html in files.items():
        (tmp_path / f"{name}.html").write_text(html, encoding="utf-8")
        page.goto((tmp_path / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (colour == "rgb(255, 255, 255)") is (scheme == "light")
    assert faults == []
    context.close()
