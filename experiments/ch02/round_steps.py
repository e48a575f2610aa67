"""A ring of blocking calls round by round: what a stepper draws. Standard library only.

>>> [len(state.messages) for state in round_states(ring_programs("parity", 4))]
[0, 2, 2]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Scene
from rankzero.explore.scene import Tone

from .ring_policies import Program, play_rounds, ring_programs

#: Layout of the picture, pixels: margins, the distance between ranks and between their calls, size of a box.
LEFT, TOP = 6, 30
ACROSS, DOWN = 84, 50
WIDTH, HEIGHT = 76, 30


@dataclass(frozen=True)
class State:
    """Where the ranks stand after a round.

    Attributes:
        done: by rank, how many of its calls have completed.
        messages: ``(sender, receiver)`` of this round.
    """

    done: list[int]
    messages: list[tuple[int, int]]


def round_states(programs: Sequence[Program]) -> list[State]:
    """The start and the state after each round, until nobody can go on."""
    states = [State([0] * len(programs), [])]
    for calls in play_rounds(programs)[0]:
        busy = [rank for _, rank, _ in calls]
        messages = [(rank, peer) for verb, rank, peer in calls if verb == "send"]
        states.append(State([done + (rank in busy) for rank, done in enumerate(states[-1].done)], messages))
    return states


def ring_of_four_scene(step: int) -> Scene:
    """The picture after round ``step`` of a ring of four in which even ranks send first."""
    programs = ring_programs("parity", 4)
    states = round_states(programs)
    state = states[step]
    names = [Label(LEFT + ACROSS * rank + WIDTH / 2, 16, f"rank {rank}", quiet=True) for rank in range(4)]
    boxes = [_box(state, rank, index, call) for rank, calls in enumerate(programs) for index, call in enumerate(calls)]
    arrows = [_arrow(programs, pair) for pair in state.messages]
    size = LEFT + ACROSS * 4, TOP + DOWN + HEIGHT + 26
    return Scene(*size, (*names, *boxes, *arrows), _says(states, step), _holds(programs, state))


def _box(state: State, rank: int, index: int, call: tuple[str, int]) -> Box:
    done = state.done[rank] > index
    tone: Tone = "right" if done else "accent"
    fill = 0.5 if done else 0.5 * (state.done[rank] == index)
    verb, peer = call
    text = f"send to {peer}" if verb == "send" else f"recv from {peer}"
    now = done and state.done[rank] == index + 1 and any(rank in pair for pair in state.messages)
    return Box(LEFT + ACROSS * rank, TOP + DOWN * index, WIDTH, HEIGHT, text, "", tone, fill, now, 11)


def _arrow(programs: Sequence[Program], pair: tuple[int, int]) -> Arrow:
    """Below the two calls of a message, from the sender to the receiver."""
    sender, receiver = pair
    index = programs[sender].index(("send", receiver))
    y = TOP + DOWN * index + HEIGHT + 10
    start, end = (LEFT + ACROSS * rank + WIDTH / 2 for rank in pair)
    return Arrow(start, y, end, y)


def _says(states: list[State], step: int) -> str:
    state, total = states[step], len(states) - 1
    if step == 0:
        return "Start. Each rank has two calls, one above the other. It waits in the first."
    news = [f"rank {sender} sends to rank {receiver}" for sender, receiver in state.messages]
    ends = " Everybody is done." if step == total else " Each of them goes on to its second call."
    return f"Round {step} of {total}: {', '.join(news)}.{ends}"


def _holds(programs: Sequence[Program], state: State) -> str:
    """Where every rank stands, for readers who cannot see it."""
    rows = [
        f"rank {rank} has completed {done} of {len(calls)} calls"
        for rank, (calls, done) in enumerate(zip(programs, state.done, strict=True))
    ]
    return f"{'; '.join(rows).capitalize()}."
