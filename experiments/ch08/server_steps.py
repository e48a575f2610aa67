"""What the steppers of chapter 8 draw: a request's way, flat passes, what a pass costs, slots. Standard library only.

>>> toy_pass(40, 0)
(1.0, 5.0, 0.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.explore import Box, Label, Mark, Scene
from rankzero.explore.scene import Tone
from rankzero.facts.units import TB, TFLOP, billion, ms
from rankzero.sim.batching import Run, continuous, static

# One request

#: What the request has after each part of the server has had it: the part, and the text in the picture.
PARTS = (
    ("API adapter", "text: Who?"),
    ("tokenizer", "87 104 111 63"),
    ("queue", "waits: 2 before it"),
    ("scheduler", "has a place"),
    ("model runner", "token 73, then 39, 109 ..."),
    ("detokenizer", "I, then I'm, ..."),
    ("stream", "sent to the client"),
)
_PART_SAYS = (
    "The API adapter reads the request and checks it. It is text, and the server cannot compute with text.",
    "The tokenizer turns the text into tokens: here one for each byte.",
    "The request stands in a queue. Two others came before it, and nobody works on it.",
    "Before each pass the scheduler decides who takes part. Now there is a place, and memory, for this request.",
    "The runner puts all tokens of the prompt through the model, and chooses one token. Each later pass adds one.",
    "The detokenizer turns tokens into text, as soon as they make whole characters.",
    "The text goes out piece by piece, while the runner already computes the next token.",
)


def request_scene(step: int) -> Scene:
    """The request in part ``step`` of the server, 0 to 6: a row is a part, and beside it what the request has."""
    marks: list[Mark] = []
    for index, (part, has) in enumerate(PARTS):
        y, here = 6 + 32 * index, index == step
        marks.append(Box(4, y, 112, 26, part, fill=0.6 * (index <= step), strong=here, size=13))
        if index <= step:
            marks.append(Label(128, y + 18, has, "start", 13, quiet=not here))
    held = "; ".join(f"{part}: {has}" for part, has in PARTS[: step + 1])
    return Scene(320, 6 + 32 * len(PARTS), tuple(marks), _PART_SAYS[step], f"From top to bottom, so far: {held}.")


# Flat passes

#: Requests a, b and c: the pass in which each starts, and the tokens of its prompt.
FLAT = {"a": (0, 6), "b": (2, 3), "c": (2, 4)}


def flat_pass(number: int) -> list[tuple[str, int]]:
    """Owner and position of each token in a pass: all of a new prompt, one of each answer."""
    row: list[tuple[str, int]] = []
    for name, (start, prompt) in FLAT.items():
        if number == start:
            row += [(name, position) for position in range(prompt)]
        elif number > start:
            row.append((name, prompt + number - start - 1))
    return row


def flat_scene(step: int) -> Scene:
    """Passes 0 to ``step`` below each other, each a row of tokens; a box is a token with its owner and position."""
    marks: list[Mark] = []
    tones: dict[str, tuple[Tone, float]] = {"a": ("accent", 0.7), "b": ("right", 0.7), "c": ("quiet", 0.5)}
    for number in range(step + 1):
        y = 8 + 40 * number
        marks.append(Label(4, y + 20, f"pass {number}", "start", quiet=True))
        for index, (name, position) in enumerate(flat_pass(number)):
            tone, fill = tones[name]
            marks.append(Box(56 + 30 * index, y, 27, 30, f"{name}{position}", "", tone, fill, number == step, 12))
    row = flat_pass(step)
    counts = {name: sum(owner == name for owner, _ in row) for name in FLAT}
    parts = [f"{count} of {name}" for name, count in counts.items() if count]
    said = f"Pass {step} computes {len(row)} token{'s' * (len(row) > 1)}: {', '.join(parts)}."
    said += ("", " The first token of a's answer came from pass 0.", " Two prompts join the running answer.", "")[step]
    alt = "; ".join(
        f"pass {number}: {' '.join(f'{name}{at}' for name, at in flat_pass(number))}" for number in range(step + 1)
    )
    return Scene(310, 168, tuple(marks), said, f"Tokens by owner and position. {alt}.")


# What a pass costs

#: A toy GPU and a toy model: FLOP/s, bytes/s, parameters, bytes of a weight, bytes of keys and values of a token.
PEAK, BANDWIDTH, PARAMETERS, ELEMENT, KV = 400 * TFLOP, 2 * TB, 5 * billion, 2, 100_000
#: Tokens of the pass and cached tokens of each of them, in the order of the pictures.
PASSES = ((1, 0), (40, 0), (200, 0), (800, 0), (64, 1000), (256, 1000))


def toy_pass(tokens: int, context: int) -> tuple[float, float, float]:
    """Milliseconds of multiplying, of reading the weights, and of reading the caches."""
    multiply = 2 * PARAMETERS * tokens / PEAK
    return multiply / ms, ELEMENT * PARAMETERS / BANDWIDTH / ms, KV * tokens * context / BANDWIDTH / ms


def cost_scene(step: int) -> Scene:
    """Pass ``step`` of ``PASSES``: three bars of milliseconds, and the bound that they make."""
    tokens, context = PASSES[step]
    multiply, read, caches = toy_pass(tokens, context)
    whole = max(multiply, read) + caches
    scale, left = 9.4, 92
    marks: list[Mark] = []
    rows = (("multiply", multiply, "accent"), ("read weights", read, "right"), ("read caches", caches, "quiet"))
    begin = max(multiply, read)
    for index, (name, length, tone) in enumerate(rows):
        y = 10 + 34 * index
        x = left + scale * (begin if name == "read caches" else 0)
        marks.append(Label(4, y + 17, name, "start", quiet=True))
        if length > 0:
            longer = name != "read caches" and length == begin
            marks.append(Box(x, y, max(2.0, scale * length), 24, "", "", tone, 0.8, longer))
            inside = x + scale * length + 4
            marks.append(Label(min(inside, 296), y + 17, f"{length:.3g} ms", "start"))
    marks += [Label(4, 131, "the pass", "start"), Box(left, 114, scale * whole, 24, "", "", "accent", 0.3, True)]
    marks.append(Label(min(left + scale * whole + 4, 296), 131, f"{whole:.3g} ms", "start"))
    what = f"{tokens} token" + "s" * (tokens > 1) + (f", each with {context:,} cached tokens" if context else "")
    slower = "both take as long" if multiply == read else "multiplying" if multiply > read else "reading the weights"
    counts = "Both take equally long" if multiply == read else f"The slower one is {slower}"
    said = f"{what}: multiplying takes {multiply:.3g} ms, reading the weights {read:.3g} ms. {counts}"
    said += f", and reading the caches adds {caches:.3g} ms: {whole:.3g} ms." if caches else f": {whole:.3g} ms."
    return Scene(340, 146, tuple(marks), said, f"Bars in milliseconds for a pass of {what}. {said}")


# Slots

#: Answers of so many tokens, on so many slots.
LENGTHS, SLOTS = (2, 5, 1, 3), 2


def both_policies(lengths: Sequence[int] = LENGTHS, slots: int = SLOTS) -> dict[str, Run]:
    """The run with batches that end together, and the one in which free slots are refilled."""
    return {"static": static(lengths, slots), "continuous": continuous(lengths, slots)}


def slots_scene(step: int) -> Scene:
    """Slots after ``step + 1`` steps of the model: static batches above, refilled slots below."""
    marks: list[Mark] = []
    now, wide, told = step + 1, 33, []
    for block, (name, run) in enumerate(both_policies().items()):
        top = 18 + 92 * block
        marks.append(Label(4, top - 4, name, "start", quiet=True))
        for slot in range(run.slots):
            marks.append(Label(4, top + 21 + 32 * slot, f"slot {slot}", "start", 11, quiet=True))
        for request, (start, finish) in enumerate(run.spans):
            for place in range(start, min(finish, now)):
                busy = place < start + run.lengths[request]
                box = (48 + wide * place, top + 4 + 32 * run.places[request], wide - 3, 26)
                text = "abcd"[request] if busy else "-"
                marks.append(Box(*box, text, "", "accent" if busy else "quiet", 0.7 if busy else 0.3, place == step))
        done = sum(min(length, max(0, now - start)) for length, (start, _) in zip(run.lengths, run.spans, strict=True))
        over = f" and is done since step {run.makespan}" if now > run.makespan else ""
        over = " and is done" if now == run.makespan else over
        told.append(f"{name} has made {done} of {run.tokens} tokens{over}")
    said = f"After {now} step{'s' * (now > 1)}: {'; '.join(told)}."
    return Scene(
        48 + wide * 8, 186, tuple(marks), said, f"Slots over steps; a letter is a token, - an idle slot. {said}"
    )


# What the user feels

#: When a request was sent and when its tokens came, seconds.
SENT, TIMES = 10.0, (10.25, 10.30, 10.36, 10.41, 10.75)
#: The same, even gaps.
EVEN = (10.25, 10.375, 10.5, 10.625, 10.75)


def marks_scene(step: int) -> Scene:
    """Two answers of five tokens on one axis of time: even gaps, and from ``step`` 1 on the one with a hole."""
    left, scale = 76, 320
    marks: list[Mark] = []
    for tick in (10.0, 10.2, 10.4, 10.6):
        marks.append(Label(left + scale * (tick - SENT), 14, f"{tick:.1f}", size=11, quiet=True))
    rows = (("even", EVEN), ("with a hole", TIMES))
    for index, (name, times) in enumerate(rows[: step + 1]):
        y = 24 + 40 * index
        marks.append(Label(4, y + 18, name, "start", quiet=True))
        for number, time in enumerate(times):
            x = left + scale * (time - SENT)
            marks.append(Box(x - 5, y, 10, 26, "", "", "accent" if number else "right", 0.8, index == step))
    gaps = [later - earlier for earlier, later in zip(rows[step][1], rows[step][1][1:], strict=False)]
    said = (
        f"{('The gaps are even', 'The same first and last token, but one long gap')[step]}: "
        f"{', '.join(f'{gap:.3f}'.rstrip('0') for gap in gaps)} s."
    )
    return Scene(330, 96, tuple(marks), said, f"Tokens as marks over seconds, sent at {SENT:g}. {said}")


# Little's law

#: People in an hour of a waiting room: one every 15 seconds stays for three minutes. Times are in minutes.
EVERY, STAY = 0.25, 3.0


def inside_at(minute: float) -> int:
    """People inside just after ``minute``: all who came in the last three minutes."""
    return int(min(minute, STAY - EVERY) / EVERY) + 1


def little_scene(step: int) -> Scene:
    """The room after each minute: a column is a minute of arrivals, four people, and is empty once they have left."""
    minute = step + 1
    marks: list[Mark] = [Label(4, 14, "came in minute", "start", 11, quiet=True)]
    for index in range(6):
        x = 20 + 52 * index
        marks.append(Label(x + 20, 30, f"{index + 1}", size=11, quiet=True))
        for person in range(4):
            inside = index < minute and index >= minute - STAY
            if inside:
                marks.append(Box(x, 38 + 26 * person, 40, 22, "in", "", "accent", 0.7, index == minute - 1, 11))
    inside = int(4 * min(minute, STAY))
    left = 4 * minute - inside
    said = f"After {minute} minute{'s' * (minute > 1)}: {4 * minute} people came, {left} left, {inside} are inside."
    if minute > STAY:
        said += " As many leave as come: 4 a minute, times 3 minutes, is 12."
    return Scene(330, 146, tuple(marks), said, f"A column is a minute of arrivals. {said}")


# Which token


@dataclass(frozen=True)
class Filter:
    """A stage of sampling: what was done, and the probabilities after it; a token that is out has 0."""

    says: str
    probabilities: tuple[float, ...]


def filtered(chances: Sequence[float] = (0.5, 0.3, 0.15, 0.05), top_k: int = 3, top_p: float = 0.8) -> list[Filter]:
    """The stages of sampling from four tokens, the likeliest first."""
    stages = [Filter("The model's probabilities of four tokens.", tuple(chances))]
    squares = [chance**2 for chance in chances]
    half = tuple(square / sum(squares) for square in squares)
    cold = "Temperature 0.5 instead of 1 squares the probabilities and rescales them: the likely become likelier."
    stages.append(Filter(cold, half))
    stages.append(Filter("Back at temperature 1. Top-k with k = 3 keeps the three likeliest.", _kept(chances, top_k)))
    left, total, count = sum(chances[:top_k]), 0.0, 0
    while total / left < top_p - 1e-12:
        total, count = total + chances[count], count + 1
    stages.append(
        Filter(
            f"Top-p with p = {top_p:g}, of what top-k left: the first {count} have {total:.2g} of {left:.2g}, or "
            f"{100 * total / left:.0f} percent, which reaches it.",
            _kept(chances, count),
        )
    )
    scaled = tuple(chance / total for chance in _kept(chances, count))
    shown = " and ".join(f"{chance:.3g}" for chance in scaled if chance)
    stages.append(Filter(f"What is left is divided by its sum: {shown}.", scaled))
    return stages


def _kept(chances: Sequence[float], count: int) -> tuple[float, ...]:
    return tuple(chance if index < count else 0.0 for index, chance in enumerate(chances))


def sampling_scene(step: int) -> Scene:
    """Stage ``step`` of 0 to 4: a bar for each of four tokens."""
    stage = filtered()[step]
    marks: list[Mark] = []
    for index, chance in enumerate(stage.probabilities):
        x, height = 20 + 76 * index, 130 * chance
        if chance:
            marks.append(Box(x, 150 - height, 52, height, "", "", "accent", 0.8))
            marks.append(Label(x + 26, 144 - height, f"{chance:.3g}"))
        marks.append(Label(x + 26, 166, ("the", "a", "my", "no")[index], quiet=not chance))
    told = ", ".join(f"{chance:.3g}" for chance in stage.probabilities)
    return Scene(320, 174, tuple(marks), stage.says, f"Probabilities of four tokens: {told}. {stage.says}")


# From tokens to text

#: Tokens as bytes, what may be sent after each, and what is held back; the stop string is ##.
STOP = "##"
PIECES = (
    ("c a f c3", "caf", "c3", "c3 begins a character of two bytes, so it waits. The letters before it do not."),
    ("a9 _", "\u00e9 ", "", "a9 completes the \u00e9: it is sent, and the space behind it, too."),
    ("a #", "a", "#", "The # begins the stop string ##, so it waits. The a does not."),
    ("b", "#b", "", "b follows, so this # was no stop string: both are sent."),
    ("# # !", "", "", "Now ## is complete. The text ends before it, and the ! behind it is never sent."),
)


def pieces_scene(step: int) -> Scene:
    """The first ``step + 1`` tokens: a row is a token, with what was sent and what is held back after it."""
    marks: list[Mark] = [
        Label(52, 14, "token (bytes)", size=11, quiet=True),
        Label(172, 14, "sent", size=11, quiet=True),
        Label(270, 14, "held back", size=11, quiet=True),
    ]
    for index, (token, sent, held, _) in enumerate(PIECES[: step + 1]):
        y, new = 22 + 34 * index, index == step
        marks.append(Box(4, y, 96, 28, token, fill=0.5, strong=new, size=13))
        if sent:
            marks.append(Box(124, y, 96, 28, repr(sent), "", "right", 0.6, new, 13))
        if held:
            marks.append(Box(234, y, 72, 28, held, "", "quiet", 0.5, new, 13))
    done = "; ".join(f"{token}: sent {sent!r}, held {held or 'nothing'}" for token, sent, held, _ in PIECES[: step + 1])
    return Scene(316, 22 + 34 * len(PIECES), tuple(marks), PIECES[step][3], f"Tokens so far: {done}.")
