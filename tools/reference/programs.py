"""Programs: every demo, what it shows, how it is started, and the sections that use it."""

from __future__ import annotations

import ast
import html
import re

from demos import HERE, names
from rankzero.facts.chapters import CHAPTERS, Chapter
from tools.install_cells import address

from .markup import command, inline, records, section_link, texts

_HEADING = re.compile(r"^## (?:(\d+\.\d+) )?", re.MULTILINE)


def mentions(chapter: Chapter) -> dict[str, list[str]]:
    """The sections of a chapter that name each program: ``python -m demos NAME``."""
    parts = _HEADING.split("\n".join(texts(chapter)))
    result: dict[str, list[str]] = {}
    for section, text in zip(parts[1::2], parts[2::2], strict=True):
        for name in re.findall(r"python -m demos (\w+)", text):
            if section and section not in result.setdefault(name, []):
                result[name].append(section)
    return result


def _entry(name: str, chapter: Chapter, sections: list[str]) -> str:
    path = f"{chapter.package}/{name}.py"
    doc = ast.get_docstring(ast.parse((HERE / path).read_text(encoding="utf-8"))) or ""
    line = next((line for line in doc.splitlines() if line.startswith("python -m demos")), f"python -m demos {name}")
    source = f'<a href="{html.escape(address())}/blob/main/demos/{path}"><code>demos/{path}</code></a>'
    parts = [
        ("Try", command(line)),
        ("Section", ", ".join(map(section_link, sections))),
        ("Source", source),
    ]
    return f"### `{name}`\n\n<p>{inline(doc.partition(chr(10))[0])}</p>\n\n{records(parts)}\n"


def text() -> str:
    """The page's generated part."""
    parts = []
    for chapter in CHAPTERS:
        mine = [name for name, module in names().items() if module.split(".")[1] == chapter.package]
        if mine:
            used = mentions(chapter)
            parts.append(f"## {chapter.number}. {chapter.title}\n")
            parts += [_entry(name, chapter, used.get(name, [])) for name in mine]
    return "\n".join(parts)
