"""An EngineCore behind the HTTP front: real clients get what the course's engine gives them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import openai
import pytest
from served import EOS, PARTS, TOKENIZER, alone, client, model

from experiments.ch11.constrained_runs import schema_constraint
from rankzero.server import serve
from rankzero.server.own_engine import OwnEngine
from solutions.ch11.constrained import ConstraintState, schema_to_regex, token_index
from solutions.ch11.engine import EngineCore

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.fixture(scope="module")
def server():
    constraint = schema_constraint(token_index, ConstraintState, schema_to_regex)
    with serve(model(), TOKENIZER, replace(PARTS, constraint=constraint), core=EngineCore, block_size=4) as running:
        yield running


def complete(server: Any, prompt: str, **fields: Any) -> Any:
    said = {"model": "tiny", "prompt": prompt, "temperature": 0, "max_tokens": 12, **fields}
    return client(server).completions.create(**said)


def plain(prompt: str, tokens: int) -> list[int]:
    """The greedy answer of a plain loop, which stops after the end of sequence."""
    answer = alone(TOKENIZER.encode(prompt), tokens)
    return answer[: answer.index(EOS) + 1] if EOS in answer else answer


def test_eight_clients_at_once_get_the_texts_of_a_plain_loop(server):
    prompts = [f"Alice had {n} " for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda prompt: complete(server, prompt), prompts))
    for prompt, reply in zip(prompts, replies, strict=True):
        wanted = plain(prompt, 12)
        assert reply.choices[0].text == TOKENIZER.decode([token for token in wanted if token != EOS])
        assert reply.choices[0].finish_reason == ("stop" if EOS in wanted else "length")
        assert reply.usage.completion_tokens == len(wanted)
    assert sum(reply.usage.prompt_tokens_details.cached_tokens for reply in replies) > 0


def test_draws_are_those_of_the_course_engine(server):
    fields = {"temperature": 1.0, "seed": 7, "max_tokens": 20}
    with serve(model(), TOKENIZER, PARTS) as other:
        assert complete(server, "Alice", **fields).choices[0].text == complete(other, "Alice", **fields).choices[0].text


def test_a_form_and_a_stop_string(server):
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    asked = {"model": "tiny", "messages": [{"role": "user", "content": "n?"}], "max_tokens": 20}
    reply = client(server).chat.completions.create(**asked, response_format=form)
    assert list(json.loads(reply.choices[0].message.content)) == ["n"]
    whole = complete(server, "Alice").choices[0].text
    stopped = complete(server, "Alice", stop=[whole[4:6]]).choices[0]
    assert (stopped.text, stopped.finish_reason) == (whole[: whole.index(whole[4:6])], "stop")


def test_a_client_that_leaves_gives_its_blocks_back(server):
    stream = client(server).completions.create(
        model="tiny", prompt="A", max_tokens=60, stream=True, temperature=0, extra_body={"ignore_eos": True}
    )
    next(iter(stream))
    stream.close()
    assert complete(server, "Alice").choices[0].text
    assert server.metrics()["finished_abort"] <= 1


class Idle:
    """Does nothing."""

    def __init__(self, job: Any) -> None:
        self.job = job

    def submit(self, request: Any) -> None:
        self.name = request.name

    def cancel(self, name: str) -> None:
        pass

    def step(self) -> list[tuple[str, str, str]]:
        return []


class Twice(Idle):
    """Runs two passes in a step."""

    def step(self):
        for _ in range(2):
            self.job.forward([(self.name, [65], 0, [0])])


class Stranger(Idle):
    """Speaks of somebody else."""

    def step(self):
        return [("nobody", "text", "")]


@pytest.mark.parametrize(
    ("core", "words"),
    [(Idle, "ran no pass in 3 steps"), (Twice, "called job.forward twice"), (Stranger, "text for nobody")],
)
def test_a_core_that_fails_ends_its_requests_with_its_sentence(core, words):
    with serve(model(), TOKENIZER, PARTS, core=core) as running:
        with pytest.raises(openai.InternalServerError, match=words):
            complete(running, "Alice")
        assert words in str(running.engine.error)


def test_without_http():
    engine = OwnEngine(model(), TOKENIZER, PARTS, EngineCore, slots=2, blocks=20, block_size=4)
    prompts = [f"{n} cats and " for n in range(5)]
    requests = [engine.submit(TOKENIZER.encode(prompt), 20) for prompt in prompts]
    engine.run()
    assert [request.output for request in requests] == [plain(prompt, 20) for prompt in prompts]
    assert engine.metrics()["blocks_used"] == 0
    assert all(step.computed <= 256 and len(step.scheduled) <= 2 for step in engine.steps)
    engine.close()


def test_the_trace_of_a_prompt_of_one_token_begins_with_a_prefill():
    engine = OwnEngine(model(), TOKENIZER, PARTS, EngineCore, slots=1, blocks=20, block_size=4)
    engine.submit([65], 3, ignore_eos=True)
    engine.run()
    assert [(step.prefill, step.decode) for step in engine.steps] == [(1, 0), (0, 1), (0, 1)]
    engine.close()


class Forbidding(Idle):
    """Chooses from nothing."""

    def submit(self, request: Any) -> None:
        self.request = request

    def step(self):
        logits = self.job.forward([(self.request.name, self.request.prompt, 0, [0, 1])])
        return [(self.request.name, chr(self.job.choose(logits[0], self.request, 0, [])), "")]


def test_a_token_is_chosen_from_some():
    engine = OwnEngine(model(), TOKENIZER, PARTS, Forbidding, slots=1, blocks=20, block_size=4)
    engine.submit([65], 3)
    with pytest.raises(ValueError, match="no token is allowed"):
        engine.run()
