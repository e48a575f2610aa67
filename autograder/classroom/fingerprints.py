"""Fingerprints of a program, from its syntax tree. They survive renaming, reordering and added comments.

After Schleimer, Wilkerson and Aiken (2003), *Winnowing: local algorithms for document fingerprinting*,
doi:10.1145/872757.872770: a program is a stream of tokens, every ``GRAM`` consecutive tokens are hashed, and the
smallest of every ``WINDOW`` consecutive hashes is kept. Programs that have ``GRAM + WINDOW - 1`` consecutive tokens in
common therefore have a fingerprint in common.

The tokens come from the normalized tree. Structure, operators, constants, builtins, imported names and attributes
count; names that the program defines, layout, comments, docstrings, sentences, annotations, signatures, imports and
``print`` do not. Each function is a stream of its own, so the order of functions does not count either. No code runs.
"""

from __future__ import annotations

import ast
import builtins
import functools
import zlib
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from autograder import syntax

#: How many tokens are hashed together, and from how many hashes one is kept.
GRAM, WINDOW = 16, 4
#: Modulus (a prime) and base of the rolling hash.
PRIME, BASE = (1 << 61) - 1, 0x1F3D5B79A2C4E687 % ((1 << 61) - 1)
BUILTINS = frozenset(dir(builtins))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Statements that produce no token at all.
SILENT = (ast.Pass, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
#: Fields that are ignored, and fields that are blocks: the end of a block is a token of its own.
SKIPPED = ("ctx", "annotation", "returns", "type_comment", "type_params")
BLOCKS = ("body", "orelse", "finalbody", "handlers")
#: Kinds of nodes that count as another kind.
SAME = {ast.AnnAssign: "Assign", ast.JoinedStr: "text", ast.AsyncFunctionDef: "FunctionDef"}


class Stream(NamedTuple):
    """The tokens of one function, as numbers, and the line of each. At the top level the name is empty."""

    name: str
    tokens: list[int]
    lines: list[int]


def streams(source: str) -> list[Stream]:
    """The token streams of a source: one for each function and method, and one for the code around them."""
    tree = syntax.tree_of(source)
    if tree is None:
        return []
    names = _Names(tree)
    bodies = [("", tree.body)]
    bodies += [(f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
    result = []
    for prefix, body in bodies:
        rest = [node for node in body if not isinstance(node, (*FUNCTIONS, ast.ClassDef))]
        result += [names.stream(prefix + node.name, node.body) for node in body if isinstance(node, FUNCTIONS)]
        result.append(names.stream(prefix.rstrip("."), rest))
    return result


def grams(tokens: Sequence[int]) -> list[int]:
    """The hash of every ``GRAM`` consecutive tokens."""
    if len(tokens) < GRAM:
        return []
    leaving = pow(BASE, GRAM - 1, PRIME)
    value = 0
    for token in tokens[:GRAM]:
        value = (value * BASE + token) % PRIME
    found = [value]
    for gone, token in zip(tokens, tokens[GRAM:], strict=False):
        value = ((value - gone * leaving) * BASE + token) % PRIME
        found.append(value)
    return found


def fingerprints(stream: Stream, given: Collection[int] = ()) -> dict[int, int]:
    """The hashes that winnowing keeps, with their line numbers; those in ``given`` are dropped."""
    hashes = grams(stream.tokens)
    kept: dict[int, int] = {}
    last = -1
    for start in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        window = hashes[start : start + WINDOW]
        least = min(window)
        index = start + len(window) - 1 - window[::-1].index(least)  # of equal hashes the rightmost
        if index != last:
            last = index
            if least not in given:
                kept.setdefault(least, stream.lines[index])
    return kept


class _Names:
    """Turns trees into tokens, knowing what the source imports and under which name."""

    def __init__(self, tree: ast.Module) -> None:
        imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        known = {alias.asname or alias.name: alias.name for node in imports for alias in node.names}
        self._known = {name: _number(name) for name in BUILTINS} | {one: _number(all_) for one, all_ in known.items()}

    def stream(self, name: str, nodes: Sequence[ast.AST]) -> Stream:
        """The tokens of some nodes, in source order. An explicit stack is used because a tree may be deep."""
        tokens: list[int] = []
        lines: list[int] = []
        line = 0
        stack: list[Any] = [*reversed(nodes)]
        while stack:
            node = stack.pop()
            if type(node) is not int:
                if _is_silent(node):
                    continue
                line = getattr(node, "lineno", line)
                stack += _parts(node)
                node = self._token(node)
            tokens.append(node)
            lines.append(line)
        return Stream(name, tokens, lines)

    def _token(self, node: Any) -> int:
        """The token of a node: its kind, and for names, attributes and constants what they refer to."""
        kind = type(node)
        if kind is ast.Name:
            return self._known.get(node.id, MADE_UP) if type(node.ctx) is ast.Load else MADE_UP
        if kind is ast.Attribute:
            own = type(node.value) is ast.Name and node.value.id == "self"
            return MADE_UP if own else _number(f".{node.attr}")
        return _number(_constant(node.value) if kind is ast.Constant else SAME.get(kind, kind.__name__))


@functools.lru_cache(10_000)
def _number(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "replace")) + 1


MADE_UP, END = _number("name"), _number("end")


def _constant(value: object) -> str:
    """A normalized constant: 2 and 2.0 are the same number, and all sentences are equal."""
    if isinstance(value, str):
        return "text" if " " in value else f"'{value}'"
    if type(value) is int and abs(value) < 2**53:
        return repr(float(value))
    return hex(value) if type(value) is int else repr(value)


def _is_silent(node: Any) -> bool:
    """Whether a node produces no token: docstrings, prints, imports, declarations."""
    kind = type(node)
    if kind is ast.Expr:
        value = node.value
        printed = type(value) is ast.Call and type(value.func) is ast.Name and value.func.id == "print"
        return printed or type(value) is ast.Constant
    return kind in SILENT or (kind is ast.AnnAssign and node.value is None)


@functools.cache
def _fields(kind: Any) -> tuple[tuple[str, bool], ...]:
    """The fields of a kind of node that count, last one first, and whether each is a block."""
    return tuple((name, name in BLOCKS) for name in reversed(kind._fields) if name not in SKIPPED)


def _parts(node: Any) -> list[Any]:
    """The children of a node, last one first."""
    kind: Any = type(node)
    if kind in (ast.Name, ast.Constant, ast.JoinedStr):
        return []
    if kind is ast.Compare and len(node.ops) == 1 and type(node.ops[0]) in TURNED:  # a > b counts as b < a
        return [node.left, TURNED[type(node.ops[0])], node.comparators[0]]
    parts: list[Any] = []
    for name, block in _fields(kind):
        value = getattr(node, name, None)
        if isinstance(value, list):
            parts += [END] if block and value else []
            parts += [part for part in reversed(value) if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST):
            parts.append(value)
    return parts


TURNED = {ast.Gt: _number("Lt"), ast.GtE: _number("LtE")}
