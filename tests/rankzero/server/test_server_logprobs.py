"""Log-probabilities: those of the distribution that each token was drawn from, in both shapes, whole and streamed."""

from __future__ import annotations

import math

import pytest
import torch
from served import EOS, PARTS, TOKENIZER, client, engine, model, saying

from rankzero.server import serve
from rankzero.server.logprobs import END, Chosen, LogprobFormatter, token_text
from solutions.ch08.tiny_serving import next_token_probabilities

#: Ways to draw: temperature, top-k, top-p.
WAYS = [(1.0, 0, 1.0), (0.7, 5, 1.0), (1.3, 0, 0.6), (0.0, 0, 1.0)]


@pytest.fixture(scope="module")
def server():
    with serve(model(), TOKENIZER, PARTS, slots=8, block_size=8, queue=None) as running:
        yield running


def told(path, prompt, tokens, way):
    """What a model that runs by itself says of tokens after a prompt: each one's log-probability, and all of them."""
    with torch.no_grad():
        logits = model()(torch.tensor([[*prompt, *tokens]]))[0, len(prompt) - 1 : -1]
    rows = [next_token_probabilities(row, *way).log() for row in logits]
    return [row[token].item() for row, token in zip(rows, tokens, strict=True)], rows


def tokens_of(entries):
    """The tokens of a chat's entries, by their bytes."""
    return [EOS if entry.bytes is None else entry.bytes[0] for entry in entries]


@pytest.mark.parametrize("way", WAYS)
def test_a_chat_says_what_the_model_says_of_its_tokens(server, way):
    """The oracle is one pass of the model over the whole text, without cache, batch or server."""
    temperature, top_k, top_p = way
    said = {"messages": [{"role": "user", "content": "Hi"}], "temperature": temperature, "top_p": top_p, "seed": 3}
    more = {"model": "tiny", "max_tokens": 15, "logprobs": True, "top_logprobs": 6, "extra_body": {"top_k": top_k}}
    found = client(server).chat.completions.create(**said, **more)
    entries = found.choices[0].logprobs.content
    tokens = tokens_of(entries)
    assert len(tokens) == found.usage.completion_tokens
    right, rows = told(server, TOKENIZER.encode("user: Hi\nassistant:"), tokens, way)
    assert [entry.logprob for entry in entries] == pytest.approx(right, abs=1e-9)
    for entry, row in zip(entries, rows, strict=True):
        best = [other.logprob for other in entry.top_logprobs]
        assert best == pytest.approx([value for value in row.sort(descending=True).values.tolist()[:6] if value > -1e9])
        assert [row[token].item() for token in tokens_of(entry.top_logprobs)] == pytest.approx(best)


def test_a_completion_has_the_older_shape(server):
    said = {"model": "tiny", "prompt": "Alice", "max_tokens": 12, "temperature": 1, "seed": 5, "logprobs": 2}
    found = client(server).completions.create(**said)
    notes = found.choices[0].logprobs
    tokens = [EOS if text == END else text_to_token(text) for text in notes.tokens]
    assert notes.token_logprobs == pytest.approx(told(server, TOKENIZER.encode("Alice"), tokens, (1.0, 0, 1.0))[0])
    for text, logprob, top in zip(notes.tokens, notes.token_logprobs, notes.top_logprobs, strict=True):
        assert top[text] == logprob
        assert len(top) == 2 + (logprob < sorted(top.values())[-2])
    assert len(notes.text_offset) == len(notes.tokens) == found.usage.completion_tokens


def text_to_token(text):
    return int(text.removeprefix("bytes:\\x"), 16) if text.startswith("bytes:") else ord(text)


def test_nobody_gets_what_was_not_asked_for(server):
    for more in ({}, {"logprobs": None}):
        assert client(server).completions.create(model="tiny", prompt="A", **more).choices[0].logprobs is None
    said = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
    assert client(server).chat.completions.create(**said, logprobs=False).choices[0].logprobs is None
    chunks = list(client(server).chat.completions.create(**said, stream=True))
    assert [chunk.choices[0].logprobs for chunk in chunks] == [None] * len(chunks)
    one = client(server).chat.completions.create(**said, logprobs=True).choices[0].logprobs.content
    assert [entry.top_logprobs for entry in one] == [[]] * 3


def test_a_greedy_answer_was_sure_of_itself(server):
    """Probability 1 at every token, whatever the model thought: the draw had no alternative."""
    said = {"model": "tiny", "prompt": "Alice", "max_tokens": 8, "temperature": 0, "logprobs": 3}
    notes = client(server).completions.create(**said).choices[0].logprobs
    assert notes.token_logprobs == [0.0] * 8
    assert notes.top_logprobs == [{text: 0.0} for text in notes.tokens]


def nearly(entry):
    return entry if isinstance(entry, str) else pytest.approx(entry)


def said_of(entry, number=float):
    """A token of a chat answer: its texts and its logprobs, each passed through `number`."""
    likely = [(top.token, top.bytes, number(top.logprob)) for top in entry.top_logprobs]
    return entry.token, entry.bytes, number(entry.logprob), likely


