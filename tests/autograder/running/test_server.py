"""The milestone "server": the reference has every level; a wrong engine loses the one it breaks and reads why.

Wrong engines live in this process, where a question of theirs is a call. Elsewhere the engine is in the sandbox.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from autograder import bank
from autograder.__main__ import main
from autograder.bank.ch11 import server as levels
from autograder.bank.ch11.server_desk import Desk, Load
from autograder.bank.ch11.server_draws import Author, reference
from autograder.commands import sheets
from autograder.items import Case, Cost, Level, LevelCosts, NoQuestion, Played, Verdict
from autograder.maintenance import verifying
from autograder.marking import compare
from autograder.probes import engine as driver
from autograder.running import systems
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit
from rankzero.server.pool import Pool
from solutions.ch11 import engine, small_device
from tests.autograder import another_server, nursery, server_of_parts

_, SERVER, *_ = bank.systems()
KEY = b"sesame"
ALONE, MANY, BLOCKS, PREFIXES, LONG, CROWDED, STOPS, LEAVING = range(8)

#: Each wrong engine: the level that it loses, and words of the sentence that it reads.
WRONG = {
    "New requests wait until all that run have ended.": (MANY, "for its first token"),
    "The newest request goes first.": (MANY, "for its first token"),
    "Blocks are reserved for all tokens that an answer may have.": (
        BLOCKS,
        "the tokens that they have leave room for 8",
    ),
    "A block is free as soon as one of those who share it has ended.": (PREFIXES, "block"),
    "The name of a block leaves the salt out.": (PREFIXES, "which a request of another salt has written"),
    "The name of a block leaves out what comes before it.": (PREFIXES, "the keys there are those of r0, another text"),
    "Nothing is found again.": (PREFIXES, "the rest was in blocks of the pool"),
    "A prompt may come from the pool as a whole.": (PREFIXES, "is empty, and has no logits"),
    "A block has a name before all of its tokens are computed.": (PREFIXES, "turn reads position 35"),
    "Prompts go first.": (LONG, "A stream waited"),
    "A prompt is computed in one pass.": (LONG, "the budget is 16"),
    "A request that has lost its blocks still counts as computed.": (CROWDED, "reads position"),
    "A request that has lost its blocks draws its tokens anew.": (CROWDED, "what was chosen stays chosen"),
    "The oldest request loses its blocks.": (CROWDED, "r0 came first, and its blocks were taken away"),
    "The last piece of text is dropped with the stop string.": (STOPS, "is missing"),
    "The beginning of a stop string is sent.": (STOPS, "which begins its stop string: hold it back"),
    "Every token is decoded by itself.": (STOPS, "half a character"),
    "The blocks of a client that has left stay taken.": (LEAVING, "The engine stands still"),
    "Only running requests are cancelled.": (LEAVING, "whose client has left"),
    "The form does not know how many tokens are left.": (LEAVING, "Its form, and max_tokens"),
}

pytestmark = [pytest.mark.xdist_group("systems"), pytest.mark.timeout(1800)]
SYSTEMS = pytest.mark.proof(part="systems")


def source(room: str) -> str:
    """The module as it is in ``solutions`` or ``labs``."""
    return next(unit.source for unit in verifying.submission(room, [SERVER.item]).units if unit.module == "engine")


def play(text: str) -> Callable[..., Played]:
    """What plays a program in this process."""
    program: dict[str, Any] = {"__name__": "engine"}
    exec(compile(text, "engine", "exec"), program)

    def played(case: Case, fresh: bool = False, desk: Any = None) -> Played:
        ((settings,),) = case.args
        try:
            driver.served(lambda question: desk(0, question), program["EngineCore"], settings)
        except NotImplementedError as error:
            return Played(failure=f"{compare.UNWRITTEN} ({error})")
        except Exception as error:
            return Played(failure=f"raised {type(error).__name__}: {error}")
        return Played((None,))

    return played


def verdict(player: Any, place: int, key: bytes = KEY) -> Verdict:
    level = SERVER.levels[place]
    return systems.judged(level, systems.draw(SERVER, level, key), player)


# Wrong and right engines.

CHEAPEST, *OTHERS = sorted(SERVER.item.slips, key=lambda slip: WRONG[slip.sentence][0] != STOPS)


@pytest.mark.parametrize(
    "slip", [CHEAPEST, *(pytest.param(slip, marks=SYSTEMS) for slip in OTHERS)], ids=lambda slip: slip.sentence
)
def test_a_wrong_engine_loses_the_level_that_it_breaks_and_reads_why(slip):
    lost, words = WRONG[slip.sentence]
    player = play(SERVER.item.source_of(slip))
    places = [lost] if slip is CHEAPEST else range(len(SERVER.levels))
    found = {place: verdict(player, place).wrong for place in places}
    assert [place for place, wrong in found.items() if wrong] == [lost], found
    assert words in found[lost]


@pytest.mark.parametrize("key", [b"one", *(pytest.param(b"key %d" % n, marks=SYSTEMS) for n in range(9))])
def test_the_reference_has_every_level_whatever_is_drawn(key):
    player = play(source("solutions"))
    found = [verdict(player, place, key) for place in range(len(SERVER.levels))]
    assert [one.wrong for one in found] == [""] * 8
    for one in found:
        for cost in (one.costs.time, one.costs.computed, one.costs.waited):
            assert cost is not None
            assert cost.spent == cost.least > 0


@SYSTEMS
@pytest.mark.parametrize("program", [another_server, server_of_parts])
def test_another_right_engine_has_every_level(program):
    """Kills: judges that know the reference only."""
    player = play(inspect.getsource(program))
    assert {place: verdict(player, place).wrong for place in range(8)} == dict.fromkeys(range(8), "")


@pytest.mark.proof(part="systems")
def test_an_engine_has_the_levels_that_it_has_written():
    """Kills: levels that need one another."""
    less = inspect.getsource(another_server)
    less = less.replace(
        "        self.waiting.append",
        '        if request.stop:\n            raise NotImplementedError("later")\n        self.waiting.append',
    )
    less = less.replace("return found\n", "return []\n")
    found = {place: verdict(play(less), place) for place in (ALONE, CROWDED, PREFIXES, STOPS)}
    assert [place for place, one in found.items() if not one.wrong] == [ALONE, CROWDED]
    assert found[STOPS].open
    assert found[STOPS].wrong.endswith("(later)")
    assert "tokens were computed" in found[PREFIXES].wrong


#: What a program can do beside serving: the body of its step, and words of the sentence on level 1.
STEPS = {
    "nothing": ("return []", "The engine stands still: r0 and r1 and r2 unfinished"),
    "no list": ("return None", "step must return a list of (name, text, reason), got NoneType"),
    "no text": ("return [('r0', b'a', '')]", "three strings each"),
    "no request": ("return [('r9', '', '')]", "There is no request 'r9'"),
    "text without a pass": ("return [('r0', 'a', '')]", "step() returned text without a pass"),
    "end without a pass": ("return [('r0', '', 'stop')]", "is missing"),
    "an exception": ("raise KeyError('r0')", "raised KeyError"),
    "no pieces": ("self.job.forward([])", "A pass has no pieces"),
    "two pieces": ("self.job.forward([piece(r, 1), piece(r, 1)])", "slots"),
    "twice": ("[self.job.forward([piece(r)]) for _ in range(2)]", "called job.forward twice"),
    "no such request": ("self.job.forward([('x', [1], 0, [0])])", "a piece of x, which is no request"),
    "other tokens": ("self.job.forward([(r.name, [99], 0, [0])])", "is not its text"),
    "too far": ("self.job.forward([(r.name, r.prompt + [1], 0, range(9))])", "is not its text"),
    "before": ("self.job.forward([(r.name, r.prompt, -1, range(9))])", "is not its text"),
    "no table": ("self.job.forward([(r.name, r.prompt, 0, [])])", "has 0 blocks of 4"),
    "no block": ("self.job.forward([(r.name, r.prompt, 0, range(255, 265))])", "has block 256; the pool has 256"),
    "one block": ("self.job.forward([(r.name, r.prompt, 0, [0] * 9)])", "twice"),
    "half a piece": ("self.job.forward([(r.name, r.prompt, 0)])", "not enough values"),
    "words": ("self.job.forward([(r.name, ['a'], 0, [0])])", "cannot be interpreted as an integer"),
    "nothing computed": (
        "self.job.forward([(r.name, r.prompt[3:], 3, range(9))])",
        "where no key has been computed yet",
    ),
}


@pytest.mark.parametrize("what", STEPS)
def test_what_is_no_step_is_told_so(what, monkeypatch):
    body, words = STEPS[what]
    text = f"""
