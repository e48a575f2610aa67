"""The server over HTTP: the real client of OpenAI completes and streams, and everything else is refused in words."""

from __future__ import annotations

import http.client
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urlsplit

import openai
import pytest
from served import PARTS, TOKENIZER, Gate, alone, ask, client, model, saying, until

from rankzero.server import serve
from rankzero.server.load import Query, load


@pytest.fixture(scope="module")
def server():
    with serve(model(), TOKENIZER, PARTS, slots=8, block_size=8, queue=None) as running:
        yield running
    assert running.engine.memory.free == running.engine.blocks


def complete(server, prompt="Alice", **fields):
    said = {"model": "tiny", "prompt": prompt, "temperature": 0, "max_tokens": 12, **fields}
    return client(server).completions.create(**said)


class Stream:
    """A stream that is read bit by bit, on a connection that can be closed at any time."""

    def __init__(self, server, **fields):
        place = urlsplit(server.url)
        self._connection = http.client.HTTPConnection(place.hostname, place.port, timeout=250)
        said = {"model": "tiny", "prompt": "A", "max_tokens": 90, "stream": True, "temperature": 0, **fields}
        self._connection.request("POST", "/v1/completions", json.dumps(said | {"ignore_eos": True}).encode())

    def chunk(self):
        """The next event's JSON; None at the end."""
        self.answer = getattr(self, "answer", None) or self._connection.getresponse()
        line = self.answer.readline().strip() or self.answer.readline().strip()
        data = line.removeprefix(b"data: ")
        return None if data in (b"[DONE]", b"") else json.loads(data)

    def rest(self):
        """All further events."""
        return list(iter(self.chunk, None))

    def close(self):
        self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._connection.close()


def text_of(prompt, tokens=12):
    return TOKENIZER.decode(alone(TOKENIZER.encode(prompt), tokens))


# What the client of OpenAI gets


def test_a_completion(server):
    found = complete(server)
    assert found.choices[0].text == text_of("Alice")
    assert found.choices[0].finish_reason == "length"
    assert (found.usage.prompt_tokens, found.usage.completion_tokens, found.usage.total_tokens) == (5, 12, 17)
    assert found.object == "text_completion"
    assert found.model == "tiny"


def test_a_streamed_completion_is_the_same(server):
    chunks = list(complete(server, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].text for chunk in chunks[:-1]) == text_of("Alice")
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]][-1] == "length"
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == 12
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_chat(server):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    said = {"model": "tiny", "messages": messages, "temperature": 0, "max_completion_tokens": 9}
    found = client(server).chat.completions.create(**said)
    want = text_of("system: Be brief.\nuser: Hi\nassistant:", 9)
    assert found.choices[0].message.content == want
    assert found.choices[0].message.role == "assistant"
    streamed = client(server).chat.completions.create(**said, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in streamed) == want
    parts = [{**message, "content": [{"type": "text", "text": message["content"]}]} for message in messages]
    assert client(server).chat.completions.create(**said | {"messages": parts}).choices[0].message.content == want


def test_the_events_of_a_chat(server):
    """Role first, then text, then an empty delta with the reason, then usage with no choices, then [DONE]."""
    said = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4, "temperature": 0}
    more = {"stream": True, "stream_options": {"include_usage": True}}
    status, headers, body = ask(server.url, "/v1/chat/completions", said | more)
    assert (status, headers["content-type"].split(";")[0]) == (200, "text/event-stream")
    events = body.decode().split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    first, *_, last, usage = [json.loads(event.removeprefix("data: ")) for event in events[:-2]]
    assert first["choices"][0]["delta"]["role"] == "assistant"
    assert first["object"] == last["object"] == usage["object"] == "chat.completion.chunk"
    assert (last["choices"][0]["delta"], last["choices"][0]["finish_reason"]) == ({}, "length")
    assert (usage["choices"], usage["usage"]["completion_tokens"], first["usage"]) == ([], 4, None)


