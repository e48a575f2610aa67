"""What the functions that are graded need of a notebook: the statements that bind or change a name they use.

A notebook also shows, checks, plots, serves and starts worlds; none of that has to run for a function to be right. What
has to run is found from names alone, without running anything: the graded functions use names, the statements that bind
or change those names use others, and so on.
"""

from __future__ import annotations

import ast
import symtable
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.submission.definitions import is_check

#: Methods that change the object they are called on, wherever the call stands.
CHANGING = {"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "popitem", "add", "discard"}
CHANGING |= {"sort", "reverse", "seed", "write", "register", "appendleft", "extendleft", "popleft"}
#: Builtin functions that change their arguments.
SETTERS = {"setattr", "delattr", "next", "exec"}
#: Calls that show, check, plot, wait, serve or start something, by their last name: no reason to run a statement.
SHOWING = {"print", "display", "show", "plot", "check", "predict", "design", "scorecard", "explore", "stepper", "sleep"}
SHOWING |= {"run", "start", "serve", "serve_forever", "spawn", "system", "Popen", "call", "check_call", "check_output"}
SHOWING |= {
    "savefig",
    "figure",
    "legend",
    "title",
    "xlabel",
    "ylabel",
    "bar",
    "scatter",
    "hist",
    "grid",
    "launch",
    "help",
}
#: Changed by code that does not say which names it means.
ANY = "*"

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Chain = ast.Attribute | ast.Subscript | ast.Call | ast.Starred | ast.Await


@dataclass
class Effects:
    """The names of the module that a statement binds, changes, uses, and makes another name for."""

    binds: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)


@dataclass
class Call:
    """What a call of a function does besides returning: the global names it sets or changes, or its arguments."""

    globals: set[str]
    arguments: bool


def needed(statements: Sequence[tuple[ast.stmt, str]], roots: Collection[str]) -> tuple[set[int], set[str]]:
    """The places of the statements that the functions called ``roots`` need, and all the names that these use.

    Args:
        statements: those of a notebook in the order in which they run, each with its text.
        roots: names of graded functions.
    """
    calls = _calls(statements)
    effects = [effects_of(node, text, calls) for node, text in statements]
    by_name: dict[str, list[int]] = defaultdict(list)
    aliased: dict[str, set[str]] = defaultdict(set)
    for place, effect in enumerate(effects):
        for name in effect.binds | effect.changes:
            by_name[name].append(place)
        for name in effect.aliases:
            aliased[name] |= effect.binds
    found: set[int] = set()
    names: set[str] = set()
    todo = {*roots, ANY}
    while todo:
        name = todo.pop()
        names.add(name)
        for place in set(by_name[name]) - found:
            found.add(place)
            todo |= effects[place].uses - names
        todo |= aliased[name] - names
    return found, names


def effects_of(node: ast.stmt, text: str, calls: Mapping[str, Call]) -> Effects:
    """The effects of a statement at the top level of a module; ``calls`` says what calls of its functions do."""
    if is_check(node):
        return Effects()
    binds, uses, sets = _names(node, text)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return Effects(binds)
    if isinstance(node, _Function | ast.ClassDef):
        made = [name for decorator in node.decorator_list for name in _loaded(decorator)]
        return Effects(binds, {one for name in made if name in calls for one in calls[name].globals}, uses)
    changes = _changes([node], calls)
    for name in uses & calls.keys():
        changes |= calls[name].globals
    value = getattr(node, "value", None)
    aliases = {_root(value)} - {""} if isinstance(node, ast.Assign) and not isinstance(value, ast.Call) else set()
    return Effects(binds, changes | sets, uses | binds, aliases)


# Names