def piece(r, count=99):
    return r.name, r.prompt[:count], 0, range(9)


class EngineCore:
    def __init__(self, job):
        self.job, self.requests = job, []

    def submit(self, request):
        self.requests.append(request)

    def step(self):
        r = max(self.requests, key=lambda one: len(one.prompt))
        {body}
        return []
"""
    assert words in verdict(play(text), ALONE).wrong


@pytest.mark.proof(part="systems")
def test_text_comes_in_the_pass_that_makes_it():
    """Kills: an engine that sends an answer when it is whole."""
    slow = source("solutions").replace(
        "        return request.name, text, reason\n",
        (
            "        answer.kept = getattr(answer, 'kept', '') + text\n"
            "        return request.name, answer.kept if reason else '', reason\n"
        ),
    )
    assert "was not sent" in verdict(play(slow), ALONE).wrong
    assert verdict(play(slow), CROWDED).wrong == ""


# The device and the draws.


def loads(key: bytes, place: int) -> list[Load]:
    """The loads of a level."""
    seen: list[Load] = []
    verdict(lambda case, desk=None: seen.append(desk.load) or Played(failure="only asked"), place, key)
    return seen


@pytest.mark.proof(part="systems")
def test_each_level_is_drawn_by_the_key():
    """Kills: loads that stand in the bank, and levels that depend on those before them."""
    for place in (ALONE, STOPS, LEAVING):
        assert loads(KEY, place) == loads(KEY, place)
        assert loads(KEY, place) != loads(b"other", place)


@pytest.mark.proof(part="systems")
def test_answers_are_those_of_the_model_and_a_form_is_json():
    """The twin, once more: all tokens by the model alone, without a cache, and texts of whole characters."""
    for place in (STOPS, LEAVING):
        (load,) = loads(KEY, place)
        device = small_device.SmallDevice(load.seed)
        for client in load.clients:
            asked, tokens = client.asked, list(client.asked["prompt"])
            form = small_device.Form(**asked["constraint"]) if asked["constraint"] else None
            for number, token in enumerate(client.answer):
                may = form.allowed(asked["max_tokens"] - 1 - number) if form else None
                uniform = asked["uniforms"][number]
                assert small_device.choose(device.logits(tokens), asked["temperature"], uniform, may) == token
                tokens.append(token)
                if form:
                    form.advance(token)
            if form:
                assert set(json.loads(client.text)) == set(json.loads(client.text))
                assert client.reason == "stop"
            assert "\ufffd" not in client.text
            assert not any(string in client.text for string in asked["stop"])


def test_a_level_of_stop_strings_has_what_it_is_about():
    (load,) = loads(KEY, STOPS)
    *stopped, free = load.clients
    assert any(len(character.encode()) > 1 for character in free.text)
    for client in stopped:
        near, stop = client.asked["stop"]
        data = b"".join(small_device.VOCABULARY[token] for token in client.answer).decode()
        assert near[:-1] in client.text
        assert near not in data
        assert client.text + stop in data


def test_the_pool_is_full_of_nan_and_the_device_computes_what_the_model_does():
    device = small_device.SmallDevice(5, blocks=3, block_size=4)
    assert isinstance(device.pool, Pool)
    assert device.pool.keys.isnan().all()
    device.forward([1, 2, 3, 4, 5], 0, [2, 0])
    assert device.forward([6], 5, [2, 0]) == pytest.approx(device.logits([1, 2, 3, 4, 5, 6]), rel=1e-9)
    assert device.pool.keys.isnan().any()
    assert all(number != number for number in device.forward([6], 5, [2, 1]))


@pytest.mark.parametrize(
    "question",
    [None, [], ["next"], ["fly", []], ["next", [["r0", "a"]]], ["next", [["r0", "a", 3]]], ["next", "r0"],
     ["forward", [["r0", [1], "0", [0]]]], ["forward", [["r0", [1.5], 0, [0]]]], ["forward", 3], {"next": []}],
)  # fmt: skip
def test_a_desk_answers_no_other_questions(question):
    author = Author(levels.Random(0), 3)
    with pytest.raises(NoQuestion):
        Desk(Load(3, levels.SIZES, [author.client("r0", 3, 2)]))(0, question)


def test_a_program_that_goes_on_after_a_refusal_is_told_the_first():
    """Kills: a device that forgets, and an engine that catches what it is told."""
    text = """
