"""In a rank's worker: the grader's own child over a port in place of its pipes, and runs of functions of a cell.

A child of the grader is a new process for each submission. A worker serves many, one after another: what belongs to
the one before is taken away first. A cell's function runs under the recorder of :mod:`rankzero.world`, in a group whose
operations the grader's broker carries out.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import io
import pickle
import random
import signal
import sys
import traceback
import warnings
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, NoReturn, Protocol

from autograder.child import channel, main
from autograder.page import install
from autograder.running.operations import MAX_BYTES
from rankzero.world import serialization, source_locations
from rankzero.world.call_log import CallLog
from rankzero.world.job import OUTPUT_LIMIT, RankReport

#: Bytes for the operation that a rank waits in, as in a real world.
SLOT = 1024
#: So many lines are sent one by one, and later ones in pieces of so many characters.
EAGER, PIECE = 1000, 8192
#: The first packages of the course's own modules: a submission sees none of them but through the grader's finder.
COURSE = frozenset({"labs", "rankzero", "solutions", "experiments", "demos", "autograder"})
#: Those of them that hold programs of chapters.
CHAPTERS = frozenset({"solutions", "experiments"})


class Port(Protocol):
    """The way to the broker's worker, as JavaScript hands it over (``book/_static/ranks-worker.js``)."""

    def put(self, line: str) -> None:
        """Send a line to the broker."""

    def get(self) -> str:
        """The next line of the broker; waits for it."""


class Output(io.TextIOBase):
    """Standard output of a rank: printed text goes to the broker at once, and is cut where it floods."""

    def __init__(self, put: Callable[[str], None]) -> None:
        self._put = put
        self.renew()

    def renew(self) -> None:
        """Forget what was printed before."""
        self._held: list[str] = []
        self._size, self._lines, self._bytes, self._dropped = 0, 0, 0, 0

    def write(self, text: str) -> int:
        """Take text as ``print`` writes it."""
        self._held.append(text)
        self._size += len(text)
        self._lines += text.count("\n")
        if self._size > PIECE or (self._lines < EAGER and "\n" in text):
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what is held, as far as it is kept, and count the rest."""
        if not self._held:
            return
        data = "".join(self._held).encode(errors="replace")
        self._held, self._size = [], 0
        kept = data[: max(0, OUTPUT_LIMIT - self._bytes)]
        self._bytes += len(kept)
        self._dropped += len(data) - len(kept)
        if kept:
            self._put("#" + kept.decode(errors="replace"))
        if len(kept) < len(data):
            self._put(f"%{self._dropped}")


class Channel:
    """Requests in and replies out, with printed text in its place between them."""

    def __init__(self, port: Port, output: Output) -> None:
        self.port, self.output, self.id = port, output, ""

    def receive(self) -> dict[str, Any]:
        """The next request."""
        self.output.flush()
        message = channel.loads(self.port.get())
        self.id = message["id"]
        return message

    def send(self, **message: Any) -> None:
        """Send a reply to the request in hand."""
        self.output.flush()
        message["id"] = self.id
        self.port.put(channel.dumps(message))


@functools.cache
def _compiled(name: str) -> CodeType:
    """A module of the grader that a child loads by its path: ``child_wire``, ``probe_ch02``."""
    folder, _, stem = name.partition("_")
    file = install.ROOT / "autograder" / {"child": "child", "probe": "probes"}[folder] / f"{stem}.py"
    return compile(file.read_text(encoding="utf-8"), f"<frozen {stem}>", "exec", dont_inherit=True)


def _sibling(name: str, apart: bool = False) -> Any:
    """As the child's own ``sibling``, from source: a page has no compiled files."""
    module = type(sys)(name)
    if apart:
        vars(module)["__builtins__"] = dict(vars(builtins))
    exec(_compiled(name), module.__dict__)
    return module


