"""The threads and the socket that the engine and its HTTP front run on."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Protocol

import uvicorn
from starlette.applications import Starlette

from rankzero.server.app import Front
from rankzero.server.engine import Engine, Tokenizer
from rankzero.server.outbox import Outbox
from rankzero.server.own_engine import Core, LiveJob, OwnEngine
from rankzero.server.parts import Parts
from rankzero.server.trace import Event, Step
from rankzero.tiny import GPT, one_thread

#: Seconds that clients have to receive the end of their answers when the server shuts down.
GRACE_PERIOD = 10
STARTUP_TIMEOUT = 60.0  # seconds


class TextTokenizer(Tokenizer, Protocol):
    """What the server needs from a tokenizer: what the engine needs, and how to encode text."""

    def encode(self, text: str) -> list[int]:
        """The tokens of ``text``, without ``eos``."""


class Server:
    """A server that runs in threads of this process: ``with Server(...) as server``.

    At the end of the block it refuses new requests, finishes the current ones, and checks that every block is free. If
    the block ends with an exception, the current requests are aborted.

    Args:
        model, tokenizer, parts, engine_options: see :class:`rankzero.server.Engine`; the tokenizer also has ``encode``.
        core: makes, from a job, what decides in place of the engine's own parts; see
            :class:`rankzero.server.own_engine.OwnEngine`.
        host: the address to listen on.
        port: the port to listen on; 0 takes a free one.
        name: the model's name, as clients give it.
        queue: the most requests that may wait; None sets no limit.
        trace: a file that receives each event as a line of JSON.

    Attributes:
        engine: the engine that computes the answers.
        url: the address of the server.

    Raises:
        OSError: the port is taken, or the file cannot be written.
        RuntimeError: at the end, some blocks were never freed; the message says how many.
    """

    def __init__(
        self,
        model: GPT,
        tokenizer: TextTokenizer,
        parts: Parts,
        *,
        core: Callable[[LiveJob], Core] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        name: str = "tiny",
        queue: int | None = 64,
        trace: str | Path | None = None,
        **engine_options: Any,
    ) -> None:
        with contextlib.ExitStack() as opened:  # a server that cannot be made leaves nothing open
            self._socket = opened.enter_context(_listening(host, port))
            self._file = opened.enter_context(Path(trace).open("w", encoding="utf-8")) if trace is not None else None
            more: dict[str, Any] = {"queue": queue, "file": self._file, **engine_options}
            self.engine = (
                OwnEngine(model, tokenizer, parts, core, **more) if core else Engine(model, tokenizer, parts, **more)
            )
            opened.pop_all()
        self._outbox = Outbox()
        self._front = Front(self.engine, tokenizer.encode, name, self._outbox)
        self.url = f"http://{host}:{self._socket.getsockname()[1]}"
        self._listening = threading.Event()
        self._stopping = False
        self._http = _Http(self._front.app, self._on_startup, self._on_signal)
        self._front.on_drained = self._http.stop
        self._engine_thread = threading.Thread(target=self._run_engine, name="engine", daemon=True)
        self._http_thread = threading.Thread(target=self._serve_http, name="http", daemon=True)

    def __enter__(self) -> Server:
        self._engine_thread.start()
        self._http_thread.start()
        if not self._listening.wait(STARTUP_TIMEOUT):
            raise RuntimeError(f"the server did not start within {STARTUP_TIMEOUT:g} seconds")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.engine.cancel_all()
        self.drain()
        self._http_thread.join()
        self._close()

    def metrics(self) -> dict[str, int]:
        """The numbers that ``/metrics`` reports."""
        return self.engine.metrics()

    def trace(self) -> list[Event]:
        """The events so far."""
        return self.engine.trace()

    @property
    def steps(self) -> list[Step]:
        """The engine's steps so far."""
        return self.engine.steps

    def drain(self) -> None:
        """Refuse new requests, and shut down when the current ones have been answered."""
        if self._outbox.loop is not None and not self._outbox.loop.is_closed():
            self._outbox.loop.call_soon_threadsafe(self._front.drain)

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM; for the main thread. The first one drains, the second aborts what is left."""
        self._engine_thread.start()
        self._serve_http()
        self._close()

    def _serve_http(self) -> None:
        asyncio.run(self._http.serve(sockets=[self._socket]))

    def _on_startup(self) -> None:
        self._outbox.loop = asyncio.get_running_loop()
        self._listening.set()

    def _on_signal(self) -> None:
        """Handle SIGINT or SIGTERM: drain at first, and abort the current requests the second time."""
        if self._front.draining:
            self.engine.cancel_all()
            self._http.force_exit = True
        self.drain()

    def _run_engine(self) -> None:
        """The engine's thread."""
        with one_thread():
            while not (self._stopping and self.engine.idle):
                if self.engine.idle:
                    self.engine.log.flush()
                self.engine.wait(lambda: self._stopping)
                self._step()
                self._outbox.flush()

    def _step(self) -> None:
        try:
            self.engine.step()
        except BaseException as error:  # a broken part ends the requests, not the server
            self.engine.fail(error)

    def _close(self) -> None:
        self.engine.cancel_all()
        self._stopping = True
        self.engine.wake()
        self._engine_thread.join()
        self.engine.log.flush()
        if self._file is not None:
            self._file.close()
        self.engine.close()


class _Http(uvicorn.Server):
    """uvicorn without its own logs and its own handling of signals.

    Args:
        app: the application.
        on_startup: called on the event loop once it runs.
        on_signal: called for SIGINT and SIGTERM.
    """

    def __init__(self, app: Starlette, on_startup: Callable[[], None], on_signal: Callable[[], None]) -> None:
        app.router.lifespan_context = _lifespan(on_startup)
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
                timeout_graceful_shutdown=GRACE_PERIOD,
            )
        )
        self._on_signal = on_signal

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._on_signal()

    def stop(self) -> None:
        """Shut down."""
        self.should_exit = True


def _lifespan(on_startup: Callable[[], None]) -> Callable[[Starlette], contextlib.AbstractAsyncContextManager[None]]:
    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        on_startup()
        yield

    return lifespan


def _listening(host: str, port: int) -> socket.socket:
    """A listening socket; clients may connect at once, and wait until the server accepts them."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError:
        found.close()
        raise
    found.listen(2048)
    return found
