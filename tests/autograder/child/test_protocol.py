"""The protocol against children that answer anything: whatever comes off the wire ends in an outcome.

No reply gets past the grader as a value that it is not, none crashes it, and none keeps it waiting.
"""

from __future__ import annotations

import collections
import contextlib
import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from corpus_items import ITEMS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.child import channel, encoding, wire
from autograder.items import Case, Iterator, Stage, Tensor
from autograder.marking import compare, judge, probing, values
from autograder.marking.answers import Answers
from autograder.marking.outcome import KINDS, Outcome
from autograder.marking.papers import Asked, Paper
from autograder.marking.values import Malformed, Record
from autograder.running import judging
from autograder.running.broker import Broker
from autograder.running.limits import Limits
from autograder.running.messages import Message, message_of
from autograder.running.process import Process, Processes
from autograder.running.replies import Reader
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

fuzzed = settings(
    max_examples=50,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
fewer = settings(fuzzed, max_examples=30)

SUBMISSION = Submission("a.py", (Unit("a.py", "def answer(x):\n    return 1.0\n\n\nclass Tally:\n    pass\n"),))
PLAIN = (type(None), bool, int, float, str, list, tuple, dict, range, Tensor, Record, Iterator, Stage)

# What may come.

texts = st.text(max_size=8) | st.sampled_from(["\ud800", "\x1b[2J", "a\nb", "a" * 300, "f", "l", "nan", "0x1p+3"])
integers = st.integers(-3, 300) | st.sampled_from([2**63, -(2**64), 2**4095, 2**4096, 10**1300])
scalars = st.none() | st.booleans() | integers | texts
tags = st.sampled_from(["f", "l", "t", "d", "r", "T", "R", "i", "S", "raises", "pickle"])
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=5,
)


def tensors(shape: st.SearchStrategy[Any], data: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    kinds = st.sampled_from([*wire.SIZES, "bfloat16", "object"])
    return st.tuples(st.just("T"), kinds, shape, data).map(list)


wires = st.recursive(
    scalars
    | st.tuples(st.just("f"), st.sampled_from(["0x1p+3", "nan", "-inf", "0x1p+99999", "", "x"]) | scalars).map(list)
    | tensors(st.lists(integers, max_size=3), st.sampled_from(["", "AAAA", "AAAAAAAA", "AQ==", "é", "="]) | scalars)
    | st.tuples(st.just("r"), integers, integers, integers).map(list),
    lambda inner: (
        st.tuples(tags, st.lists(inner, max_size=4)).map(lambda pair: [pair[0], *pair[1]])
        | st.lists(st.tuples(inner, inner).map(list), max_size=3).map(lambda pairs: ["d", *pairs])
        | st.lists(st.tuples(texts, inner).map(list), max_size=3).map(lambda pairs: ["R", "Pair", *pairs])
        | json_values
    ),
    max_leaves=12,
)
replies = st.fixed_dictionaries(
    {"kind": st.sampled_from(["value", "raised", "refused", "missing", "running", "loaded", "post"]) | json_values},
    optional={
        "value": wires,
        "arguments": wires,
        "error": st.sampled_from(["ValueError", "Made_up", "ValueError x", "Tally", "ImportError"]) | json_values,
        "unit": st.sampled_from([0, 1, -1]) | json_values,
        "line": st.integers(-2, 9) | json_values,
        "text": texts | json_values,
        "what": st.sampled_from([*wire.REFUSALS, "a value 41", "a tensor of void41; return one of"]),
        "type": st.sampled_from(["", "Fraction", "Got_41", "ndarray"]) | json_values,
        "problems": json_values,
    },
)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.lists(st.floats(width=32), max_size=6).map(Tensor.of),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.integers() | st.text("abc", max_size=3), inner, max_size=3)
        | inner.map(lambda value: Record("Pair", {"a": value}))
    ),
    max_leaves=12,
)


def parts(value: Any) -> list[Any]:
    """A value and everything in it."""
    inner: list[Any] = []
    if type(value) in (list, tuple):
        inner = list(value)
    elif type(value) is dict:
        inner = [*value, *value.values()]
    elif type(value) is Record:
        inner = list(value.fields.values())
    elif type(value) is Iterator:
        inner = list(value.values)
    return [value, *(part for one in inner for part in parts(one))]