def test_stop_strings():
    """Across tokens, in a stream and not: the stop string is never sent."""
    with serve(model(), TOKENIZER, saying("Once upon a time END there"), slots=1) as server:
        found = complete(server, stop=["nowhere", "END"], max_tokens=24, extra_body={"ignore_eos": True})
        assert (found.choices[0].text, found.choices[0].finish_reason) == ("Once upon a time ", "stop")
    with serve(model(), TOKENIZER, saying("Once upon a time END there"), slots=1) as server:
        chunks = list(complete(server, stop="END", max_tokens=24, stream=True))
        assert "".join(chunk.choices[0].text for chunk in chunks) == "Once upon a time "
        assert chunks[-1].choices[0].finish_reason == "stop"


def test_defaults(server):
    """A completion has at most 16 tokens; a chat has what the context leaves; null is nothing."""
    found = complete(server, max_tokens=None, extra_body={"ignore_eos": True, "top_p": None, "user": "me"})
    assert found.usage.completion_tokens == 16
    found = complete(server, "x" * 90, max_tokens=None, extra_body={"ignore_eos": True})
    assert found.usage.completion_tokens == 7
    said = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0}
    chat = client(server).chat.completions.create(**said, extra_body={"ignore_eos": True})
    assert chat.usage.total_tokens == 97  # the last token needs no place


def test_the_same_seed_says_the_same(server):
    first, again, other = (complete(server, temperature=1.2, seed=seed).choices[0].text for seed in (1, 1, 2))
    assert first == again != other


def test_a_prompt_of_tokens(server):
    assert complete(server, TOKENIZER.encode("Alice")).choices[0].text == text_of("Alice")


def test_the_list_of_models(server):
    assert [card.id for card in client(server).models.list()] == ["tiny"]


def test_eight_at_once_say_what_eight_in_a_row_say(server):
    prompts = [f"{i} times Alice" * (1 + i % 3) for i in range(8)]

    def said(prompt):
        found = complete(server, prompt, max_tokens=30, extra_body={"ignore_eos": True})
        return found.choices[0].text.encode()

    row = [said(prompt) for prompt in prompts]
    with ThreadPoolExecutor(8) as pool:
        crowd = list(pool.map(said, prompts))
    assert crowd == row == [text_of(prompt, 30).encode() for prompt in prompts]


