"""What the steppers of chapter 10 draw about requests: a long prompt, a budget, a full pool, a gate, two kinds of GPU.

Standard library only. The numbers come from the scheduler itself.

>>> [one.end for one in prompt_passes(8)]
[8, 16, 24, 28]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from solutions.ch10.scheduler import Scheduler, share_budget

# A long prompt beside two streams

#: Tokens of the prompt that arrives, streams that write, and the least time of a pass in units: reading the weights.
PROMPT, STREAMS, READ = 20, 2, 4
#: The budget of a pass in the picture's lower half; the upper has none.
BUDGET, NO_LIMIT = 8, 1000


@dataclass(frozen=True)
class Pass:
    """A pass: its prompt tokens, all its tokens, and when it starts and ends, in units from the prompt's arrival."""

    chunk: int
    tokens: int
    start: int
    end: int


def pass_units(tokens: int) -> int:
    """Time of a pass on the picture's GPU: a unit for each token, and never less than reading the weights takes."""
    return max(READ, tokens)


def prompt_passes(budget: int, prompt: int = PROMPT, streams: int = STREAMS) -> list[Pass]:
    """The passes from the arrival of a prompt to its first token."""
    found: list[Pass] = []
    left, clock = prompt, 0
    while left:
        chunk = share_budget([1] * streams, [left], budget, streams + 1)[-1]
        end = clock + pass_units(streams + chunk)
        found.append(Pass(chunk, streams + chunk, clock, end))
        left, clock = left - chunk, end
    return found


def stall_scene(step: int) -> Scene:
    """Step 0: the pass before; step 1: the whole prompt in one pass; steps 2 to 5: in chunks."""
    whole, chunks = prompt_passes(NO_LIMIT), prompt_passes(BUDGET)
    shown = ((("no limit", whole[: min(step, 1)]), 0), ((f"budget {BUDGET}", chunks[: max(0, step - 1)]), 112))
    scale, left = 8, 62
    marks: list[Mark] = []
    for (name, passes), top in shown:
        marks.append(Label(4, top + 14, name, "start", 12))
        marks += [
            Label(4, top + 40 + 24 * row, text, "start", 12, quiet=True) for row, text in enumerate(("GPU", "a, b"))
        ]
        marks.append(Label(4, top + 88, "prompt", "start", 12, quiet=True))
        rows = [Pass(0, STREAMS, -READ, 0), *passes]
        for number, one in enumerate(rows):
            x, wide = left + scale * (one.start + READ), scale * (one.end - one.start) - 2
            new = number == len(rows) - 1 > 0 and (step == 1) == (top == 0)
            marks.append(Box(x, top + 24, wide, 22, f"{one.tokens}", fill=0.6, strong=new))
            marks.append(Box(x + wide - 10, top + 51, 10, 16, tone="right", fill=0.9))
            if one.chunk and sum(p.chunk for p in passes[:number]) == PROMPT:
                marks.append(Box(x + wide - 10, top + 75, 10, 16, tone="right", fill=0.9, strong=new))
    return Scene(left + scale * (chunks[-1].end + READ) + 10, 208, tuple(marks), _stall_says(step), _stall_holds(step))


def _stall_says(step: int) -> str:
    whole, chunks = prompt_passes(NO_LIMIT)[0], prompt_passes(BUDGET)
    if step == 0:
        return f"Two streams write, {READ} units a pass. Now a prompt of {PROMPT} tokens arrives."
    if step == 1:
        return (
            f"Without a limit, one pass takes all {whole.tokens} tokens and {whole.end} units. Nobody gets a token in "
            "between."
        )
    one = chunks[step - 2]
    said = f"{one.chunk} tokens of the prompt and {STREAMS} of the streams: {one.end - one.start} units."
    if step - 2 == len(chunks) - 1:
        return f"{said} The prompt's first token is there after {one.end} units, not {whole.end}."
    return said


def _stall_holds(step: int) -> str:
    chunks = [str(one.tokens) for one in prompt_passes(BUDGET)[: max(0, step - 1)]]
    return f"Passes with a budget of {BUDGET}: {', '.join(chunks) or 'none yet'} tokens."