# Values.


@fuzzed
@given(plain)
def test_a_plain_value_comes_back_as_it_was(value):
    """Kills: a wire on which True is 1, a tuple a list, or -0.0 is 0."""
    line = channel.dumps({"value": encoding.encode(value, values._special)})
    back = values.decode(values.parse(line.encode())["value"])
    assert repr(back) == repr(value)
    assert [type(part) for part in parts(back)] == [type(part) for part in parts(value)]


@fuzzed
@given(wires)
def test_what_is_decoded_is_plain_and_can_be_kept(wire):
    """Kills: a decoder that takes more than the encoder gives, so that what was graded cannot be written down."""
    try:
        value = values.decode(wire)
    except Malformed:
        return
    assert {type(part) for part in parts(value)} <= set(PLAIN)
    assert repr(values.decode(json.loads(json.dumps(values.encode(value))))) == repr(value)


@pytest.mark.parametrize(
    "wire",
    [
        "x" * (wire.MAX_TEXT + 1),
        ["T", "bool", [3 << 20], "AAAA" * (1 << 20)],
        ["d", *([i * (2**61 - 1), 0] for i in range(1, wire.MAX_KEYS + 2))],
        ["R", "Pair", *([i, 0] for i in range(5))],
        ["T", "float32", [0, wire.MAX_LENGTH + 1], ""],
        ["T", "float32", [0] * 9, ""],
        ["r", 0, 1, 0],
    ],
)
def test_more_than_may_travel_is_malformed(wire):
    with pytest.raises(Malformed):
        values.decode(wire)


@fuzzed
@given(st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode()))
def test_a_line_is_an_object_or_malformed(line):
    with contextlib.suppress(Malformed):
        assert type(values.parse(line)) is dict


# Replies.


def sound(outcome: Outcome) -> None:
    """What holds for every outcome, whatever a child has said."""
    assert outcome.kind in KINDS
    assert outcome.detail.isprintable()
    assert len(outcome.detail) <= 400
    assert outcome.error == "" or outcome.error.split(" ")[0].isidentifier()
    assert outcome.line is None or 1 <= outcome.line <= 7
    assert outcome.arguments is None or type(outcome.arguments) is tuple
    assert "41" not in outcome.detail or outcome.kind == "raised"


@fuzzed
@given(replies)
def test_a_reply_is_an_outcome_or_breaks_the_rules(reply):
    """Kills: a reader that raises, and one that shows what a child chose to say."""
    outcome = Reader(SUBMISSION).outcome(Message(reply))
    if outcome is not None:
        sound(outcome)
        assert outcome.kind in ("value", "raised", "refused")


EXPECTED = {
    "call": Outcome("value", 6.0),
    "calls": Outcome("value", [2, ("raises", "ValueError"), 2]),
    "tensor": Outcome("value", Tensor.of([2, 4, 6])),
    "stage": Outcome("value", Record("Trained", {"value": Tensor.of([1.0]), "gradients": {"0.weight": None}})),
    "world": Outcome("value", (Tensor.of([4.0]), Tensor.of([4.0]))),
    "quiet": Outcome("value", (Tensor.of([4.0]), Tensor.of([4.0]))),
    "probe": Outcome("value", {"value": Tensor.of([3, 10]), "gradients": [], "arguments after the call": []}),
    "saver": Outcome("value", {"at the end": "this checkpoint"}),
    "graph": Outcome("value", {"answers": [Tensor.of([2.0])], "replays": 2.0}),
}