@pytest.mark.parametrize("chat", [True, False])
def test_a_stream_says_the_same_in_pieces(server, chat):
    """Each piece brings the tokens of its own text, and nothing is said twice.

    The logprobs come from two runs of the model, which may differ in the last bit.
    """
    talk = {"model": "tiny", "max_tokens": 24, "temperature": 1, "seed": 8}
    if chat:
        talk |= {"messages": [{"role": "user", "content": "Hi"}], "logprobs": True, "top_logprobs": 2}
    else:
        talk |= {"prompt": "Hi", "logprobs": 2}
    create = client(server).chat.completions.create if chat else client(server).completions.create
    whole, chunks = create(**talk).choices[0], list(create(**talk, stream=True))
    notes = [chunk.choices[0].logprobs for chunk in chunks]
    if chat:
        pieces = [entry for note in notes if note for entry in note.content]
        assert [said_of(entry, nearly) for entry in pieces] == [said_of(entry) for entry in whole.logprobs.content]
    else:
        for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
            joined = [entry for note in notes if note for entry in getattr(note, name)]
            assert [nearly(entry) for entry in joined] == getattr(whole.logprobs, name)
    assert sum(note is not None for note in notes) > 5


def test_text_that_is_held_back_keeps_its_tokens_with_it():
    """Half a character and a possible stop string wait; the tokens of both come with the text that lets them out."""
    said = {"model": "tiny", "prompt": "A", "max_tokens": 40, "stream": True, "stop": "END", "logprobs": 0}
    with serve(model(), TOKENIZER, saying("a\U0001f600 ENabc END"), slots=1) as server:
        chunks = [chunk.choices[0] for chunk in client(server).completions.create(**said)]
    pieces = [(chunk.text, chunk.logprobs.tokens if chunk.logprobs else None) for chunk in chunks]
    smile = [f"bytes:\\x{byte:02x}" for byte in "\U0001f600".encode()]
    assert pieces[:2] == [("a", ["a"]), ("\U0001f600", smile)]
    assert ("ENa", ["E", "N", "a"]) in pieces
    assert pieces[-1] == ("", ["E", "N", "D"])
    assert chunks[-1].finish_reason == "stop"
    offsets = [offset for chunk in chunks for offset in chunk.logprobs.text_offset]
    assert offsets == [0, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]


def test_the_token_that_ends_the_answer_counts():
    """A policy chose it, so whoever trains on the answer needs its log-probability."""
    with serve(model(), TOKENIZER, saying([*b"ab", EOS]), slots=1) as server:
        said = {"model": "tiny", "prompt": "A", "max_tokens": 9, "logprobs": 0}
        found = client(server).completions.create(**said)
    assert (found.choices[0].text, found.choices[0].finish_reason) == ("ab", "stop")
    assert found.choices[0].logprobs.tokens == ["a", "b", END]
    assert found.usage.completion_tokens == 3


def test_a_request_among_others_and_preempted_notes_what_it_notes_alone():
    """Kills: the distribution of another row, or notes that are lost or doubled when a request is computed again."""

    def notes(serving, names):
        asked = [
            serving.submit(TOKENIZER.encode(name), 20, temperature=1.0, seed=7, logprobs=3, ignore_eos=True)
            for name in names
        ]
        serving.run()
        return asked

    prompts = ["Alice was", "The Queen", "A hatter, a"]
    crowd = notes(engine(blocks=10, block_size=8, slots=3), prompts)
    assert sum(request.preemptions for request in crowd) > 0
    for prompt, request in zip(prompts, crowd, strict=True):
        (alone,) = notes(engine(), [prompt])
        assert [one.token for one in request.chosen] == request.output == alone.output
        logprobs = [one.logprob for one in alone.chosen]
        assert [one.logprob for one in request.chosen] == pytest.approx(logprobs, abs=1e-9)


def test_a_draw_is_noted_with_its_distribution():
    """Probabilities are made to sum to 1, ties go to the lower token, and what cannot be drawn is not listed."""
    noted = Chosen.of(torch.tensor([0.0, 0.5, 0.2, 0.2, 0.0]), 3, 4)
    assert (noted.token, noted.logprob) == (3, pytest.approx(math.log(0.2 / 0.9)))
    assert [token for token, _ in noted.top] == [1, 2, 3]
    assert sum(math.exp(logprob) for _, logprob in noted.top) == pytest.approx(1)


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"ab", "ab"), ("é".encode(), "é"), (b"\xc3", "bytes:\\xc3"), (b"a\xf0\x9f", "bytes:\\x61\\xf0\\x9f"), (b"", END)],
)
def test_the_text_of_a_token(data, text):
    assert token_text(data) == text


def test_offsets_count_whole_characters():
    vocabulary = [b"", b"a", "é".encode(), b"\xc3", b"\xa9b"]
    written = LogprobFormatter(False, vocabulary)
    notes = [written.format([Chosen(token, -1.0, ()) for token in part]) for part in ([1, 2], [3], [4, 1])]
    assert [offset for note in notes for offset in note["text_offset"]] == [0, 1, 2, 2, 4]
