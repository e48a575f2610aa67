"""The threads and the socket around the engine and its HTTP front."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, TextIO

import uvicorn
from starlette.applications import Starlette

from rankzero.server.app import Front
from rankzero.server.engine import Engine, Tokenizer
from rankzero.server.mail import Mail
from rankzero.server.parts import Parts
from rankzero.server.trace import Event, Step
from rankzero.tiny import GPT, one_thread

#: Seconds that clients have to take the end of their answers when the server goes down.
PATIENCE = 10
START = 60.0  # seconds in which the server must have begun to listen


class Server:
    """A server on this machine, in threads of this process: ``with Server(...) as server``.

    When the block ends it takes no more requests, answers those that it has, and counts its blocks. When the block ends
    with an exception, it ends its requests too.

    Args:
        model, tokenizer, parts, engine_options: see :class:`rankzero.server.Engine`; the tokenizer has ``encode`` too.
        host: address to listen on.
        port: 0 takes a free one.
        name: of the model, as clients ask for it.
        queue: the most requests that may wait; None sets no limit.
        trace: a file that gets each event as a line of JSON.

    Attributes:
        engine: that answers.
        url: where it listens.

    Raises:
        OSError: the port is taken, or the file cannot be written.
        RuntimeError: at the end: blocks were lost, and the message says how many.
    """

    def __init__(
        self,
        model: GPT,
        tokenizer: Any,
        parts: Parts,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        name: str = "tiny",
        queue: int | None = 64,
        trace: str | Path | None = None,
        **engine_options: Any,
    ) -> None:
        kept: Tokenizer = tokenizer
        self._file: TextIO | None = None
        if trace is not None:
            self._file = Path(trace).open("w", encoding="utf-8")  # noqa: SIM115  # closed by close()
        self.engine = Engine(model, kept, parts, queue=queue, file=self._file, **engine_options)
        self._mail = Mail()
        self._front = Front(self.engine, tokenizer.encode, name, self._mail)
        self._socket = _listening(host, port)
        self.url = f"http://{host}:{self._socket.getsockname()[1]}"
        self._listening = threading.Event()
        self._stopping = False
        self._http = _Http(self._front.app, self._begun, self._signalled)
        self._front.on_drained = self._http.leave
        self._worker = threading.Thread(target=self._work, name="engine", daemon=True)
        self._speaker = threading.Thread(target=self._speak, name="http", daemon=True)

    def __enter__(self) -> Server:
        self._worker.start()
        self._speaker.start()
        if not self._listening.wait(START):
            raise RuntimeError("the server does not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.engine.cancel_all()
        self.drain()
        self._speaker.join()
        self._close()

    def metrics(self) -> dict[str, int]:
        """What ``/metrics`` says."""
        return self.engine.metrics()

    def trace(self) -> list[Event]:
        """The events so far."""
        return self.engine.trace()

    @property
    def steps(self) -> list[Step]:
        """The engine's steps so far."""
        return self.engine.steps

    def drain(self) -> None:
        """Take no more requests, and go down when those that are here have been answered."""
        if self._mail.loop is not None and not self._mail.loop.is_closed():
            self._mail.loop.call_soon_threadsafe(self._front.drain)

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM; for the main thread. The first one drains, the second ends what is left."""
        self._worker.start()
        self._speak()
        self._close()

    def _speak(self) -> None:
        asyncio.run(self._http.serve(sockets=[self._socket]))

    def _begun(self) -> None:
        self._mail.loop = asyncio.get_running_loop()
        self._listening.set()

    def _signalled(self) -> None:
        """SIGINT or SIGTERM came."""
        if self._front.draining:
            self.engine.cancel_all()
            self._http.force_exit = True
        self.drain()

    def _work(self) -> None:
        """The engine's thread."""
        with one_thread():
            while not (self._stopping and self.engine.idle):
                if self.engine.idle:
                    self.engine.log.flush()
                self.engine.wait(lambda: self._stopping)
                self._step()
                self._mail.flush()

    def _step(self) -> None:
        try:
            self.engine.step()
        except BaseException as error:  # whatever a part raises ends the requests, not the server
            self.engine.fail(error)

    def _close(self) -> None:
        self.engine.cancel_all()
        self._stopping = True
        self.engine.wake()
        self._worker.join()
        self.engine.log.flush()
        if self._file is not None:
            self._file.close()
        self.engine.close()


class _Http(uvicorn.Server):
    """uvicorn without its own words on signals and logs.

    Args:
        app: the application.
        begun: called on the event loop when it has begun.
        signalled: called when a signal asks for the end.
    """

    def __init__(self, app: Starlette, begun: Callable[[], None], signalled: Callable[[], None]) -> None:
        app.router.lifespan_context = _lifespan(begun)
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                loop="asyncio",
                ws="none",
                lifespan="on",
                log_config=None,
                log_level="error",
                access_log=False,
                timeout_graceful_shutdown=PATIENCE,
            )
        )
        self._signalled = signalled

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._signalled()

    def leave(self) -> None:
        """Go down."""
        self.should_exit = True


def _lifespan(begun: Callable[[], None]) -> Callable[[Starlette], contextlib.AbstractAsyncContextManager[None]]:
    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        begun()
        yield

    return lifespan


def _listening(host: str, port: int) -> socket.socket:
    """A socket that takes connections at once; they wait until somebody reads them."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError:
        found.close()
        raise
    found.listen(2048)
    return found
