"""Small changes to the reference of an exercise that its cases do not notice: where a wrong program could pass.

    python -m tools.mutants 05-zero-memory 06-activation-bytes
    python -m tools.mutants --chapter 05
    python -m tools.mutants --messages 05-zero-memory       what a learner who hands in the mutant reads

Each mutant is the reference with one change: another comparison, operator, constant or condition, or a statement left
out. It gets every case of the item, public and hidden (for a few keys), as a submission would. A mutant that no case
catches is printed with its line. It shows a hole in the bank, or it is an equivalent mutant (another branch with the
same result); a person must decide which. The checks of arguments, which every learner is given, stay as they are.

Items of plain calls and classes take a second each. Those that need processes are slower, and need ``--worlds``.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import inspect
import logging
import multiprocessing
import resource
import sys
import types
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from autograder import bank, given
from autograder.items import Build, Case
from autograder.marking import compare, judge, trusted
from autograder.marking.outcome import Outcome
from autograder.running.exam import Exam

PLAIN = ("call", "calls")
KEYS = ("key 0", "key 1", "key 2")
#: Seconds for one case of a mutant, which may loop forever.
CASE_TIMEOUT = 0.5
#: Limit of the address space for mutants of an item of plain calls, bytes.
ADDRESS_SPACE = 4 << 30
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
}
NAMES = {"min": "max", "max": "min", "ceil": "floor", "floor": "ceil", "any": "all", "all": "any", "sorted": "list"}


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """The ways to change one node, each as a new node to replace it."""
    if given.is_check(node):
        return
    if refuses(node):
        yield ast.Pass()
    elif isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[index] = COMPARISONS[type(operator)]()
            yield changed
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        for kind in OPERATORS.get(type(node.op), ()):
            yield replaced(node, op=kind())
    elif isinstance(node, ast.BoolOp):
        yield replaced(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield copy.deepcopy(node.operand)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        for truth in (True, False) if not isinstance(node, ast.While) else (False,):
            yield replaced(node, test=ast.Constant(truth))
    elif isinstance(node, ast.Constant):
        yield from (replaced(node, value=value) for value in other_values(node.value))
    elif isinstance(node, ast.Name | ast.Attribute):
        key = "id" if isinstance(node, ast.Name) else "attr"
        if (name := getattr(node, key)) in NAMES and isinstance(node.ctx, ast.Load):
            yield replaced(node, **{key: NAMES[name]})
    elif isinstance(node, ast.Expr | ast.Raise | ast.Break | ast.Continue) and not is_text(node):
        yield ast.Pass()


def other_values(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    return [2 * value] if isinstance(value, float) and value else []


def replaced(node: ast.AST, **fields: Any) -> ast.AST:
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def refuses(node: ast.AST) -> bool:
    """Whether a statement only raises: it is left out whole, and the limits in it are not changed."""
    return isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise) and not node.orelse


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def own_code(tree: ast.Module, function: str) -> list[ast.AST]:
    """The definition of ``function`` and those in its module that it uses, except other exercises and checks."""
    others = {item.function for item in bank.builds()} - {function}
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    known = {node.name: node for node in defined if node.name not in others and not node.name.startswith("_check")}
    result: list[ast.AST] = []
    waiting = [function]
    while waiting:
        node = known.pop(waiting.pop(), None)
        if node is not None:
            result.append(node)
            waiting += [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    return result


def places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """The positions of the nodes below ``node``: parent, field and index. Messages and annotations are left out."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "exc", "decorator_list"):
            continue
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr) and not is_text(child):
                yield node, name, place
                if not (refuses(child) or given.is_check(child)):
                    yield from places(child)


def mutants(item: Build) -> Iterator[tuple[str, str, types.CodeType]]:
    """For each mutant, its line, the change in words, and the code of the changed module."""
    source = inspect.getsource(importlib.import_module(f"solutions.{item.home}"))
    tree = ast.parse(source)
    lines = source.splitlines()
    for definition in own_code(tree, item.function):
        for parent, name, index in list(places(definition)):
            whole = getattr(parent, name)
            node = whole if index is None else whole[index]
            for changed in variants(node):
                put(parent, name, index, ast.copy_location(changed, node))
                ast.fix_missing_locations(tree)
                code = compile(tree, f"<mutant of {item.module}>", "exec")
                words = f"{short(node)}  ->  {short(changed)}"
                put(parent, name, index, node)
                yield f"{item.file}:{node.lineno}: {lines[node.lineno - 1].strip()}", words, code


