"""The grader judges worlds of the page as it judges those of real torch: same verdict, same sentence.

Headless: the grader's own runner, broker and children, but the children's ``torch`` is the page's stand-in. All
references and wrong programs of the world items of chapters 1 to 4 run on their public cases, once on each.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autograder import bank, closure
from autograder.items import Build, Slip
from autograder.marking import compare
from autograder.marking.outcome import Outcome
from autograder.marking.papers import wrong_programs
from autograder.page import stand_in
from autograder.running import process
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.running.slip_runner import LIMITS
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

STAND_IN = Path(next(iter(stand_in.__path__)))
CHAPTERS = ("ch01", "ch02", "ch03", "ch04")
ITEMS = [
    item for name in CHAPTERS for item in bank.of_chapter(name) if isinstance(item, Build) and item.grade == "world"
]
PROGRAMS = [(item, slip) for item in ITEMS for slip in wrong_programs(item)]
#: One item of each chapter and one wrong program of it; ``make proof`` judges the others.
FIRST = list({item.id[:2]: (item, slip) for item, slip in reversed(PROGRAMS)}.values())
PROOF = pytest.mark.proof(part="systems")
HELD = [pytest.param(item, id=item.id, marks=() if any(item is one for one, _ in FIRST) else PROOF) for item in ITEMS]
NAMED = [
    pytest.param(item, slip, id=f"{item.id}-{slip.name}", marks=() if (item, slip) in FIRST else PROOF)
    for item, slip in PROGRAMS
]

#: The tests share what is run, so one process runs them.
pytestmark = [pytest.mark.xdist_group("judged alike"), pytest.mark.timeout(1800)]


#: The module of each wrong program.
MODULES = {(item.id, slip): f"slip_{number}" for number, (item, slip) in enumerate(PROGRAMS)}


def _submission() -> Submission:
    """All references and all wrong programs, as modules of one submission, so that the same children run them all."""
    homes = [f"solutions.{item.home}" for item in ITEMS]
    files = {n: f for n, f in closure.modules(homes).items() if n.startswith("solutions.") and f.name[0] != "_"}
    units = [Unit(file.name, file.read_text(encoding="utf-8"), file.stem) for file in files.values()]
    units += [
        Unit(f"{name}.py", item.source_of(slip), name)
        for (item, slip), name in zip(PROGRAMS, MODULES.values(), strict=True)
    ]
    return Submission("references and wrong programs", tuple(units))


def _judged(
    items: list[Build], programs: list[tuple[Build, Slip]], expected: dict[str, list[Outcome]] | None
) -> tuple[dict[str, list[Outcome]], dict[tuple[str, Slip], list]]:
    """The outcomes of the references, and what is said of each wrong program; ``expected`` are the answers to hold.

    They are computed by the references themselves if they are not given.
    """
    limits = replace(LIMITS, imports=60.0, call=60.0, world=60.0)
    with Runner(_submission(), Processes(Sandbox.measure("none")), limits, ITEMS) as runner:
        answers = {item.id: runner.run(item, item.cases) for item in items}
        runner.limits = LIMITS  # a wrong program may wait for ever
        said = {}
        for item, slip in programs:
            function = slip.program.__name__ if slip.program else item.function
            wrong = item.moved_to(MODULES[item.id, slip], function)
            found = [runner.run(wrong, [case])[0] for case in item.cases]
            held = zip(item.cases, (expected or answers)[item.id], found, strict=True)
            said[item.id, slip] = [compare.fault(item, case, right, got, tell=True) for case, right, got in held]
    return answers, said


@pytest.fixture(scope="module")
def judged(request):
    """Both ways: the references' outcomes and the sentences on real torch, then on the stand-in."""
    chosen = [test.callspec.params for test in request.session.items if "judged" in getattr(test, "fixturenames", ())]
    programs = [(one["item"], one["slip"]) for one in chosen if "slip" in one]
    items = [item for item in ITEMS if any(one["item"] is item for one in chosen)]
    real = _judged(items, programs, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "site_packages", lambda: (str(STAND_IN),))
        page = _judged(items, programs, real[0])
    return real, page


def test_there_are_items_and_wrong_programs_of_each():
    """Kills a selection that leaves out an item, or finds no wrong programs."""
    assert {item.id[:2] for item in ITEMS} == {"01", "02", "03", "04"}
    assert {item.id for item, _ in PROGRAMS} == {item.id for item in ITEMS}


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize("item", HELD)
def test_the_reference_passes(item, judged):
    """On the stand-in, the answers are those of torch, but for the rounding that the item allows."""
    (right, _), (found, _) = judged
    held = zip(item.cases, right[item.id], found[item.id], strict=True)
    assert [compare.fault(item, case, expected, got, tell=True) for case, expected, got in held] == [None] * len(
        item.cases
    )


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize(("item", "slip"), NAMED)
def test_a_wrong_program_gets_the_same_sentences(item, slip, judged):
    """Each public case gets the same verdict in the same words."""
    (_, real), (_, page) = judged
    assert page[item.id, slip] == real[item.id, slip]
