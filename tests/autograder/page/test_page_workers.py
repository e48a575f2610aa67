"""Who uses which worker of a page: a worker stays when its user goes, unless it still had something to answer."""

from __future__ import annotations

import json
import time

import pytest

from autograder.page.workers import Worker, Workers
from autograder.starting import NotStarted


class Port:
    """Workers that answer nothing by themselves; ``said`` holds the lines that arrive next."""

    def __init__(self, places: int) -> None:
        self.places, self.said, self.got, self.ended = places, [], [], []

    def put(self, place: int, line: str) -> None:
        self.got.append((place, json.loads(line)))

    def next(self, milliseconds: float) -> str | None:
        return self.said.pop(0) if self.said else None

    def end(self, place: int) -> None:
        self.ended.append(place)

    def interrupt(self, place: int) -> None:
        self.said.append(f"{place}@somewhere")

    def answer(self, place: int, **message: object) -> None:
        """A reply to the last request of a worker."""
        identifier = next(request["id"] for where, request in reversed(self.got) if where == place)
        self.said.append(f"{place}{json.dumps({**message, 'id': identifier}, separators=(',', ':'))}")


@pytest.fixture
def port():
    return Port(2)


@pytest.fixture
def workers(port):
    return Workers(port)


def heard(*users: Worker):
    return users[0].workers.exchange(users, time.monotonic())


def test_a_reply_comes_to_its_request(port, workers):
    first, second = workers.start(), workers.start()
    first.send(do="one")
    second.send(do="two")
    port.answer(1, kind="ready")
    port.said += ["0#hello\n", "0#there\n"]
    assert heard(first, second) == [(second, {"kind": "ready", "id": ""})]
    assert heard(first, second) == []
    assert first.lines == ("hello", "there")
    assert [request["do"] for _, request in port.got] == ["one", "two"]


def test_an_idle_worker_stays_and_a_busy_one_is_ended(port, workers):
    idle, busy = workers.start(), workers.start()
    busy.send(do="compute")
    idle.kill()
    busy.kill()
    assert port.ended == [busy.place]


def test_whoever_has_been_idle_longest_makes_room(port, workers):
    first, second = workers.start(), workers.start()
    third = workers.start()
    assert (first.alive, second.alive, third.place) == (False, True, 0)
    second.send(do="compute")
    third.send(do="compute")
    with pytest.raises(NotStarted, match="no rank is free"):
        workers.start()
    assert port.ended == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("!3", "the process exited with status 3"),
        ("nonsense", "it wrote on the grader's channel"),
        ('{"kind":"ready","id":"another"}', "it answered what was not asked"),
    ],
)
def test_a_worker_that_dies_or_breaks_the_rules_is_replaced(port, workers, line, reason):
    user = workers.start()
    user.send(do="start")
    port.said.append(f"0{line}")
    assert heard(user) == [(user, None)]
    assert (user.alive, user.ended, port.ended) == (False, reason, [0])


def test_an_answer_without_a_question_ends_an_idle_worker(port, workers):
    user = workers.start()
    port.said.append('0{"kind":"ready","id":""}')
    assert heard(user) == [(user, None)]
    assert port.ended == [0]


def test_a_computing_rank_says_where(port, workers):
    user = workers.start()
    user.send(do="run")
    workers.locate([user], 1.0)
    assert user.outcome.stack == "somewhere"
