"""Programs that attack the drivers of the milestones "rlhf" and "server": each loses its level or is stopped.

Each is the reference with something before or in place of its entry point. A driver lives in the submission's process,
so a program can reach whatever stands there; rewards, judges, twins, devices and clients are in the grader's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from autograder import bank
from autograder.items import System, Verdict
from autograder.maintenance import verifying
from autograder.running import systems
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit
from tests.autograder import nursery

SYSTEMS = {system.id: system for system in bank.systems()}
RLHF, SERVER = SYSTEMS["14-rlhf"], SYSTEMS["11-server"]
PROOF = pytest.mark.proof(part="systems")
UPDATE, ROLLOUT, LOOP, AHEAD = 0, 2, 3, 6
KEY = b"sesame"

pytestmark = [pytest.mark.xdist_group("systems"), pytest.mark.timeout(1800)]

#: Looks through everything that is alive, and every frame above, for what only the grader has.
SEARCH = """
import gc, sys

SECRET = {"Desk", "Drawn", "Ran", "Taste", "Served", "SmallDevice", "wrong_weights", "examined", "ran_on"}


def found():
    named = (type, type(sys), type(lambda: None))
    seen = {one.__name__ for one in gc.get_objects() if type(one) in named}
    seen |= {type(one).__name__ for one in gc.get_objects()}
    frame = sys._getframe()
    while frame is not None:
        seen |= {str(name) for name in (*frame.f_locals, *frame.f_globals)}
        frame = frame.f_back
    names = {name for name in sys.modules if name.startswith(("solutions", "autograder"))}
    return sorted(seen & SECRET | names)
"""

#: Everything that a function holds, and the functions that it holds, as far as they go.
REACH = """
def reached(one, depth=6):
    if depth and callable(one):
        cells = getattr(one, "__closure__", None) or ()
        inner = [cell.cell_contents for cell in cells] + list(getattr(one, "__dict__", {}).values())
        yield one
        for other in inner:
            yield from reached(other, depth - 1)


def asks(job):
    return next(one for one in reached(ENTRY(job)) if getattr(one, "__name__", "") == "ask")
"""

#: Lines in the form of the channel on every descriptor that can be written to.
FORGED = """
def forged():
    import os

    for descriptor in range(1, 64):
        for line in (b'{"kind":"value","value":["n"],"id":""}', b'{"kind":"leave","raised":false,"id":""}'):
            try:
                os.write(descriptor, line + b"\\n")
            except OSError:
                pass
"""


def source(system: System) -> str:
    """The module of the reference."""
    units = verifying.submission("solutions", [system.item]).units
    return next(unit.source for unit in units if unit.module == system.item.module)


def loop(body: str, before: str = "") -> str:
    """The reference's loop as ``right``, and a loop of this body in its place."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    return source(RLHF).replace("def align(", "def right(") + f"\n{before}\n\ndef align(job):\n{lines}"


def engine(body: str, before: str = "") -> str:
    """The reference's engine with a constructor that begins with this body."""
    lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
    own = (
        f"\n{before}\n\nclass EngineCore(Right):\n    def __init__(self, job):\n{lines}        super().__init__(job)\n"
    )
    return source(SERVER).replace("class EngineCore", "class Right") + own


#: Of "rlhf": the level that a program is asked for, the program, and words of what is said of it.
LOOPS = {
    "looks for the grader": (UPDATE, loop("raise LookupError(found())", SEARCH), "raised LookupError at line"),
    "gives itself rewards": (
        LOOP,
        loop(
            """
object.__setattr__(job, "score", lambda i, rows, tokens, log_probs: tokens[:, -1].double())
return right(job)
"""
        ),
        "16 of 16 rows of batch 0 were never scored",
    ),
    "gives itself rewards, and asks for others": (
        LOOP,
        loop(
            """
asked = job.score


def score(i, rows, tokens, log_probs):
    return asked(i, rows, tokens, log_probs) + tokens[:, -1]


object.__setattr__(job, "score", score)
return right(job)
"""
        ),
        "is not what the plain twin has after 4 updates",
    ),
    "asks what no driver asks": (
        LOOP,
        loop('asks(job)(["weights", 0])', REACH.replace("ENTRY(job)", "job.score")),
        "broke the rules of its channel",
    ),
    "says that it has learned, and has not": (
        AHEAD,
        loop(
            """
if job.optimizer:
    asks(job)(["learning", 0])
return right(job)
""",
            REACH.replace("ENTRY(job)", "job.score"),
        ),
        "did not take every step with job.optimizer",
    ),
    "steps unseen": (
        AHEAD,
        loop("getattr(job.optimizer, '_optimizer_step_pre_hooks', {}).clear()\nreturn right(job)"),
        "did not take every step with job.optimizer",
    ),
    "replaces what the driver uses": (
        UPDATE,
        loop(
            """
torch.tensor = lambda *_, **__: torch.zeros(())
torch.Tensor.tolist = lambda self: [0.0] * self.numel()
torch.set_num_threads = torch.nn.Module.state_dict = lambda *_: {}
return {}
"""
        ),
        "rank 0 returned no ",
    ),
    "returns what is no dictionary": (
        UPDATE,
        loop("return type('Weights', (dict,), {'__len__': lambda self: 3})(right(job))"),
        "returned",
    ),
    "leaves quietly": (UPDATE, loop("raise SystemExit(0)"), "SystemExit"),
    "leaves at once": (UPDATE, loop("import os\nos._exit(0)"), "the process exited with status 0"),
    "forges the channel": (UPDATE, loop("forged()\nreturn {}", FORGED), "rank 0"),
    "hangs": (UPDATE, loop("while True:\n    pass"), "did not end within 4 s"),
    "waits for itself": (AHEAD, loop("dist.recv(torch.zeros(1), 1 - dist.get_rank())"), "deadlock"),
}

