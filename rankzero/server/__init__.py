"""An inference server small enough to read: continuous batching, paged memory, prefix reuse, streaming over HTTP.

    with serve(model, ByteTokenizer(), parts, slots=4) as server:
        print(server.url)

It is put together from parts that the caller brings (:class:`Parts`): a detokenizer, the distribution of the next
token, a block manager, a radix cache and a scheduler; and a constraint, where answers must fit a JSON schema.
:class:`Engine` runs without HTTP; :func:`serve` puts it behind the protocol of OpenAI's API, and needs the extra
``serve`` (Starlette and uvicorn).

=============  ======================================================================================
module         what it does
=============  ======================================================================================
``parts``      what the parts must be able to do
``pool``       keys and values of all sequences in equal blocks, and one forward pass over many of them
``memory``     which blocks hold what: sequences, the prefixes that stay cached, eviction
``request``    one request, from its prompt to its last token
``inbox``      where other threads leave requests
``runner``     the middle of a step: room, the forward pass, sampled tokens
``engine``     the loop: schedule, compute, sample, deliver
``trace``      what happened when: events of requests, and steps
``fields``     fields of a request, one by one: known, typed, within limits, or refused
``protocol``   requests: what the server does, and what it refuses to
``forms``      answers that must be JSON
``logprobs``   log-probabilities of tokens
``answers``    answers, whole and in pieces
``mail``       what the engine says, on its way to the event loop
``app``        the HTTP front
``serving``    the threads and the socket around all of it
``load``       a load generator
=============  ======================================================================================
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
    """The server as a context manager, running while its block runs; see :class:`rankzero.server.serving.Server`.

    Raises:
        ModuleNotFoundError: Starlette or uvicorn is not installed; the message says how to install them.
    """
    try:
        from rankzero.server.serving import Server
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}: the server needs the extra `serve` of rankzero") from error
    return Server(*arguments, **options)
