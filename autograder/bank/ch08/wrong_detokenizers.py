"""Mistakes in ``StreamingDetokenizer``: what people really write, as edits of the reference."""

from __future__ import annotations

from autograder.items import Slip

DETOKENIZERS = (
    Slip(
        "A character may be cut between two tokens: decode the bytes as one stream.",
        edit=("self._decoder.decode(self._vocabulary[token])", 'self._vocabulary[token].decode(errors="replace")'),
    ),
    Slip(
        "A stop string may begin in one token and end in another.",
        edit=("return self._send(0 if self.finished else self._held_back())", "return self._send(0)"),
    ),
    Slip(
        "What was sent cannot be taken back: hold back a tail that may begin a stop string.",
        edits=(
            ("self._send(0 if self.finished else self._held_back())", "self._send(0)"),
            ("self._held.endswith(stop)]", "(self.text + self._held).endswith(stop)]"),
            ("self._held.removesuffix(self.stopped_by)", "self._held[: -len(self.stopped_by)]"),
        ),
    ),
    Slip(
        "The text ends before the stop string.",
        edit=("                self._held = self._held.removesuffix(self.stopped_by)\n", ""),
    ),
    Slip(
        "The stop string that is complete first ends the text, not the one that begins first.",
        edit=(
            "        for character in characters:\n"
            "            self._held += character\n"
            "            complete = [stop for stop in self._stop if self._held.endswith(stop)]\n"
            "            if complete:\n"
            "                self.stopped_by = max(complete, key=len)\n"
            "                self._held = self._held.removesuffix(self.stopped_by)\n"
            "                self.finished = True\n"
            "                return",
            "        self._held += characters\n"
            "        found = [(self._held.find(stop), -len(stop), stop) for stop in self._stop if stop in self._held]\n"
            "        if found:\n"
            "            start, _, self.stopped_by = min(found)\n"
            "            self._held, self.finished = self._held[:start], True",
        ),
    ),
    Slip(
        "Only a tail that begins a stop string has to wait: yours holds back text that does not.",
        edit=("max(lengths, default=0)", "min(max(map(len, self._stop), default=1) - 1, len(self._held))"),
    ),
    Slip(
        "`finish` sends what was held back, and U+FFFD for half a character.",
        edit=('self._read(self._decoder.decode(b"", final=True))', 'self._held = ""'),
    ),
    Slip(
        "Bytes that can never become a character are U+FFFD at once: what follows must not wait.",
        edits=(
            (
                "        self._read(self._decoder.decode(self._vocabulary[token]))\n",
                "        self._bytes += self._vocabulary[token]\n"
                "        try:\n"
                '            piece, self._bytes = self._bytes.decode(), b""\n'
                "        except UnicodeDecodeError:\n"
                '            return ""\n'
                "        self._read(piece)\n",
            ),
            ('self._held = ""\n', 'self._held, self._bytes = "", b""\n'),
            ('self._decoder.decode(b"", final=True)', 'self._bytes.decode(errors="replace")'),
        ),
    ),
    Slip(
        "Of stop strings that end at the same character, the longest counts, not the first in the list.",
        edit=("max(complete, key=len)", "complete[0]"),
    ),
    Slip(
        "A token after the end is a RuntimeError; yours is ignored.",
        edit=('raise RuntimeError("the text is finished: no token may follow")', 'return ""'),
    ),
    Slip(
        "A token after the end is a RuntimeError; yours is turned into text and sent.",
        edit=('raise RuntimeError("the text is finished: no token may follow")', "pass"),
    ),
)
