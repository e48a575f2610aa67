"""The milestone "server": the device and the clients of a run, in the grader's process.

The device refuses a pass that no device could run, and one that reads a block in which other keys stand than those of
the request's own text: it knows, for every slot of the pool, which text was computed there, by whom, and under which
salt. The clients compare each piece of text with the answer of the plain twin when it arrives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from autograder.items import NoQuestion, lazily

small = lazily("solutions.ch11.small_device")

#: Steps without a pass after which an engine that has requests stands still, and passes after which it never ends.
IDLE, PASSES = 3, 1_000
#: Tokens that a pass computes in the time that it takes anyway; tokens of context that are read in the same time.
RIDGE, READ = 16, 512


@dataclass(frozen=True)
class Client:
    """A client: its request, and the answer of the plain twin.

    Attributes:
        asked: the request, as :class:`rankzero.server.jobs.JobRequest` takes it.
        answer: tokens, with the one that ends it.
        texts: the whole characters after each token, until the answer ends; the last is the whole answer.
        reason: why it ends.
        at: when it arrives, on the clock.
        leaves: when the client leaves: after so many characters, or so many tokens of its prompt, or so much time.
    """

    asked: dict[str, Any]
    answer: tuple[int, ...]
    texts: tuple[str, ...]
    reason: str
    at: float = 0.0
    leaves: tuple[Literal["characters", "computed", "time"], float] | None = None

    @property
    def name(self) -> str:
        return self.asked["name"]  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        return self.texts[-1]

    @property
    def tokens(self) -> list[int]:
        """Of the prompt and the answer."""
        return [*self.asked["prompt"], *self.answer]


@dataclass(frozen=True)
class Load:
    """What an engine has to serve.

    Attributes:
        seed: of the device's weights.
        sizes: ``blocks``, ``block_size``, ``budget`` and ``slots``.
        clients: in the order of their arrival.
        prompt: whether text has to be sent in the pass that makes it.
    """

    seed: int
    sizes: dict[str, int]
    clients: Sequence[Client]
    prompt: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What the engine is told."""
        return {**self.sizes, "vocabulary": [list(token) for token in small.VOCABULARY], "eos": small.EOS}


class Slot(NamedTuple):
    """What stands in a slot of the pool: the key of a text's last token, who computed it, and under which salt."""

    text: int
    who: str
    salt: str


@dataclass
class Served:
    """How far a request is.

    Attributes:
        client: whose it is.
        made: tokens of the answer whose logits have been computed.
        computed: tokens that have been computed for it, those of a second time included.
        reached: tokens whose keys it had when it last ran.
        taken: whether its blocks were taken away once.
        text: that has arrived.
        end: why it ended; ``"left"`` if the client did.
        times: when pieces of text arrived.
    """

    client: Client
    made: int = 0
    computed: int = 0
    reached: int = 0
    taken: bool = False
    text: str = ""
    end: str = ""
    times: list[float] = field(default_factory=list)


