"""The milestone "rlhf": drawn jobs, the cases that run them, and the desk that gives rewards."""

from __future__ import annotations

from array import array
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, NamedTuple

from autograder.items import Case, Later, NoQuestion, Tensor, lazily

plain = lazily("solutions.ch14.plain_loop")

#: Tokens of a prompt and of a response in the levels that are judged by a twin.
PROMPT, LENGTH = 3, 8
#: Of SGD: large enough that a wrong gradient shows in every weight after a step.
RATE = 0.5


@dataclass(frozen=True)
class Drawn:
    """A job of all ranks.

    Attributes:
        task: :class:`solutions.ch14.plain_loop.Task`.
        ranks: processes.
        adam: AdamW in place of SGD.
        weights: of writer and reference by name, where they are not drawn from the task's seeds.
        writers: the version that writes each batch, where the lag does not say it.
    """

    task: Any
    ranks: int = 1
    adam: bool = False
    weights: dict[str, Tensor] | None = None
    writers: tuple[int, ...] | None = None

    @property
    def rows(self) -> int:
        """Of a batch."""
        return len(self.task.prompts[0])

    @cached_property
    def right(self) -> Any:
        """What the plain twin does."""
        return self.wrong()

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the weights."""
        return plain.shapes(self.task.shape)  # type: ignore[no-any-return]

    def wrong(self, **rules: Any) -> Any:
        """What the twin does with these mistakes."""
        return plain.ran_on(self.task, plain.Rules(**rules), self.writers and (lambda i, _: self.writers[i]))

    def case(self) -> Case:
        """The run: what each rank is handed."""
        task = self.task
        weights = self.weights or task.seed
        settings = {"shape": dict(task.shape), "weights": weights, "rate": task.rate, "adam": self.adam}
        settings["reference"] = self.weights or task.reference
        orders = [[_tensor([rows], "int64").flat for rows in order] for order in task.orders]
        arguments = (
            settings,
            dict(task.plan),
            [_tensor(rows, "int64").whole for rows in task.prompts],
            [_tensor(rows, "float64").whole for rows in task.uniforms],
            orders,
            task.given
            and [_tensor(task.given[0], "int64").whole, _tensor(task.given[1], "float64").whole]
            + [Tensor.of(task.given[2], "float64")],
            self.ranks > 1,
        )
        return Case(tuple(arguments for _ in range(self.ranks)))


class _Both(NamedTuple):
    whole: Tensor
    flat: Tensor


def _tensor(rows: Sequence[Sequence[float]], kind: str) -> _Both:
    values = [value for row in rows for value in row]
    return _Both(Tensor.of(values, kind, (len(rows), len(rows[0]))), Tensor.of(values, kind))


def drawn(
    rng: Random,
    plan: dict[str, Any],
    groups: int = 4,
    epochs: int = 2,
    parts: int = 2,
    length: int = LENGTH,
    reference: bool = False,
    ranks: int = 1,
) -> Drawn:
    """A job of so many prompts in a batch, learned from in ``epochs`` times ``parts`` minibatches.

    Where several ranks work, all batches have the same prompts.
    """
    vocabulary, size = rng.randint(11, 14), plan["group_size"]
    shape = {"vocab": vocabulary, "layers": 2, "heads": 2, "head_dim": 8, "context": PROMPT + length}
    batches = range(plan["iterations"])
    questions = [_rows(rng, groups, PROMPT, vocabulary) for _ in batches]
    if ranks > 1:
        questions = [questions[0] for _ in batches]
    prompts = [[row for row in rows for _ in range(size)] for rows in questions]
    uniforms = [[[rng.random() for _ in range(length)] for _ in range(groups * size)] for _ in batches]
    orders = [[one for _ in range(epochs) for one in _order(rng, groups * size, parts)] for _ in batches]
    marks = [rng.gauss(0, 1) for _ in range(vocabulary)]
    seeds = rng.randrange(2**31), rng.randrange(2**31)
    task = plain.Task(shape, seeds[0], RATE, plan, prompts, uniforms, orders, marks, seeds[1] if reference else None)
    return Drawn(task, ranks)


def _rows(rng: Random, count: int, length: int, vocabulary: int) -> list[list[int]]:
    return [[rng.randrange(1, vocabulary) for _ in range(length)] for _ in range(count)]


def _order(rng: Random, rows: int, parts: int) -> list[list[int]]:
    """All rows, shuffled, in equal parts."""
    order = rng.sample(range(rows), rows)
    return [order[part * rows // parts : (part + 1) * rows // parts] for part in range(parts)]


# The desk.


class Row(NamedTuple):
    """What a rank has written: prompt and response, the response's log-probabilities, and the rank."""

    tokens: list[int]
    log_probs: list[float]
    rank: int


