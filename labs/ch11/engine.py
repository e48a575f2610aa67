# Generated from solutions/ch11/engine.py by make stubs. Write the bodies; names and signatures stay.
"""The engine of an inference server, whole: the milestone of Part III, graded level by level.

    python -m autograder milestone labs --only 11-server

Begin with one request at a time: a pass for its prompt, then a pass for each token. Parts that you built in earlier
chapters may be imported or written anew.
"""

from __future__ import annotations

from typing import Any


class EngineCore:
    """Decides what every pass of a device computes, in which blocks, and which text may be sent.

    Args:
        job: has ``blocks`` and ``block_size`` of the pool, ``budget`` and ``slots`` (the most tokens and the most
            requests of a pass), ``vocabulary`` (the bytes of each token) and ``eos``. ``job.forward(pieces)`` runs a
            pass. A piece is ``(name, tokens, start, table)``: tokens of one request, which follow ``start`` others
            whose keys are in the blocks of ``table``; ``table`` has room for the new ones, too. It returns the logits
            after the last token of each piece. ``job.choose(logits, request, number, allowed=None)`` is token
            ``number`` of the answer, counted from 0; with ``allowed``, one of these tokens.
    """

    def __init__(self, job: Any) -> None:
        raise NotImplementedError("11-server: not written yet")

    def submit(self, request: Any) -> None:
        """Take a request: it is computed by later steps.

        Args:
            request: has ``name``, ``prompt`` (tokens, at least one), ``max_tokens`` (of the answer, ``eos`` included),
                ``stop`` (strings that end the answer and are not sent), ``salt`` (only requests with the same salt may
                share blocks) and ``constraint``: None, or an object with ``allowed(remaining)``, the tokens that may
                come next if ``remaining`` are left, the next one included and ``eos`` not, and ``advance(token)``.
        """
        raise NotImplementedError("11-server: not written yet")

    def cancel(self, name: str) -> None:
        """The client of this request has left: nothing more is computed or sent, and its blocks are free."""
        raise NotImplementedError("11-server: not written yet")

    def step(self) -> list[tuple[str, str, str]]:
        """Run at most one pass, and return what can be sent: ``(name, text, reason)``, at most one for each request.

        The reason is ``"stop"`` if the answer ends here by ``eos`` or a stop string, ``"length"`` if it has
        ``max_tokens`` tokens, and otherwise empty. Text is sent in the step that makes it, except half a character and
        what may turn out to begin a stop string.
        """
        raise NotImplementedError("11-server: not written yet")