@pytest.mark.parametrize("name", ITEMS)
@fewer
@given(reply=replies, tell=st.booleans())
def test_a_strange_answer_is_wrong_and_crashes_nothing(name, reply, tell):
    """Kills: a comparison that raises for a value of another kind, or takes one for right."""
    item, outcome = ITEMS[name], Reader(SUBMISSION).outcome(Message(reply))
    if outcome is None:
        return
    if item.grade == "world":
        outcome = replace(outcome, value=(outcome.value,) * 2, arguments=None)
    outcome = probing.with_conclusion(item, item.cases[0], outcome)
    fault = compare.fault(item, item.cases[0], EXPECTED[name], outcome, tell)
    assert fault is None or (type(fault) is str and fault.isprintable())
    assert fault is not None or (name == "call" and math.isclose(_number(outcome.value), 6.0, rel_tol=1e-8))
    asked = tuple(Asked(item.cases[0], group, EXPECTED[name]) for group in (None, item.groups[0]))
    paper = Paper(item, asked, ())
    mark = judge.mark(paper, [outcome, outcome])
    assert mark.score == 0 or fault is None
    assert all(sentence.isprintable() for sentence in (*mark.public, *mark.hidden))


def _number(value: Any) -> float:
    return float(value.tolist()[0]) if type(value) is Tensor else float(value)


@fewer
@given(st.lists(replies, max_size=3))
def test_what_was_answered_is_kept_whole(said):
    """Kills: a file of answers that cannot be written, or read back, for what a child has said."""
    outcomes = tuple(outcome for reply in said if (outcome := Reader(SUBMISSION).outcome(Message(reply))))
    answers = Answers("a.py", outcomes={"91-answer": outcomes}, typed={"q": (1, "a")})
    back = Answers.from_json(json.loads(json.dumps(answers.to_json(), allow_nan=False)))
    assert repr(back) == repr(answers)


@pytest.mark.parametrize("typed", [("\ud800",), (10**2000,), ([[[1]]] * 50_000,)])
def test_a_typed_answer_that_cannot_be_kept_costs_only_itself(typed):
    submission = replace(SUBMISSION, answers={"01-strange": typed, "01-plain": (2,)})
    kept, refusals = judging._kept(submission.answers)
    assert kept == {"01-plain": (2,)}
    assert len(refusals) == 1


# Children.


class Scripted(Process):
    """A child whose words are given: ``speak(message, id)`` answers a request with bytes, or with None and is gone."""

    def __init__(self, speak: Callable[[dict[str, Any], str], bytes | None]) -> None:
        self.speak, self.inside, self._printing, self.pid = speak, True, False, 0
        self._folder, self._out, self._in = None, bytearray(), bytearray()
        self.ids: collections.deque[str] = collections.deque()
        self.alive, self.ready, self.asked, self.ended = True, True, False, ""
        self._requests = self._prints = -1
        self._replies, self._mouth = os.pipe()
        for descriptor in (self._replies, self._mouth):
            os.set_blocking(descriptor, False)

    def put(self, lines: Sequence[str]) -> None:
        for text in lines:
            if not self.alive or self._mouth < 0:
                return
            message = json.loads(text)
            said = self.speak(message, message.pop("id"))
            with contextlib.suppress(BlockingIOError):
                os.write(self._mouth, said or b"")
            if said is None:
                os.close(self._mouth)
                self._mouth = -1

    def _status(self) -> str:
        return "the process exited"

    def kill(self) -> None:
        if self.alive:
            self.alive = False
            for descriptor in (self._replies, self._mouth):
                if descriptor >= 0:
                    os.close(descriptor)
            self._mouth = -1


class Rehearsal(Runner):
    """A runner whose children are scripted."""

    def __init__(self, *speakers: Callable[[dict[str, Any], str], bytes | None], seconds: float = 0.1) -> None:
        super().__init__(SUBMISSION, Processes(Sandbox.measure("none")), Limits(call=seconds, world=seconds))
        self.speakers = speakers
        self.made: list[Scripted] = []
        self.children.loaded = self._scripted

    def _scripted(self, item: Any, ranks: int) -> list[Process]:
        self.made += [Scripted(speak) for speak in self.speakers]
        return list(self.made[-ranks:])

    def close(self) -> None:
        for one in self.made:
            one.kill()


def line(message: Any, identifier: str) -> bytes:
    if type(message) is bytes:
        return message.replace(b"ID", identifier.encode())
    return json.dumps({"id": identifier, **message}).encode() + b"\n"


said_lines = st.lists(replies | st.binary(max_size=20) | st.just(b'{"id": "ID"}\n') | st.just(b"\n"), max_size=4)


