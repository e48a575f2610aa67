"""A docstring of the course as HTML: what and why, a table of arguments, what is returned, and errors folded.

The docstrings follow one form (Google's): paragraphs, then sections such as ``Args:`` with an indented body.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from html import escape
from typing import Any

from autograder.markup import blocks, inline

SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises|Sources?):(?: +(.*))?$")
ENTRY = re.compile(r"^([\w*][\w.*]*(?:, [\w*][\w.*]*)*): (.*)$")
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")
BULLET = re.compile(r"^\s*[-*] ")
CODE = re.compile(r"``(.+?)``", re.DOTALL)
#: A mark of the cards' Markdown, which is text in a docstring, except around an *emphasised* word or words.
MARK = re.compile(r"(?<![\w*])\*(?P<words>[^\W\d_]+(?:\s[^\W\d_]+)*)\*(?![\w*])|[$*`\\]")
#: Characters of a type that is not broken in its column.
ONE_LINE = 20
MODULE = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Z])")


@dataclass(frozen=True)
class Docstring:
    """The parts of a docstring: free text, and the text of each section by name, without its indentation."""

    text: str
    sections: dict[str, str] = field(default_factory=dict)

    def entries(self, name: str) -> list[tuple[str, str]]:
        """The entries of a section such as ``Args``: the name, and the text in the Markdown of cards."""
        found: list[tuple[str, list[str]]] = []
        for line in self.sections.get(name, "").splitlines():
            head = None if line.startswith(" ") else ENTRY.match(line)
            if head:
                found.append((head[1], [head[2]]))
            elif found:
                found[-1][1].append(line)
        return [(name, "\n".join([lines[0], inspect.cleandoc("\n".join(["", *lines[1:]]))])) for name, lines in found]


def read(text: str) -> Docstring:
    """Take a docstring apart."""
    free: list[str] = []
    sections: dict[str, list[str]] = {}
    into = free
    for line in inspect.cleandoc(text).splitlines():
        if head := SECTION.match(line):
            into = sections.setdefault(head[1], [head[2]] if head[2] else [])
        else:
            into.append(line)
    return Docstring("\n".join(free).strip(), {name: _dedented(lines) for name, lines in sections.items()})


def _dedented(lines: list[str]) -> str:
    """The lines without the indentation of the body; the first may be on the line of the section's name."""
    indented = [len(line) - len(line.lstrip()) for line in lines if line.startswith(" ")]
    depth = min(indented, default=0)
    return "\n".join(line[depth:] if line.startswith(" ") else line for line in lines).strip("\n")


def marked(text: str) -> str:
    """Text of a docstring in the Markdown of cards: literals in backticks, emphasis, and no other mark-up."""
    pieces = CODE.split(ROLE.sub(r"``\1``", text))
    plain = [MARK.sub(lambda mark: mark[0] if mark["words"] else f"\\{mark[0]}", piece) for piece in pieces]
    return "".join(f"`{code}`" if index % 2 else plain[index] for index, code in enumerate(pieces))


def _blocks(text: str) -> str:
    """Paragraphs and lists; a list need not have a blank line before it."""
    groups: list[str] = []
    for group in re.split(r"\n\s*\n", text):
        lines = [BULLET.sub("- ", line) for line in group.splitlines()]
        first = next((index for index, line in enumerate(lines) if line.startswith("- ")), len(lines))
        groups += ["\n".join(lines[:first]), "\n".join(lines[first:])]
    return blocks(marked("\n\n".join(filter(None, groups))), True)


def task(program: Any) -> str:
    """The docstring of a function or class as HTML, with a table of its arguments."""
    parts = read(program.__doc__ or "")
    html = _blocks(parts.text) + _arguments(program, parts)
    for name in ("Returns", "Yields"):
        if name in parts.sections:
            html += f"<p><b>{name}</b></p>{_blocks(parts.sections[name])}".replace("</b></p><p>", ":</b> ", 1)
    if inspect.isclass(program):
        html += _methods(program)
    return html + _errors(parts) + _sources(parts)


def _arguments(program: Any, parts: Docstring) -> str:
    entries = parts.entries("Args") + parts.entries("Attributes")
    if not entries:
        return ""
    kinds = _annotations(program)
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(name)}</code></th>{_type(_kind(name, kinds))}<td>{_blocks(text)}</td></tr>'
        for name, text in entries
    )
    head = "<thead><tr><th>argument</th><th>type</th><th>what it is</th></tr></thead>"
    return f'<div class="rz-scroll"><table class="rz-arguments">{head}<tbody>{rows}</tbody></table></div>'


def _type(kind: str) -> str:
    """The cell of a type and its default: on one line unless it is long."""
    together = " rz-together" if len(kind) <= ONE_LINE else ""
    return f'<td class="rz-type{together}">{escape(kind)}</td>'


def _kind(names: str, kinds: dict[str, str]) -> str:
    """The type of an entry such as ``rows, columns``, where all of its names have the same."""
    found = {kinds.get(name.lstrip("*"), "") for name in names.split(", ")}
    return found.pop() if len(found) == 1 else ""


def _annotations(program: Any) -> dict[str, str]:
    """The type of each argument without the modules of its names, and its default."""
    result = {}
    for name, parameter in inspect.signature(program).parameters.items():
        annotation = parameter.annotation
        kind = "" if annotation is parameter.empty else MODULE.sub("", inspect.formatannotation(annotation).strip("'"))
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        result[name] = f"{kind}{default}".strip()
    return result


def _methods(program: type) -> str:
    """What each public method does, with its own sections folded away."""
    rows = ""
    for name, member in vars(program).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if (
            not inspect.isfunction(function)
            or not function.__doc__
            or (name.startswith("_") and not name.endswith("__"))
        ):
            continue
        parts = read(function.__doc__)
        rows += f"<dt><code>{escape(name)}</code></dt><dd>{_blocks(parts.text)}{_details(parts)}</dd>"
    return f'<dl class="rz-methods">{rows}</dl>' if rows else ""


def _details(parts: Docstring) -> str:
    """The arguments, the result and the errors of a method, one line each."""
    lines = [(f"<code>{escape(name)}</code>", text) for name, text in parts.entries("Args")]
    lines += [("returns", parts.sections["Returns"])] if "Returns" in parts.sections else []
    lines += [(f"raises <code>{escape(name)}</code>", text) for name, text in parts.entries("Raises")]
    return "<ul>" + "".join(f"<li>{name}: {_inline(text)}</li>" for name, text in lines) + "</ul>" if lines else ""


def _inline(text: str) -> str:
    return inline(marked(" ".join(text.split())), True)


def _errors(parts: Docstring) -> str:
    entries = parts.entries("Raises")
    if not entries:
        return ""
    lines = "".join(f"<li><code>{escape(name)}</code>: {_inline(text)}</li>" for name, text in entries)
    return f"<details><summary>Errors to raise</summary><ul>{lines}</ul></details>"


def _sources(parts: Docstring) -> str:
    found = [text for name, text in parts.sections.items() if name.startswith("Source")]
    return f'<p class="rz-source">Source: {_inline(" ".join(found))}</p>' if found else ""
