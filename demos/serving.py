"""What the demos of a server share: its start, its command line, and what is said when it ends."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from demos.common import Table, parser, part, whole
from experiments.ch08.serving_runs import parts, served_model
from experiments.ch11.constrained_runs import schema_constraint
from rankzero.server import serve
from rankzero.server.load import Query, load
from rankzero.tiny import ByteTokenizer


def start(code: str, kind: str = "random", core: bool = False, **options: Any) -> Any:
    """A server made of the parts of ``code``; ``with start(...) as server``. The model is trained, or ``random``.

    With ``core``, it is the ``EngineCore`` of ``code`` that serves; tokens are drawn, and forms read, by the solutions.
    """
    model = served_model(steps=0 if kind == "random" else 80)
    if core:
        options["core"], code = part(code, "ch11.engine", "EngineCore"), "solutions"
    forms = (part(code, "ch11.constrained", name) for name in ("token_index", "ConstraintState", "schema_to_regex"))
    return serve(model, ByteTokenizer(), replace(parts(code), constraint=schema_constraint(*forms)), **options)


@contextmanager
def reach(url: str | None, code: str, **options: Any) -> Iterator[str]:
    """The address of a server: ``url``, or that of a server started for as long as the block runs.

    Raises:
        Exception: what a part of our own server raised, whatever came of it in the block.
    """
    if url:
        yield url
        return
    server = start(code, **options)
    try:
        with server:
            yield server.url
    finally:
        if server.engine.error is not None:
            raise server.engine.error


def asked_for(doc: str | None, argv: Sequence[str] | None) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    """The command line of a server, and its parser."""
    options = parser(doc, picture=False)
    options.add_argument("--port", type=whole(0, 65535), default=0, help="0 picks a free one")
    options.add_argument("--slots", type=whole(1, 64), default=4, help="requests that run at the same time")
    options.add_argument("--blocks", type=whole(1, 100_000), help="blocks of keys and values, 16 tokens each")
    options.add_argument("--queue", type=whole(0, 100_000), default=64, help="requests that may wait")
    options.add_argument("--model", choices=("tiny", "random"), default="tiny", help="trained first, or random")
    options.add_argument("--trace", metavar="FILE", help="write each event as a line of JSON")
    return options, options.parse_args(argv)


def served(options: argparse.ArgumentParser, asked: argparse.Namespace, core: bool = False) -> tuple[Table, bool]:
    """Serve until Ctrl+C, or two requests; the metrics, and whether all were answered and all blocks are free."""
    sizes = {"port": asked.port, "slots": asked.slots, "blocks": asked.blocks, "queue": asked.queue}
    try:
        server = start(asked.code, "random" if asked.quick else asked.model, core, trace=asked.trace, **sizes)
    except OSError as error:
        options.error(str(error))
    print(server.url, flush=True)
    answered = True
    if asked.quick:
        with server:
            answers = load(server.url, [Query("Alice was beginning to ", 8)] * 2, concurrency=1)
            answered = all(answer.whole for answer in answers)
    else:
        server.run()
    if server.engine.error is not None:
        raise server.engine.error
    free = server.metrics()["blocks_free"] == server.engine.blocks
    return Table(("metric", "value"), list(server.metrics().items())), answered and free