@dataclass
class Desk:
    """Gives rewards, and notes who wrote what when.

    Attributes:
        job: what is written.
        reward: of a row.
        first: writers are answered before the trainer.
        slow: batches whose rewards are given when nothing else can go on.
        asked: the rows of each batch, by number.
        learned: updates whose last step was about to be taken.
        late: those of them during which the next batch was not written.
        begun: for each of them, how many later batches had been written.
    """

    job: Drawn
    reward: Callable[[Sequence[int]], float]
    first: int = 1
    slow: frozenset[int] = frozenset()
    asked: list[dict[int, Row]] = field(default_factory=list)
    learned: list[int] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.asked = [{} for _ in self.job.task.prompts]

    def __call__(self, rank: int, question: Any) -> Any:
        """The answer to a driver."""
        if type(question) is not list or not question:
            raise NoQuestion
        if question[0] == "score" and len(question) == 5:
            return self._scored(rank, *question[1:])
        if question[0] == "learning" and len(question) == 2 and type(question[1]) is int and rank == 0:
            ahead = question[1] + 1
            self.learned.append(question[1])
            self.begun.append(sum(map(bool, self.asked[max(0, ahead) :])))
            if 0 < ahead < len(self.asked) and len(self.asked[ahead]) < self.job.rows:
                self.late.append(question[1])
            return {}
        raise NoQuestion

    def _scored(self, rank: int, batch: Any, rows: Any, tokens: Any, log_probs: Any) -> Any:
        if type(batch) is not int or type(rows) is not list or type(tokens) is not list or type(log_probs) is not str:
            raise NoQuestion
        if len(rows) != len(tokens) or not all(type(row) is list for row in tokens):
            raise NoQuestion
        if not all(type(number) is int for numbers in (rows, *tokens) for number in numbers):
            raise NoQuestion
        numbers = _numbers(log_probs)
        if wrong := self._refused(batch, rows, tokens, len(numbers)):
            return {"wrong": wrong}
        length = len(self.job.task.uniforms[0][0])
        for place, (row, written) in enumerate(zip(rows, tokens, strict=True)):
            self.asked[batch][row] = Row(written, numbers[place * length : (place + 1) * length], rank)
        answer = {"scores": [self.reward(row) for row in tokens]}
        if batch in self.slow:
            raise Later(answer)
        return answer

    def _refused(self, batch: int, rows: list[int], tokens: list[list[int]], numbers: int) -> str:
        """Why rows get no reward; empty if they do."""
        task = self.job.task
        if not 0 <= batch < len(self.asked):
            return f"there is no batch {batch}: the job has {len(self.asked)}"
        prompt, length = len(task.prompts[0][0]), len(task.uniforms[0][0])
        if numbers != len(rows) * length:
            return f"{len(rows)} rows have {len(rows) * length} log-probabilities, got {numbers}"
        seen: set[int] = set()
        for row, written in zip(rows, tokens, strict=True):
            if not 0 <= row < self.job.rows:
                return f"batch {batch} has no row {row}"
            if row in self.asked[batch] or row in seen:
                return f"row {row} of batch {batch} has been scored before"
            if len(written) != prompt + length:
                return f"rows have {prompt + length} tokens, prompt and response, got {len(written)}"
            if not all(0 <= token < task.shape["vocab"] for token in written):
                return f"row {row} of batch {batch} holds a token that is none of 0 to {task.shape['vocab'] - 1}"
            seen.add(row)
        return ""


def _numbers(text: str) -> list[float]:
    """The numbers that a driver sends as base64 of their bytes."""
    found = array("d")
    try:
        found.frombytes(a2b_base64(text, strict_mode=True))
    except ValueError:
        raise NoQuestion from None
    return found.tolist()
