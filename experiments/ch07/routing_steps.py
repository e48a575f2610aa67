"""Six tokens choose among three experts, and none is dropped: what a stepper draws. Standard library only.

>>> [chosen(token) for token in range(6)]
[0, 2, 0, 1, 0, 2]
>>> [rows_of(expert) for expert in range(3)]
[[0, 2, 4], [3], [1, 5]]
"""

from __future__ import annotations

from dataclasses import replace

from rankzero.explore import Arrow, Box, Label, Mark, Scene

#: The router's probabilities in percent: a row is a token, a column an expert.
PERCENT = ((70, 20, 10), (25, 30, 45), (60, 15, 25), (10, 80, 10), (50, 40, 10), (5, 40, 55))
EXPERTS = 3

#: Layout of the picture, pixels: the table of tokens on the left, the experts on the right.
LEFT, TOP, CELL, ROW = 52, 36, 34, 30
EXPERT_LEFT, EXPERT_WIDTH, EXPERT_DOWN = 220, 108, 62


def chosen(token: int) -> int:
    """The expert with the largest probability."""
    return max(range(EXPERTS), key=PERCENT[token].__getitem__)


def rows_of(expert: int) -> list[int]:
    """The tokens that an expert works on."""
    return [token for token in range(len(PERCENT)) if chosen(token) == expert]


def routing_scene(step: int) -> Scene:
    """Step 0: the probabilities. 1: each token chooses. 2: tokens travel to their experts. 3: results come back."""
    marks: list[Mark] = [*_table(step), *_experts(step)]
    if step >= 2:
        marks += _travels(back=step == 3)
    return Scene(340, TOP + ROW * len(PERCENT) + 8, tuple(marks), _says(step), _shows(step))


def _y(token: int) -> float:
    return TOP + ROW * token


def _table(step: int) -> list[Mark]:
    """A row for each token, a box for each of its probabilities; its choice is strong."""
    marks: list[Mark] = [Label(LEFT + CELL * (e + 0.5), 26, f"E{e}", size=11, quiet=True) for e in range(EXPERTS)]
    marks.append(Label(4, 12, "probabilities, percent", "start", 11, quiet=True))
    for token, row in enumerate(PERCENT):
        marks.append(Label(4, _y(token) + 18, f"token {token}", "start", 11))
        for expert, percent in enumerate(row):
            choice = step >= 1 and expert == chosen(token)
            box = Box(LEFT + CELL * expert, _y(token), CELL - 3, ROW - 4, str(percent), strong=choice, size=11)
            marks.append(replace(box, fill=0.6) if choice else box)
    return marks


def _expert_y(expert: int) -> float:
    return TOP + EXPERT_DOWN * expert


def _experts(step: int) -> list[Mark]:
    """The experts, each with the rows of its tokens."""
    marks: list[Mark] = []
    for expert in range(EXPERTS):
        x, y = EXPERT_LEFT, _expert_y(expert)
        marks.append(Label(x, y - 4, f"expert E{expert}", "start", 11))
        width = EXPERT_WIDTH / max(len(rows_of(each)) for each in range(EXPERTS))
        for place, token in enumerate(rows_of(expert) if step >= 2 else []):
            marks.append(Box(x + width * place, y, width - 4, 26, f"t{token}", tone="right", fill=0.6, size=11))
    return marks


def _travels(back: bool) -> list[Mark]:
    """An arrow for each token: to its expert, or back."""
    marks: list[Mark] = []
    for token in range(len(PERCENT)):
        ends = (LEFT + CELL * EXPERTS + 2, _y(token) + 13, EXPERT_LEFT - 6, _expert_y(chosen(token)) + 13)
        marks.append(Arrow(*ends) if not back else Arrow(ends[2], ends[3], ends[0], ends[1]))
    return marks


def _says(step: int) -> str:
    if step == 0:
        return "Start. The router has given each token a probability for each expert; every row adds up to 100."
    if step == 1:
        choices = ", ".join(f"{token} to E{chosen(token)}" for token in range(len(PERCENT)))
        return f"Each token chooses its most probable expert: tokens {choices}."
    if step == 2:
        rows = ", ".join(f"E{expert} gets {len(rows_of(expert))}" for expert in range(EXPERTS))
        return f"The tokens travel to their experts: {rows}. No token is dropped."
    weights = ", ".join(f"{PERCENT[token][chosen(token)]} percent" for token in rows_of(0))
    return (
        "The results come back, each multiplied by its token's probability: for the tokens of E0, "
        f"{weights}. With each expert on a GPU of its own, E1 is done first and E0, which has the most rows, last."
    )


def _shows(step: int) -> str:
    """Everything in the picture, for readers who cannot see it."""
    table = "; ".join(f"token {token}: {', '.join(map(str, row))}" for token, row in enumerate(PERCENT))
    held = "; ".join(f"E{expert} holds tokens {rows_of(expert)}" for expert in range(EXPERTS))
    rows = held if step >= 2 else "no rows yet"
    return f"Probabilities of three experts in percent, {table}. Experts: {rows}."
