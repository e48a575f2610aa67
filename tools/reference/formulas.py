"""Formulas: the law in symbols, what each symbol means, and a value worked out by the tested function."""

from __future__ import annotations

from experiments.formula import Formula
from experiments.formulas import FORMULAS
from rankzero.facts.chapters import CHAPTERS

from .latex import latex, symbol
from .markup import chapter_of, command, dotted, inline, records, section_link


def _quantity(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _example(formula: Formula) -> str:
    arguments = {**formula.choice, **formula.example}
    shown = ", ".join(f"{name}={_argument(value)}" for name, value in arguments.items())
    picked = "" if formula.place is None else f"[{formula.place}]"
    result = f"{_quantity(formula.value)} {formula.unit}".strip()
    return f"{command(f'{formula.call.__name__}({shown}){picked}')} is {result}"


def _argument(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.7g}".replace("e+", "e")
    return f"{value:_}" if isinstance(value, int) else repr(value)


def entry(formula: Formula) -> str:
    """One formula, its symbols, and what it is worth for one set of inputs."""
    module, _, name = formula.function.rpartition(".")
    symbols = "\n".join(
        f"- ${symbol(letter)}$ (`{argument}`): {formula.argument(argument).removeprefix(f'{letter}, ')}"
        for letter, argument in formula.symbols.items()
    )
    parts = [
        ("Unit", formula.unit or "none"),
        ("Example", _example(formula)),
        ("Function", dotted(f"solutions.{module}.{name}")),
        ("Section", section_link(formula.section)),
        ("Source", inline(formula.source)),
    ]
    law = f"$$ {formula.symbol} = {latex(formula.law)} $$"
    return f"### {formula.name}\n\n{law}\n\n{symbols}\n\n{records(parts)}\n"


def text() -> str:
    """The page's generated part."""
    parts = []
    for chapter in CHAPTERS:
        mine = [formula for formula in FORMULAS if chapter_of(formula.section) == chapter]
        if mine:
            parts += [f"## {chapter.number}. {chapter.title}\n", *map(entry, mine)]
    return "\n".join(parts)