def test_reused_prefixes_are_counted_and_change_nothing(server):
    prompt = "Tell me a story, please: " + "once " * 9
    first, again = (complete(server, prompt) for _ in range(2))
    assert first.choices[0].text == again.choices[0].text
    found = [answer.usage.prompt_tokens_details.cached_tokens for answer in (first, again)]
    assert found == [0, (len(prompt) - 1) // 8 * 8]


# What is refused


SAID = {"model": "tiny", "prompt": "A", "max_tokens": 2}
CHAT = {"model": "tiny", "messages": [{"role": "user", "content": "A"}], "max_tokens": 2}


@pytest.mark.parametrize(
    ("change", "status", "parameter", "code"),
    [
        ({"model": "gpt-4"}, 404, "model", "model_not_found"),
        ({"model": None}, 400, "model", "missing"),
        ({"model": 3}, 400, "model", "wrong_type"),
        ({"prompt": None}, 400, "prompt", "missing"),
        ({"prompt": ""}, 400, "prompt", "out_of_range"),
        ({"prompt": ["a", "b"]}, 400, "prompt", "wrong_type"),
        ({"prompt": [1, True]}, 400, "prompt", "wrong_type"),
        ({"prompt": [1, 257]}, 400, "prompt", "invalid_value"),
        ({"prompt": [1, -1]}, 400, "prompt", "invalid_value"),
        ({"prompt": {"text": "A"}}, 400, "prompt", "wrong_type"),
        ({"prompt": "\ud800"}, 400, "prompt", "invalid_text"),
        ({"prompt": "x" * 97}, 400, "prompt", "context_length_exceeded"),
        ({"prompt": "x" * 100_000}, 400, "prompt", "context_length_exceeded"),
        ({"prompt": "x" * 50, "max_tokens": 48}, 400, "max_tokens", "context_length_exceeded"),
        ({"max_tokens": 0}, 400, "max_tokens", "out_of_range"),
        ({"max_tokens": "2"}, 400, "max_tokens", "wrong_type"),
        ({"max_tokens": 2.0}, 400, "max_tokens", "wrong_type"),
        ({"max_tokens": True}, 400, "max_tokens", "wrong_type"),
        ({"max_tokens": 10**400}, 400, "max_tokens", "context_length_exceeded"),
        ({"temperature": "hot"}, 400, "temperature", "wrong_type"),
        ({"temperature": -0.1}, 400, "temperature", "out_of_range"),
        ({"temperature": 2.1}, 400, "temperature", "out_of_range"),
        ({"temperature": float("nan")}, 400, "temperature", "out_of_range"),
        ({"top_p": 0}, 400, "top_p", "out_of_range"),
        ({"top_p": 1.5}, 400, "top_p", "out_of_range"),
        ({"seed": 1.5}, 400, "seed", "wrong_type"),
        ({"stop": ["a"] * 5}, 400, "stop", "out_of_range"),
        ({"stop": [""]}, 400, "stop", "wrong_type"),
        ({"stop": 3}, 400, "stop", "wrong_type"),
        ({"stop": ["a", 1]}, 400, "stop", "wrong_type"),
        ({"stream": "yes"}, 400, "stream", "wrong_type"),
        ({"stream_options": []}, 400, "stream_options", "wrong_type"),
        ({"stream_options": {"include_usage": 1}}, 400, "stream_options.include_usage", "wrong_type"),
        ({"n": 2}, 400, "n", "out_of_range"),
        ({"ignore_eos": 1}, 400, "ignore_eos", "wrong_type"),
    ],
)
def test_a_wrong_field_is_named(server, change, status, parameter, code):
    got, _, body = ask(server.url, body={**SAID, **change})
    error = json.loads(body)["error"]
    assert (got, error["param"], error["code"]) == (status, parameter, code)
    assert error["type"] == "invalid_request_error"
    assert error["message"]


@pytest.mark.parametrize(
    ("messages", "parameter"),
    [
        (None, "messages"),
        ([], "messages"),
        ("hello", "messages"),
        (["hello"], "messages[0]"),
        ([{"role": "user", "content": "A"}, {"content": "B"}], "messages[1].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": "x" * 200}], "messages"),
    ],
)
def test_wrong_messages_are_named(server, messages, parameter):
    status, _, body = ask(server.url, "/v1/chat/completions", {**CHAT, "messages": messages})
    assert (status, json.loads(body)["error"]["param"]) == (400, parameter)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1]", b"null", b'"text"', b"\xff\xfe", b"[" * 100_000, b'{"model": ' + b"9" * 5000 + b"}"],
)
def test_what_is_no_json_object_is_400(server, body):
    status, _, answer = ask(server.url, body=body)
    assert status == 400
    assert json.loads(answer)["error"]["message"]


def test_a_huge_body_is_413(server):
    assert ask(server.url, body=b"x" * (1 << 20) + b"x")[0] == 413


@pytest.mark.parametrize(
    ("path", "method", "status"), [("/v1/nothing", "GET", 404), ("/", "GET", 404), ("/v1/completions", "GET", 405)]
)
def test_other_paths_and_methods(server, path, method, status):
    found, _, body = ask(server.url, path, method=method)
    assert (found, json.loads(body)["error"]["type"]) == (status, "invalid_request_error")


def test_the_client_raises_its_own_errors(server):
    with pytest.raises(openai.NotFoundError, match="there is no model 'gpt-4'"):
        complete(server, model="gpt-4")
    with pytest.raises(openai.BadRequestError, match="temperature must be a number from 0 to 2, got 3"):
        complete(server, temperature=3)


def test_the_longest_prompt_has_room_for_one_token(server):
    assert complete(server, "x" * 96, max_tokens=1).usage.completion_tokens == 1


# What the server says of itself


@pytest.mark.proof(part="runs")
def test_metrics_and_health(server):
    complete(server)
    status, headers, body = ask(server.url, "/metrics")
    lines = dict(line.split() for line in body.decode().splitlines() if not line.startswith("#"))
    seen = {name.removeprefix("rankzero_"): int(value) for name, value in lines.items()}
    assert (status, headers["content-type"].split(";")[0]) == (200, "text/plain")
    assert seen["blocks_used"] + seen["blocks_cached"] + seen["blocks_free"] == seen["blocks"]
    assert seen["requests_total"] >= 1
    assert ask(server.url, "/health")[::2] == (200, b'{"status":"ok"}')