def put(parent: ast.AST, name: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def short(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0][:70]


def program(item: Build, code: types.CodeType) -> Any:
    """The function of the item from a changed module."""
    module = types.ModuleType(f"solutions.{item.home}")
    module.__package__ = module.__name__.rpartition(".")[0]
    exec(code, module.__dict__)
    return getattr(module, item.function)


def papers(item: Build) -> list[tuple[Case, Outcome]]:
    """Every case with the reference's outcome: the public ones, and the hidden ones of a few keys."""
    keys = KEYS if item.grade in PLAIN else KEYS[:1]
    hidden = [case for key in keys for _, cases in item.hidden(Random(key)) for case in cases]
    cases = [*item.cases, *hidden]
    return list(zip(cases, trusted.run(item, item.solution(), cases), strict=True))


def noticed(item: Build, changed: Any, paper: list[tuple[Case, Outcome]]) -> bool:
    for case, expected in paper:
        (outcome,) = trusted.run(item, changed, [case], CASE_TIMEOUT if item.grade in PLAIN else 5.0)
        if compare.fault(item, case, expected, outcome) is not None:
            return True
    return False


def survivors(item: Build) -> tuple[int, list[str]]:
    """How many mutants an item has, and those that no case catches."""
    paper, tried, left = papers(item), 0, []
    for line, words, code in mutants(item):
        tried += 1
        try:
            missed = not noticed(item, program(item, code), paper)
        except Exception:  # a mutant that does not even load is caught
            missed = False
        if missed:
            left.append(f"  {line}\n      {words}")
    return tried, left


def messages(item: Build) -> tuple[int, list[str]]:
    """How many mutants an item has, and what the report says of each one caught, for a person to judge."""
    said, tried = [], 0
    with Exam([item], b"key 0") as exam:
        paper = exam.paper(item)
        for line, words, code in mutants(item):
            tried += 1
            try:
                outcomes = trusted.run(item, program(item, code), paper.cases, CASE_TIMEOUT)
            except Exception as error:
                said.append(f"  {line}\n      {words}\n      does not load: {type(error).__name__}")
                continue
            mark = judge.mark(paper, outcomes)
            if mark.state != "right":
                sentences = "\n      = ".join(mark.hidden or mark.public)
                said.append(f"  {line}\n      {words}\n      {'SLIP' if mark.slip else 'hint'} = {sentences}")
    return tried, said


def in_own_process(identifier: str, find: Callable[[Build], tuple[int, list[str]]]) -> tuple[int, list[str]]:
    """Run :func:`survivors` or :func:`messages` where a mutant's memory can be limited."""
    (item,) = (build for build in bank.builds() if build.id == identifier)
    logging.getLogger("asyncio").disabled = True  # mutants may never await their coroutines
    if item.grade in PLAIN:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    return find(item)


def chosen(ids: list[str], chapter: str | None, worlds: bool) -> list[Build]:
    """The items with these ids, or all of them; only those of the chapter, if one is given.

    Raises:
        ValueError: there are none, or an id is not an exercise that can be tried this way.
    """
    items = [item for item in bank.builds() if (item.grade not in PLAIN) == worlds]
    for identifier in ids:
        _require_exercise(identifier, worlds)
    found = [item for item in items if not ids or item.id in ids]
    found = [item for item in found if not chapter or item.id.startswith(f"{chapter}-")]
    if not found:
        where = f" of chapter {chapter!r}" if chapter else ""
        raise ValueError(f"no exercise{where} {'needs processes' if worlds else 'is of plain calls'}")
    return found


def _require_exercise(identifier: str, worlds: bool) -> None:
    try:
        item = bank.find(identifier)
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    if not isinstance(item, Build):
        raise ValueError(f"{identifier!r} is a question; mutants are made of exercises")
    if (item.grade not in PLAIN) != worlds:
        raise ValueError(
            f"{identifier!r} {'needs no processes: leave out' if worlds else 'needs processes: add'} --worlds"
        )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("ids", nargs="*", help="items, or nothing for all of them")
    parser.add_argument("--chapter", help="only the items of a chapter: 05, or cap")
    parser.add_argument("--messages", action="store_true", help="print what the report says of mutants that are caught")
    parser.add_argument("--worlds", action="store_true", help="the items that need processes, instead of the others")
    options = parser.parse_args(argv)
    try:
        items = chosen(options.ids, options.chapter, options.worlds)
    except ValueError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    for item in items:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            tried, found = pool.apply(in_own_process, (item.id, messages if options.messages else survivors))
        done = "are caught" if options.messages else "pass"
        print(f"{item.id}: {len(found)} of {tried} mutants {done}", *found, sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