class Shelf:
    """Keeps the course's own modules away while a submission runs, and a submission's while a cell does."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    @staticmethod
    def _taken() -> dict[str, Any]:
        return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in COURSE}

    def put_away(self) -> None:
        """Before a submission: only its own modules can be imported, by the grader's finder."""
        self._leave()
        self._kept |= self._taken()

    def take_out(self) -> None:
        """Before a cell: the course's modules are back."""
        if self._kept:
            self._leave()
            self._taken()
            sys.modules.update(self._kept)
            self._kept = {}

    @staticmethod
    def _leave() -> None:
        """Take away the finder of the submission before."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "Finder"]
        if any(name.startswith("labs") for name in sys.modules):
            for name in [name for name in sys.modules if name.partition(".")[0] == "labs"]:
                del sys.modules[name]


class Rank(main.Child):
    """Answers requests, one at a time: those of the grader, and those that run a function of a cell."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self.shelf = Shelf()
        self.filters = list(warnings.filters)

    def hello(self, request: dict[str, Any]) -> dict[str, Any]:
        """The worker is up."""
        return {"kind": "ready"}

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        """Take a submission's units, without running any; those of an earlier submission go."""
        self.channel.output.renew()
        self.shelf.put_away()
        self.renew()
        self.drivers = {name: main.sibling(f"probe_{name}", apart=True) for name in request["drivers"]}
        self.code = self.units.Code(request["units"], request["offered"], self.running)
        return {"kind": "ready"}

    def world(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run one case of a submission as one rank of a world."""
        self.channel.output.renew()
        return super().world(request)

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a packed function as one rank of a world; its report, packed, and the operation it was stopped in."""
        self.channel.output.renew()
        self.shelf.take_out()
        _forget_programs()
        self.renew(request["rank"])
        from autograder.page import recorded_group

        self.group = self.group or main.sibling("child_group")
        log = CallLog(request["rank"], memoryview(bytearray(SLOT)))
        link = recorded_group.link(self.group, self.channel, log)
        try:
            with recorded_group.joined(self.group, link, request["rank"], request["ranks"]):
                report = _finished(request)
        except BaseException as error:
            report = _raised(error)
        report.events = log.events()
        large = len(report.value) > MAX_BYTES
        report.value = b"" if large else report.value
        packed = b2a_base64(pickle.dumps(report, protocol=pickle.HIGHEST_PROTOCOL), newline=False).decode()
        stack = _dumped(link.asking) if link.asking else ""
        ended = {"waiting": link.waiting, "stack": stack, "large": large}
        return {"kind": "report", "rank": request["rank"], "report": packed, "places": link.places, **ended}

    def renew(self, seed: int | None = None) -> None:
        """Undo what a program left set, as if the process were new: gradients, random numbers and warnings."""
        import torch

        torch.set_grad_enabled(True)
        random.seed(seed)
        filters: Any = warnings.filters  # a list, which the interpreter knows by its place
        filters[:] = self.filters
        with warnings.catch_warnings():  # that these may have changed makes Python show every warning anew
            pass


def _forget_programs() -> None:
    """Chapters are imported anew in each run, as in a new process: what they keep belongs to one run."""
    for name in [name for name in sys.modules if name.partition(".")[0] in CHAPTERS]:
        del sys.modules[name]


def _finished(request: dict[str, Any]) -> RankReport:
    function, arguments = serialization.unpack(a2b_base64(request["call"]))
    value = function(*arguments)
    try:
        return RankReport("finished", value=serialization.pack(value))
    except Exception as error:
        what = f"the {type(value).__name__} that rank {request['rank']} returned cannot be sent back: {error}"
        raise TypeError(what) from error


def _raised(error: BaseException) -> RankReport:
    places = source_locations.of_traceback(error.__traceback__)
    kept = [(place.file, place.line, place.function) for place in places]
    return RankReport("raised", error="".join(traceback.format_exception_only(error)), places=kept)


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning that names the reader's line instead of a library's."""
    place = source_locations.of_frame(sys._getframe()) or source_locations.Location(filename, lineno)
    return f"{place}: {category.__name__}: {message}\n"


def _dumped(place: source_locations.Location) -> str:
    """A line of the reader's as :mod:`faulthandler` writes it."""
    return f'Current thread\n  File "{place.file}", line {place.line} in {place.function}'


def _say_where(port: Port) -> Callable[[int, FrameType | None], None]:
    """A handler that tells the broker which line of the reader's is running."""

    def say(_: int, frame: FrameType | None) -> None:
        place = source_locations.of_frame(frame)
        if place:
            port.put(f"@{_dumped(place)}")

    return say


def _take_away_the_terminal() -> None:
    """A question to the reader, or a debugger, says that a rank has no terminal, in the words of a real rank."""

    def refusal(name: str) -> Callable[..., NoReturn]:
        def refuse(*_: object, **__: object) -> NoReturn:
            raise RuntimeError(f"{name} needs a terminal, and a rank has none: print, or return, what you want to see")

        return refuse

    builtins.input = refusal("input()")
    sys.breakpointhook = refusal("breakpoint()")


def ready() -> None:
    """Called before a picture of Python's memory is taken: compile and import what a rank needs later."""
    import autograder.page.recorded_group  # noqa: F401

    folder = install.ROOT / "autograder"
    names = {f"child_{file.stem}" for file in folder.glob("child/[!_]*.py")} - {"child_main", "child_walls"}
    for name in sorted(names | {f"probe_{file.stem}" for file in folder.glob("probes/ch0[1-4].py")}):
        _compiled(name)


@contextlib.contextmanager
def _printing(output: Output) -> Iterator[None]:
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        yield


def serve(port: Port) -> None:
    """Serve the broker for as long as the worker lives."""
    output = Output(port.put)
    signal.signal(signal.SIGINT, _say_where(port))
    warnings.formatwarning = _format_warning
    main.sibling = _sibling
    _take_away_the_terminal()
    rank = Rank(Channel(port, output))
    with _printing(output):
        rank.serve()
