"""What the server refuses: every field of OpenAI's API is either done or refused in words, and so is every other."""

from __future__ import annotations

import inspect
import json

import openai
import pytest
from openai.resources.chat.completions import Completions as Chats
from openai.resources.completions import Completions
from served import PARTS, TOKENIZER, ask, client, model

from rankzero.server import protocol, serve
from solutions.ch11.engine import EngineCore

COMPLETION, CHAT = "/v1/completions", "/v1/chat/completions"
TEXT = {"model": "tiny", "prompt": "A", "max_tokens": 2}
TALK = {"model": "tiny", "messages": [{"role": "user", "content": "A"}], "max_tokens": 2}
OF_THE_CLIENT = {"self", "extra_headers", "extra_query", "extra_body", "timeout"}

#: Fields of the real client that this server does not support, with a value that asks for something.
NOT_DONE = {
    COMPLETION: {
        "best_of": 2,
        "echo": True,
        "frequency_penalty": 0.5,
        "logit_bias": {"65": 1},
        "presence_penalty": -1,
        "suffix": "the end",
    },
    CHAT: {
        "audio": {"format": "wav", "voice": "alloy"},
        "frequency_penalty": 0.5,
        "function_call": {"name": "f"},
        "functions": [{"name": "f"}],
        "logit_bias": {"65": 1},
        "metadata": {"a": "b"},
        "modalities": ["audio"],
        "moderation": {"model": "m"},
        "parallel_tool_calls": "yes",
        "prediction": {"type": "content", "content": "A"},
        "presence_penalty": -1,
        "prompt_cache_key": "mine",
        "prompt_cache_options": {"mode": "explicit"},
        "prompt_cache_retention": "24h",
        "reasoning_effort": "low",
        "safety_identifier": "me",
        "service_tier": "flex",
        "store": True,
        "tool_choice": "required",
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "verbosity": "low",
        "web_search_options": {},
    },
}
EVERY = [(path, name) for path, fields in NOT_DONE.items() for name in fields]


@pytest.fixture(scope="module")
def server():
    with serve(model(), TOKENIZER, PARTS, slots=4, block_size=8, queue=None) as running:
        yield running


def error_of(server, path, **fields):
    """Status and error of a request with more fields."""
    status, _, body = ask(server.url, path, (TALK if path == CHAT else TEXT) | fields)
    return status, json.loads(body)["error"]


@pytest.mark.parametrize(
    ("path", "create", "kind"),
    [
        (COMPLETION, Completions.create, protocol.CompletionRequest),
        (CHAT, Chats.create, protocol.ChatRequest),
    ],
)
def test_every_field_of_the_real_client_is_done_or_refused(path, create, kind):
    """Kills: a field of a newer client that would be answered as if it were not there, or that no test below sends."""
    fields = set(inspect.signature(create).parameters) - OF_THE_CLIENT
    assert fields - set(kind.model_fields) == set(kind.unsupported) == set(NOT_DONE[path])


@pytest.mark.parametrize(("path", "name"), EVERY)
def test_a_field_that_is_not_done_is_refused_in_words(server, path, name):
    create = client(server).chat.completions.create if path == CHAT else client(server).completions.create
    with pytest.raises(openai.BadRequestError, match=f"this server does not support {name}, got ") as refused:
        create(**(TALK if path == CHAT else TEXT), **{name: NOT_DONE[path][name]})
    error = refused.value
    assert (error.param, error.code, error.type) == (name, "unsupported_parameter", "invalid_request_error")


@pytest.mark.parametrize("path", [COMPLETION, CHAT])
def test_fields_that_ask_for_nothing_change_nothing(server, path):
    """Clients send defaults; each is let pass with the value that means none, and with null."""
    idle = (protocol.ChatRequest if path == CHAT else protocol.CompletionRequest).unsupported
    asked = (TALK if path == CHAT else TEXT) | {"temperature": 0}
    quiet = {name: values[-1] for name, values in idle.items() if values} | {"user": "me", "n": 1, "foo": None}
    quiet |= {name: None for name in NOT_DONE[path] if name not in quiet}
    plain, said = (json.loads(ask(server.url, path, asked | more)[2]) for more in ({}, quiet))
    assert plain["choices"] == said["choices"]


@pytest.mark.parametrize(
    ("path", "change", "parameter"),
    [
        (COMPLETION, {"guided_json": {}}, "guided_json"),
        (CHAT, {"guided_json": {}}, "guided_json"),
        (COMPLETION, {"Temperature": 0}, "Temperature"),
        (COMPLETION, {"prompt": None, "promt": "A"}, "promt"),  # the misspelling, not the field that it leaves missing
        (COMPLETION, {"messages": []}, "messages"),
        (COMPLETION, {"max_completion_tokens": 2}, "max_completion_tokens"),
        (COMPLETION, {"top_logprobs": 2}, "top_logprobs"),
        (COMPLETION, {"response_format": {"type": "text"}}, "response_format"),
        (CHAT, {"prompt": "A"}, "prompt"),
        (CHAT, {"echo": True}, "echo"),
        (CHAT, {"stream": True, "stream_options": {"every": 2}}, "stream_options.every"),
        (CHAT, {"response_format": {"type": "text", "strict": True}}, "response_format.strict"),
        (CHAT, {"messages": [{"role": "user", "content": "A", "name": "Al"}]}, "messages[0].name"),
        (
            CHAT,
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "A", "detail": "low"}]}]},
            "messages[0].content[0].detail",
        ),
        (CHAT, {"messages": [{"role": "assistant", "content": "A", "audio": {"id": "1"}}]}, "messages[0].audio"),
    ],
)
def test_an_unknown_field_is_named(server, path, change, parameter):
    status, error = error_of(server, path, **change)
    assert (status, error["param"], error["code"]) == (400, parameter, "unknown_parameter")
    assert error["message"].startswith(f"{parameter} is not a field of ")


