# Generated from solutions/ch08/detokenizer.py by make stubs. Write the bodies; names and signatures stay.
"""Streaming tokens to text: never half a character, never a piece of a stop string. Standard library only.

>>> words = StreamingDetokenizer([b"Hi", b"\\xf0\\x9f", b"\\x98\\x80"])
>>> [words.push(token) for token in (0, 1, 2)]
['Hi', '', '\U0001f600']
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks


class StreamingDetokenizer:
    """Turns the tokens of one answer into text that is safe to send, piece by piece.

    A token is bytes, and the bytes of all tokens together are UTF-8. Whatever later tokens could still change is held
    back: the bytes of an unfinished character, and the longest tail that begins a stop string. Bytes that no
    continuation can turn into a character become U+FFFD at once. The text ends before the stop string that is complete
    first; of several that end at the same place, the longest counts. So the text does not depend on how the bytes are
    divided into tokens.

    Args:
        vocabulary: the bytes of every token.
        stop: strings that end the text, each at least one character long; they are never sent.

    Attributes:
        text: everything sent so far.
        finished: True after a stop string, and after :meth:`finish`.
        stopped_by: the stop string that ended the text; None without one.
    """

    def __init__(self, vocabulary: Sequence[bytes], stop: Sequence[str] = ()) -> None:
        checks.require(all(stop), "hold no empty string", stop=stop)
        raise NotImplementedError("08-streaming-detokenizer: not written yet")

    def push(self, token: int) -> str:
        """Take one more token, an index into the vocabulary; return the text that may be sent now, perhaps none.

        Raises:
            RuntimeError: the text is finished.
        """
        raise NotImplementedError("08-streaming-detokenizer: not written yet")

    def finish(self) -> str:
        """End the text; return what was held back, with U+FFFD for an unfinished character. Once finished: ``""``.

        A stop string that this U+FFFD completes ends the text, too.
        """
        raise NotImplementedError("08-streaming-detokenizer: not written yet")