# A box of places

#: Requests that run, each with one token to compute, and those that wait, with their prompts.
RUNNING, WAITING = ("a", "b"), (("p", 9), ("q", 6))


def place_rows() -> list[list[str]]:
    """The owner of each place in each pass, until both prompts are computed and one more pass."""
    missing = {**dict.fromkeys(RUNNING, 1), **dict(WAITING)}
    begun, rows = list(RUNNING), []
    while True:
        waiting = [name for name, _ in WAITING if name not in begun]
        order = [*begun, *waiting]
        tokens = share_budget([missing[name] for name in begun], [missing[name] for name in waiting], BUDGET, 4)
        rows.append([name for name, own in zip(order, tokens, strict=False) for _ in range(own)])
        for name, own in zip(order, tokens, strict=False):
            missing[name] = missing[name] - own or 1  # who is computed writes: one token for the next pass
        if len(rows[-1]) == len(order):
            return rows
        begun = order[: len(tokens)]


def place_scene(step: int) -> Scene:
    """The places of the passes up to ``step``: a row is a pass, a box a token."""
    rows = place_rows()
    left, across, down = 62, 33, 32
    marks: list[Mark] = [Label(left + across * 4, 13, f"a budget of {BUDGET} tokens", size=11, quiet=True)]
    for number, row in enumerate(rows[: step + 1]):
        y = 20 + down * number
        marks.append(Label(4, y + 18, f"pass {number + 1}", "start", quiet=True))
        for place, name in enumerate(row):
            tone = "right" if row.count(name) == 1 else "accent"
            marks.append(Box(left + across * place, y, 29, 26, name, tone=tone, fill=0.6, strong=number == step))
    size = (left + across * BUDGET + 4, 20 + down * len(rows))
    return Scene(*size, tuple(marks), _place_says(rows, step), _place_holds(rows[: step + 1]))


def _place_says(rows: list[list[str]], step: int) -> str:
    row = rows[step]
    parts = [f"{name} {row.count(name)}" for name in dict.fromkeys(row)]
    done = [name for name, prompt in WAITING if sum(one.count(name) for one in rows[: step + 1]) == prompt]
    said = f"Pass {step + 1}: " + ", ".join(parts) + "."
    if done:
        said += f" The prompt of {done[0]} is computed: this pass gives its first token."
    if step == len(rows) - 1:
        said = f"Pass {step + 1}: all write, {len(row)} tokens. The rest of the budget is not needed."
    return said


def _place_holds(rows: list[list[str]]) -> str:
    return "; ".join(f"pass {number}: {' '.join(row)}" for number, row in enumerate(rows, 1)) + "."


# A pool that runs full

#: Prompts and answers of three requests, and the pool.
REQUESTS, BLOCKS, SIZE = (("x", 12, 3), ("y", 6, 4), ("z", 3, 3)), 6, 4


@dataclass(frozen=True)
class Moment:
    """After a pass: who computed how much, who left, who finished, the owner of each block, and who waits."""

    step: tuple[tuple[str, int], ...]
    preempted: tuple[str, ...]
    finished: tuple[str, ...]
    blocks: tuple[str, ...]
    waiting: tuple[str, ...]


def pool_moments() -> list[Moment]:
    """The passes of :data:`REQUESTS`, until all have finished; blocks are taken from the lowest number on."""
    scheduler = Scheduler(32, 4, BLOCKS, SIZE)
    for request in REQUESTS:
        scheduler.add(*request)
    owners, computed, found = [""] * BLOCKS, {name: 0 for name, _, _ in REQUESTS}, list[Moment]()
    while scheduler.running or scheduler.waiting:
        step, gone = scheduler.schedule(), scheduler.preempted
        for name in gone:
            computed[name], owners = 0, ["" if owner == name else owner for owner in owners]
        for name, tokens in step:
            computed[name] += tokens
            while owners.count(name) * SIZE < computed[name]:
                owners[owners.index("")] = name
        held, finished = tuple(owners), scheduler.update()
        owners = ["" if owner in finished else owner for owner in owners]
        found.append(Moment(tuple(step), tuple(gone), tuple(finished), held, tuple(scheduler.waiting)))
    return found