@fewer
@given(st.lists(said_lines, min_size=1, max_size=5))
def test_whatever_a_child_writes_each_call_ends_in_an_outcome(script):
    """Kills: a runner that raises, hangs, or takes the answer to one call for that to another."""

    def speak(message: dict[str, Any], identifier: str) -> bytes | None:
        return b"".join(line(one, identifier) for one in script.pop(0)) if script else None

    with Rehearsal(speak) as runner:
        outcomes = runner.run(ITEMS["call"], [Case(([1.0, 2.0],))] * 4)
    assert len(outcomes) == 4
    for outcome in outcomes:
        sound(outcome)


@given(st.permutations(range(4)))
@settings(fuzzed, max_examples=24)
def test_answers_to_another_call_are_never_taken(order):
    """Kills: a grader that matches replies by their order, or takes any id that it has given out."""
    waiting: list[str] = []

    def speak(message: dict[str, Any], identifier: str) -> bytes | None:
        waiting.append(identifier)
        return b"".join(line({"kind": "value", "value": n}, waiting[n]) for n in order) if len(waiting) == 4 else b""

    with Rehearsal(speak, seconds=60.0) as runner:
        outcomes = runner.run(ITEMS["call"], [Case(([1.0],))] * 4, losses=1)
    honest = 0
    while honest < 4 and order[honest] == honest:
        honest += 1
    assert [outcome.value for outcome in outcomes[:honest]] == list(range(honest))
    assert all(outcome.kind == "died" for outcome in outcomes[honest : honest + 1])


# Worlds.

posts = st.fixed_dictionaries(
    {
        "kind": st.just("post"),
        "handle": st.integers(0, 3) | scalars,
        "operation": st.sampled_from(["all_reduce", "broadcast", "barrier", "send", "recv", "all_gather", "scatter"]),
        "group": st.sampled_from([[0, 1], [1, 0], [0], [1], [0, 2], [1, 2], [0, 0], [0, 1, 2], []]) | json_values,
        "name": st.sampled_from(["0", "g"]) | json_values,
        "types": st.just(["torch.float32"]) | json_values,
        "gives": st.just([4]) | st.lists(integers, max_size=3) | json_values,
        "takes": st.just([4, 4]) | st.just([4]) | st.lists(integers, max_size=3) | json_values,
    },
    optional={
        "peer": st.sampled_from([0, 1, 2, -1, None]) | json_values,
        "tag": st.integers(0, 2) | json_values,
        "root": st.sampled_from([0, 1, 2]) | json_values,
        "reduction": st.sampled_from(["SUM", "MAX"]) | scalars,
        "called": texts,
        "line": st.integers(-1, 9) | scalars,
        "unit": st.just(0) | scalars,
    },
)
honest_posts = st.fixed_dictionaries(
    {
        "kind": st.just("post"),
        "handle": st.integers(0, 1),
        "operation": st.sampled_from(["all_reduce", "all_gather", "barrier"]),
        "group": st.just([0, 1]),
        "name": st.just("0"),
        "types": st.just(["torch.float32"]),
        "gives": st.just([4]),
        "takes": st.just([4, 4]),
        "reduction": st.just("SUM"),
    }
)
words = (
    posts
    | honest_posts
    | st.fixed_dictionaries({"kind": st.sampled_from(["wait", "poll"]), "handle": st.integers(0, 1) | scalars})
    | st.fixed_dictionaries({"kind": st.just("leave"), "raised": st.booleans() | scalars})
    | st.fixed_dictionaries({"kind": st.just("data"), "blocks": st.just(["AAAAAA=="]) | json_values})
    | replies
    | st.binary(max_size=10)
)
blocks = st.just(["AAAAAA=="]) | st.just([]) | json_values


def rank(script: list[Any], data: list[Any], eager: bool) -> Callable[[dict[str, Any], str], bytes | None]:
    """A rank that says its script, all at once or until it waits, and hands in ``data`` when it is asked for some."""

    def speak(message: dict[str, Any], identifier: str) -> bytes | None:
        if message.get("do") == "take":
            return line({"kind": "data", "blocks": data.pop(0)}, identifier) if data else None
        if message.get("do") in ("abort", "end"):
            return line({"kind": "value", "value": 1.0 if not script else script[-1]}, identifier) if data else None
        said = b""
        while script:
            word = script.pop(0)
            said += line(word, identifier)
            if not eager and type(word) is dict and word.get("kind") in ("wait", "poll", "leave"):
                return said
        return said or None

    return speak