def test_the_trace_holds_every_stage(tmp_path):
    file = tmp_path / "events.jsonl"
    with serve(model(), TOKENIZER, PARTS, trace=file) as server:
        tokens = len(list(complete(server, stream=True))) and server.metrics()["generated_tokens"]
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    names = [event["name"] for event in sorted(events, key=lambda event: event["start"])]
    assert list(dict.fromkeys(names)) == ["api", "tokenizer", "queue", "scheduler", "runner", "detokenizer", "stream"]
    assert names.count("runner") == names.count("detokenizer") == tokens
    assert {event["request"] for event in events} == {"request-1"}
    assert all(0 <= event["start"] <= event["end"] for event in events)
    assert [tuple(event.values()) for event in events] == [tuple(event) for event in server.trace()]


# Clients that leave, queues that are full, a server that goes down


def cancelled(server) -> int:
    """Requests that are to end at the next step."""
    return len(server.engine._inbox._cancelled)


def test_a_client_that_leaves_frees_its_slot():
    """One slot: the second answer can only come when the first client's sequence has left the batch."""
    gate = Gate(free=5)
    with serve(model(), TOKENIZER, gate.parts, slots=1) as server:
        stream = Stream(server)
        assert stream.chunk()["choices"]
        assert gate.reached.wait(250)
        stream.close()
        until(lambda: cancelled(server) == 1)
        gate.open.set()
        assert complete(server, max_tokens=3).usage.completion_tokens == 3
        assert server.metrics()["finished_abort"] == 1
        assert server.metrics()["generated_tokens"] == 6 + 3
    assert server.engine.memory.free == server.engine.blocks


def test_clients_that_leave_before_any_text(caplog):
    """One waits for its whole answer, one stands in the queue; both leave while the engine is held."""
    gate = Gate()
    with serve(model(), TOKENIZER, gate.parts, slots=1) as server:
        place = urlsplit(server.url)
        for number in (1, 2):
            gone = http.client.HTTPConnection(place.hostname, place.port)
            gone.request("POST", "/v1/completions", json.dumps({**SAID, "max_tokens": 90}).encode())
            until(lambda number=number: server.metrics()["requests"] == number)
            assert gate.reached.wait(250)
            gone.sock.shutdown(socket.SHUT_RDWR)
            gone.close()
            until(lambda number=number: cancelled(server) == number)
        gate.open.set()
        assert complete(server, max_tokens=3).usage.completion_tokens == 3
        assert server.metrics()["finished_abort"] == 2
    assert caplog.records == []


def test_a_client_that_sends_half_a_request_harms_nobody(server):
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port)) as half:
        half.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        half.shutdown(socket.SHUT_RDWR)
    assert complete(server).choices[0].text == text_of("Alice")


def test_a_full_queue_is_429():
    gate = Gate()
    with serve(model(), TOKENIZER, gate.parts, slots=1, queue=1) as server, ThreadPoolExecutor(2) as pool:
        running = pool.submit(complete, server)
        assert gate.reached.wait(250)
        waiting = pool.submit(load, server.url, [Query("B", 3)])
        until(lambda: server.metrics()["waiting"] == 1)
        with pytest.raises(openai.RateLimitError) as refused:
            complete(server)
        assert int(refused.value.response.headers["retry-after"]) >= 1
        assert refused.value.code == "queue_full"
        gate.open.set()
        assert running.result().choices[0].text == text_of("Alice")
        assert waiting.result()[0].whole
        assert server.metrics()["rejected"] == 1


def test_two_hundred_clients_at_once():
    """Each gets all of its answer, or 429; nobody is lost, and the answers are those that each would get alone."""
    queries = [
        Query(f"{i % 7} times", 1 + i % 9, options=(("temperature", 0), ("ignore_eos", True))) for i in range(200)
    ]
    gate = Gate()
    with serve(model(), TOKENIZER, gate.parts, slots=4, queue=20) as server, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(load, server.url, queries)
        until(lambda: server.metrics()["requests"] + server.metrics()["rejected"] == 200)
        gate.open.set()
        answers = asked.result()
        metrics = server.metrics()
    assert {answer.status for answer in answers} == {200, 429}
    assert metrics["rejected"] >= 200 - 4 - 20
    whole = [(query, answer) for query, answer in zip(queries, answers, strict=True) if answer.status == 200]
    assert all(answer.whole and answer.tokens == query.max_tokens for query, answer in whole)
    assert all(answer.text == text_of(query.prompt, query.max_tokens) for query, answer in whole)
    assert (metrics["requests"], metrics["rejected"]) == (len(whole), 200 - len(whole))
    assert server.engine.memory.free == server.engine.blocks


