"""The automaton of ``yes|no`` and nine tokens: what the steppers of sections 11.7 and 11.8 draw.

Standard library only. A state is named by the text that leads to it.

>>> [VOCABULARY[token] for token in at("y").allowed()]
[b'es', b'e']
>>> distances()
{'': 1, 'y': 1, 'ye': 1, 'n': 1, 'yes': 0}
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.explore import Arrow, Box, Label, Scene
from rankzero.explore.scene import Mark
from rankzero.grammar.automata import compile_regex
from solutions.ch11.constrained import ConstraintState, token_index

PATTERN = "yes|no"
#: Token 0 ends the text.
VOCABULARY = (b"", b"y", b"ye", b"es", b"s", b"n", b"no", b"o", b"e")
EOS = 0

DFA = compile_regex(PATTERN)
INDEX = token_index(DFA, VOCABULARY, EOS)

#: The upper left corners of the states, by the text that leads to them, and the arrows between them.
PLACES = {"": (6, 62), "y": (94, 24), "ye": (182, 24), "n": (138, 100), "yes": (282, 62)}
ARROWS = (("", "y", "y"), ("y", "ye", "e"), ("ye", "yes", "s"), ("", "n", "n"), ("n", "yes", "o"))
WIDE, HIGH = 48, 34
TOKENS, STEP = 168, 36


def at(text: str, *more: bytes) -> ConstraintState:
    """The state of the text after these tokens; ``text`` is read letter by letter."""
    state = ConstraintState(INDEX, DFA.start, DFA.accepting, EOS)
    for token in [*(letter.encode() for letter in text), *more]:
        state.advance(VOCABULARY.index(token))
    return state


def distances() -> dict[str, int]:
    """The fewest tokens from each state to the end."""
    return {name: at(name).distance() for name in PLACES}


def named(tokens: Sequence[int]) -> str:
    """Tokens in words."""
    return ", ".join("the end" if token == EOS else VOCABULARY[token].decode() for token in tokens) or "nothing"


def allowed_scene(step: int) -> Scene:
    """The tokens ``y``, ``e``, ``s`` one after the other, and what may follow each."""
    text = ("", "y", "ye", "yes")[step]
    allowed = at(text).allowed()
    before = f"After the token {text[-1]}" if text else "At the start"
    return _scene(text, allowed, f"{before}, these tokens may follow: {named(allowed)}.")


def budget_scene(step: int) -> Scene:
    """The fewest tokens to the end, and what they allow with two tokens left and with one."""
    text, left = (("", None), ("", 2), ("", 1), ("y", 1))[step]
    allowed = at(text).allowed(left)
    says = (
        "Under each state stands its distance: the fewest tokens to the end. Without a limit, four tokens may come "
        "first.",
        f"Two tokens are left. After each of {named(allowed)}, the rest takes one more token at most, so all may come.",
        f"One token is left. Only {named(allowed)} ends the text by itself.",
        f"After y, with one token left, e would leave the s missing. Only {named(allowed)} may come.",
    )[step]
    return _scene(text, allowed, says, far=True, left=left)


def _scene(text: str, allowed: Sequence[int], says: str, far: bool = False, left: int | None = None) -> Scene:
    marks: list[Mark] = []
    for name, (x, y) in PLACES.items():
        tone = "right" if name == text else "accent"
        shown = "start" if name == "" else "done" if name == "yes" else name
        note = f"{at(name).distance()} more" if far else ""
        fill = 0.8 if name == text else 0.1
        marks.append(Box(x, y, WIDE, HIGH, shown, note, tone, fill, name == text, 12))
    marks += [mark for ends in ARROWS for mark in _arrow(*ends)]
    if left is not None:
        marks.append(Label(6, 16, f"tokens left: {left}", "start", size=12))
    marks.append(Label(6, TOKENS - 8, "tokens that may follow", "start", size=11, quiet=True))
    for place, token in enumerate([*range(1, len(VOCABULARY)), EOS]):
        may = token in allowed
        shown = "end" if token == EOS else VOCABULARY[token].decode()
        tone = "right" if may else "quiet"
        marks.append(Box(6 + STEP * place, TOKENS, STEP - 4, 26, shown, tone=tone, fill=0.6 if may else 0, size=12))
    where = "the start" if text == "" else f"the state after {text}"
    return Scene(336, TOKENS + 32, tuple(marks), says, f"At {where}; {named(allowed)} may follow.")


def _arrow(start: str, end: str, letter: str) -> list[Mark]:
    (x1, y1), (x2, y2) = PLACES[start], PLACES[end]
    tail, tip = (x1 + WIDE, y1 + HIGH / 2), (x2, y2 + HIGH / 2)
    middle = (tail[0] + tip[0]) / 2, (tail[1] + tip[1]) / 2
    return [Arrow(*tail, *tip), Label(middle[0], middle[1] - 6, letter, size=12)]
