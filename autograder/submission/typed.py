"""Answers typed into ``predict`` and ``design``: read from the syntax tree, never run.

An answer is a number or a text: a literal, arithmetic of literals, or a name that stands for one at that place.
``predict`` may have been imported under any name. What cannot be read counts as :data:`UNREAD`, and the report says so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any

import rankzero.facts.units
from autograder.submission.literals import literal

#: In place of an answer that is there and cannot be read.
UNREAD = None
#: Most characters of a question's id, and most parts of an answer.
LONGEST, PARTS = 80, 50
#: The calls that are answers.
CALLS = ("predict", "design")
#: Modules of the course whose numbers are known without running anything.
UNITS = ("rankzero.facts.units", "rankzero.units")
#: An answer in text that is not Python.
SEEN = re.compile(r"\b(?:predict|design)\s*\(\s*[\"']([\w-]{1,80})[\"']\s*,")

Answers = dict[str, tuple[Any, ...]]


def answers(trees: Iterable[ast.Module]) -> Answers:
    """The last answers to each question in some cells, or in one file; a call without answers only shows the card."""
    reader = _Reader()
    for tree in trees:
        for statement in tree.body:
            reader.read(statement)
    return reader.typed


def reads_last(trees: Sequence[ast.Module], question: str) -> bool:
    """Whether the last of some cells answers ``question`` so that it can be read, after what the others bind."""
    reader = _Reader()
    for number, tree in enumerate(trees, start=1):
        if number == len(trees):
            reader.typed = {}
        for statement in tree.body:
            reader.read(statement)
    return reader.typed.get(question, (UNREAD,)) != (UNREAD,)


def unread(source: str) -> Answers:
    """The questions that a text that is not Python seems to answer."""
    return dict.fromkeys(SEEN.findall(source), (UNREAD,))


class _Reader:
    """Goes through statements in order. ``calls`` and ``values`` hold what names stand for at the current place."""

    def __init__(self) -> None:
        self.typed: Answers = {}
        self.calls = {name: name for name in CALLS}
        self.modules = {"autograder"}
        self.values: dict[str, Any] = {}

    def read(self, statement: ast.stmt) -> None:
        """Take the answers in a statement at the top level, and what it binds."""
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Import | ast.ImportFrom):
            self._asked(statement)
            self._forget(statement)
        else:  # what it binds may be bound to anything while it runs
            self._forget(statement)
            self._asked(statement)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._import(statement)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            self._assign(statement)

    def _forget(self, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.values.pop(node.id, None)

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for alias in statement.names:
            name = alias.asname or alias.name
            if isinstance(statement, ast.Import):
                self.modules |= {name} if alias.name == "autograder" else set()
            elif statement.module == "autograder" and alias.name in CALLS:
                self.calls[name] = alias.name
            elif statement.module in UNITS and isinstance(
                value := getattr(rankzero.facts.units, alias.name, None), int | float
            ):
                self.values[name] = value

    def _assign(self, statement: ast.Assign | ast.AnnAssign) -> None:
        assert statement.value is not None
        called, value = self._called(statement.value), literal(statement.value, self.values)
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            if isinstance(target, ast.Name) and called:
                self.calls[target.id] = called
            elif isinstance(target, ast.Name) and isinstance(value, str | int | float | dict):
                self.values[target.id] = value

    def _called(self, function: ast.expr) -> str:
        """``predict`` or ``design`` if an expression stands for it; else empty."""
        match function:
            case ast.Name(id=name):
                return self.calls.get(name, "")
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self.modules and name in CALLS:
                return name
        return ""

    def _asked(self, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and (called := self._called(node.func)):
                self._answer(called, node)

    def _answer(self, called: str, call: ast.Call) -> None:
        given = [self._value(part) for part in call.args]
        named = {keyword.arg: self._value(keyword.value) for keyword in call.keywords if keyword.arg}
        for keyword in call.keywords:
            if keyword.arg is None:  # **choices
                more = self._value(keyword.value)
                named |= more if isinstance(more, dict) else {"": UNREAD}
        question, *values = given or [named.pop("identifier", None)]
        if not isinstance(question, str) or len(question) > LONGEST:
            return
        named.pop("confidence", None)
        shown = all(value is ... for value in values)  # the card's own placeholder
        answer = (named,) if called == "design" and named else () if called == "design" or shown else tuple(values)
        if answer or question not in self.typed:
            unread = len(answer) > PARTS or any(map(_is_unread, answer))
            self.typed[question] = (UNREAD,) if unread else answer

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and node.value is ...:
            return ...
        return literal(node, self.values)


def _is_unread(value: Any) -> bool:
    if isinstance(value, list | dict) and len(value) > PARTS:
        return True
    return value is UNREAD or value is ... or (isinstance(value, dict) and UNREAD in value.values())