@pytest.mark.parametrize(
    ("path", "change", "parameter", "code"),
    [
        (CHAT, {"max_completion_tokens": 2}, "max_tokens", "conflict"),
        (CHAT, {"max_tokens": 10_000}, "max_tokens", "context_length_exceeded"),
        (
            CHAT,
            {"max_tokens": None, "max_completion_tokens": 10_000},
            "max_completion_tokens",
            "context_length_exceeded",
        ),
        (CHAT, {"stream_options": {"include_usage": True}}, "stream_options", "conflict"),
        (
            CHAT,
            {"stream": True, "stream_options": {"include_obfuscation": True}},
            "stream_options.include_obfuscation",
            "unsupported_parameter",
        ),
        (CHAT, {"top_logprobs": 2}, "top_logprobs", "conflict"),
        (CHAT, {"logprobs": False, "top_logprobs": 2}, "top_logprobs", "conflict"),
        (CHAT, {"logprobs": 2}, "logprobs", "wrong_type"),
        (CHAT, {"logprobs": True, "top_logprobs": 21}, "top_logprobs", "out_of_range"),
        (COMPLETION, {"logprobs": True}, "logprobs", "wrong_type"),
        (COMPLETION, {"logprobs": 6}, "logprobs", "out_of_range"),
        (COMPLETION, {"logprobs": -1}, "logprobs", "out_of_range"),
        (COMPLETION, {"top_k": -1}, "top_k", "out_of_range"),
        (COMPLETION, {"user": 3}, "user", "wrong_type"),
        (COMPLETION, {"n": "one"}, "n", "wrong_type"),
        (COMPLETION, {"echo": 0}, "echo", "unsupported_parameter"),
        (CHAT, {"messages": [{"role": "tool", "content": "A"}]}, "messages[0].role", "out_of_range"),
        (CHAT, {"messages": [{"role": "user", "content": ["A"]}]}, "messages[0].content[0]", "wrong_type"),
        (CHAT, {"response_format": "json"}, "response_format", "wrong_type"),
        (CHAT, {"response_format": {}}, "response_format.type", "missing"),
        (CHAT, {"response_format": {"type": "xml"}}, "response_format.type", "out_of_range"),
        (CHAT, {"response_format": {"type": "json_object"}, "stop": "}"}, "stop", "conflict"),
        (CHAT, {"response_format": {"type": "json_object"}, "ignore_eos": True}, "ignore_eos", "conflict"),
        (CHAT, {"response_format": {"type": "json_schema"}}, "response_format.json_schema", "missing"),
        (
            CHAT,
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "null"}}}},
            "response_format.json_schema.name",
            "missing",
        ),
        (
            CHAT,
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}},
            "response_format.json_schema.schema",
            "missing",
        ),
    ],
)
def test_a_field_that_cannot_be_kept_is_named(server, path, change, parameter, code):
    status, error = error_of(server, path, **change)
    assert (status, error["param"], error["code"]) == (400, parameter, code)


def test_the_top_k_of_the_engine(server):
    """The server's own field: with 1 the draw is the arg-max, at any temperature."""
    greedy = json.loads(ask(server.url, COMPLETION, TEXT | {"temperature": 0, "max_tokens": 9})[2])
    one = json.loads(ask(server.url, COMPLETION, TEXT | {"temperature": 2, "top_k": 1, "max_tokens": 9})[2])
    assert one["choices"] == greedy["choices"]


def test_a_model_by_name(server):
    assert client(server).models.retrieve("tiny").id == "tiny"
    with pytest.raises(openai.NotFoundError, match="there is no model 'meta/llama', only 'tiny'") as refused:
        client(server).models.retrieve("meta/llama")
    assert (refused.value.param, refused.value.code) == ("model", "model_not_found")


@pytest.mark.parametrize("core", [{}, {"core": EngineCore}], ids=["the course's engine", "an engine core"])
def test_only_requests_of_one_salt_share_blocks(core):
    """Kills a salt that is read and dropped, in either engine; a request without one shares with its like."""
    asked = TEXT | {"prompt": "Alice was beginning to get very tired", "temperature": 0}
    salts = [None, None, "mine", "mine", "yours", None]
    with serve(model(), TOKENIZER, PARTS, block_size=4, **core) as running:
        answers = [
            json.loads(ask(running.url, COMPLETION, asked | ({"cache_salt": salt} if salt else {}))[2])
            for salt in salts
        ]
    cached = [answer["usage"]["prompt_tokens_details"]["cached_tokens"] for answer in answers]
    assert [found > 0 for found in cached] == [False, True, False, True, False, True]
    assert len({answer["choices"][0]["text"] for answer in answers}) == 1


@pytest.mark.parametrize("path", [COMPLETION, CHAT])
@pytest.mark.parametrize(("salt", "code"), [("", "missing"), (3, "wrong_type"), ("\ud800", "out_of_range")])
def test_a_salt_that_is_none_is_refused(server, path, salt, code):
    """Kills half of a surrogate pair that would reach the hash, and with it the engine's thread."""
    status, error = error_of(server, path, cache_salt=salt)
    assert (status, error["param"], error["code"]) == (400, "cache_salt", code)
    assert ask(server.url, path, TALK if path == CHAT else TEXT)[0] == 200
