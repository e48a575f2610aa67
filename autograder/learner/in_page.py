"""``check`` in a page: the source that was typed there is run and judged by Python in the browser's worker.

The cases, the slips and the card are those of the notebook's ``check``. Python in a browser has neither signals nor
other processes: a case is stopped at its deadline by :mod:`autograder.marking.monitored_deadline`. Where that cannot
stop it, the page ends the worker and asks a new one for a card that says so (``late``).
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

#: Modules of Unix that the standard library and the course import and that a browser does not have.
MISSING = ("pwd", "grp", "resource", "fcntl", "termios", "_posixshmem")

for _name in MISSING if sys.platform == "emscripten" else ():
    sys.modules.setdefault(_name, types.ModuleType(_name))

import autograder  # noqa: E402 - the modules above come first
from autograder import bank  # noqa: E402
from autograder.items import Build  # noqa: E402
from autograder.learner import checking, function_cards, oldest_python  # noqa: E402
from autograder.marking import trusted  # noqa: E402
from autograder.marking.compare import UNWRITTEN  # noqa: E402
from autograder.marking.outcome import Outcome  # noqa: E402

State = Literal["right", "wrong", "unwritten", "broken"]
#: The place of what runs before the first case: the code around the function.
LOADING = -1
#: Reported in place of a case when all have run and the slips are compared, each with a deadline of its own.
JUDGING = -2
#: How many lines that were printed are shown, and how many characters of each.
LINES, WIDEST = 200, 400
FILE = "<your code>"
#: Of what stops a program behind its function.
AFTER = "That is after the function, which was checked."
#: The Python of the page, for sentences about syntax.
PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"


class Nobody(io.TextIOBase):
    """Standard input where nobody can be asked."""

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        """Refuse.

        Raises:
            EOFError: always, as ``input()`` does where nothing can be read.
        """
        raise EOFError("nobody can answer input() here: write the value into the program")


def _no_debugger(*_: object, **__: object) -> None:
    raise RuntimeError("breakpoint() has no terminal here: print what you want to see")


@contextlib.contextmanager
def program(say: Callable[[str], Any]) -> Iterator[None]:
    """Run the reader's own code in the block: what it prints goes to ``say``, what it asks gets no answer, ``check``
    and its like do nothing, as in grading, and what it does to the depth of calls ends with it."""
    depth, asked, hook = sys.getrecursionlimit(), sys.stdin, sys.breakpointhook
    sys.stdin, sys.breakpointhook = Nobody(), _no_debugger
    try:
        with contextlib.closing(Printed(say)) as printed, contextlib.redirect_stdout(printed), standing_in():
            yield
    finally:
        sys.setrecursionlimit(depth)
        sys.stdin, sys.breakpointhook = asked, hook


def _itself(function: Any = None, *_: object, **__: object) -> Any:
    return function


def _nothing(*_: object, **__: object) -> None:
    return None


#: What ``autograder`` holds for a program, as in grading (``child/code.py``).
STAND_INS = dict.fromkeys(autograder.__all__, _nothing) | {"check": _itself}


@contextlib.contextmanager
def standing_in() -> Iterator[None]:
    """Let ``check`` and its like do nothing in the block: a program from a notebook may end with ``check(f)``."""
    ours = vars(autograder)
    before = {name: ours[name] for name in STAND_INS if name in ours}
    ours.update(STAND_INS)
    try:
        yield
    finally:
        for name in STAND_INS:
            ours.pop(name, None)
        ours.update(before)


class Printed(io.TextIOBase):
    """Hands each printed line to ``say`` at once, so that it is seen even if the program never ends."""

    def __init__(self, say: Callable[[str], Any]) -> None:
        self._say, self._rest, self._lines = say, "", 0

    def write(self, text: str) -> int:
        """Take text as ``print`` writes it."""
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            self._line(line)
        self._rest = self._rest[-WIDEST:]
        return len(text)

    def close(self) -> None:
        """Hand over a last line without its end."""
        if self._rest:
            self._line(self._rest)
        self._rest = ""

    def _line(self, line: str) -> None:
        self._lines += 1
        if self._lines <= LINES:
            self._say(line[:WIDEST])
        elif self._lines == LINES + 1:
            self._say("... and more")


def prepare(identifier: str) -> None:
    """Import what the first check of an item's page needs, and answer its public cases."""
    checking.public_paper(built(identifier))


