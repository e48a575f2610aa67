"""The HTTP front: it reads requests, hands them to the engine, and sends the answers back.

Everything here runs on one event loop; the engine runs on a thread of its own. The engine's output reaches the loop
once per step (:class:`rankzero.server.outbox.Outbox`), not once per token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Literal

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as Http
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rankzero.server import answers, protocol
from rankzero.server.answers import Answer
from rankzero.server.constraints import constraint_for
from rankzero.server.engine import Engine
from rankzero.server.fields import ErrorCode, Refused
from rankzero.server.outbox import Outbox, Pending, Piece
from rankzero.server.parts import Constraint
from rankzero.server.protocol import ApiRequest
from rankzero.server.request import QueueFull, Request

Health = Literal["ok", "draining", "failed"]
HEALTH_STATUS: dict[Health, int] = {"ok": 200, "draining": 503, "failed": 500}

MAX_BODY_BYTES = 1 << 20
RETRY_AFTER = 1  # seconds
#: The status of a response that nobody will read, because the client has closed its connection.
CLIENT_CLOSED_REQUEST = 499


class Front:
    """The HTTP endpoints of one engine.

    Args:
        engine: computes the answers.
        encode: turns text into tokens.
        name: the model's name, as clients give it.
        outbox: carries the engine's output to the event loop.

    Attributes:
        app: the application that uvicorn runs.
        draining: whether new requests are refused because the server is shutting down.
        on_drained: called once the server is draining and no request is left in the engine; the last answer may still
            be on its way to the client.
    """

    def __init__(self, engine: Engine, encode: Callable[[str], list[int]], name: str, outbox: Outbox) -> None:
        self._engine, self._encode, self._name, self._outbox = engine, encode, name, outbox
        self._longest = max(map(len, engine.tokenizer.vocabulary))
        self._open = 0
        self.draining = False
        self.on_drained: Callable[[], None] = lambda: None
        self.app = Starlette(
            routes=[
                Route("/health", self._health),
                Route("/metrics", self._metrics),
                Route("/v1/models", self._models),
                Route("/v1/models/{name:path}", self._model),
                Route("/v1/completions", self._completions, methods=["POST"]),
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
            ],
            exception_handlers={Refused: _refused, HTTPException: _http_error},
        )

    def drain(self) -> None:
        """Refuse new requests, and call ``on_drained`` when the current ones have ended."""
        self.draining = True
        self._check_drained()

    def _check_drained(self) -> None:
        if self.draining and not self._open:
            self.on_drained()

    async def _health(self, http: Http) -> Response:
        health: Health = "failed" if self._engine.error else "draining" if self.draining else "ok"
        return JSONResponse({"status": health}, HEALTH_STATUS[health])

    async def _metrics(self, http: Http) -> Response:
        return PlainTextResponse(answers.metrics_text(self._engine.metrics()))

    async def _models(self, http: Http) -> Response:
        return JSONResponse({"object": "list", "data": [answers.model_card(self._name)]})

    async def _model(self, http: Http) -> Response:
        self._check_name(http.path_params["name"])
        return JSONResponse(answers.model_card(self._name))

    def _check_name(self, name: str) -> None:
        if name != self._name:
            raise Refused(404, f"there is no model {name!r}, only {self._name!r}", "model", "model_not_found")

    def _check_open(self) -> None:
        if self.draining:
            raise Refused(503, "the server is shutting down", code="shutting_down", retry_after=RETRY_AFTER)

    async def _completions(self, http: Http) -> Response:
        return await self._generate(http, chat=False)

    async def _chat(self, http: Http) -> Response:
        return await self._generate(http, chat=True)

    async def _generate(self, http: Http, chat: bool) -> Response:
        try:
            return await self._answer(http, chat)
        except ClientDisconnect:
            return Response(status_code=CLIENT_CLOSED_REQUEST)

    def _ended(self, request: Request) -> None:
        self._open -= 1
        self._check_drained()

    async def _answer(self, http: Http, chat: bool) -> Response:
        start = self._engine.log.now()
        body = await _body(http)
        self._check_open()
        asked = protocol.read(body, chat)
        self._check_name(asked.model)
        read = self._engine.log.now()
        tokens = self._tokens(asked)
        encoded = self._engine.log.now()
        constraint = None
        if asked.answer_schema is not None:
            constraint = await run_in_threadpool(constraint_for, asked.answer_schema, self._engine)
            self._check_open()
        pending = self._submit(asked, tokens, constraint)
        assert pending.request is not None
        name = pending.request.name
        self._engine.log.add("api", name, start, read)
        self._engine.log.add("tokenizer", name, read, encoded)
        answer = Answer(asked, pending.request, self._engine.tokenizer.vocabulary)
        if asked.stream:
            return _Stream(self._stream(pending, answer), self._engine, pending.request)
        return await self._whole(http, pending, answer)

    def _tokens(self, asked: ApiRequest) -> list[int]:
        """The prompt's tokens; a text that is too long however it is tokenized is refused at once."""
        field = "messages" if asked.chat else "prompt"
        if not isinstance(asked.prompt, str):
            return asked.prompt
        try:
            size = len(asked.prompt.encode())
        except UnicodeEncodeError:
            raise Refused(400, f"{field} must be valid Unicode", field, "invalid_text") from None
        least = -(-size // self._longest)
        if least > self._engine.context:
            raise self._too_long(field, f"at least {least}")
        return self._encode(asked.prompt)

    def _too_long(self, field: str, count: object) -> Refused:
        sentence = f"the prompt has {count} tokens, and there is room for {self._engine.room(()) - 1}"
        return Refused(400, sentence, field, "context_length_exceeded")

    def _submit(self, asked: ApiRequest, tokens: list[int], constraint: Constraint | None) -> Pending:
        """Hand a request to the engine, and turn the engine's exceptions into ``Refused``."""
        field = "messages" if asked.chat else "prompt"
        engine, room = self._engine, self._engine.room(tokens)
        if room < 1:
            raise self._too_long(field, len(tokens))
        pending = Pending()

        def on_text(request: Request, text: str) -> None:
            self._outbox.post(pending.queue.put_nowait, Piece(text, engine.log.now(), len(request.output)))

        def on_end(request: Request) -> None:
            self._outbox.post(pending.queue.put_nowait, request)
            self._outbox.post(self._ended, request)

        limit = asked.limit(room)
        if constraint is not None:
            _check_constraint_fits(constraint, limit, asked.limit_field)
        try:
            pending.request = engine.submit(
                tokens,
                limit,
                on_text=on_text,
                on_end=on_end,
                constraint=constraint,
                salt=asked.cache_salt or "",
                **protocol.sampling(asked),
            )
        except QueueFull as error:
            raise Refused(429, f"{error}; try again later", None, "queue_full", RETRY_AFTER) from None
        except ValueError as error:
            code: ErrorCode = "context_length_exceeded" if limit > room else "invalid_value"
            raise Refused(400, str(error), asked.limit_field if limit > room else field, code) from None
        except RuntimeError as error:
            raise Refused(500, str(error), code="engine_failed") from None
        self._open += 1
        return pending

    async def _whole(self, http: Http, pending: Pending, answer: Answer) -> Response:
        """Wait for the complete answer; the request is canceled if the client disconnects first."""
        assert pending.request is not None
        end = asyncio.ensure_future(_finished(pending))
        gone = asyncio.ensure_future(_disconnected(http))
        try:
            await asyncio.wait({end, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not end.done():
                return Response(status_code=CLIENT_CLOSED_REQUEST)
            request = end.result()
        finally:
            end.cancel()
            gone.cancel()
            self._engine.cancel(pending.request)
        self._check_ended(request)
        return JSONResponse(answer.whole())

    def _check_ended(self, request: Request) -> None:
        if request.finish_reason == "error":
            raise Refused(500, f"the engine has failed: {self._engine.error}", code="engine_failed")
        if request.finish_reason == "abort":
            raise Refused(503, "the request was ended by the server", code="aborted", retry_after=RETRY_AFTER)

    async def _stream(self, pending: Pending, answer: Answer) -> AsyncIterator[bytes]:
        """The answer as server-sent events; if the request fails midway, the last event is an error."""
        assert pending.request is not None
        name, log = pending.request.name, self._engine.log
        if first := answer.first():
            yield answers.events(first)
        async for batch in pending.batches():
            pieces = [item for item in batch if isinstance(item, Piece)]
            if pieces:
                yield answers.events([answer.piece(piece.text, piece.tokens) for piece in pieces])
                for piece in pieces:
                    log.add("stream", name, piece.ready)
            if isinstance(batch[-1], Request):
                yield self._ending(batch[-1], answer)

    def _ending(self, request: Request, answer: Answer) -> bytes:
        try:
            self._check_ended(request)
        except Refused as refused:
            return answers.events([refused.body()])
        return answers.events(answer.last()) + answers.DONE


class _Stream(StreamingResponse):
    """A stream that cancels its request when the stream ends, for whatever reason."""

    def __init__(self, content: AsyncIterator[bytes], engine: Engine, request: Request) -> None:
        super().__init__(content, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
        self._engine, self._request = engine, request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._engine.cancel(self._request)


async def _body(http: Http) -> bytes:
    """Read the body, and refuse one that is too long."""
    body = b""
    async for chunk in http.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise Refused(413, f"the body must have at most {MAX_BODY_BYTES} bytes", code="too_large")
    return body


def _check_constraint_fits(constraint: Constraint, limit: int, field: str) -> None:
    """Refuse a token limit, sent in ``field``, that is too small for any text that the constraint allows."""
    least = constraint.distance() + 1
    if limit < least:
        sentence = f"{field} must be at least {least}, got {limit}: the shortest text that fits takes {least - 1}"
        raise Refused(400, f"{sentence}, and one token ends it", field, "out_of_range")


async def _finished(pending: Pending) -> Request:
    """Wait until the request has ended, and return it."""
    async for batch in pending.batches():
        if isinstance(batch[-1], Request):
            return batch[-1]
    raise AssertionError("the last batch ends with the request")


async def _disconnected(http: Http) -> None:
    """Wait until the client has closed its connection."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


async def _refused(http: Http, error: Exception) -> Response:
    assert isinstance(error, Refused)
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else None
    return JSONResponse(error.body(), error.status, headers)


async def _http_error(http: Http, error: Exception) -> Response:
    """Answer a request for an unknown path, or with a method that the path does not support."""
    assert isinstance(error, HTTPException)
    sentence = f"{http.method} {http.url.path}: {error.detail.lower()}"
    return JSONResponse(Refused(error.status_code, sentence).body(), error.status_code, error.headers)
