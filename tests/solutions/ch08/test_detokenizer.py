"""Streaming text: against decoding everything at once and cutting it by brute force."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankzero.tiny import BpeTokenizer
from solutions.ch08.detokenizer import StreamingDetokenizer

VOCABULARY = [
    *(b"Hel", b"lo", b" ", b"\xf0\x9f", b"\x98\x80", b"STOP", b"ST", b"OP"),
    *(b"\xe2\x82", b"!", b"\xff", b"###", b"#", b"a", b"b", b"abc"),
]


@pytest.mark.parametrize(
    ("tokens", "stop", "pushed", "flushed", "text"),
    [
        ((0, 1, 2, 3, 4, 9), (), ["Hel", "lo", " ", "", "\U0001f600", "!"], "", "Hello \U0001f600!"),
        ((0, 1, 6, 7), ("STOP",), ["Hel", "lo", "", ""], "", "Hello"),
        ((0, 6, 9), ("STOP",), ["Hel", "", "ST!"], "", "HelST!"),
        ((0, 8), (), ["Hel", ""], "\ufffd", "Hel\ufffd"),
        ((13, 14), ("abc", "b"), ["", "a"], "", "a"),
        ((15,), ("abc", "b"), ["a"], "", "a"),
        ((10, 0), (), ["\ufffd", "Hel"], "", "\ufffdHel"),
        ((8,), ("\ufffd",), [""], "", ""),
        ((11, 12, 9), ("####!",), ["", "", ""], "", ""),
        ((12, 11, 9), ("###!",), ["", "#", ""], "", "#"),  # one more # than the stop string has
    ],
)
def test_the_table(tokens, stop, pushed, flushed, text):
    streaming = StreamingDetokenizer(VOCABULARY, stop)
    assert [streaming.push(token) for token in tokens] == pushed
    assert (streaming.finish(), streaming.text, streaming.finished) == (flushed, text, True)


def brute_force(data: bytes, stop: tuple[str, ...]) -> tuple[str, str | None]:
    """Decode everything; of all matches the one that ends first, then the one that starts first."""
    text = data.decode(errors="replace")
    found = [(at + len(one), at, one) for one in stop for at in range(len(text)) if text.startswith(one, at)]
    if not found:
        return text, None
    _, start, one = min(found)
    return text[:start], one


#: Pieces that meet often: letters of stop strings, characters of one to four bytes, halves of them, and no UTF-8.
PIECES = st.sampled_from(["a", "b", "ab", "é", "€", "\U0001f600", "\ufffd"]).map(str.encode) | st.sampled_from(
    [b"\xff", b"\xc3", b"\xe2\x82", b"\xed", b"\xa0\x80", b"\xf0\x9f", b"\xf4\x90", b"\x80", b"\xe0\x80"]
)
STOPS = st.lists(st.text("abé€\U0001f600\ufffd", min_size=1, max_size=4), max_size=3).map(tuple)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=12).map(b"".join), st.lists(st.integers(1, 5), min_size=40, max_size=40), STOPS)
def test_the_text_does_not_depend_on_where_the_bytes_are_cut(data, sizes, stop):
    """Kills: decoding token by token, stops inside one token only, a stop prefix that was sent, a stop that is kept."""
    streaming, sent, at = (
        StreamingDetokenizer([data[i : i + n] for i in range(len(data)) for n in range(6)], stop),
        "",
        0,
    )
    for size in sizes:
        if at >= len(data) or streaming.finished:
            break
        size = min(size, len(data) - at)
        sent += streaming.push(6 * at + size)
        at += size
        assert sent == streaming.text
        _nothing_too_late(data[:at], stop, streaming)
    sent += streaming.finish()
    assert (sent, streaming.stopped_by) == brute_force(data, stop)
    assert streaming.text == sent


def _nothing_too_late(data: bytes, stop: tuple[str, ...], streaming: StreamingDetokenizer) -> None:
    """What is held back is the shortest tail that may still change: the start of a stop string."""
    known = codecs.getincrementaldecoder("utf-8")("replace").decode(data)
    if not streaming.finished:
        held = known.removeprefix(streaming.text)
        assert known == streaming.text + held
        assert not held or any(one.startswith(held) and one != held for one in stop)
        starts = [
            n for n in range(1, len(known) + 1) if any(one.startswith(known[-n:]) and len(one) > n for one in stop)
        ]
        assert len(held) == max(starts, default=0)


def test_scenarios_of_vllm():
    """tests/detokenizer/test_stop_strings.py: stops that span tokens, one or two of them, the stop text left out."""
    tokenizer = BpeTokenizer()
    text = "I am a large language model, and my VLLM-based name is Alice. I can answer questions."
    for stop, expected in (
        (("a lar",), "I am "),
        (("anguage mod",), "I am a large l"),
        (("model, and my", "my VLLM"), "I am a large language "),
        (("nowhere",), text),
    ):
        streaming = StreamingDetokenizer(tokenizer.vocabulary, stop)
        for token in tokenizer.encode(text):
            streaming.push(token)
            if streaming.finished:
                break
        streaming.finish()
        assert streaming.text == expected
        assert streaming.stopped_by == (stop[0] if expected != text else None)


def test_after_the_end():
    streaming = StreamingDetokenizer(VOCABULARY, ("STOP",))
    streaming.push(5)
    assert (streaming.finished, streaming.stopped_by, streaming.text, streaming.finish()) == (True, "STOP", "", "")
    with pytest.raises(RuntimeError, match="finished"):
        streaming.push(0)
    ended = StreamingDetokenizer(VOCABULARY)
    ended.push(8)
    assert (ended.finish(), ended.finish()) == ("\ufffd", "")


def test_an_empty_stop_string_is_refused():
    with pytest.raises(ValueError, match=r"^stop must hold no empty string, got \['a', ''\]$"):
        StreamingDetokenizer(VOCABULARY, ["a", ""])