class Desk:
    """Answers an engine; it ends the run as soon as something is wrong.

    Attributes:
        wrong: a sentence; empty while all is right.
        over: there is nothing left to serve, or something is wrong.
        clock: time that the passes took.
        passes: of each, its requests with the position of their first token and the number of their tokens.
    """

    first = 0

    def __init__(self, load: Load) -> None:
        self.load, self.device = load, small.SmallDevice(load.seed, load.sizes["blocks"], load.sizes["block_size"])
        self.waiting = sorted(load.clients, key=lambda client: client.at)
        self.served: dict[str, Served] = {}
        self.wrong, self.over, self.clock, self.idle = "", False, 0.0, 0
        self.passes: list[list[tuple[str, int, int]]] = []
        self.stepped = True  # no pass was run since the last step
        self.slots: dict[tuple[int, int], Slot] = {}
        self.texts: dict[tuple[int, int], int] = {}  # a text by the text before its last token, and that token

    def __call__(self, rank: int, question: Any) -> Any:
        """The answer to the driver.

        Raises:
            NoQuestion: no driver asks this.
        """
        if type(question) is not list or len(question) != 2 or question[0] not in ("next", "forward"):
            raise NoQuestion
        kind, given = question
        if kind == "next":
            self._hear(said_of(given))
            due = self._due() if not self.wrong else {}
            self.over = self.over or bool(self.wrong)
            return {"over": True} if self.over else due
        wrong = self.wrong or self._refusal(pieces_of(given))
        if wrong:
            self.wrong = wrong
            return {"refused": wrong}
        return {"logits": self._compute(given)}

    # What a run took.

    @property
    def computed(self) -> int:
        return sum(one.computed for one in self.served.values())

    @property
    def waited(self) -> float:
        """The longest wait for the next piece of a text."""
        gaps = (b - a for one in self.served.values() for a, b in zip(one.times, one.times[1:], strict=False))
        return max(gaps, default=0.0)

    def first_text(self, name: str) -> float:
        """How long a request waited for its first text; 0 if it had none."""
        one = self.served[name]
        return one.times[0] - one.client.at if one.times else 0.0

    # Clients.

    def _hear(self, said: list[tuple[str, str, str]]) -> None:
        """Hand text to the clients."""
        if self.stepped and any(text for _, text, _ in said):
            self.wrong = self.wrong or "step() returned text without a pass."
        for name, text, reason in said:
            if not self.wrong:
                self.wrong = self._heard(name, text, reason)
        if self.load.prompt and not self.wrong:
            self.wrong = next((late for one in self.served.values() if (late := _late(one))), "")

    def _heard(self, name: str, text: str, reason: str) -> str:
        """A piece of text arrives; what is wrong with it, or empty."""
        one = self.served.get(name)
        if one is None:
            return f"There is no request {name[:20]!r}."
        if one.end:
            return f"{name} got text after {'its client had left' if one.end == 'left' else 'its end'}."
        one.text += text
        one.times += [self.clock] if text else []
        return _strays(one, reason) if not reason else _ends(one, reason)

    def _due(self) -> dict[str, Any]:
        """Who arrives and who leaves before the next step."""
        if self.stepped and self.served_now():
            self.idle += 1
            if self.idle >= IDLE:
                who = " and ".join(self.served_now()[:3])
                self.wrong = f"The engine stands still: {who} unfinished, and {IDLE} steps in a row ran no pass."
                return {}
        elif self.stepped and self.waiting:
            self.clock = max(self.clock, self.waiting[0].at)
        if not self.stepped:
            self.idle = 0
        self.stepped = True
        arrive = [client for client in self.waiting if client.at <= self.clock]
        self.waiting = self.waiting[len(arrive) :]
        self.served |= {client.name: Served(client) for client in arrive}
        leave = [name for name in self.served_now() if self._leaves(self.served[name])]
        for name in leave:
            self.served[name].end = "left"
        self.over = not (self.waiting or self.served_now() or arrive or leave)
        return {"arrive": [client.asked for client in arrive], "leave": leave}

    def served_now(self) -> list[str]:
        """The requests that have not ended."""
        return [name for name, one in self.served.items() if not one.end]

    def _leaves(self, one: Served) -> bool:
        if one.client.leaves is None:
            return False
        kind, bound = one.client.leaves
        now = {"characters": len(one.text), "computed": one.computed, "time": self.clock - one.client.at}
        return now[kind] >= bound

    # The device.

    def _refusal(self, pieces: list[tuple[str, list[int], int, list[int]]]) -> str:
        """Why the device does not run this pass; empty if it does."""
        if not self.stepped:
            return "step() called job.forward twice: a step runs at most one pass."
        if not pieces or len(self.passes) == PASSES:
            return "A pass has no pieces." if not pieces else f"The engine had not ended after {PASSES:,} passes."
        tokens, sizes = sum(len(piece[1]) for piece in pieces), self.load.sizes
        if tokens > sizes["budget"]:
            return f"A pass has {tokens} tokens; the budget is {sizes['budget']}."
        if len(pieces) > sizes["slots"]:
            return f"A pass has {len(pieces)} pieces; there are {sizes['slots']} slots."
        twice = [name for name, count in Counter(piece[0] for piece in pieces).items() if count > 1]
        if twice:
            return f"A pass has two pieces of {twice[0][:20]}."
        return next((wrong for piece in pieces if (wrong := self._no_piece(*piece))), "") or self._clash(pieces)

    def _no_piece(self, name: str, tokens: list[int], start: int, table: list[int]) -> str:
        """Why this is no piece of a request, whatever stands in its blocks."""
        one = self.served.get(name)
        if one is None or one.end:
            what = (
                "which is no request"
                if one is None
                else "whose client has left"
                if one.end == "left"
                else "which has ended"
            )
            return f"A pass has a piece of {name[:20]}, {what}."
        if not tokens:
            return (
                f"The piece of {name} is empty, and has no logits: compute the last token again, even if its key is in "
                "the pool."
            )
        size, stop, known = (
            self.load.sizes["block_size"],
            start + len(tokens),
            len(one.client.asked["prompt"]) + one.made,
        )
        if start < 0 or tokens != one.client.tokens[start:stop] or stop > known:
            return (
                f"The piece of {name} is not its text: from position {start} on it has {_few(tokens)}, and the text "
                f"has {_few(one.client.tokens[max(0, start) : min(known, max(0, start) + len(tokens))])}."
            )
        if len(table) * size < stop:
            return f"The table of {name} has {len(table)} blocks of {size}; {stop} tokens do not fit into them."
        used = table[: -(-stop // size)]
        for place, block in enumerate(used):
            if not 0 <= block < self.load.sizes["blocks"]:
                return (
                    f"The table of {name} has block {block}; the pool has {self.load.sizes['blocks']}, counted from 0."
                )
            if block in used[:place]:
                return f"The table of {name} has block {block} twice: it was taken for new tokens, and was not free."
        return ""

    def _clash(self, pieces: list[tuple[str, list[int], int, list[int]]]) -> str:
        """The block that two pieces write, as a sentence; empty if there is none."""
        size, owner = self.load.sizes["block_size"], dict[int, str]()
        for name, tokens, start, table in pieces:
            for place in range(start // size, -(-(start + len(tokens)) // size)):
                if owner.setdefault(table[place], name) != name:
                    return f"{owner[table[place]]} and {name} write block {table[place]} in the same pass."
        return ""

    def _compute(self, pieces: Sequence[Sequence[Any]]) -> list[list[float]]:
        """Run a pass; no logits from the first piece on that reads what it should not."""
        rows = []
        for name, tokens, start, table in pieces:
            one, salt = self.served[name], self.served[name].client.asked["salt"]
            self.wrong = self.wrong or self._misread(one, start, table)
            rows.append([] if self.wrong else self.device.forward(tokens, start, table))
            before = self._text(one.client.tokens[:start])
            for place, token in enumerate(tokens, start):
                before = self._text([token], before)
                self.slots[self._slot(table, place)] = Slot(before, name, salt)
            one.taken = one.taken or start < one.reached
            one.computed, one.reached = one.computed + len(tokens), start + len(tokens)
            one.made += one.reached == len(one.client.asked["prompt"]) + one.made
        count = sum(len(piece[1]) for piece in pieces)
        context = sum(start + len(tokens) for _, tokens, start, _ in pieces)
        self.clock += max(1.0, count / RIDGE) + context / READ
        self.passes.append([(name, start, len(tokens)) for name, tokens, start, _ in pieces])
        self.stepped = False
        return rows

    def _misread(self, one: Served, start: int, table: Sequence[int]) -> str:
        """What a piece reads that is not its own text's; empty if all is."""
        name, before = one.client.name, -1
        for place, token in enumerate(one.client.tokens[:start]):
            before, where = self._text([token], before), self._slot(table, place)
            found = self.slots.get(where)
            read = f"{name} reads position {place} in block {where[0]}"
            if found is None:
                return f"{read}, where no key has been computed yet."
            if found.text != before:
                whose = "its own, of another position" if found.who == name else f"those of {found.who}, another text"
                return f"{read}; the keys there are {whose}."
            if found.salt != one.client.asked["salt"]:
                return f"{name} reads block {where[0]}, which a request of another salt has written."
        return ""

    def _slot(self, table: Sequence[int], place: int) -> tuple[int, int]:
        number, offset = divmod(place, self.load.sizes["block_size"])
        return table[number], offset

    def _text(self, tokens: Sequence[int], before: int = -1) -> int:
        """The number of the text that has these tokens after another one."""
        for token in tokens:
            before = self.texts.setdefault((before, token), len(self.texts))
        return before


# What is wrong with a text.


def _strays(one: Served, reason: str) -> str:
    """Why the text so far is no beginning of the answer; empty if it is."""
    want, name = one.client.text, one.client.name
    if want.startswith(one.text):
        return ""
    same = next(
        (n for n, (a, b) in enumerate(zip(one.text, want, strict=False)) if a != b), min(len(want), len(one.text))
    )
    if same == len(want):
        stops = one.client.asked["stop"]
        rest = one.text[same:]
        if any(rest.startswith(stop) for stop in stops):
            return f"{name} was sent its stop string, {rest[:12]!r} after {_tail(want)}: the answer ends before it."
        if any(stop.startswith(rest) for stop in stops):
            return f"{name} was sent {rest!r}, which begins its stop string: hold it back until it cannot."
        return f"{name} was sent {rest[:12]!r} after its end, {_tail(want)}."
    if "\ufffd" in one.text:
        return f"{name} was sent half a character after {_tail(want[:same])}: hold its bytes back until it is whole."
    after = " Its blocks had been taken away before: what was chosen stays chosen." if one.taken else ""
    if one.client.asked["constraint"]:
        after = " Its form, and max_tokens, leave only what allowed(remaining) says." + after
    got = one.text[same : same + 12]
    return f"{name} was sent {got!r} after {_tail(want[:same])}; {want[same : same + 12]!r} follows there.{after}"


def _ends(one: Served, reason: str) -> str:
    """Why an answer should not end here, or not for this reason; empty if it should."""
    if wrong := _strays(one, reason):
        return wrong
    client = one.client
    if one.text != client.text:
        missing = client.text[len(one.text) :]
        return f"{client.name} ended ({reason[:12]}) after {_tail(one.text)}; {missing[:16]!r} is missing."
    if reason != client.reason:
        return f"{client.name} ended with the reason {reason[:12]!r}; {client.reason!r} is right."
    one.end = reason
    return ""


def _late(one: Served) -> str:
    """Which text should have been sent by now; empty if all has."""
    if one.end or not one.made:
        return ""
    due = one.client.texts[min(one.made, len(one.client.texts)) - 1]
    if one.made >= len(one.client.texts):
        return f"{one.client.name} has all its tokens, and has not ended (reason: {one.client.reason})."
    if len(one.text) < len(due):
        return f"Token {one.made} of {one.client.name} is there, and its text {due[len(one.text) :]!r} was not sent."
    return ""


def _tail(text: str) -> str:
    return repr(text) if len(text) <= 16 else f"...{text[-14:]!r}"


def _few(tokens: Sequence[int]) -> str:
    return f"{list(tokens[:6])}" if len(tokens) <= 6 else f"[{', '.join(map(str, tokens[:5]))}, ...]"


# What a driver sends.


def said_of(given: Any) -> list[tuple[str, str, str]]:
    """What a step has returned.

    Raises:
        NoQuestion: no driver sends this.
    """
    if type(given) is not list or any(type(one) is not list or [*map(type, one)] != [str] * 3 for one in given):
        raise NoQuestion
    return [(name, text, reason) for name, text, reason in given]


def pieces_of(given: Any) -> list[tuple[str, list[int], int, list[int]]]:
    """The pieces of a pass.

    Raises:
        NoQuestion: no driver sends this.
    """
    if type(given) is not list:
        raise NoQuestion
    for piece in given:
        if type(piece) is not list or [*map(type, piece)] != [str, list, int, list]:
            raise NoQuestion
        if any(type(number) is not int for number in (*piece[1], *piece[3])):
            raise NoQuestion
    return [(name, tokens, start, table) for name, tokens, start, table in given]
