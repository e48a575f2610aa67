"""An inference server small enough to read: continuous batching, paged memory, prefix reuse, streaming over HTTP.

    with serve(model, ByteTokenizer(), parts, slots=4) as server:
        print(server.url)

The caller supplies its parts (:class:`Parts`): a detokenizer, the distribution of the next token, a prefix
pool, a scheduler and, if answers may have to fit a JSON schema, a constraint. :class:`Engine` runs without HTTP;
:func:`serve` puts it behind the protocol of OpenAI's API and needs the extra ``serve`` (Starlette and uvicorn).

===============  ======================================================================================
module           what it does
===============  ======================================================================================
``parts``        the interfaces of the parts
``pool``         keys and values of all sequences in blocks of equal size; one forward pass over many sequences
``memory``       who holds which blocks: running sequences, cached prefixes, eviction
``request``      one request, from its prompt to its last token
``inbox``        how other threads hand requests to the engine
``runner``       the computation of a step: memory, the forward pass, sampling
``engine``       the loop: schedule, compute, sample, deliver
``jobs``         what an engine that somebody writes is handed, and the loop that calls it
``own_engine``   such an engine behind the HTTP front
``trace``        a log of what happened when to each request, and of each step
``fields``       objects of a request, checked by pydantic, and the error for fields that fail
``protocol``     requests: what the server supports and what it refuses
``constraints``  constraints on answers that must be JSON
``logprobs``     log-probabilities of tokens
``answers``      answers, complete or streamed
``outbox``       how the engine hands its output to the event loop
``app``          the HTTP front
``serving``      the threads and the socket that everything runs on
``load``         a load generator
===============  ======================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankzero.server.engine import Engine
from rankzero.server.parts import Parts
from rankzero.server.request import QueueFull, Request
from rankzero.server.trace import Event, Step

if TYPE_CHECKING:
    from rankzero.server.serving import Server

__all__ = ["Engine", "Event", "Parts", "QueueFull", "Request", "Step", "serve"]


def serve(*arguments: Any, **options: Any) -> Server:
    """The server, as a context manager that serves while its block runs; see :class:`rankzero.server.serving.Server`.

    Raises:
        ModuleNotFoundError: Starlette or uvicorn is not installed; the message says how to install them.
    """
    try:
        from rankzero.server.serving import Server
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}: the server needs the extra `serve` of rankzero") from error
    return Server(*arguments, **options)
