"""Answers that must be JSON: by a schema or any object, at every limit, drawn from the masked distribution."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import openai
import pytest
import torch
from pydantic import BaseModel, Field
from served import EOS, PARTS, TOKENIZER, ask, client, engine, model, until

from experiments.ch11.constrained_runs import MOST_PLACES, SCHEMA, schema_constraint
from rankzero.grammar.json_automaton import JsonConstraint, JsonMachine
from rankzero.grammar.json_validity import json_fault
from rankzero.server import serve
from solutions.ch08.tiny_serving import next_token_probabilities

TALK = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
OBJECT = {"type": "json_object"}


def by(schema, **more):
    """A ``response_format`` that asks for a schema."""
    return {"type": "json_schema", "json_schema": {"name": "form", "schema": schema, **more}}


def least(schema):
    """Tokens of the shortest text of a schema, and the one that ends it."""
    return schema_constraint()(schema, TOKENIZER.vocabulary, EOS).distance() + 1


@pytest.fixture(scope="module")
def server():
    with serve(model(), TOKENIZER, PARTS, slots=4, block_size=8, queue=None) as running:
        yield running
    assert running.engine.memory.free == running.engine.blocks


def talk(server, form, **more):
    """One answer of the real client."""
    return client(server).chat.completions.create(**TALK, response_format=form, **more)


@pytest.mark.parametrize("limit", [least(SCHEMA), least(SCHEMA) + 1, least(SCHEMA) + 9, 70, None])
@pytest.mark.parametrize("temperature", [0, 1, 2])
def test_every_answer_fits_its_schema_at_every_limit(server, limit, temperature):
    """The model is untrained; ``json.loads`` and ``jsonschema`` judge, and the answer ends by itself."""
    found = talk(server, by(SCHEMA, strict=True), max_tokens=limit, temperature=temperature, seed=limit)
    assert json_fault(found.choices[0].message.content, SCHEMA) is None
    assert found.choices[0].finish_reason == "stop"
    assert limit is None or found.usage.completion_tokens <= limit


@pytest.mark.parametrize("limit", [3, 4, 9, 40])
def test_any_object(server, limit):
    for seed in range(5):
        found = talk(server, OBJECT, max_tokens=limit, seed=seed)
        assert isinstance(json.loads(found.choices[0].message.content), dict)
        assert found.choices[0].finish_reason == "stop"


def test_a_stream_fits_too(server):
    chunks = list(talk(server, by(SCHEMA), max_tokens=60, seed=4, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert json_fault(text, SCHEMA) is None
    assert text == talk(server, by(SCHEMA), max_tokens=60, seed=4).choices[0].message.content


@pytest.mark.proof(part="runs")
def test_a_crowd_of_forms_and_free_texts(server):
    """Each gets what it gets alone: masks belong to their rows."""
    forms = [by(SCHEMA), None, OBJECT, by({"type": "boolean"}), {"type": "text"}, None]

    def one(place):
        more = {"response_format": forms[place]} if forms[place] else {}
        found = client(server).chat.completions.create(**TALK, **more, max_tokens=50, seed=place)
        return found.choices[0].message.content

    row = [one(place) for place in range(len(forms))]
    with ThreadPoolExecutor(len(forms)) as pool:
        assert list(pool.map(one, range(len(forms)))) == row
    assert row[3] in ("true", "false")


def test_tokens_are_drawn_from_the_masked_distribution(server):
    """Log-probabilities of a form: the model's distribution over the tokens that are allowed, made to sum to 1."""
    schema = {"enum": ["tea", "ten", "hat"]}
    found = talk(server, by(schema), max_tokens=9, seed=1, temperature=0.8, logprobs=True, top_logprobs=3)
    entries = found.choices[0].logprobs.content
    tokens = [EOS if entry.bytes is None else entry.bytes[0] for entry in entries]
    constraint = schema_constraint()(schema, TOKENIZER.vocabulary, EOS)
    prompt = TOKENIZER.encode("user: Hi\nassistant:")
    for place, entry in enumerate(entries):
        logits = model()(torch.tensor([[*prompt, *tokens[:place]]]))[0, -1]
        allowed = constraint.allowed()
        logprobs = next_token_probabilities(logits[allowed], 0.8).log()
        assert entry.logprob == pytest.approx(logprobs[allowed.index(tokens[place])].item(), abs=1e-9)
        assert len(entry.top_logprobs) == min(3, len(allowed))
        constraint.advance(tokens[place])


def test_a_form_that_is_preempted_goes_on_where_it_was():
    """Its keys and values are computed again; the state of its form is not."""

    def texts(**options):
        serving = engine(block_size=8, **options)
        asked = []
        for seed in range(3):
            form = schema_constraint()(SCHEMA, TOKENIZER.vocabulary, EOS)
            asked.append(serving.submit([65, 66], 60, temperature=1.0, seed=seed, constraint=form))
        serving.run()
        return asked

    roomy, tight = texts(slots=3), texts(slots=3, blocks=10)
    assert sum(request.preemptions for request in tight) > 0
    assert [request.text for request in tight] == [request.text for request in roomy]
    assert all(json_fault(request.text, SCHEMA) is None for request in tight)