def test_a_server_that_goes_down_answers_what_it_has():
    gate = Gate()
    with serve(model(), TOKENIZER, gate.parts, slots=1) as server, ThreadPoolExecutor(2) as pool:
        running = pool.submit(complete, server)
        assert gate.reached.wait(250)
        server.drain()
        with pytest.raises(openai.InternalServerError, match="shutting down") as refused:
            complete(server)
        assert refused.value.response.headers["retry-after"]
        assert ask(server.url, "/health")[::2] == (503, b'{"status":"draining"}')
        gate.open.set()
        assert running.result().choices[0].text == text_of("Alice")
    with pytest.raises(openai.APIConnectionError):
        complete(server)


def test_a_second_signal_ends_what_is_left():
    """The first one lets the answer come to its end; after the second it is cut."""
    gate = Gate(free=2)
    with serve(model(), TOKENIZER, gate.parts, slots=1) as server, ThreadPoolExecutor(1) as pool:
        running = pool.submit(complete, server)
        assert gate.reached.wait(250)
        server._on_signal()
        until(lambda: ask(server.url, "/health")[0] == 503)
        assert cancelled(server) == 0
        server._on_signal()
        gate.open.set()
        with pytest.raises(openai.InternalServerError, match="ended by the server"):
            running.result()
    assert server.engine.memory.free == server.engine.blocks


def test_a_block_that_fails_ends_its_requests():
    """Nobody waits for an answer of hundreds of tokens when the page's cell has raised."""
    streams = []

    def cell():
        with serve(model(400), TOKENIZER, PARTS) as server:
            streams.append(Stream(server, max_tokens=390))
            streams[0].chunk()
            raise KeyError("a cell's own")

    with pytest.raises(KeyError, match="a cell's own"):
        cell()
    *_, last = streams[0].rest()
    assert last["error"]["code"] == "aborted"


@pytest.mark.parametrize("wrong", [NotImplementedError, SystemExit])
def test_a_part_that_raises_is_500_and_the_server_lives(wrong):
    def probabilities(*_):
        raise wrong("08-next-token-probabilities: not written yet")

    with serve(model(), TOKENIZER, replace(PARTS, probabilities=probabilities)) as server:
        for _ in range(2):
            with pytest.raises(openai.InternalServerError, match="08-next-token-probabilities"):
                complete(server)
        assert ask(server.url, "/health")[::2] == (500, b'{"status":"failed"}')


def test_an_error_within_a_stream_is_an_event():
    numbers = iter((1.0, 2.0))

    def probabilities(logits, *how):
        return PARTS.probabilities(next(numbers) * logits, *how)  # raises at the third token

    broken = replace(PARTS, probabilities=probabilities)
    with serve(model(), TOKENIZER, broken) as server, pytest.raises(openai.APIError, match="the engine has failed"):
        list(complete(server, stream=True))


def test_a_taken_port_is_an_error_and_no_trace_is_lost_to_it(server, tmp_path):
    kept = tmp_path / "trace.jsonl"
    kept.write_text("of an earlier server\n")
    with pytest.raises(OSError, match="in use"):
        serve(model(), TOKENIZER, PARTS, port=urlsplit(server.url).port, trace=kept)
    assert kept.read_text() == "of an earlier server\n"


def test_a_server_that_cannot_be_made_leaves_its_port_free():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    with pytest.raises(ValueError, match="slots"):
        serve(model(), TOKENIZER, PARTS, port=port, slots=0)
    serve(model(), TOKENIZER, PARTS, port=port)._socket.close()


def test_nothing_is_written_to_the_terminal(capfd, caplog):
    with serve(model(), TOKENIZER, PARTS) as server:
        complete(server)
        Stream(server).close()
        ask(server.url, body=b"{")
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []
