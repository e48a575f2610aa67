"""What a function uses arrives in the ranks, or one sentence names it."""

from __future__ import annotations

import re

import pytest

from autograder import bank, check
from rankzero import world
from rankzero.world import serialization

SOURCE = """
import functools, logging, re, threading, typing
import torch
import torch.distributed as dist
"""


def cell(text: str, name: str = "work"):
    """A name of a cell, which no other process can import."""
    names: dict = {"__name__": "__main__"}
    exec(compile(SOURCE + text, "<ipython-input-1>", "exec"), names)
    return names[name]


ARRIVES = {
    "a cache": ("@functools.cache\ndef square(n): return n * n", "square(3) + square(3) - 9", 9),
    "a cache of a lambda": ("half = functools.lru_cache(maxsize=4)(lambda n: n // 2)", "half(18)", 9),
    "a cache that calls itself": (
        "@functools.cache\ndef fib(n): return n if n < 2 else fib(n-1) + fib(n-2)",
        "fib(9)",
        34,
    ),
    "a cached method": ("class Box:\n    @functools.cache\n    def nine(self): return 9", "Box().nine()", 9),
    "a cached property": ("class Box:\n    @functools.cached_property\n    def nine(self): return 9", "Box().nine", 9),
    "a generic function": (
        "@functools.singledispatch\ndef kind(x): return 1\n@kind.register\ndef _(x: str): return 9",
        "kind('text')",
        9,
    ),
    "a lock": ("lock = threading.Lock()", "lock.acquire() + 8", 9),
    "a lock that is held": ("lock = threading.RLock()\nlock.acquire()", "lock.acquire() + 8", 9),
    "an event": ("event = threading.Event()", "event.wait(0) + 9", 9),
    "a pattern": ("digits = re.compile('[0-9]')", "int(digits.findall('a9')[0])", 9),
    "a new type": ("Rank = typing.NewType('Rank', int)", "Rank(9)", 9),
    "a logger": ("log = logging.getLogger('mine')", "log.debug('x') or 9", 9),
    "a tensor": ("weights = torch.ones(9)", "int(weights.sum())", 9),
    "a model": ("model = torch.nn.Linear(2, 9)", "model(torch.ones(1, 2)).shape[1]", 9),
}


@pytest.mark.parametrize("name", ARRIVES)
def test_it_arrives(name):
    text, use, value = ARRIVES[name]
    work = cell(f"{text}\ndef work(): return {use}")
    assert world.run(work, ranks=1).values == (value,)


def test_a_cache_of_an_importable_module_is_the_modules_own():
    """Kills: a copy of a library's function in each rank, with everything that it refers to."""
    assert serialization.unpack(serialization.pack(re._compile)) is re._compile
    cached = serialization.source_locations.torch_folder
    assert serialization.unpack(serialization.pack(cached)) is cached


NAMED = {
    "a generator": ("steps = (i for i in range(3))", "next(steps)", "steps, a generator"),
    "an open file": (f"log = open({__file__!r}, 'a')", "log.write('')", "log, a TextIOWrapper"),
    "a socket": ("import socket\nline = socket.socket()", "line", "line, a socket"),
    "a compiled function": ("fast = torch.compile(torch.add)", "fast(1, 2)", "fast, a compiled function"),
    "a frame": ("import sys\nframe = sys._getframe()", "frame", "frame, a frame"),
}


#: It imports the compiler.
SLOW = {"a compiled function": pytest.mark.proof(part="runs")}


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in NAMED])
def test_what_cannot_be_sent_is_named(name):
    text, use, named = NAMED[name]
    for work, owner in (
        (cell(f"{text}\ndef work(): return {use}"), "work"),
        (cell(f"{text}\ndef helper(): return {use}\ndef work(): return helper()"), "helper"),
    ):
        with pytest.raises(TypeError) as caught:
            world.run(work, ranks=2)
        said = f"{owner} uses {named}, which cannot be sent to the ranks: make it inside {owner}"
        assert str(caught.value) == said
        assert caught.value._render_traceback_() == [f"Unsendable: {said}"]


def test_an_argument_and_a_variable_around_a_function_are_named():
    steps = (i for i in range(3))
    with pytest.raises(TypeError, match=r"^argument 2 is a generator, which cannot be sent to the ranks$"):
        world.run(print, 1, steps, ranks=1)

    def work():
        return next(steps)

    with pytest.raises(TypeError, match=r"^\S*work uses steps, a generator, which cannot be sent"):
        world.run(work, ranks=1)


class Trainer:
    """It has steps that cannot be sent."""

    def __init__(self) -> None:
        self.steps = (i for i in range(3))

    def step(self):
        return next(self.steps)

    def __call__(self):
        return self.step()


def test_what_a_method_or_an_object_holds_is_named():
    """Kills: an argument 0, which is none."""
    for work, owner in ((Trainer().step, "Trainer.step"), (Trainer(), "Trainer")):
        with pytest.raises(TypeError, match=rf"^{owner} uses self.steps, a generator, which cannot be sent"):
            world.run(work, ranks=1)


ROLL_CALL = """
def roll_call(value: float) -> list[float]:
    helper({use})
    mine = torch.tensor([value], dtype=torch.float64)
    heard = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(heard, mine)
    return [float(tensor) for tensor in heard]
"""


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKZERO_DATA", str(tmp_path))
    monkeypatch.delenv("RANKZERO_BOOK", raising=False)


def test_a_function_with_a_cached_helper_passes_its_check(capsys):
    """Kills: 0 of 3, "on rank 3 only", for a program to which the grader gives every point."""
    right = cell("@functools.cache\ndef helper(n): return n\n" + ROLL_CALL.format(use="3"), "roll_call")
    assert check(right) is right
    assert "Later cells use your function." in capsys.readouterr().out


def test_check_names_what_cannot_be_sent_in_one_sentence(capsys):
    given = "steps = (n for n in range(9))\ndef helper(n): return next(n)\n"
    wrong = cell(given + ROLL_CALL.format(use="steps"), "roll_call")
    assert check(wrong) is bank.find_function("roll_call").solution()
    assert capsys.readouterr().out == (
        "01-roll-call: roll_call uses steps, a generator, which cannot be sent to the ranks: "
        "make it inside roll_call. Later cells use the reference.\n"
    )
