"""Wrong programs for ``StreamingDetokenizer``: what people really write. Each is an edit, or complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class CannotTakeBack:
    def __init__(self, vocabulary, stop=()):
        import codecs

        if "" in stop:
            raise ValueError("empty stop string")
        self.vocabulary, self.stop, self.seen = vocabulary, tuple(stop), ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        return self.take(self.decoder.decode(self.vocabulary[token]))

    def take(self, piece):
        sent = ""
        for character in piece:
            self.seen += character
            sent += character
            done = [one for one in self.stop if self.seen.endswith(one)]
            if done:
                self.stopped_by, self.finished = max(done, key=len), True
                sent = sent[: max(0, len(sent) - len(self.stopped_by))]
                break
        self.text += sent
        return sent

    def finish(self):
        if self.finished:
            return ""
        sent = self.take(self.decoder.decode(b"", final=True))
        self.finished = True
        return sent


DETOKENIZERS = (
    Slip(
        "A character may be cut between two tokens: decode the bytes as one stream.",
        edit=("self._decoder.decode(self._vocabulary[token])", 'self._vocabulary[token].decode(errors="replace")'),
    ),
    Slip(
        "A stop string may begin in one token and end in another.",
        edit=("return self._send(0 if self.finished else self._held_back())", "return self._send(0)"),
    ),
    Slip("What was sent cannot be taken back: hold back a tail that may begin a stop string.", CannotTakeBack),
    Slip(
        "The text ends before the stop string.",
        edit=("                self._held = self._held.removesuffix(self.stopped_by)\n", ""),
    ),
    Slip(
        "The stop string that is complete first ends the text, not the one that begins first.",
        edit=(
            (
                "        for character in characters:\n"
                "            self._held += character\n"
                "            complete = [stop for stop in self._stop if self._held.endswith(stop)]\n"
                "            if complete:\n"
                "                self.stopped_by = max(complete, key=len)\n"
                "                self._held = self._held.removesuffix(self.stopped_by)\n"
                "                self.finished = True\n"
                "                return"
            ),
            (
                "        self._held += characters\n"
                "        found = [(self._held.find(stop), -len(stop), stop) for stop in self._stop "
                "if stop in self._held]\n"
                "        if found:\n"
                "            start, _, self.stopped_by = min(found)\n"
                "            self._held, self.finished = self._held[:start], True"
            ),
        ),
    ),
    Slip(
        "Only a tail that begins a stop string has to wait: yours holds back text that does not.",
        edit=(
            (
                "        lengths = (n for stop in self._stop for n in range(1, len(stop)) if "
                "self._held.endswith(stop[:n]))\n"
                "        return max(lengths, default=0)"
            ),
            "        return min(max(map(len, self._stop), default=1) - 1, len(self._held))",
        ),
    ),
    Slip(
        "`finish` sends what was held back, and U+FFFD for half a character.",
        edit=(
            (
                '        self._read(self._decoder.decode(b"", final=True))\n'
                "        self.finished = True\n"
                "        return self._send(0)"
            ),
            '        self.finished = True\n        return ""',
        ),
    ),
    Slip(
        "Bytes that can never become a character are U+FFFD at once: what follows must not wait.",
        edits=(
            (
                "        self._read(self._decoder.decode(self._vocabulary[token]))\n",
                (
                    "        self._bytes += self._vocabulary[token]\n"
                    "        try:\n"
                    '            piece, self._bytes = self._bytes.decode(), b""\n'
                    "        except UnicodeDecodeError:\n"
                    '            return ""\n'
                    "        self._read(piece)\n"
                ),
            ),
            (('self._held = ""\n        self.text'), ('self._held, self._bytes = "", b""\n        self.text')),
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
        edit=(
            (
                "        if self.finished:\n"
                '            raise RuntimeError("the text is finished: no token may follow")\n'
            ),
            "",
        ),
    ),
    Slip(
        "Empty stop strings were accepted, and negative tokens.",
        edits=(
            (
                (
                    '        if "" in tuple(stop):\n'
                    '            raise ValueError(f"stop must not hold an empty string, got {stop!r}")\n'
                ),
                "",
            ),
            (
                (
                    "        if not 0 <= token < len(self._vocabulary):\n"
                    '            raise ValueError(f"token must be from 0 to {len(self._vocabulary) - '
                    '1}, got {token!r}")\n'
                ),
                "",
            ),
        ),
    ),
)
