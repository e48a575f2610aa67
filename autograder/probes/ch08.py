"""Drivers of chapter 8: a stream of tokens, and words in two processes. Standard library only.

Texts and numbers are values, and the two processes are real: neither knows what the other was asked.
"""

import builtins
from zlib import crc32


def streamed(program, vocabulary, stop, tokens):
    """An object is made, every token is pushed, `finish` is called twice. Vocabulary: as inside a bytes literal."""
    streaming = program([one.encode().decode("unicode_escape").encode("latin-1") for one in vocabulary], stop)
    pushed = []
    for token in tokens:
        try:
            pushed.append(streaming.push(token))
        except RuntimeError:
            pushed.append(("raises", "RuntimeError"))
    seen = {"pushed": pushed, "finished": streaming.finished, "text before": streaming.text}
    seen["flushed"] = [streaming.finish(), streaming.finish()]
    return seen | {"text": streaming.text, "stopped_by": streaming.stopped_by, "at the end": streaming.finished}


def two_processes(program, words, vocabulary=None, *, process=0):
    """The function gets each word in two processes; their `hash` differs, as Python's does from run to run.

    Without a vocabulary, the second process uses the default. It gets the words in reverse order.
    """
    given = (1000,) if vocabulary is None and process == 0 else () if vocabulary is None else (vocabulary,)
    real = builtins.hash
    builtins.hash = lambda value: crc32(f"{process} {value!r}".encode())
    try:
        if process == 0:
            return [program(word, *given) for word in words]
        return [program(word, *given) for word in words[::-1]][::-1]
    finally:
        builtins.hash = real