# What is refused


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "number"}, "type must be one of"),
        ({"type": "string"}, "maxLength must bound a string"),
        ({"type": "object", "minProperties": 1, "properties": {}}, "minProperties is not a keyword of type object"),
        ({"type": "array", "maxItems": 2}, "items must say what an array holds"),
        ({"anyOf": [{"type": "null"}]}, "type must be one of"),
        ({"type": "string", "maxLength": 501}, f"at most {MOST_PLACES} places"),
        ({"enum": ["a" * 600]}, f"at most {MOST_PLACES} places"),
    ],
)
def test_a_schema_that_cannot_be_kept_is_refused_in_words(server, schema, said):
    with pytest.raises(openai.BadRequestError, match=said) as refused:
        talk(server, by(schema))
    assert refused.value.param == "response_format.json_schema.schema"
    assert refused.value.code == "unsupported_value"


def test_a_schema_cannot_keep_the_server_busy(server):
    """Arrays of arrays double the pattern with each level: thirty levels are refused at once."""
    deep = {"type": "boolean"}
    for _ in range(30):
        deep = {"type": "array", "items": deep, "maxItems": 1}
    with pytest.raises(openai.BadRequestError, match="places"):
        talk(server, by(deep))
    for _ in range(400):
        deep = {"type": "array", "items": deep, "maxItems": 1}
    with pytest.raises(openai.BadRequestError):
        talk(server, by(deep))


def test_a_limit_that_no_text_fits_is_refused(server):
    short = least(SCHEMA) - 1
    with pytest.raises(openai.BadRequestError, match=f"at least {short + 1}, got {short}") as refused:
        talk(server, by(SCHEMA), max_tokens=short)
    assert refused.value.param == "max_tokens"
    with pytest.raises(openai.BadRequestError, match="at least 3, got 2"):
        talk(server, OBJECT, max_tokens=2)


def test_the_engine_refuses_too():
    form = schema_constraint()(SCHEMA, TOKENIZER.vocabulary, EOS)
    with pytest.raises(ValueError, match="max_tokens must be at least"):
        engine().submit([65], form.distance(), constraint=form)
    for more in ({"stop": ("}",)}, {"ignore_eos": True}):
        with pytest.raises(ValueError, match="without stop and ignore_eos"):
            engine().submit([65], 80, constraint=form, **more)


class Form(BaseModel):
    """What people write for a schema."""

    name: str = Field(max_length=8, description="anything")
    age: int
    active: bool


def test_the_typed_way_of_the_real_client(server):
    """``parse`` sends titles and descriptions along; they say nothing of the form, and are no reason to refuse it."""
    found = client(server).chat.completions.parse(**TALK, response_format=Form, max_tokens=60, seed=2)
    form = found.choices[0].message.parsed
    assert json.loads(found.choices[0].message.content) == form.model_dump()


def test_a_property_may_be_called_like_an_annotation(server):
    schema = {"type": "object", "title": "Film", "properties": {"title": {"enum": ["M"], "description": "short"}}}
    assert talk(server, by(schema), max_tokens=30).choices[0].message.content == '{"title":"M"}'


def test_a_server_without_schemas_says_so():
    with serve(model(), TOKENIZER, replace(PARTS, constraint=None), slots=1) as bare:
        with pytest.raises(openai.BadRequestError, match="supports no schemas"):
            talk(bare, by(SCHEMA))
        found = talk(bare, OBJECT, max_tokens=9)
        assert isinstance(json.loads(found.choices[0].message.content), dict)


def test_a_part_that_fails_costs_its_own_request_only():
    def unwritten(*arguments):
        raise NotImplementedError("11-token-index: not written yet")

    parts = replace(PARTS, constraint=schema_constraint(index=unwritten))
    with serve(model(), TOKENIZER, parts, slots=1) as broken:
        with pytest.raises(openai.InternalServerError, match="11-token-index: not written yet") as refused:
            talk(broken, by(SCHEMA))
        assert refused.value.code == "part_failed"
        assert client(broken).completions.create(model="tiny", prompt="A", max_tokens=2).choices[0].text


def test_compiling_holds_nobody_up_and_a_drain_is_noticed():
    """While a schema is compiled others are answered; when the server goes down meanwhile, the request is refused."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(schema, vocabulary, eos):
        begun.set()
        assert go_on.wait(250)
        return schema_constraint()(schema, vocabulary, eos)

    with (
        serve(model(), TOKENIZER, replace(PARTS, constraint=slow), slots=1) as server,
        ThreadPoolExecutor(1) as pool,
    ):
        waiting = pool.submit(talk, server, by(SCHEMA))
        assert begun.wait(250)
        assert ask(server.url, "/health")[0] == 200
        assert client(server).completions.create(model="tiny", prompt="A", max_tokens=2).choices[0].text
        server.drain()
        until(lambda: server._front.draining)
        go_on.set()
        with pytest.raises(openai.InternalServerError, match="shutting down"):
            waiting.result()


# Objects of the machine with a stack


def test_a_machine_of_objects():
    machine = JsonMachine(objects=True)
    assert machine.accepts(b' {"a": [1, {}]} ')
    assert not any(machine.accepts(text) for text in (b"1", b"[]", b'"a"', b"null", b"{} {}"))
    assert machine.distance(machine.start) == len(b"{}")
    assert JsonMachine().accepts(b"1")


def test_an_object_ends_within_what_remains():
    """The first token opens the object, however little remains."""
    constraint = JsonConstraint(TOKENIZER.vocabulary, EOS, JsonMachine(objects=True))
    assert constraint.distance() == 2
    assert constraint.allowed(2) == [ord("{")]
    constraint.advance(ord("{"))
    assert constraint.allowed(1) == [ord("}")]
    constraint.advance(ord("}"))
    assert constraint.allowed(0) == [EOS]