def pool_scene(step: int) -> Scene:
    """The pool during pass ``step + 1``: six blocks with their owners, and the queue."""
    moment = pool_moments()[step]
    before = pool_moments()[step - 1].blocks if step else moment.blocks
    marks: list[Mark] = [Label(4, 14, "blocks of 4 tokens", "start", 11, quiet=True)]
    for number, owner in enumerate(moment.blocks):
        new = owner != before[number]
        marks.append(Box(4 + 54 * number, 22, 48, 34, owner, f"{number}", fill=0.6 if owner else 0.0, strong=new))
    marks.append(Label(4, 82, "computes", "start", 12, quiet=True))
    for place, (name, tokens) in enumerate(moment.step):
        marks.append(Box(84 + 58 * place, 66, 52, 24, f"{name} {tokens}", tone="right", fill=0.6))
    marks.append(Label(4, 114, "waits", "start", 12, quiet=True))
    for place, name in enumerate(moment.waiting):
        marks.append(Box(84 + 58 * place, 98, 52, 24, name, tone="quiet", fill=0.4, strong=name in moment.preempted))
    return Scene(328, 128, tuple(marks), _pool_says(step), _pool_holds(moment))


def _pool_says(step: int) -> str:
    moment = pool_moments()[step]
    said = f"Pass {step + 1}: " + ", ".join(f"{name} computes {tokens}" for name, tokens in moment.step) + "."
    if step == 0:
        return f"{said} The pool is full."
    for name in moment.preempted:
        said = (
            f"Pass {step + 1}: x needs a fourth block and none is free. {name}, admitted last, gives back its block "
            "and goes to the head of the queue."
        )
    again = [name for name, tokens in moment.step if tokens > 1]
    if again:
        said += f" {again[0]} is back, and what it had computed is computed again."
    if moment.finished:
        said += f" {' and '.join(moment.finished)} {'has' if len(moment.finished) == 1 else 'have'} finished."
    return said


def _pool_holds(moment: Moment) -> str:
    owned = ", ".join(f"{number} {owner or 'free'}" for number, owner in enumerate(moment.blocks))
    return f"Blocks: {owned}. Waiting: {', '.join(moment.waiting) or 'nobody'}."


# A prompt at the gate

#: The pool, tokens of a block, a request that writes, the one at the head of the queue, and what a pass has for it.
POOL, ROOM, WRITER, NEWCOMER, CHUNK = 12, 8, ("a", 73, 7), ("b", 48, 2), 16


@dataclass(frozen=True)
class GateMoment:
    """A pass: blocks of the writer and the newcomer, all tokens that the newcomer has computed, and whether it left."""

    writer: int
    held: int
    computed: int
    left: bool


