"""The HTTP front: it reads requests, hands them to the engine, and sends back what comes.

Everything here runs on one event loop; the engine runs on a thread of its own. What the engine says during a step is
carried over once per step (:class:`rankzero.server.mail.Mail`), not once per token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

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
from rankzero.server.engine import Engine
from rankzero.server.fields import Refused
from rankzero.server.forms import constraint_for
from rankzero.server.mail import Mail, Pending, Piece
from rankzero.server.parts import Constraint
from rankzero.server.protocol import Ask
from rankzero.server.request import QueueFull, Request

#: The longest body, bytes.
MOST_BYTES = 1 << 20
RETRY_AFTER = 1  # seconds
#: The status of an answer that nobody reads, for the client has closed its connection.
NOBODY = 499


class Front:
    """The application.

    Args:
        engine: that answers.
        encode: text to tokens.
        name: of the model.
        mail: from the engine.

    Attributes:
        app: for uvicorn.
        draining: whether new requests are refused because the server is going down.
        on_drained: called when it is draining and the last request has ended; its answer may be on its way.
    """

    def __init__(self, engine: Engine, encode: Callable[[str], list[int]], name: str, mail: Mail) -> None:
        self._engine, self._encode, self._name, self._mail = engine, encode, name, mail
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
            exception_handlers={Refused: _refused, HTTPException: _strayed},
        )

    def drain(self) -> None:
        """Take no more requests; ``on_drained`` is called when those that are here have ended."""
        self.draining = True
        self._check_drained()

    def _check_drained(self) -> None:
        if self.draining and not self._open:
            self.on_drained()

    async def _health(self, http: Http) -> Response:
        status = "failed" if self._engine.error else "draining" if self.draining else "ok"
        return JSONResponse({"status": status}, {"failed": 500, "draining": 503}.get(status, 200))

    async def _metrics(self, http: Http) -> Response:
        return PlainTextResponse(answers.metrics_text(self._engine.metrics()))

    async def _models(self, http: Http) -> Response:
        return JSONResponse({"object": "list", "data": [answers.model_card(self._name)]})

    async def _model(self, http: Http) -> Response:
        self._check_name(http.path_params["name"])
        return JSONResponse(answers.model_card(self._name))

    def _check_name(self, name: str) -> None:
        if name != self._name:
            raise Refused(404, f"there is no model {name!r}, but {self._name!r}", "model", "model_not_found")

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
            return Response(status_code=NOBODY)

    def _ended(self, request: Request) -> None:
        self._open -= 1
        self._check_drained()

    async def _answer(self, http: Http, chat: bool) -> Response:
        start = self._engine.log.now()
        body = await _body(http)
        self._check_open()
        ask = protocol.read(body, chat)
        self._check_name(ask.model)
        read = self._engine.log.now()
        tokens = self._tokens(ask)
        encoded = self._engine.log.now()
        constraint = None
        if ask.form is not None:
            constraint = await run_in_threadpool(constraint_for, ask.form, self._engine)
            self._check_open()
        pending = self._submit(ask, tokens, constraint)
        assert pending.request is not None
        name = pending.request.name
        self._engine.log.add("api", name, start, read)
        self._engine.log.add("tokenizer", name, read, encoded)
        answer = Answer(ask, pending.request, self._engine.tokenizer.vocabulary)
        if ask.stream:
            return _Stream(self._stream(pending, answer), self._engine, pending.request)
        return await self._whole(http, pending, answer)

    def _tokens(self, ask: Ask) -> list[int]:
        """The prompt's tokens; a text that is too long whatever its tokens are is not even read."""
        field = "messages" if ask.chat else "prompt"
        if not isinstance(ask.prompt, str):
            return ask.prompt
        try:
            size = len(ask.prompt.encode())
        except UnicodeEncodeError:
            raise Refused(400, f"{field} must be valid Unicode", field, "invalid_text") from None
        least = -(-size // self._longest)
        if least > self._engine.context:
            raise self._too_long(field, f"at least {least}")
        return self._encode(ask.prompt)

    def _too_long(self, field: str, count: object) -> Refused:
        sentence = f"the prompt has {count} tokens, and there is room for {self._engine.room(()) - 1}"
        return Refused(400, sentence, field, "context_length_exceeded")

    def _submit(self, ask: Ask, tokens: list[int], constraint: Constraint | None) -> Pending:
        """Hand a request to the engine; its refusals become answers."""
        field = "messages" if ask.chat else "prompt"
        engine, room = self._engine, self._engine.room(tokens)
        if room < 1:
            raise self._too_long(field, len(tokens))
        pending = Pending()

        def on_text(request: Request, text: str) -> None:
            self._mail.post(pending.queue.put_nowait, Piece(text, engine.log.now(), len(request.output)))

        def on_end(request: Request) -> None:
            self._mail.post(pending.queue.put_nowait, request)
            self._mail.post(self._ended, request)

        limit = ask.limit(room)
        if constraint is not None:
            _check_form_fits(constraint, limit)
        try:
            pending.request = engine.submit(
                tokens, limit, on_text=on_text, on_end=on_end, constraint=constraint, **ask.sampling
            )
        except QueueFull as error:
            raise Refused(429, f"{error}; come again later", None, "queue_full", RETRY_AFTER) from None
        except ValueError as error:
            code = "context_length_exceeded" if limit > room else "invalid_value"
            raise Refused(400, str(error), "max_tokens" if limit > room else field, code) from None
        except RuntimeError as error:
            raise Refused(500, str(error), code="engine_failed") from None
        self._open += 1
        return pending

    async def _whole(self, http: Http, pending: Pending, answer: Answer) -> Response:
        """Wait for all of the answer; a client that leaves ends its request."""
        assert pending.request is not None
        end = asyncio.ensure_future(_last(pending))
        gone = asyncio.ensure_future(_gone(http))
        try:
            await asyncio.wait({end, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not end.done():
                return Response(status_code=NOBODY)
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
        """The answer as server-sent events; an error on the way is the last one."""
        assert pending.request is not None
        name, log = pending.request.name, self._engine.log
        if first := answer.first():
            yield answers.events(first)
        async for come in pending.pieces():
            pieces = [part for part in come if isinstance(part, Piece)]
            if pieces:
                yield answers.events([answer.piece(piece.text, piece.tokens) for piece in pieces])
                for piece in pieces:
                    log.add("stream", name, piece.ready)
            if isinstance(come[-1], Request):
                yield self._ending(come[-1], answer)

    def _ending(self, request: Request, answer: Answer) -> bytes:
        try:
            self._check_ended(request)
        except Refused as refused:
            return answers.events([refused.body()])
        return answers.events(answer.last()) + answers.DONE


class _Stream(StreamingResponse):
    """A stream that ends its request when it ends itself, for whatever reason."""

    def __init__(self, content: AsyncIterator[bytes], engine: Engine, request: Request) -> None:
        super().__init__(content, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
        self._engine, self._request = engine, request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._engine.cancel(self._request)


async def _body(http: Http) -> bytes:
    """The body, as long as it is not too long."""
    body = b""
    async for chunk in http.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise Refused(413, f"the body must have at most {MOST_BYTES} bytes", code="too_large")
    return body


def _check_form_fits(constraint: Constraint, limit: int) -> None:
    """Refuse a limit of tokens within which no text of the form ends."""
    least = constraint.distance() + 1
    if limit < least:
        sentence = f"max_tokens must be at least {least}, got {limit}: the shortest text that fits takes {least - 1}"
        raise Refused(400, f"{sentence}, and one token ends it", "max_tokens", "out_of_range")


async def _last(pending: Pending) -> Request:
    """The request, when it has ended."""
    async for come in pending.pieces():
        if isinstance(come[-1], Request):
            return come[-1]
    raise AssertionError("the pieces end with the request")


async def _gone(http: Http) -> None:
    """Return when the client has closed its connection."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


async def _refused(http: Http, error: Exception) -> Response:
    assert isinstance(error, Refused)
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else None
    return JSONResponse(error.body(), error.status, headers)


async def _strayed(http: Http, error: Exception) -> Response:
    """A path that does not exist, or a method that it does not take."""
    assert isinstance(error, HTTPException)
    sentence = f"{http.method} {http.url.path}: {error.detail.lower()}"
    return JSONResponse(Refused(error.status_code, sentence).body(), error.status_code, error.headers)
