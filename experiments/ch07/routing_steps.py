"""Six tokens, three experts, and two places in each: what a stepper draws. Standard library only.

>>> [chosen(token) for token in range(6)]
[0, 2, 0, 1, 0, 2]
>>> kept()
[True, True, True, True, False, True]
"""

from __future__ import annotations

from dataclasses import replace

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from solutions.ch07.experts import expert_capacity, keep_within_capacity

#: The router's probabilities in percent: a row is a token, a column an expert.
PERCENT = ((70, 20, 10), (25, 30, 45), (60, 15, 25), (10, 80, 10), (50, 40, 10), (5, 40, 55))
EXPERTS = 3
#: Places in each expert: an even share of the tokens.
PLACES = expert_capacity(len(PERCENT), EXPERTS, top_k=1)

#: Layout of the picture, pixels: the table of tokens on the left, the experts on the right.
LEFT, TOP, CELL, ROW = 52, 36, 34, 30
EXPERT_LEFT, EXPERT_WIDTH, EXPERT_DOWN = 220, 108, 62


def chosen(token: int) -> int:
    """The expert with the largest probability."""
    return max(range(EXPERTS), key=PERCENT[token].__getitem__)


def kept() -> list[bool]:
    """Which tokens find a place; they are served in their order."""
    choices = [[chosen(token)] for token in range(len(PERCENT))]
    return [places[0] for places in keep_within_capacity(choices, EXPERTS, PLACES)]


def rows_of(expert: int) -> list[int]:
    """The tokens that an expert works on."""
    return [token for token, place in enumerate(kept()) if place and chosen(token) == expert]


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
    """The experts with their places; a place holds the token that has it."""
    marks: list[Mark] = []
    for expert in range(EXPERTS):
        x, y = EXPERT_LEFT, _expert_y(expert)
        marks.append(Label(x, y - 4, f"expert E{expert}", "start", 11))
        rows = rows_of(expert) if step >= 2 else []
        for place in range(PLACES):
            text = f"t{rows[place]}" if place < len(rows) else ""
            width = EXPERT_WIDTH / PLACES
            filled = 0.6 if text else 0.0
            marks.append(Box(x + width * place, y, width - 4, 26, text, tone="right", fill=filled, size=11))
    return marks


def _travels(back: bool) -> list[Mark]:
    """An arrow for each token that found a place: to its expert, or back."""
    marks: list[Mark] = []
    for token, place in enumerate(kept()):
        if place:
            ends = (LEFT + CELL * EXPERTS + 2, _y(token) + 13, EXPERT_LEFT - 6, _expert_y(chosen(token)) + 13)
            marks.append(Arrow(*ends) if not back else Arrow(ends[2], ends[3], ends[0], ends[1]))
    return marks


def _says(step: int) -> str:
    lost = [token for token, place in enumerate(kept()) if not place]
    if step == 0:
        return "Start. The router has given each token a probability for each expert; every row adds up to 100."
    if step == 1:
        choices = ", ".join(f"{token} to E{chosen(token)}" for token in range(len(PERCENT)))
        return f"Each token chooses its most probable expert: tokens {choices}."
    if step == 2:
        return (
            f"The tokens travel to their experts, which have {PLACES} places each. Token {lost[0]} finds "
            f"E{chosen(lost[0])} full and is dropped, while E1 has a place to spare."
        )
    weights = ", ".join(f"{PERCENT[token][chosen(token)]} percent" for token in rows_of(0))
    return (
        "The results come back, each multiplied by its token's probability: for the tokens of E0, "
        f"{weights}. Token {lost[0]} gets nothing from this layer and goes on unchanged."
    )


def _shows(step: int) -> str:
    """Everything in the picture, for readers who cannot see it."""
    table = "; ".join(f"token {token}: {', '.join(map(str, row))}" for token, row in enumerate(PERCENT))
    held = "; ".join(f"E{expert} holds tokens {rows_of(expert)}" for expert in range(EXPERTS))
    places = held if step >= 2 else "empty"
    return f"Probabilities of three experts in percent, {table}. Experts with {PLACES} places each: {places}."
