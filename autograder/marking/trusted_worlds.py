"""Runs trusted programs in real worlds: ``world`` items on as many ranks as a case has, ``tensor`` items on one.

References are known to finish, so all their cases of one world size share one world. Any other program gets a new world
for each case: what a wrong one leaves behind, such as an unreceived message, cannot spoil the next case.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autograder.child.wire import Refused
from autograder.items import Build, Case, Grade
from autograder.marking import outcome, plain, probing, stochastic, values
from autograder.marking.outcome import Outcome
from autograder.marking.stochastic import Rounding
from rankzero import world
from rankzero.events import Event

#: What every rank needs of the grader.
NEEDED = (__name__, "autograder.child.stage", "autograder.marking.stochastic_torch")
#: Bytes of the all-reduce that separates the cases in the event log.
MARK = 10_007
#: How long a rank that raised waits for the others to end too, in seconds.
GRACE = 0.5
#: Extra seconds for a rank's first backward pass, in which torch imports modules.
FIRST_BACKWARD = 10.0


class Run(NamedTuple):
    """One case of a program that is known to end; ``rounding`` is None where it is ordinary."""

    item: Build
    program: Callable[..., Any]
    case: Case
    rounding: Rounding | None = None

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.case.args) if self.item.grade == "world" else 1


def run(item: Build, program: Callable[..., Any], cases: Sequence[Case], timeout: float) -> list[Outcome]:
    """The outcome of ``program`` for each case, with ``timeout`` seconds for each."""
    if program is item.solution():
        return together(item, program, cases, timeout)
    outcomes: list[Outcome] = []
    lost = 0
    for case in cases:
        if lost < outcome.LOSSES:
            outcomes += _world([Run(item, program, case)], timeout)
        else:
            last = outcomes[-1]
            outcomes.append(dataclasses.replace(last, detail=f"not tried: {last.detail}", printed=()))
        lost += outcomes[-1].kind in ("deadlock", "timeout", "died")
    return outcomes


def moved(item: Build, cases: Sequence[Case], timeout: float) -> list[list[Outcome]]:
    """For each way to round in :mod:`autograder.marking.stochastic`, the reference's outcome for each case."""
    (outcomes,) = moved_together([(item, cases)], timeout)
    return outcomes


def moved_together(asked: Sequence[tuple[Build, Sequence[Case]]], timeout: float) -> list[list[list[Outcome]]]:
    """The same for several items."""
    roundings = (*stochastic.RUNS, stochastic.PRECISE)
    runs = [Run(item, item.solution(), *one) for item, cases in asked for one in itertools.product(cases, roundings)]
    outcomes = iter(ended(runs, timeout))
    found = [[[next(outcomes) for _ in roundings] for _ in cases] for _, cases in asked]
    return [[list(run) for run in zip(*of_item, strict=True)] for of_item in found]


def together(item: Build, program: Callable[..., Any], cases: Sequence[Case], timeout: float) -> list[Outcome]:
    """The outcomes of a program that is known to end, in the order of the cases."""
    return ended([Run(item, program, case) for case in cases], timeout)


def ended(runs: Sequence[Run], timeout: float) -> list[Outcome]:
    """The outcomes of programs that are known to end, in order; ``timeout`` is the limit for one case in seconds.

    All runs with the same number of ranks share one world: to start one takes longer than most cases do.
    """
    return _worlds(runs, lambda one: one.ranks, timeout)


def _worlds(runs: Sequence[Run], kind: Callable[[Run], Any], timeout: float) -> list[Outcome]:
    """The outcomes of runs, in order, with a world for each ``kind`` of them."""
    found: dict[int, Outcome] = {}
    for value in sorted({kind(one) for one in runs}):
        places = [index for index, one in enumerate(runs) if kind(one) == value]
        found.update(zip(places, _world([runs[index] for index in places], timeout), strict=True))
    return [found[index] for index in range(len(runs))]


def _world(runs: Sequence[Run], timeout: float) -> list[Outcome]:
    """The outcomes of runs with the same number of ranks, in one world; if it fails, in one for each item."""
    programs = {id(one.program): one.program for one in runs}  # arguments of their own: what cannot be sent is named
    places = {number: index for index, number in enumerate(programs)}
    calls = [(places[id(one.program)], one.case, one.rounding, one.item.grade, one.item.probe) for one in runs]
    most = timeout * len(runs) + (FIRST_BACKWARD if any(one.item.probe for one in runs) else 0.0)
    try:
        world.prepare(*NEEDED)
        done = world.run(_rank, calls, *programs.values(), ranks=runs[0].ranks, timeout=most)
    except world.WorldError as error:
        if len({one.item.id for one in runs}) > 1:
            return _worlds(runs, lambda one: one.item.id, timeout)
        return [dataclasses.replace(_failed(error), printed=error.lines)] * len(runs)
    logs = [_split([event for event in done.events if event.rank == rank], len(runs)) for rank in range(done.ranks)]
    outcomes = [
        _joined(one.item, [answers[i] for answers in done.values], tuple(event for log in logs for event in log[i]))
        for i, one in enumerate(runs)
    ]
    if len(runs) == 1:
        outcomes = [dataclasses.replace(outcomes[0], printed=done.lines)]
    return [probing.with_conclusion(one.item, one.case, got) for one, got in zip(runs, outcomes, strict=True)]


