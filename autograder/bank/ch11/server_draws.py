"""The milestone "server": drawn requests, whose answers no rounding can change, and what an engine made of them.

The answer to a sampled request is drawn with it: each uniform number is chosen from the middle of a token's share of
the probability. So an answer can be made to end after a few tokens, or not to end, and two ways of computing the same
logits never lead to different tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from autograder.bank.ch11.server_desk import Client, Desk, Load
from autograder.items import Case, Play, lazily

small, engine = lazily("solutions.ch11.small_device"), lazily("solutions.ch11.engine")

#: The least share of the probability that a drawn token may have, and how far the best two logits have to be apart.
SHARE, APART = 1e-4, 1e-6
#: What may follow each half of a character.
SECONDS = {b"\xc3": (b"\xa9", b"\xa4"), b"\xf0\x9f": (b"\x98\x80", b"\x8d\x80")}
#: The least share of a half character where there may be some: they are wanted, and else rare.
HALVES = 0.25


class Redraw(Exception):
    """This prompt has no answer of the wanted kind."""


@dataclass
class Author:
    """Draws requests for one model.

    Attributes:
        rng: the level's generator.
        seed: of the model's weights.
    """

    rng: Random
    seed: int

    def __post_init__(self) -> None:
        self.twin = small.SmallDevice(self.seed)

    def words(self, count: int) -> list[int]:
        """Tokens of a prompt."""
        return [self.rng.randrange(len(small.WHOLE)) for _ in range(count)]

    def client(self, name: str, prompt: int | Sequence[int], tokens: int, **wanted: Any) -> Client:
        """A client whose request is drawn until it has an answer.

        Args:
            name: of the request.
            prompt: its tokens, or how many.
            tokens: ``max_tokens``.
            wanted: as :meth:`answered` takes it; ``at``, ``leaves`` and ``salt``.
        """
        rest = {key: wanted.pop(key) for key in ("at", "leaves") if key in wanted}
        salt = wanted.pop("salt", "")
        for _ in range(200):
            given = self.words(prompt) if isinstance(prompt, int) else list(prompt)
            asked = {"name": name, "prompt": given, "max_tokens": tokens, "stop": [], "salt": salt, "constraint": None}
            try:
                return Client(*self.answered(asked, **wanted), **rest)
            except Redraw:
                continue
        raise ArithmeticError(f"no answer found for {name}")

    def answered(
        self,
        asked: dict[str, Any],
        temperature: float = 1.0,
        ends: int = 0,
        halves: bool = False,
        stop: int = 0,
        form: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], tuple[int, ...], tuple[str, ...], str]:
        """The request, the tokens of its answer, the text after each of them, and why it ends.

        Args:
            asked: without what is drawn here.
            temperature: 0 for greedy.
            ends: the number of the answer's token that ends it; 0 if it ends at ``max_tokens``.
            halves: whether it holds halves of characters.
            stop: how many characters its stop string has; 0 for none.
            form: as plain data, if the answer has to fit one.
        """
        constraint = small.Form(**form) if form else None
        answer: list[int] = []
        uniforms: list[float] = []
        while len(answer) < asked["max_tokens"]:
            left = asked["max_tokens"] - 1 - len(answer)
            may = constraint.allowed(left) if constraint else None
            wanted = self._wanted(answer, ends, halves, left) if may is None else may
            logits = self.twin.logits([*asked["prompt"], *answer])
            token, uniform = self._drawn(logits, temperature, wanted, may, halves)
            answer.append(token)
            uniforms.append(uniform)
            if token == small.EOS:
                break
            if constraint:
                constraint.advance(token)
        reason = "stop" if answer[-1] == small.EOS else "length"
        data = [small.VOCABULARY[token] for token in answer]
        texts = [b"".join(data[: n + 1]).decode(errors="ignore") for n in range(len(data))]
        strings = self._stops(texts, stop) if stop else []
        if strings:
            end = next(n for n, text in enumerate(texts) if strings[-1] in text)
            whole = texts[end][: texts[end].index(strings[-1])]
            answer, reason = answer[: end + 1], "stop"
            texts = [*(text[: len(whole)] for text in texts[:end]), whole]
        uniforms += [self.rng.random() for _ in range(asked["max_tokens"] - len(uniforms))]
        asked = {**asked, "temperature": temperature, "uniforms": uniforms, "stop": strings, "constraint": form}
        return asked, tuple(answer), tuple(texts), reason

    def _stops(self, texts: Sequence[str], size: int) -> list[str]:
        """Two stop strings: one that the text holds, and one that it begins and does not complete.

        The first begins inside a token, if it is a single character; otherwise it ends in a later token than it begins.

        Raises:
            Redraw: the text has no such place.
        """
        text, places = texts[-1], []
        for before, after in pairwise(texts[1:-1]):
            begins = range(len(before) + 1, len(after)) if size == 1 else [len(after) - 1]
            places += [place for place in begins if text.find(text[place : place + size]) == place]
        near = text[1:3] + "~"
        places = [place for place in places if 3 < place < len(texts[-2]) - size and near[0] not in text[place:][:size]]
        if not places:
            raise Redraw
        place = self.rng.choice(places)
        return [near, text[place : place + size]]

    def _wanted(self, answer: Sequence[int], ends: int, halves: bool, left: int) -> Collection[int]:
        """Tokens that may come next in a text without a form."""
        if ends and len(answer) + 1 == ends:
            return (small.EOS,)
        before = small.VOCABULARY[answer[-1]] if answer else b""
        if before in SECONDS:
            return [small.VOCABULARY.index(half) for half in SECONDS[before]]
        whole = range(len(small.WHOLE))
        return [*whole, *map(small.VOCABULARY.index, SECONDS)] if halves and left else whole

    def _drawn(
        self,
        logits: Sequence[float],
        temperature: float,
        wanted: Collection[int],
        may: Collection[int] | None,
        halves: bool,
    ) -> tuple[int, float]:
        """One of the wanted tokens, and the uniform number that draws it among those that may come.

        Raises:
            Redraw: a wanted token hardly ever comes, or two of them are equally probable.
        """
        if temperature == 0:
            best = sorted((logits[token] for token in may or range(len(logits))), reverse=True)[:2]
            token = small.choose(logits, 0.0, 0.0, may)
            if token not in wanted or (len(best) == 2 and best[0] - best[1] < APART):
                raise Redraw
            return token, 0.0
        shares = small.shares(logits, temperature, may)
        found = [token for token in wanted if shares[token][1] - shares[token][0] > SHARE]
        rare = [token for token in found if token >= len(small.WHOLE) and token != small.EOS]
        if halves and rare and len(rare) < len(found) and self.rng.random() < HALVES:
            found = rare
        if not found:
            raise Redraw
        (token,) = self.rng.choices(found, [shares[token][1] - shares[token][0] for token in found])
        low, high = shares[token]
        return token, low + self.rng.uniform(0.2, 0.8) * (high - low)


def case(load: Load) -> Case:
    """A load, for the driver."""
    return Case(((load.settings,),))


def played(load: Load, play: Play) -> Desk:
    """The desk of a run; ``desk.wrong`` says why it failed, if it did."""
    desk = Desk(load)
    found = play(case(load), desk=desk)
    if not desk.wrong and not desk.over:
        desk.wrong = found.failure or "The engine ended before its clients had their answers."
    return desk


def reference(load: Load) -> Desk:
    """The desk of the reference's run of the same load."""
    desk = Desk(load)
    small.serve(lambda question: desk(0, question), engine.EngineCore, load.settings)
    return desk