def check(
    identifier: str,
    source: str,
    others: Mapping[str, str],
    began: Callable[[int], Any],
    say: Callable[[str], Any],
    late: int | None = None,
) -> dict[str, Any]:
    """Judge ``source``, the program of an item, by its public cases.

    Args:
        identifier: the item's id.
        source: the text of its editor.
        others: the texts of the other editors, by function: the program may use these functions, as in a notebook.
        began: called with the place of each case before it runs, with -1 before ``source`` does, and with -2 when all
            cases have run.
        say: called with each line that the program prints.
        late: the place of a case that never ended in an earlier run; it is not run again.

    Returns:
        ``state``, the card's HTML, and how many public cases passed.
    """
    item = built(identifier)
    notes: list[str] = []
    with program(say):
        try:
            began(LOADING)
            function = _too_late() if late == LOADING else defined(item.function, source, others, notes)
            if function is not None:
                outcomes = _outcomes(item, function, began, late)
        except BaseException as error:
            return unjudged(item, "broken", sentence_of(error))
    if function is None:
        return unjudged(item, "broken", f"There is no function {item.function} here: its name and its arguments stay.")
    if checking.unwritten(outcomes):
        return unjudged(item, "unwritten", f"{item.function} is {UNWRITTEN}.")
    began(JUDGING)
    report = checking.judged(item, outcomes)
    state: State = "right" if report.passed == report.total else "wrong"
    return {"state": state, "html": function_cards.results(report) + noted(source, notes), **count(item, report.passed)}


def noted(source: str, notes: Iterable[str] = ()) -> str:
    """What to say below a verdict: ``notes``, and whether an older Python could read ``source``."""
    return "".join(function_cards.message(said) for said in [*notes, oldest_python.note(source)] if said)


def built(identifier: str) -> Build:
    """The item. Only the module that holds it is imported, as the first check waits for every import."""
    item = bank.find(identifier)
    if not isinstance(item, Build):
        raise ValueError(f"identifier must be that of a function to write, got {identifier!r}")
    return item


def count(item: Build, passed: int) -> dict[str, int]:
    """How many public cases passed, of how many."""
    return {"passed": passed, "total": len(item.cases)}


def unjudged(item: Build, state: State, sentence: str) -> dict[str, Any]:
    """The reply when no case was judged, with the sentence that says why."""
    return {"state": state, "html": function_cards.message(sentence), **count(item, 0)}


def _too_late() -> Any:
    raise trusted.Late


def sentence_of(error: BaseException) -> str:
    """Why the code around the function did not run, with the line if there is one."""
    if isinstance(error, SyntaxError):
        return not_python(error)
    steps, line = error.__traceback__, None
    while steps is not None:
        line = steps.tb_lineno if steps.tb_frame.f_code.co_filename == FILE else line
        steps = steps.tb_next
    if isinstance(error, trusted.Late):
        where = f"Line {line} of your code" if line else "Your code"
        return f"{where} did not come to its end within {checking.TIME:g} s, before the first case."
    what = str(error).replace("None", "") if isinstance(error, SystemExit) else str(error)  # of exit()
    return f"{f'Line {line}: ' if line else ''}{type(error).__name__}{f': {what}' if what else ''}"


def not_python(error: SyntaxError) -> str:
    """What is wrong with the syntax of a program, with its line and the page's version of Python."""
    return f"Line {error.lineno}: this is not {PYTHON} ({error.msg})."


def defined(
    function: str,
    source: str,
    others: Mapping[str, str],
    notes: list[str] | None = None,
) -> Any:
    """What ``source`` defines under the name ``function``, or None; it may use ``others``, programs by name.

    What is raised once the function is there, by ``exit()`` or a test of the reader's own, is put into ``notes``:
    grading keeps the function, too.
    """
    tree = ast.parse(source, FILE)
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": f"{function}.py"}
    try:
        with trusted.deadline(checking.TIME):
            _borrow(_wanted(tree), function, others, namespace)
            exec(compile(tree, FILE, "exec", dont_inherit=True), namespace)
    except BaseException as error:
        if function not in namespace or isinstance(error, trusted.Late):
            raise
        if notes is not None:
            notes.append(f"{sentence_of(error)}. {AFTER}")
    return namespace.get(function)


def _wanted(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _borrow(names: set[str], own: str, others: Mapping[str, str], namespace: dict[str, Any]) -> None:
    """Define the other functions of the page that are used: the reader's own if it runs, as she has no other here."""
    for name in sorted((names & others.keys()) - {own, *namespace}):
        with contextlib.suppress(SyntaxError):
            tree = ast.parse(others[name], FILE)
            _borrow(_wanted(tree) - {name}, own, {key: text for key, text in others.items() if key != name}, namespace)
            with contextlib.suppress(Exception, SystemExit):
                exec(compile(tree, FILE, "exec", dont_inherit=True), namespace)


def _outcomes(item: Build, function: Any, began: Callable[[int], Any], late: int | None) -> list[Outcome]:
    """The outcomes of the public cases, as the notebook has them."""
    outcomes: list[Outcome] = []
    for index, case in enumerate(item.cases):
        began(index)
        if index == late:
            outcomes.append(Outcome("timeout", detail=f"no answer within {checking.TIME:g} s"))
        else:
            outcomes += trusted.run(item, function, [case], checking.TIME)
        if (index == 0 or outcomes[-1].kind == "timeout") and (rest := checking.given_up(item, outcomes[-1:])):
            return outcomes[:-1] + rest[: len(item.cases) - index]
    return outcomes
