"""Chapter 8: ``StreamingDetokenizer``, streaming text."""

from __future__ import annotations

import codecs
from random import Random

from autograder.items import Build, Case, Group, Promise, Slip

#: The vocabulary of the public cases, as inside a bytes literal.
VOCABULARY = [
    *("Hel", "lo", " ", r"\xf0\x9f", r"\x98\x80", "STOP", "ST", "OP"),
    *(r"\xe2\x82", "!", r"\xff", "###", "#", "a", "b", "abc"),
]

#: Characters of one to four bytes; few, so that stop strings are met.
LETTERS = "aab\u00e9\u20ac\U0001f600 "

#: Bytes that are not UTF-8, or only the beginning of a character. Surrogates are left out: Python's own decoder waits a
#: byte longer than it has to before it gives them up.
BROKEN = (b"\xff", b"\x80", b"\xc3(", b"\xe2\x82a", b"\xe0\x9f\xbf", b"\xf0\x9fb", b"\xc0\x80")

BEGUN = (b"\xc3", b"\xe2\x82", b"\xf0\x9f", b"\xf0\x9f\x98")


def _literal(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02x}" for byte in data)


def _cut(rng: Random, data: bytes, stop: list[str], most: int = 4) -> Case:
    """The bytes as tokens of one to ``most`` bytes, or as one token; the vocabulary holds one that is not used.

    No token follows the one in which a stop string is complete.
    """
    tokens, at, text, decoder = [], 0, "", codecs.getincrementaldecoder("utf-8")("replace")
    while at < len(data) and not any(one in text for one in stop):
        size = rng.randint(1, most) if most else len(data)
        tokens.append(data[at : at + size])
        text += decoder.decode(tokens[-1])
        at += size
    vocabulary = sorted({*tokens, b"zz"})
    return Case(([_literal(token) for token in vocabulary], stop, [vocabulary.index(token) for token in tokens]))


def _word(rng: Random, least: int, most: int, letters: str = LETTERS) -> str:
    return "".join(rng.choice(letters) for _ in range(rng.randint(least, most)))


def _plain(rng: Random) -> Case:
    return _cut(rng, _word(rng, 10, 30).encode(), [])


def _stopped(rng: Random) -> Case:
    """Stop strings of which at least one is in the text; the text may continue after it in the same token."""
    stops = [_word(rng, 2, 4, "ab\u00e9") for _ in range(rng.randint(1, 3))]
    text = _word(rng, 4, 14) + rng.choice(stops) + _word(rng, 1, 3, "xyz")
    return _cut(rng, text.encode(), stops)


def _half_stopped(rng: Random) -> Case:
    """The beginning of a stop string, again and again, and text that it holds back."""
    stop = _word(rng, 3, 5, "STOP")
    text = "".join(
        rng.choice(("x", "y ", stop[:-1] + "x", stop[: rng.randint(1, len(stop) - 1)] + "z")) for _ in range(9)
    )
    return _cut(rng, text.encode(), [stop, "never seen"])


def _which_stop(rng: Random, most: int = 9) -> Case:
    """A long stop string that begins first, and a short one inside it that is complete first."""
    before, inner, after = _word(rng, 1, 2, "pq"), _word(rng, 1, 2, "rs"), _word(rng, 1, 3, "tu")
    stops = rng.sample([before + inner + after, inner], 2)
    return _cut(rng, (_word(rng, 1, 4, "xyz") + before + inner + after).encode(), stops, most)


def _same_end(rng: Random, longest_first: bool) -> Case:
    """Two stop strings that are complete at the same character, of which one ends with the other."""
    inner = _word(rng, 1, 3, "rs")
    stops = sorted((_word(rng, 1, 2, "pq") + inner, inner), key=len, reverse=longest_first)
    return _cut(rng, (_word(rng, 1, 4, "xyz") + max(stops, key=len)).encode(), stops, rng.choice((0, 1, 2, 9)))


def _broken(rng: Random) -> Case:
    data = b"".join(rng.choice((_word(rng, 1, 3).encode(), rng.choice(BROKEN))) for _ in range(8))
    return _cut(rng, rng.choice(BROKEN) + b"x" + data, [rng.choice(("zz", "\ufffdq"))] * rng.randint(0, 1))


def _begun(rng: Random) -> Case:
    stop = rng.choice(([], ["b\ufffd"], ["ab!"]))
    return _cut(rng, _word(rng, 2, 9).encode() + b"ab" + rng.choice(BEGUN), stop)


def _begun_behind(rng: Random) -> Case:
    """The beginning of a character after the stop string, in the same token."""
    return _cut(rng, (_word(rng, 2, 6, "xyz") + "!?").encode() + rng.choice(BEGUN), ["!?"], 0)