#: Of "server", on its first level: the program, and words of what is said of it.
ENGINES = {
    "looks for the grader": (engine("raise LookupError(found())", SEARCH), "raised LookupError at line"),
    "computes by itself": (
        engine("job.forward = lambda pieces: [[0.0] * len(job.vocabulary) for _ in pieces]"),
        "text without a pass",
    ),
    "says that all is over": (
        engine('job._ask = lambda question: {"over": True, "arrive": [], "leave": []}'),
        "raised KeyError",
    ),
    "answers the driver": (
        engine(
            """
import sys
frame = sys._getframe(1)
while frame is not None:
    if "ask" in frame.f_locals:
        frame.f_locals["ask"] = lambda question: {"over": True}
    frame = frame.f_back
raise StopIteration
"""
        ),
        "StopIteration",
    ),
    "asks for its clients": (engine('job._ask(["clients", []])'), "broke the rules of its channel"),
    "sends text by itself": (engine('job._ask(["next", [["r0", "a", "stop"]]])'), "text without a pass"),
    "leaves quietly": (engine("raise SystemExit(0)"), "SystemExit"),
    "leaves at once": (engine("import os\nos._exit(0)"), "exited with status 0"),
    "forges the channel": (engine("forged()", FORGED), "rank 0"),
    "hangs": (engine("while True:\n    pass"), "did not end within 4 s"),
}


#: Loops that are right, and lie about the tokens that have passed through their model.
COUNTS = {
    "nothing": loop("job.model.embedding._forward_hooks.clear()\nreturn right(job)"),
    "no number": loop(
        """
passes = next(iter(job.model.embedding._forward_hooks.values())).__self__
weights = right(job)
passes.tokens = "few"
return weights
"""
    ),
}


@pytest.fixture(scope="module", params=nursery.WALLS)
def runners(request, forked) -> Iterator[dict[str, Runner]]:
    """A runner for each system, whose submission has each program as a module."""
    sandbox = Processes(Sandbox.measure(request.param))
    with contextlib.ExitStack() as held:
        made = {}
        loops = [text for _, text, _ in LOOPS.values()] + [*COUNTS.values()]
        for system, programs in ((RLHF, loops), (SERVER, [text for text, _ in ENGINES.values()])):
            texts = {f"{system.item.module}_{place}": text for place, text in enumerate(programs)}
            handed = Submission("s", tuple(Unit(f"{name}.py", text, name) for name, text in texts.items()))
            bounds = replace(systems.limits(system), world=4.0)
            made[system.id] = held.enter_context(Runner(handed, sandbox, bounds, [system.item]))
        yield made


def judged(runners: dict[str, Runner], system: System, place: int, level: int) -> Verdict:
    """The verdict on a level of a program."""
    item = system.item.moved_to(f"{system.item.module}_{place}")
    found, runner = system.levels[level], runners[system.id]
    try:
        return systems.judged(found, systems.draw(system, found, KEY), systems.Player(item, runner))
    finally:
        runner.children.end(item)  # with whatever the program has changed in it


#: One of each kind for every change; ``make proof`` tries the others.
OFTEN = {
    *("looks for the grader", "gives itself rewards", "asks what no driver asks"),
    "says that it has learned, and has not",
    *("replaces what the driver uses", "asks for its clients", "leaves at once", "forges the channel"),
}


def often(programs: Mapping[str, object]) -> list:
    """The names of programs, those that are not tried often for the proof."""
    return [pytest.param(name, marks=[] if name in OFTEN else PROOF) for name in programs]


def test_what_is_tried_often_is_there():
    assert {*LOOPS, *ENGINES} >= OFTEN


@pytest.mark.parametrize("name", often(LOOPS))
def test_a_loop_that_attacks_its_driver_gains_nothing(runners, name):
    level, _, words = LOOPS[name]
    wrong = judged(runners, RLHF, list(LOOPS).index(name), level).wrong
    assert words in wrong
    assert name != "looks for the grader" or wrong.endswith(": []")


@pytest.mark.parametrize("name", often(ENGINES))
def test_an_engine_that_attacks_its_driver_gains_nothing(runners, name):
    _, words = ENGINES[name]
    wrong = judged(runners, SERVER, list(ENGINES).index(name), 0).wrong
    assert words in wrong
    assert name != "looks for the grader" or wrong.endswith(": []")


@pytest.mark.proof(part="systems")
@pytest.mark.parametrize("name", COUNTS)
def test_a_count_that_cannot_be_right_is_no_figure(runners, name):
    verdict = judged(runners, RLHF, len(LOOPS) + list(COUNTS).index(name), LOOP)
    assert (verdict.wrong, verdict.costs.computed) == ("", None)
