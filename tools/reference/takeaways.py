"""Takeaways: the sentences to remember, by chapter, each with its section."""

from __future__ import annotations

import nbformat

from rankzero.facts.chapters import CHAPTERS
from tools import takeaways
from tools.common import pages_of

from .markup import section_link


def text() -> str:
    """The page's generated part."""
    parts = []
    for chapter in CHAPTERS:
        found = [one for path in pages_of(chapter) for one in takeaways.collected(nbformat.read(path, 4).cells)]
        lines = "".join(f"- {sentence} {section_link(section)}\n" for section, sentence in found)
        if found:
            parts.append(f"## {chapter.number}. {chapter.title}\n\n{lines}")
    return "\n".join(parts)
