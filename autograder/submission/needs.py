"""What the functions that are graded need of a notebook: the statements that bind or change a name they use.

A notebook also shows, checks, plots, serves and starts worlds; none of that has to run for a function to be right. What
has to run is found from names alone, without running anything: the graded functions use names, the statements that bind
or change those names use others, and so on.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autograder import given
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
#: What a function of a module is called that changes the module.
SETTING = re.compile(r"(?:set|seed|manual|use|enable|disable|filter|simplefilter|register|append|insert|update|add)")
BUILTINS = frozenset(dir(builtins))
#: Builtin functions that return the names of the module.
NAMESPACES = ("globals", "vars", "locals")
#: Most scopes times names of a statement whose scopes are told apart: CPython takes a microsecond for each pair.
SCOPED = 1_000_000
#: Changed by code that does not say which names it means.
ANY = "*"

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Chain = ast.Attribute | ast.Subscript | ast.Call | ast.Starred | ast.Await


@dataclass
class Effects:
    """The names of the module that a statement binds, changes, uses, and makes another name for; what it may call."""

    binds: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)


@dataclass
class Call:
    """What a call of a function does besides returning: the global names it sets or changes, or its arguments.

    What it does through the functions that it ``uses`` is not part of it.
    """

    globals: set[str]
    arguments: bool
    uses: set[str]


def needed(statements: Sequence[tuple[ast.stmt, str]], roots: Collection[str]) -> tuple[set[int], set[str]]:
    """The places of the statements that the functions called ``roots`` need, and all the names that these use.

    Args:
        statements: those of a notebook in the order in which they run, each with its text.
        roots: names of graded functions.
    """
    fixed = {name for node, _ in statements if isinstance(node, ast.Import | ast.ImportFrom) for name in _bound(node)}
    calls = _calls(statements, fixed)
    effects = [effects_of(node, text, calls, fixed) for node, text in statements]
    by_name: dict[str, list[int]] = defaultdict(list)
    by_call: dict[str, list[int]] = defaultdict(list)
    aliased: dict[str, set[str]] = defaultdict(set)
    for index, effect in enumerate(effects):
        for name in effect.binds | effect.changes:
            by_name[name].append(index)
        for name in effect.calls:
            by_call[name].append(index)
        for name in effect.aliases:
            aliased[name] |= effect.binds
    setters = _setters(calls)
    found: set[int] = set()
    names: set[str] = set()
    todo = {*(_roots(statements, set(roots), calls)), ANY}
    while todo:
        name = todo.pop()
        names.add(name)
        for index in {*by_name[name], *(index for function in setters(name) for index in by_call[function])} - found:
            found.add(index)
            todo |= effects[index].uses - names
        todo |= aliased[name] - names
    return found, names


def _setters(calls: Mapping[str, Call]) -> Callable[[str], Iterator[str]]:
    """A function that gives those whose call sets or changes a name, directly or through others; each only once."""
    own: dict[str, list[str]] = defaultdict(list)
    callers: dict[str, list[str]] = defaultdict(list)
    for function, call in calls.items():
        for name in call.globals:
            own[name].append(function)
        for name in call.uses:
            callers[name].append(function)
    seen: set[str] = set()

    def setters(name: str) -> Iterator[str]:
        waiting = list(own[name]) if name not in calls and name not in BUILTINS else []
        while waiting:
            function = waiting.pop()
            if function not in seen:
                seen.add(function)
                waiting += callers[function]
                yield function

    return setters


def effects_of(node: ast.stmt, text: str, calls: Mapping[str, Call], fixed: Collection[str] = ()) -> Effects:
    """The effects of a statement at the top level of a module.

    ``calls`` says what calls of its functions do. What is ``fixed``, as imported modules are, is changed only by a
    statement that is nothing else, such as ``torch.manual_seed(0)``: calls of their functions stand everywhere.
    """
    if is_check(node):
        return Effects()
    binds, uses, sets = _names(node, text)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return Effects(binds)
    if isinstance(node, _Function | ast.ClassDef):
        made = {name for decorator in node.decorator_list for name in _loaded(decorator)}
        parts = (part for part in node.decorator_list if isinstance(part, ast.Attribute | ast.Call))
        return Effects(binds, _without(map(_root, parts), fixed), uses, calls=_among(made, calls))
    changes = _changes([node], calls)
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.Delete) and not _is_setting(node):
        changes = _without(changes, fixed)
    changes -= BUILTINS
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.Delete | ast.Expr):
        changes = _without(changes, calls)
    value = getattr(node, "value", None)
    is_alias = isinstance(node, ast.Assign) and not isinstance(value, ast.Call)
    aliases = _without(_without([_root(value)], calls), fixed) if is_alias else set()
    return Effects(binds, changes | sets, uses | binds, aliases, _among(uses, calls))


def _roots(statements: Sequence[tuple[ast.stmt, str]], graded: set[str], calls: Mapping[str, Call]) -> set[str]:
    """The graded names that a notebook gives to functions; ``train`` in a loop, say, is the name of a number."""
    made = graded & calls.keys()
    for node, _ in statements:
        for part in ast.walk(node) if isinstance(node, ast.Assign | ast.If | ast.Try | ast.With) else ():
            if isinstance(part, _Function | ast.ClassDef):
                made |= graded & {part.name}
            elif isinstance(part, ast.Assign) and _makes_function(part.value, graded, calls):
                made |= graded & {name for target in part.targets for name in _bound(target)}
    return made


def _makes_function(value: ast.expr, graded: set[str], calls: Mapping[str, Call]) -> bool:
    """Whether the value of an expression may be a function, and is not just what a graded function returns."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Name | ast.Attribute | ast.Lambda | ast.Subscript | ast.IfExp | ast.BoolOp)
    given = {name for part in (*value.args, *(keyword.value for keyword in value.keywords)) for name in _loaded(part)}
    is_lambda = any(isinstance(part, ast.Lambda) for part in ast.walk(value))
    called = _last(value.func)
    return is_lambda or bool(given & calls.keys()) or (called in calls and called not in graded)