class EngineCore:
    def __init__(self, job):
        self.job = job

    def submit(self, request):
        pass

    def step(self):
        for _ in range(3):
            try:
                self.job.forward([])
            except ValueError as error:
                said = str(error)
        raise RuntimeError(said)
"""
    assert verdict(play(text), ALONE).wrong == "A pass has no pieces."


@pytest.mark.proof(part="systems")
def test_the_reference_alone_decides_what_its_figures_are():
    (load,) = loads(KEY, MANY)
    desk = reference(load)
    small_device.serve(lambda question: desk(0, question), engine.EngineCore, load.settings)
    assert (desk.wrong, desk.over, desk.served_now()) == ("", True, [])


# In processes.

#: Programs that are no engine.
NO_ENGINES = {
    "dies": "class EngineCore:\n    def __init__(self, job):\n        import os\n        os._exit(3)\n",
    "lies": "class EngineCore:\n    def __init__(self, job):\n        job._ask(['fly', 3])\n",
    "changes": (
        "class EngineCore:\n    def __init__(self, job):\n        job._ask = lambda question: {'over': True}\n"
        "    def submit(self, request):\n        pass\n    def step(self):\n        return []\n"
    ),
}


@pytest.fixture(scope="module", params=nursery.WALLS)
def runner(request, forked) -> Iterator[Runner]:
    """One runner for all programs, each a module of one submission."""
    programs = {"engine": source("solutions"), "stub": source("labs"), **NO_ENGINES}
    submission = Submission("engine", tuple(Unit(f"{name}.py", text, name) for name, text in programs.items()))
    with Runner(submission, Processes(Sandbox.measure(request.param)), systems.limits(SERVER), [SERVER.item]) as made:
        yield made


def judged(runner: Runner, module: str, place: int) -> Verdict:
    return verdict(systems.Player(SERVER.item.moved_to(module), runner), place)


@pytest.mark.parametrize("place", [ALONE, *(pytest.param(place, marks=SYSTEMS) for place in range(1, 8))])
def test_in_a_process_of_its_own_the_reference_has_the_level_and_a_stub_has_not(runner, place):
    """Kills: a driver that a question of another process breaks."""
    assert judged(runner, "engine", place).wrong == ""
    stub = judged(runner, "stub", place)
    assert (stub.wrong, stub.open) == ("not implemented yet (11-server: not written yet)", True)


@SYSTEMS
def test_what_is_no_engine_is_told_so(runner):
    assert "exited with status 3" in judged(runner, "dies", ALONE).wrong
    assert "broke the rules of its channel" in judged(runner, "lies", ALONE).wrong
    assert "stands still" in judged(runner, "changes", ALONE).wrong


# The command.


def test_the_command_prints_a_sheet(capsys, key, monkeypatch, tmp_path):
    small = replace(SERVER, levels=(Level("never judged", lambda rng, play: Verdict("No.")),))
    monkeypatch.setattr(bank, "systems", lambda: (small,))
    (tmp_path / "engine.py").write_text(source("labs"), encoding="utf-8")
    assert main(["milestone", str(tmp_path / "engine.py"), "--only", "11-server", "--key", key]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("11-server: 1 levels; ")
    assert " ".join(said[1].split()) == "level verdict time / reference's computed / ref.'s wait / ref."
    assert " ".join(said[2].split()) == "1 never judged wrong"


def test_small_figures_have_a_digit_after_the_point():
    costs = LevelCosts(time=Cost(24.7, 24.25), computed=Cost(1369, 369), waited=Cost(2, 2))
    assert " ".join(sheets.row(SERVER, 1, Verdict(costs=costs)).split()).endswith("24.7 / 24.2 1,369 / 369 2 / 2")


def test_the_reference_is_as_short_as_it_has_to_be():
    assert 0 < sheets.lines(SERVER, verifying.submission("solutions", [SERVER.item])) <= SERVER.lines