def here(item: Build, program: Callable[..., Any], case: Case) -> Outcome:
    """The outcome of a ``tensor`` item's case in this process, where ranks cannot be forked."""
    answer, _ = _answer(program, case, case.args, item.probe)
    return probing.with_conclusion(item, case, _joined(item, [answer], ()))


def _rank(
    calls: Sequence[tuple[int, Case, Rounding | None, Grade, str | None]], *programs: Callable[..., Any]
) -> list[tuple[Any, ...]]:
    """Run every case in turn on this rank, with a separator in the log before each. A call begins with the place of
    its program."""
    import torch
    import torch.distributed as dist

    answers = []
    for number, (place, case, rounding, grade, probe) in enumerate(calls):
        dist.all_reduce(torch.zeros(MARK, dtype=torch.int8))
        given = case.args[dist.get_rank()] if grade == "world" else case.args
        answer, error = _answer(programs[place], case, given, probe, rounding)
        _announce(number)
        if error is not None and not _all_end(number):  # others may wait for it: end the world with its exception
            raise error
        answers.append(answer)
    return answers


def _announce(number: int) -> None:
    """Say that this rank has ended a case."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    c10d._get_default_store().set(f"end/{number}/{dist.get_rank()}", "")


def _all_end(number: int) -> bool:
    """Whether all other ranks end the case within :data:`GRACE`."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    store = c10d._get_default_store()
    all_ranks = [f"end/{number}/{rank}" for rank in range(dist.get_world_size())]
    last = time.monotonic() + GRACE
    while not store.check(all_ranks):
        if time.monotonic() > last:
            return False
        time.sleep(0.002)
    return True


def _is_mark(event: Event) -> bool:
    """Whether this is the separator before a case; no exercise has a tensor of this many bytes."""
    return event.operation == "all_reduce" and event.sent == MARK


def _split(events: Sequence[Event], cases: int) -> list[list[Event]]:
    """One rank's events by case."""
    parts: list[list[Event]] = []
    for event in events:
        if _is_mark(event):
            parts.append([])
        elif parts:
            parts[-1].append(event)
    return parts + [[] for _ in range(cases - len(parts))]


def _answer(
    program: Callable[..., Any], case: Case, given: Sequence[Any], probe: str | None, rounding: Rounding | None = None
) -> tuple[tuple[Any, ...], Exception | None]:
    """One rank's part of an outcome, ``(kind, value or class name, arguments, line, detail)``, and its exception."""
    from autograder.child import stage
    from autograder.marking import stochastic_torch

    args = values.fresh(list(given), torch_tensor, stage.make)
    kwargs = values.fresh(dict(case.kwargs), torch_tensor)
    try:
        with stochastic_torch.rounded(rounding):
            if probe:
                value = plain.plain(probing.load(probe)(program, *args, **kwargs))
            else:
                value = plain.plain(stage.answer(program(*args, **kwargs), args, values.Record))
    except Refused as refusal:
        return ("refused", None, None, None, f"returned {refusal}"), None
    except Exception as error:
        return ("raised", type(error).__name__, None, plain.line_of(error), str(error)), error
    return ("value", value, None if probe else plain.after(given, args), None, ""), None


def torch_tensor(dtype: str, shape: tuple[int, ...], data: bytes) -> Any:
    """A torch tensor from its plain parts."""
    import torch

    kind = getattr(torch, dtype)
    return torch.frombuffer(bytearray(data), dtype=kind).reshape(shape) if data else torch.empty(shape, dtype=kind)


def _joined(item: Build, answers: Sequence[tuple[Any, ...]], events: tuple[Event, ...]) -> Outcome:
    """The outcome of a case from the answers of all ranks."""
    first = next((answer for answer in answers if answer[0] != "value"), answers[0])
    if first[0] == "raised" and any(answer[:2] != first[:2] for answer in answers):
        ranks = " and ".join(str(rank) for rank, answer in enumerate(answers) if answer[:2] == first[:2])
        error = f"{first[1]} on rank{'s' if ' ' in ranks else ''} {ranks} only"
        return Outcome("raised", error=error, line=first[3], detail=first[4], events=events)
    if first[0] != "value":
        error = first[1] or ""
        return Outcome(first[0], error=error, line=first[3], detail=first[4], events=events)
    value, arguments = tuple(answer[1] for answer in answers), tuple(answer[2] for answer in answers)
    if item.grade == "tensor":
        value, arguments = value[0], arguments[0]
    return Outcome("value", value, arguments=arguments, events=events)


def _failed(error: world.WorldError) -> Outcome:
    """The outcome of a world that failed."""
    states = {report.state: report for report in error.reports}
    detail = str(error).split("\n")[0]
    if "raised" in states:
        name = re.match(r"raised (\w+)", states["raised"].what)
        who = f"rank {states['raised'].rank}"
        return Outcome("raised", error=f"{name[1] if name else 'Exception'} on {who} only", detail=detail)
    kind: outcome.Kind = "died" if "died" in states else "timeout" if "running" in states or not states else "deadlock"
    return Outcome(kind, detail=detail)
