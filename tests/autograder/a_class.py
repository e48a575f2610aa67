"""A class to be graded, made by a seeded program: right, partly right, broken and hostile submissions."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from autograder import bank
from autograder.classroom.worker import Spec
from autograder.items import Slip
from autograder.learner.reference import source_of
from autograder.running.limits import Limits

ITEMS = ("02-message-time", "03-ring-all-reduce-time")
#: Long enough for a machine that stands still for a moment, which no deadline can know; short enough for programs that
#: never end.
LIMITS = Limits(imports=8.0, call=4.0, submission=32.0, losses=1)
HOSTILE = Path(__file__).parent / "hostile"
HEAD = "from __future__ import annotations\n\nimport math\n\nfrom rankzero import checks\n\n\n"

#: Hostile programs that end soon, and in the same way each time.
STEADY = tuple(
    """
abort bool_in_disguise broken_dataclass circle closed_channel coroutine daemon deep_reply emptied_arguments endless_call
endless_import equal_to_everything exit_hook exit_in_import float_in_disguise forged_verdict fraction generator
huge_integer import_hooks imports_grader imports_reference imports_reference_at_top infinity missing_import nan
not_a_function os_exit patched_builtins printed raises_when_compared reads_frames recursion results_files
segmentation_fault sleep_in_each_call state_turns_wrong stops_itself sys_exit unfinished unprintable_string
wrong_signature
""".split()  # noqa: SIM905
)


def spec(**changes: Any) -> Spec:
    """What the class is asked."""
    return Spec(**{"items": ITEMS, "key": b"sesame", "level": "best", "limits": LIMITS} | changes)


def written_key(path: Path, text: str = "sesame\n", mode: int = 0o600) -> str:
    """A key file, as an instructor keeps it; its path as text."""
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def reference() -> str:
    """A submission that is right in everything; helpers that modules of the course call alike are told apart."""
    text = HEAD
    for number, name in enumerate(ITEMS):
        source = source_of(bank.find(name))  # type: ignore[arg-type]
        for helper in re.findall(r"^def (_\w+)", source, re.MULTILINE):
            source = re.sub(rf"\b{helper}\b", f"{helper}_{number}", source)
        text += ast.unparse(ast.parse(source)) + "\n\n\n"
    return text


def hostile(title: str) -> str:
    """A hostile program of the corpus, in the place of the first function."""
    name = bank.find(ITEMS[0]).function  # type: ignore[union-attr]
    text = (HOSTILE / f"{title}.py").read_text(encoding="utf-8")
    return re.sub(r"\banswer\b *\(\w*\):", f"{name}(x=None, *more, **named):", text)


class _Mutation(ast.NodeTransformer):
    """Changes one number or one operator, the ``place``-th."""

    def __init__(self, place: int) -> None:
        self.left = place

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        others = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
        if type(node.op) in others and self._here():
            node.op = others[type(node.op)]()
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is int and self._here():
            return ast.Constant(node.value + 1)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        others = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
        if type(node.ops[0]) in others and self._here():
            node.ops[0] = others[type(node.ops[0])]()
        return node

    def _here(self) -> bool:
        self.left -= 1
        return self.left == -1


def mutant(place: int) -> str:
    """The reference with one mistake."""
    return ast.unparse(ast.fix_missing_locations(_Mutation(place).visit(ast.parse(reference())))) + "\n"


def slip(rng: Random) -> str:
    """A mistake of the bank in one function, and the other right."""
    name = rng.choice(ITEMS)
    item: Any = bank.find(name)
    return reference() + as_submission(rng.choice(item.slips), name)


def as_submission(slip: Slip, name: str) -> str:
    """A wrong program of the bank, in the place of the function."""
    item: Any = bank.find(name)
    source = item.source_of(slip)
    if slip.changes:
        return source.replace("from __future__ import annotations\n", "")
    return re.sub(rf"\b{slip.name}\b", item.function, source)


def replace_limits(**changes: float) -> Limits:
    """The limits of the class, changed."""
    return replace(LIMITS, **changes)  # type: ignore[arg-type]


KINDS = ("good", "mutant", "hostile", "slip", "good", "stub", "hostile", "mutant", "slip", "broken")
BROKEN: dict[str, bytes] = {
    "latin1.py": b"# caf\xe9\ndef message_time(size, bandwidth):\n    return 1.0\n",
    "no-zip.zip": b"PK\x05\x06 not an archive",
    "empty.py": b"",
    "syntax.py": b"def message_time(message_bytes, bandwidth:\n    return 1\n",
    "null.py": b"def message_time(size, bandwidth):\0\n    return 1.0\n",
    "utf16.py": "def message_time(size, bandwidth): return 1.0".encode("utf-16"),
    "no-json.ipynb": b"{not json",
    "no-cells.ipynb": b'{"cells": 7, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "other.py": b"def another():\n    return 1\n",
    "raises.py": b"raise RuntimeError('not today')\n",
}


def write(folder: Path, size: int = 200, seed: int = 5) -> list[str]:
    """Fill ``folder`` with ``size`` submissions; their names without endings, sorted."""
    rng = Random(seed)
    bad, broken = rng.sample(STEADY, len(STEADY)), list(BROKEN.items())
    folder.mkdir(parents=True)
    names = []
    for number in range(size):
        kind = KINDS[number % len(KINDS)]
        name, content = f"{number:03}-{kind}.py", reference()
        if kind == "mutant":
            content = mutant(rng.randrange(12))
        elif kind == "slip":
            content = slip(rng)
        elif kind == "stub":
            content = re.sub(r"\n    return .*", "\n    raise NotImplementedError('write me')", reference())
        elif kind == "hostile":
            title = bad.pop()
            name, content = f"{number:03}-{title}.py", hostile(title)
        elif kind == "broken":
            title, data = broken[number // len(KINDS) % len(broken)]
            name = f"{number:03}-{title}"
            (folder / name).write_bytes(data)
        if kind != "broken":
            (folder / name).write_text(content + f"\n# learner {number}\n", encoding="utf-8")
        names.append(Path(name).stem)
    return sorted(names)


def content(out: Path) -> dict[str, Any]:
    """Every file of a graded class by its path, without times."""
    return {str(file.relative_to(out)): _timeless(file) for file in sorted(out.rglob("*")) if file.is_file()}


def _timeless(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        return [_lasting(line) for line in text.splitlines()]
    return _lasting(text) if file.suffix == ".json" else text


def _lasting(text: str) -> Any:
    """What of JSON does not depend on how long a grading took."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return text
    timed = ("seconds", "execution_time", "answers", "finished", "seal")
    return {key: value for key, value in content.items() if key not in timed} if type(content) is dict else content