def _names(node: ast.stmt, text: str) -> tuple[set[str], set[str], set[str]]:
    """The global names that a statement binds, those it uses, and those that functions in it declare and bind."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Import | ast.ImportFrom):
        simple = not any(isinstance(part, _Scope) for part in ast.walk(node))
    else:
        simple = False
    try:
        table = None if simple else symtable.symtable(text, "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        table = None
    if table is None:
        return set(_bound(node)), set(_loaded(node)), set()
    binds = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
    uses = {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    sets = set()
    todo = list(table.get_children())
    while todo:
        inner = todo.pop()
        todo += inner.get_children()
        for one in inner.get_symbols():
            if one.is_global():
                uses |= {one.get_name()} if one.is_referenced() else set()
                sets |= {one.get_name()} if one.is_assigned() else set()
    return binds, uses, sets


_Scope = _Function | ast.ClassDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def _bound(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, ast.alias):
            yield part.asname or part.name.partition(".")[0]


def _loaded(node: ast.AST) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))


def _root(node: ast.AST | None) -> str:
    """The name that ``a.b[c].d()`` begins with; empty if it begins with anything else."""
    while isinstance(node, _Chain):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _last(node: ast.AST) -> str:
    """The name of a function as it is called: the last part of ``a.b.c``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


# What is changed in place


def _changes(nodes: Iterable[ast.stmt], calls: Mapping[str, Call]) -> set[str]:
    """The names whose objects some statements change in place, as far as their text shows."""
    parts = [part for node in nodes for part in ast.walk(node)]
    found: set[str] = set()
    for part in parts:
        if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
            found.add(ANY if _root(part) in ("globals", "vars", "locals") else _root(part))
        elif isinstance(part, ast.Call):
            found |= _changed_by(part, calls)
        elif isinstance(part, ast.Expr):
            value = part.value.value if isinstance(part.value, ast.Await) else part.value
            if isinstance(value, ast.Call) and _last(value.func) not in SHOWING:
                found |= _perhaps_changed_by(value, calls)
    for _ in range(2):  # an element of a list that is changed is a change of the list
        for part in parts:
            if isinstance(part, ast.For | ast.AsyncFor) and found & set(_bound(part.target)):
                found |= set(_loaded(part.iter))
            elif isinstance(part, ast.Assign) and found & {name for one in part.targets for name in _bound(one)}:
                found.add(_root(part.value))
    return found - {""}


def _changed_by(call: ast.Call, calls: Mapping[str, Call]) -> set[str]:
    """The names that a call certainly means to change, wherever it stands."""
    name = _last(call.func)
    if isinstance(call.func, ast.Attribute):
        if name == "update" and _root(call.func) in ("globals", "vars", "locals"):
            return {ANY}
        return {_root(call.func)} if name in CHANGING else set()
    if name == "exec":
        return {ANY}
    if name in SETTERS or (name in calls and calls[name].arguments):
        return set(map(_root, call.args))
    return set()


def _perhaps_changed_by(call: ast.Call, calls: Mapping[str, Call]) -> set[str]:
    """The names that a call may change whose value nobody takes: what else would it be for?"""
    if isinstance(call.func, ast.Name) and (call.func.id in calls):
        return set()
    found = {_root(call.func)} if isinstance(call.func, ast.Attribute) else set()
    return found | {_root(part) for part in (*call.args, *(one.value for one in call.keywords))}


def _calls(statements: Sequence[tuple[ast.stmt, str]]) -> dict[str, Call]:
    """What calls of the functions and classes of a notebook do, by name, including what they call in turn."""
    found: dict[str, Call] = {}
    uses: dict[str, set[str]] = {}
    for node, text in statements:
        if isinstance(node, _Function | ast.ClassDef):
            changed = _changes(node.body, {})
            _, used, sets = _names(node, text)
            own = {argument.arg for part in ast.walk(node) for argument in _arguments(part)}
            found[node.name] = Call((changed & used - own) | sets, bool(changed & own - {"self"}))
            uses[node.name] = used
    for _ in range(3):
        for name, call in found.items():
            for other in uses[name] & found.keys() - {name}:
                call.globals |= found[other].globals
    return found


def _arguments(node: ast.AST) -> list[ast.arg]:
    if not isinstance(node, _Function):
        return []
    given = node.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
