"""Chapter 08: text from a stream of tokens."""

from __future__ import annotations

import codecs
from random import Random

from autograder.bank.ch08.wrong_detokenizers import DETOKENIZERS
from autograder.items import Build, Case, Group

#: The vocabulary of the public cases, as inside a bytes literal.
VOCABULARY = [
    *("Hel", "lo", " ", r"\xf0\x9f", r"\x98\x80", "STOP", "ST", "OP"),
    *(r"\xe2\x82", "!", r"\xff", "###", "#", "a", "b", "abc"),
]

#: Characters of one to four bytes; few, so that stop strings are met.
LETTERS = "aab\u00e9\u20ac\U0001f600 "

#: Bytes that are not UTF-8, or only the beginning of a character.
BROKEN = (b"\xff", b"\x80", b"\xc3(", b"\xe2\x82a", b"\xed\xa0\x80", b"\xf0\x9fb", b"\xc0\x80")
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
    return Case(([_literal(one) for one in vocabulary], stop, [vocabulary.index(token) for token in tokens]))


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


STREAMING = Build(
    id="08-streaming-detokenizer",
    module="detokenizer",
    function="StreamingDetokenizer",
    grade="call",
    probe="ch08.streamed",
    section="8.9",
    topic="streaming text",
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
        Group("stop strings", _stopped, 6, "The text ends before the stop string, however the tokens cut it."),
        Group(
            "nearly a stop string", _half_stopped, 4, "Hold back the longest tail that begins a stop string, no more."
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
        ),
        Group("broken bytes", _broken, 5, "What can never become a character is U+FFFD at once."),
        Group(
            "the end",
            _begun,
            4,
            "`finish` flushes: half a character becomes U+FFFD. After a stop string there is nothing to flush.",
            lambda rng: [_begun_behind(rng)],
        ),
        Group("after the end", _ended, 3, "A token after the end is a RuntimeError."),
    ),
    slips=DETOKENIZERS,
)

ITEMS: tuple[Build, ...] = (STREAMING,)
