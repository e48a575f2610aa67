"""Streaming tokens to text: never half a character, never a piece of a stop string. Standard library only.

>>> words = StreamingDetokenizer([b"Hi", b"\\xf0\\x9f", b"\\x98\\x80"])
>>> [words.push(token) for token in (0, 1, 2)]
['Hi', '', '\U0001f600']
"""

from __future__ import annotations

import codecs
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
        self._vocabulary, self._stop = vocabulary, tuple(stop)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self.text, self.finished = "", False
        self.stopped_by: str | None = None

    def push(self, token: int) -> str:
        """Take one more token, an index into the vocabulary; return the text that may be sent now, perhaps none.

        Raises:
            RuntimeError: the text is finished.
        """
        if self.finished:
            raise RuntimeError("the text is finished: no token may follow")
        self._read(self._decoder.decode(self._vocabulary[token]))
        return self._send(0 if self.finished else self._held_back())

    def finish(self) -> str:
        """End the text; return what was held back, with U+FFFD for an unfinished character. Once finished: ``""``.

        A stop string that this U+FFFD completes ends the text, too.
        """
        if self.finished:
            return ""
        self._read(self._decoder.decode(b"", final=True))
        self.finished = True
        return self._send(0)

    def _read(self, characters: str) -> None:
        """Append to what is held; stop at the first stop string that is complete, and cut it off."""
        for character in characters:
            self._held += character
            complete = [stop for stop in self._stop if self._held.endswith(stop)]
            if complete:
                self.stopped_by = max(complete, key=len)
                self._held = self._held.removesuffix(self.stopped_by)
                self.finished = True
                return

    def _held_back(self) -> int:
        """Characters at the end of what is held that may begin a stop string."""
        lengths = (n for stop in self._stop for n in range(1, len(stop)) if self._held.endswith(stop[:n]))
        return max(lengths, default=0)

    def _send(self, keep: int) -> str:
        cut = len(self._held) - keep
        sent, self._held = self._held[:cut], self._held[cut:]
        self.text += sent
        return sent