# Names


def _without(names: Iterable[str], others: Collection[str]) -> set[str]:
    """``names`` that are not empty and not among ``others``; takes no longer where those are many."""
    return {name for name in names if name and name not in others}


def _among(names: Iterable[str], others: Collection[str]) -> set[str]:
    return {name for name in names if name in others}


def _names(node: ast.stmt, text: str) -> tuple[set[str], set[str], set[str]]:
    """The global names that a statement binds, those it uses, and those that functions in it declare and bind."""
    scopes = sum(isinstance(part, _Scope) for part in ast.walk(node))
    simple = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Import | ast.ImportFrom)
    opaque = scopes * len(set(re.findall(r"\w+", text))) > SCOPED
    try:
        table = None if (simple and not scopes) or opaque else symtable.symtable(text, "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        table = None
    if table is None:
        return set(_bound(node)), set(_loaded(node)), set()
    binds = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    uses = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    sets = set()
    todo = list(table.get_children())
    while todo:
        inner = todo.pop()
        todo += inner.get_children()
        for symbol in inner.get_symbols():
            if symbol.is_global():
                uses |= {symbol.get_name()} if symbol.is_referenced() else set()
                sets |= {symbol.get_name()} if symbol.is_assigned() else set()
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
    """The name that ``a.b[c].d()`` begins with; empty if it begins with anything else, such as ``f(x)``."""
    while isinstance(node, _Chain):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in NAMESPACES:
            return ""
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
            found.add(ANY if _root(part) in NAMESPACES else _root(part))
        elif isinstance(part, ast.Call):
            found |= _changed_by(part, calls)
        elif isinstance(part, ast.Expr) and not given.is_check(part):
            value = part.value.value if isinstance(part.value, ast.Await) else part.value
            if isinstance(value, ast.Call) and _last(value.func) not in SHOWING:
                found |= _perhaps_changed_by(value, calls)
    for _ in range(2):  # an element of a list that is changed is a change of the list
        for part in parts:
            if isinstance(part, ast.For | ast.AsyncFor) and found & set(_bound(part.target)):
                found |= set(_loaded(part.iter))
            elif isinstance(part, ast.Assign) and found & {name for target in part.targets for name in _bound(target)}:
                found.add(_root(part.value))
    return found - {""}


def _changed_by(call: ast.Call, calls: Mapping[str, Call]) -> set[str]:
    """The names that a call certainly means to change, wherever it stands."""
    name = _last(call.func)
    if isinstance(call.func, ast.Attribute):
        if name == "update" and _root(call.func) in NAMESPACES:
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
    handed = {_root(part) for part in (*call.args, *(keyword.value for keyword in call.keywords))}
    return found | _without(handed, calls)


def _is_setting(node: ast.stmt) -> bool:
    """Whether a statement is a call such as ``torch.manual_seed(0)``."""
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and bool(SETTING.match(_last(node.value.func)))
    )


def _calls(statements: Sequence[tuple[ast.stmt, str]], fixed: Collection[str]) -> dict[str, Call]:
    """What calls of the functions and classes of a notebook do, by name."""
    result: dict[str, Call] = {}
    for node, text in statements:
        if isinstance(node, _Function | ast.ClassDef):
            changed = _changes(node.body, {})
            _, used, sets = _names(node, text)
            own = {argument.arg for part in ast.walk(node) for argument in _arguments(part)}
            names = _without((changed & used - own) | sets, fixed)
            result[node.name] = Call(names, bool(changed & own - {"self"}), used)
    return result


def _arguments(node: ast.AST) -> list[ast.arg]:
    if not isinstance(node, _Function):
        return []
    own = node.args
    return [*own.posonlyargs, *own.args, *own.kwonlyargs, *filter(None, (own.vararg, own.kwarg))]