def _told(script: list[Any]) -> list[Any]:
    return [word if type(word) is bytes else dict(word) for word in script]


@fuzzed
@given(
    st.tuples(st.lists(words, max_size=6), st.lists(words, max_size=6)),
    st.tuples(st.lists(blocks, max_size=3), st.lists(blocks, max_size=3)),
    st.booleans(),
)
def test_whatever_ranks_announce_the_case_ends(scripts, data, eager):
    """Kills: a broker that raises, waits for a rank that is not there, or records what a rank says of another."""
    speakers = [rank(_told(script), list(held), eager) for script, held in zip(scripts, data, strict=True)]
    with Rehearsal(*speakers) as runner:
        (outcome,) = runner.run(ITEMS["world"], list(ITEMS["world"].cases))
    sound(replace(outcome, arguments=None))
    assert outcome.kind != "value" or len(outcome.value) == 2
    assert {event.rank for event in outcome.events} <= {0, 1}
    assert all(set(event.peers) <= {0, 1} for event in outcome.events)
    compare.fault(ITEMS["world"], ITEMS["world"].cases[0], EXPECTED["world"], outcome, True)
    answers = Answers("a.py", outcomes={"95-answer": (outcome,)})
    assert repr(Answers.from_json(json.loads(json.dumps(answers.to_json())))) == repr(answers)


def test_a_case_ends_in_time_though_its_messages_take_long(monkeypatch):
    """Kills: a broker that carries out whatever was posted before it looks at the clock again."""
    steps = iter(range(1000))
    monkeypatch.setattr(Broker, "_match", lambda broker: not time.sleep(0.01) and next(steps, None) is not None)
    script = [{"kind": "leave", "raised": False}]
    with Rehearsal(rank(script[:], [], True), rank(script[:], [], True)) as runner:
        (outcome,) = runner.run(ITEMS["world"], list(ITEMS["world"].cases))
    assert (outcome.kind, outcome.detail) == ("timeout", "ranks 0 and 1 did not end within 0 s")
    assert next(steps, 1000) < 500


@pytest.mark.parametrize("group", [[0, 2], [2, 0], [0, 0], [1]])
def test_a_group_with_a_rank_that_is_not_there_ends_the_case(group):
    """Kills: a broker that looks for the operations of a rank beyond the last."""
    post = {"kind": "post", "handle": 0, "operation": "all_reduce", "group": group, "name": "0", "gives": [4]}
    script = [{**post, "types": ["torch.float32"], "takes": [4, 4], "reduction": "SUM"}, {"kind": "wait", "handle": 0}]
    with Rehearsal(rank(script, [["AAAAAA=="]], True), rank([], [], True), seconds=60.0) as runner:
        (outcome,) = runner.run(ITEMS["world"], list(ITEMS["world"].cases))
    assert outcome.kind == "died"


def test_equal_lines_are_one_message_and_others_are_not():
    """Kills: a memory of replies that takes an answer to another request, or another answer, for the same."""
    line = b'{"kind":"value","value":["f","0x1p+1"],"id":"%s"}'
    first, second = message_of(line % b"aa", "aa"), message_of(line % b"bb", "bb")
    assert first is second
    assert first.outcome is second.outcome
    assert first.outcome.value == 2.0
    assert message_of(line % b"aa", "bb") is None
    assert message_of(b'{"kind":"value","value":3,"id":"aa"}', "aa") != first
    assert message_of(b'{"id":"aa","kind":"value","value":3}', "aa")["value"] == 3
    long = b'{"kind":"value","value":"%s","id":"aa"}' % (b"x" * 600)
    assert message_of(long, "aa") is not message_of(long, "aa")


@pytest.mark.parametrize("line", [b'{,"id":"aa"}', b',"id":"aa"}', b'{"kind":"value",,"id":"aa"}'])
def test_a_broken_line_with_the_right_end_is_malformed(line):
    """Kills: a reader that looks at the end of a line alone."""
    with pytest.raises(Malformed):
        message_of(line, "aa")
