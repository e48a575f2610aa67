"""What the steppers of chapter 13 draw about one small batch: who fills it, what is shifted, how a step runs.

Standard library only.

>>> token_pay()[0]
[-0.06, -0.01, 1.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from rankzero.explore import Arrow, Box, Label, Scene
from rankzero.explore.scene import Mark

# Two responses and the models that look at them

#: Two responses of three and four words behind a prompt, and the price of a nat.
WORDS = (("good", ".", "<eos>"), ("very", "dull", ".", "<eos>"))
BETA = 0.1
#: What the models say about each word: its log-probability under two of them, and the value before it.
ACTOR = ((-1.0, -0.4, -0.1), (-1.2, -2.0, -0.3, -0.1))
REFERENCE = ((-1.6, -0.5, -0.1), (-1.0, -1.9, -0.4, -0.1))
VALUES = ((0.3, 0.6, 0.7), (0.1, -0.3, -0.5, -0.6))
#: What the reward model says about each response.
SCORES = (1.0, -0.8)

Rows = list[list[float]]


def token_pay() -> Rows:
    """The reward of each word: minus the price times the log-ratio, and the score at the last one."""
    rows = []
    for ours, theirs, score in zip(ACTOR, REFERENCE, SCORES, strict=True):
        row = [-BETA * (a - b) for a, b in zip(ours, theirs, strict=True)]
        row[-1] += score
        rows.append([round(value, 10) + 0.0 for value in row])
    return rows


def gains() -> Rows:
    """The advantage of each word, with gamma and lambda of 1: all that is still to be paid, minus the value."""
    rows = []
    for pay, values in zip(token_pay(), VALUES, strict=True):
        still = list(accumulate(reversed(pay)))[::-1]
        rows.append([round(a - b, 10) for a, b in zip(still, values, strict=True)])
    return rows


def _texts(rows: Sequence[Sequence[float]]) -> list[list[str]]:
    return [[f"{value:.2f}".rstrip("0").rstrip(".") for value in row] for row in rows]


def batch_rows() -> list[tuple[str, str, list[list[str]]]]:
    """Each table of the picture: what it holds, who fills it, and its two rows as text."""
    return [
        ("tokens", "the actor writes", [list(row) for row in WORDS]),
        ("ln π", "the actor again", _texts(ACTOR)),
        ("ln ref", "the reference", _texts(REFERENCE)),
        ("values", "the critic", _texts(VALUES)),
        ("scores", "the reward model", [[f"{score:g}"] for score in SCORES]),
        ("rewards", "computed", _texts(token_pay())),
        ("advantages", "computed", _texts(gains())),
    ]


#: How many of the tables are there at each step.
_TABLES = (2, 4, 6, 7)

_BATCH_SAYS = (
    "The actor has written two responses, and a pass over them gives each word's log-probability. The last place of "
    "the first row is padding.",
    "The reference finds “good” less likely and “very dull” more. Before each word the critic says how it will end.",
    "The reward model speaks once a response. A word pays 0.1 for each nat by which the actor likes it more; the last "
    "one gets the score.",
    "What is still to be paid, minus what the critic expected: the weight with which a word is learned.",
)


def batch_scene(step: int) -> Scene:
    """The tables up to this step, each with two responses as rows; those that are new have strong edges."""
    marks: list[Mark] = []
    before, shown = (0, *_TABLES)[step], batch_rows()[: _TABLES[step]]
    for number, (name, who, rows) in enumerate(shown):
        top = 4 + 46 * number
        marks.append(Label(2, top + 15, name, "start", 12))
        marks.append(Label(2, top + 32, who, "start", 10, quiet=True))
        tone = "right" if who == "computed" else "accent"
        for place, row in enumerate(rows):
            for column, text in enumerate(row):
                box = (106 + 57 * column, top + 20 * place, 54, 18)
                marks.append(Box(*box, text, tone=tone, fill=0.5, strong=number >= before, size=11))
    held = "; ".join(f"{name}: {' and '.join(', '.join(row) for row in rows)}" for name, _, rows in shown)
    return Scene(336, 4 + 46 * len(batch_rows()), tuple(marks), _BATCH_SAYS[step], f"{held}.")


# Shifted by one

#: A row of tokens, and how many of them are the prompt's.
ROW, PROMPT = ("the", "film", "was", "good", ".", "<eos>", "<pad>"), 3


def shifted() -> list[tuple[int, int]]:
    """For each token of the response: the place of the logits that predict it, and its own."""
    return [(place - 1, place) for place in range(PROMPT, len(ROW))]


def shift_scene(step: int) -> Scene:
    """Step 0: a row and its logits; 1: which of them predict the first word; 2: of all; 3: the mask."""
    across, left = 47, 4
    marks: list[Mark] = [Label(left, 13, "tokens", "start", 11, quiet=True)]
    for place, word in enumerate(ROW):
        prompt = place < PROMPT
        chosen = (step == 1 and place == PROMPT) or (step == 2 and not prompt)
        tone = "quiet" if prompt else "accent"
        marks.append(Box(left + across * place, 18, 43, 24, word, tone=tone, fill=0.5, strong=chosen, size=11))
    marks.append(Label(left, 101, "logits after each token", "start", 11, quiet=True))
    speaking = {source for source, _ in shifted()}
    for place in range(len(ROW)):
        chosen = (step == 1 and place == PROMPT - 1) or (step == 2 and place in speaking)
        marks.append(
            Box(left + across * place, 106, 43, 24, f"z{place}", tone="right", fill=0.5, strong=chosen, size=12)
        )
    for source, target in shifted()[: 1 if step == 1 else None if step == 2 else 0]:
        marks.append(Arrow(left + across * source + 24, 104, left + across * target + 16, 45))
    if step >= 3:
        marks.append(Label(left, 156, "mask", "start", 11, quiet=True))
        end = ROW.index("<eos>")
        for place in range(PROMPT, len(ROW)):
            one = place <= end
            box = (left + across * place, 144, 43, 24)
            marks.append(Box(*box, "1" if one else "0", fill=0.5 * one, strong=True, size=12))
    held = f"Tokens {' '.join(ROW)}; the first {PROMPT} are the prompt."
    return Scene(336, 172, tuple(marks), _SHIFT_SAYS[step], held)


_SHIFT_SAYS = (
    "A prompt of three tokens, a response of three, and padding. One pass gives logits after every token.",
    "The first word of the response is judged by the logits after the prompt's last word: z2 predicts “good”.",
    "All of them: the logits at place t predict the token at place t + 1. Nobody needs those at the very end.",
    "The mask: 1 up to and including <eos>, because the actor chose it. Nobody chose what comes after it.",
)

# One step without a critic

#: The lines of a step: what is done, and the tensor that it makes.
STEP = (
    ("the actor writes G answers a prompt", "tokens [B, S]"),
    ("keep their log-probabilities of now", "old [B, T]"),
    ("score them; the reference looks on", "scores [B]"),
    ("real up to and including <eos>", "mask [B, T]"),
    ("compare the answers to each prompt", "gains [B]"),
    ("pass of the actor over some rows", "now [b, T]"),
    ("ratio, smaller term, mean; and price", "loss"),
    ("backward, one step of the optimizer", "weights"),
)


#: How many of the lines are there at each step, and the first that is repeated for every minibatch.
_LINES, _REPEATED = (2, 5, 7, 8), 5


def step_scene(step: int) -> Scene:
    """The lines up to this step; those that are new have strong edges, and the last three are repeated."""
    marks: list[Mark] = []
    before, shown = (0, *_LINES)[step], STEP[: _LINES[step]]
    for number, (what, tensor) in enumerate(shown):
        top, strong = 4 + 27 * number, number >= before
        tone = "right" if number >= _REPEATED else "accent"
        marks.append(Box(4, top, 236, 23, what, tone=tone, fill=0.4, strong=strong, size=10.5))
        marks.append(Box(246, top, 88, 23, tensor, tone=tone, fill=0.0, strong=strong, size=11))
    held = "; ".join(f"{what}: {tensor}" for what, tensor in shown)
    return Scene(338, 4 + 27 * len(STEP), tuple(marks), _STEP_SAYS[step], f"{held}.")


_STEP_SAYS = (
    "Blue lines happen once for a batch. The old log-probabilities are numbers, without a gradient, however often the "
    "batch is used.",
    "One score an answer. A row is real up to its first <eos>. The groups are those of the whole batch, before it is "
    "cut into minibatches.",
    "Green lines are repeated for each minibatch of b rows: minus the mean over real tokens of the smaller terms, plus "
    "beta times the mean of k2.",
    "The actor changes. Back to the first green line for the next minibatch, and to the top for the next batch.",
)
