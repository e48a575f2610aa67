"""Bibliography: every work that the sources of a chapter name, once, with the chapters that use it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rankzero.facts.chapters import CHAPTERS, Chapter

from .markup import inline, texts

_WORK = re.compile(r"arXiv:\d{4}\.\d{4,5}|doi:10\.\d{4,}/[^\s,;]*[^\s,;.:]")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_TITLE = re.compile(r'"([^"]+)"')
#: The end of an entry that says what the chapter uses of a work: a place in it, or a few words.
_NOTE = re.compile(r"(?:, (?:sections?|tables?|appendix|chapters?) [^,:\"]*)?(?:: [^\"]*|\s\([^()]*\))?$")

#: How an entry begins that points to the course's own list of what was read.
_OWN = "What was read"


@dataclass
class Work:
    """A work, as the chapter that describes it most fully prints it."""

    text: str
    chapters: list[Chapter] = field(default_factory=list)

    @property
    def author(self) -> str:
        """The first author's family name, or the organization: what the list is sorted by."""
        first = re.split(r",| et al\.| and ", self.text, maxsplit=1)[0]
        return first.split(" ")[-1] if re.match(r"(?:[A-Z]\.|[A-Z]\.-[A-Z]\.) ", first) else first


def bullets(chapter: Chapter) -> list[str]:
    """The entries below ``## Sources`` of a chapter, each in one line."""
    found = []
    for text in texts(chapter):
        listed = re.split(r"^## ", text.partition("## Sources\n")[2], flags=re.MULTILINE)[0]
        found += re.split(r"^- ", listed, flags=re.MULTILINE)[1:]
    return [re.sub(r"\s+", " ", entry).strip() for entry in found]


def cited(entry: str) -> list[str]:
    """The works of one entry. A second title of the same authors is listed without them, so they are added."""
    authors, texts = "", []
    for part in re.split(r"; (?=[A-Z\"])|, and (?=\")", entry):
        text = _NOTE.sub("", part.strip().rstrip("."), count=1)
        texts.append(authors + text if text.startswith('"') else text)
        authors = texts[-1].partition('"')[0]
    return texts


def names(text: str) -> list[str]:
    """What a work is recognized by: its number, its title, or all that is printed."""
    found = [match[0] for pattern in (_WORK, _TITLE) if (match := pattern.search(text))]
    return [name.lower() for name in found or [text]]


def works() -> list[Work]:
    """Every work once, by author. Data sheets are listed with the hardware."""
    found: dict[str, Work] = {}
    listed = [(chapter, text) for chapter in CHAPTERS for entry in bullets(chapter) for text in cited(entry)]
    for chapter, text in listed:
        if "data sheet" in text or text.startswith(_OWN):
            continue
        known = [found[name] for name in names(text) if name in found]
        work = known[0] if known else Work(text)
        work.text = max(work.text, text, key=len)
        found.update(dict.fromkeys(names(text), work))
        if chapter not in work.chapters:
            work.chapters.append(chapter)
    once = {id(work): work for work in found.values()}
    return sorted(once.values(), key=lambda work: (work.author.lower(), work.text))


def _line(work: Work) -> str:
    chapters = ", ".join(f'<a href="../{chapter.page}.html">{chapter.number}</a>' for chapter in work.chapters)
    return f"<li>{inline(work.text)}. <span>Chapter {chapters}</span></li>\n"


def text() -> str:
    """The page's generated part."""
    papers = [work for work in works() if _WORK.search(work.text) or _YEAR.search(work.text)]
    others = [work for work in works() if work not in papers]
    groups = {"Papers, books and dated documents": papers, "Documentation and code": others}
    lists = [
        f'## {name}\n\n<ul class="rz-works">\n{"".join(map(_line, group))}</ul>\n' for name, group in groups.items()
    ]
    return "\n".join(lists)