class _FirstChunk(Scheduler):
    """A scheduler that lets a request in when its first chunk fits."""

    @staticmethod
    def admit(
        waiting: Sequence[tuple[int, int, int]], budget: int, free: int, block_size: int, max_chunk: int = 0
    ) -> list[int]:
        """At most one request: the tokens of its first chunk, if there are blocks for them."""
        chunks = [min(total - cached, budget) for total, cached, _ in waiting[:1]]
        return [tokens for tokens in chunks if 0 < -(-tokens // block_size) <= free]


def thrash(first_chunk: bool) -> list[GateMoment]:
    """The passes from the newcomer's arrival until it is computed, with one gate or the other."""
    scheduler = (_FirstChunk if first_chunk else Scheduler)(CHUNK + 1, 4, POOL, ROOM)
    scheduler.add(*WRITER)
    own = {WRITER[0]: 0, NEWCOMER[0]: 0}
    while own["a"] < WRITER[1]:
        own["a"] += dict(scheduler.schedule())["a"]
        scheduler.update()
    scheduler.add(*NEWCOMER)
    found, computed = list[GateMoment](), 0
    while own["b"] < NEWCOMER[1]:
        step, gone = dict(scheduler.schedule()), scheduler.preempted
        own = {name: 0 if name in gone else tokens + step.get(name, 0) for name, tokens in own.items()}
        computed += step.get("b", 0)
        found.append(GateMoment(-(-own["a"] // ROOM), -(-own["b"] // ROOM), computed, "b" in gone))
        if "a" in scheduler.update():
            own["a"] = 0
    return found


def gate_scene(step: int) -> Scene:
    """The pool in pass ``step + 1``, with each of the two gates."""
    marks: list[Mark] = []
    for (name, first), top in ((("first chunk fits", True), 0), (("whole prompt fits", False), 74)):
        moment = thrash(first)[step]
        marks.append(Label(4, top + 14, f"{name}: b has computed {moment.computed}", "start", 12))
        owners = "a" * moment.writer + "b" * moment.held
        for number in range(POOL):
            owner = owners[number] if number < len(owners) else ""
            tone, new = ("right", True) if owner == "b" else ("accent", False)
            marks.append(Box(4 + 27.5 * number, top + 22, 24, 28, owner, tone=tone, fill=0.6 * bool(owner), strong=new))
    return Scene(336, 132, tuple(marks), _gate_says(step), _gate_holds(step))


def _gate_says(step: int) -> str:
    first, whole = thrash(True)[step], thrash(False)[step]
    if first.left:
        said = f"Pass {step + 1}: b needs two more blocks, none is free, and b was admitted last: it preempts itself."
    elif step and thrash(True)[step - 1].left:
        said = f"Pass {step + 1}: two blocks are free, so b comes in and computes its first {CHUNK} tokens again."
        if first.writer == 0:
            said = f"Pass {step + 1}: a has finished, so b has room at last, and the whole budget: {CHUNK + 1} tokens."
    else:
        said = f"Pass {step + 1}: two blocks are free, so b comes in and computes {CHUNK} tokens."
    return said + (" Below, b waits." if not whole.held else " Below, b begins for the first time.")


def _gate_holds(step: int) -> str:
    first, whole = thrash(True)[step], thrash(False)[step]
    return f"Blocks of b: {first.held} above, {whole.held} below; a holds {first.writer} in both."


# Two kinds of GPU


#: Requests a second that keep both promises: a GPU that does everything, one that only prefills, one that only decodes.
TOGETHER, PREFILL, DECODE = 1.6, 5.6, 10.0


def split_rate(prefills: int, decodes: int) -> float:
    """Requests a second of so many GPUs of each kind: the slower side sets the pace."""
    return min(prefills * PREFILL, decodes * DECODE)


def split_scene(step: int) -> Scene:
    """Step 0: three GPUs that do everything; step 1: two that prefill; step 2: one that decodes; step 3: the rate."""
    marks: list[Mark] = []
    if step == 0:
        for number in range(3):
            marks.append(Box(14 + 108 * number, 24, 92, 44, "both", f"{TOGETHER:g} a second", fill=0.6, strong=True))
    else:
        for number in range(2):
            marks.append(
                Box(14, 14 + 58 * number, 110, 44, "prefill", f"{PREFILL:g} a second", fill=0.6, strong=step == 1)
            )
    if step >= 2:
        marks.append(Box(214, 43, 110, 44, "decode", f"{DECODE:g} a second", tone="right", fill=0.6, strong=step == 2))
        marks += [Arrow(130, 36 + 58 * number, 208, 58 + 14 * number) for number in range(2)]
        marks.append(Label(170, 108, "caches", size=11, quiet=True))
    return Scene(336, 126, tuple(marks), _split_says(step), _split_says(step))


def _split_says(step: int) -> str:
    if step == 0:
        return f"Three GPUs that do both serve {3 * TOGETHER:g} requests a second within both promises."
    if step == 1:
        return f"Two GPUs that only compute prompts serve {2 * PREFILL:g} a second."
    if step == 2:
        return f"One that only writes answers serves {DECODE:g}; the caches travel to it."
    rate = split_rate(2, 1)
    return f"The slower side sets the pace: {rate:g} a second, {rate / 3:.1f} for each GPU instead of {TOGETHER:g}."