def _ended(rng: Random) -> Case:
    """Tokens after the stop string."""
    case = _cut(rng, (_word(rng, 2, 6, "xyz") + "!?").encode(), ["!?"], 2)
    vocabulary, stop, tokens = case.args
    return Case((vocabulary, stop, [*tokens, *rng.choices(range(len(vocabulary)), k=rng.randint(1, 3))]))


EXERCISE = Build(
    "08 detokenizer.StreamingDetokenizer",
    section="8.9",
    topic="streaming text",
    probe="ch08.streamed",
    cases=(
        Case((VOCABULARY, [], [0, 1, 2, 3, 4, 9])),
        Case((VOCABULARY, ["STOP"], [0, 1, 6, 7])),
        Case((VOCABULARY, ["STOP"], [0, 6, 9])),
        Case((VOCABULARY, [], [0, 8])),
        Case((VOCABULARY, ["abc", "b"], [13, 14])),
        Case((VOCABULARY, ["abc", "b"], [15])),
        Case((VOCABULARY, [], [10, 0])),
        Case((VOCABULARY, ["STOP"], [5, 0])),
    ),
    groups=(
        Group("text", _plain, 5, "Send what is whole; a character that is cut between two tokens waits for its rest."),
        Group(
            "stop strings",
            _stopped,
            6,
            "The text ends before the stop string, however the tokens cut it.",
            step="stop strings",
        ),
        Group(
            "nearly a stop string",
            _half_stopped,
            4,
            "Hold back the longest tail that begins a stop string, no more.",
            step="stop strings",
        ),
        Group(
            "several stop strings",
            _which_stop,
            9,
            "The stop string that is complete first ends the text; of two that are complete at once, the longer one.",
            lambda rng: [
                *(_which_stop(rng, 0) for _ in range(3)),
                *(_same_end(rng, longest_first) for longest_first in (False, False, True, True)),
            ],
            step="stop strings",
        ),
        Group("broken bytes", _broken, 5, "What can never become a character is U+FFFD at once."),
        Group(
            "the end",
            _begun,
            4,
            "`finish` flushes: half a character becomes U+FFFD. After a stop string there is nothing to flush.",
            lambda rng: [_begun_behind(rng)],
        ),
        Group("after the end", _ended, 3, "A token after the end is a RuntimeError.", step="stop strings"),
    ),
    slips=(
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
                "        found = [(self._held.find(stop), -len(stop), stop) for stop in self._stop if stop in "
                "self._held]\n"
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
    ),
    promises=(
        Promise(
            "Whatever later tokens could still change is held back",
            edits=(
                ("self._send(0 if self.finished else self._held_back())", "self._send(0)"),
                ("self._held.endswith(stop)]", "(self.text + self._held).endswith(stop)]"),
                ("self._held.removesuffix(self.stopped_by)", "self._held[: -len(self.stopped_by)]"),
            ),
        ),
        Promise(
            "they are never sent.",
            edit=("                self._held = self._held.removesuffix(self.stopped_by)\n", ""),
        ),
        Promise(
            "of several that end at the same place, the longest counts",
            edit=("max(complete, key=len)", "complete[0]"),
        ),
        Promise(
            "of several that end at the same place, the longest counts",
            edit=("max(complete, key=len)", "complete[-1]"),
        ),
        Promise(
            "The text ends before the stop string that is complete first",
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
        Promise(
            "Bytes that no continuation can turn into a character become U+FFFD at once.",
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
        Promise(
            "the longest tail that begins a stop string",
            edit=("max(lengths, default=0)", "min(lengths, default=0)"),
        ),
        Promise(
            "the longest tail that begins a stop string",
            edit=(
                (
                    "        lengths = (n for stop in self._stop for n in range(1, len(stop)) if "
                    "self._held.endswith(stop[:n]))\n"
                    "        return max(lengths, default=0)"
                ),
                "        return min(max(map(len, self._stop), default=1) - 1, len(self._held))",
            ),
        ),
        Promise("everything sent so far", edit=("        self.text += sent\n", "        self.text = sent\n")),
        Promise(
            "everything sent so far",
            edit=(
                "        self.text += sent\n",
                "        self.sent = getattr(self, 'sent', '') + sent\n"
                "        self.text = self.sent if self.finished else ''\n",
            ),
        ),
        Promise('Once finished: ``""``.', edit=('        if self.finished:\n            return ""\n', "")),
        Promise(
            "True after a stop string, and after :meth:`finish`",
            edit=("final=True))\n        self.finished = True\n", "final=True))\n"),
        ),
        Promise(
            "with U+FFFD for an unfinished character",
            edit=('        self._read(self._decoder.decode(b"", final=True))\n', ""),
        ),
        Promise("None without one", edit=("self.stopped_by: str | None = None", 'self.stopped_by: str | None = ""')),
    ),
)
