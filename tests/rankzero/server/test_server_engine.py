"""The engine: whatever the batch, the blocks and the budget, everybody gets the text that she would get alone."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
import torch
from served import EOS, PARTS, TOKENIZER, alone, engine, model, saying

from rankzero.server import Engine, QueueFull
from rankzero.server.request import draw
from solutions.ch08.serving import continuous_batching
from solutions.ch08.tiny_serving import next_token_probabilities
from solutions.ch09.block_pool import PrefixPool
from solutions.ch10.token_budget import TokenBudgetScheduler


def prompts(count: int = 14, longest: int = 50, seed: int = 0) -> list[list[int]]:
    """Random ones, and some that begin alike."""
    draws = random.Random(seed)
    some = [[draws.randrange(256) for _ in range(draws.randint(1, longest))] for _ in range(count)]
    return some + [[7] * 40 + [i] for i in range(4)] + [[7] * 32, [7] * 33]


OPTIONS = {
    "plain": {"prefix_cache": False},
    "reuse": {},
    "one slot": {"slots": 1},
    "preemption": {"slots": 6, "blocks": 24, "block_size": 4},
    "preemption without reuse": {"slots": 6, "blocks": 24, "block_size": 4, "prefix_cache": False},
    "small budget": {"budget": 5, "block_size": 4},
    "chunks": {"budget": 40, "max_chunk": 7, "block_size": 4},
    "whole prompts": {"slots": 8, "chunked_prefill": False},
    "blocks of one": {"block_size": 1},
}


#: The options that a gate tries; the others are proved beside it.
DAILY = ("reuse", "preemption", "small budget", "whole prompts")


def _with_marks() -> list[Any]:
    proof = pytest.mark.proof(part="runs")
    return [pytest.param(options, marks=[] if name in DAILY else proof, id=name) for name, options in OPTIONS.items()]


@pytest.mark.parametrize("options", _with_marks())
def test_everybody_gets_the_text_that_she_gets_alone(options):
    """Kills a mask that lets rows see each other, positions that count padding, a block that two sequences write."""
    serving = engine(**options)
    requests = [serving.submit(prompt, 12, ignore_eos=True) for prompt in prompts()]
    serving.run()
    assert [request.output for request in requests] == [alone(prompt, 12) for prompt in prompts()]
    assert {request.finish_reason for request in requests} == {"length"}
    serving.close()
    assert serving.memory.free == serving.blocks


def test_a_small_pool_preempts_and_changes_no_text():
    options = OPTIONS["preemption"]
    roomy, tight = engine(slots=6, block_size=4), engine(**options)
    texts = []
    for serving in (roomy, tight):
        requests = [serving.submit(prompt, 30, seed=i, temperature=1.0) for i, prompt in enumerate(prompts())]
        serving.run()
        texts.append([request.text for request in requests])
    assert texts[0] == texts[1]
    assert roomy.metrics()["preemptions"] == 0 < tight.metrics()["preemptions"]
    assert sum(len(step.preempted) for step in tight.steps) == tight.metrics()["preemptions"]
    tight.close()


def test_a_prefix_is_computed_once():
    """40 of 41 tokens are shared, in blocks of 8: the second request computes one; the answers are those of nobody."""
    serving = engine(block_size=8)
    first, second = ([7] * 40 + [token] for token in (1, 2))
    requests = []
    for prompt in (first, second):
        requests.append(serving.submit(prompt, 5, ignore_eos=True))
        serving.run()
    assert [request.cached_tokens for request in requests] == [0, 40]
    assert [request.output for request in requests] == [alone(prompt, 5) for prompt in (first, second)]
    assert serving.metrics()["cached_tokens"] == 40
    assert serving.metrics()["computed_tokens"] == 41 + 4 + 1 + 4


def test_the_last_token_of_a_cached_prompt_is_computed():
    """Kills an engine that skips the whole prompt and has no logits for the first token."""
    serving = engine(block_size=8)
    for cached in (0, 24):
        request = serving.submit([5] * 32, 4, ignore_eos=True)
        serving.run()
        assert request.cached_tokens == cached
        assert request.output == alone([5] * 32, 4)


def test_cached_tokens_cost_no_budget():
    """Kills a scheduler that grants a cached prompt of 64 tokens eight passes of 8."""
    serving = engine(block_size=8, budget=8)
    for passes in (9, 1):
        request = serving.submit([*range(64), 1], 1)
        before = len(serving.steps)
        serving.run()
        assert len(serving.steps) - before == passes
    assert request.cached_tokens == 64


def test_a_shared_prefix_lets_one_more_request_in():
    """Eight blocks of 8; a prompt of 41 tokens takes six of them, and a second one with the same beginning one more."""
    for prefix_cache, side_by_side in ((True, 2), (False, 1)):
        serving = engine(block_size=8, blocks=8, budget=64, prefix_cache=prefix_cache)
        first = serving.submit([*[7] * 40, 1], 7, ignore_eos=True)
        serving.step()
        second = serving.submit([*[7] * 40, 2], 7, ignore_eos=True)
        serving.step()
        assert serving.metrics()["running"] == side_by_side
        serving.run()
        assert [one.output for one in (first, second)] == [alone([*[7] * 40, one], 7) for one in (1, 2)]
        assert serving.metrics()["preemptions"] == 0


def test_a_prompt_waits_until_all_of_it_fits():
    """Twelve blocks of 4, of which a request holds ten and more: a prompt of six is not begun and thrown away again."""
    serving = engine(block_size=4, blocks=12, budget=8, prefix_cache=False)
    first = serving.submit([3] * 36, 9, ignore_eos=True)
    for _ in range(6):
        serving.step()
    second = serving.submit([4] * 24, 4, ignore_eos=True)
    serving.run()
    assert [one.output for one in (first, second)] == [alone([3] * 36, 9), alone([4] * 24, 4)]
    assert serving.metrics()["preemptions"] == 0
    assert serving.metrics()["computed_tokens"] == 36 + 8 + 24 + 3


def test_answers_are_cached_too():
    """The next turn of a conversation begins with the answer of the one before."""
    serving = engine(block_size=4)
    first = serving.submit([1] * 10, 15, ignore_eos=True)
    serving.run()
    second = serving.submit([*first.tokens, 3], 2)
    serving.run()
    assert second.cached_tokens == 24  # all blocks that have keys and values: the last token has none


def test_a_prefix_that_two_compute_at_once_is_stored_once():
    serving = engine(block_size=4, budget=96)
    requests = [serving.submit([9] * 21, 6, ignore_eos=True) for _ in range(3)]
    serving.run()
    assert [request.output for request in requests] == [alone([9] * 21, 6)] * 3
    assert serving.memory.cached == 6  # 26 tokens with keys and values, in whole blocks
    serving.close()


def test_cached_prefixes_make_room():
    """More different prompts than the pool holds: old ones leave."""
    serving = engine(slots=1, blocks=12, block_size=4)
    for token in range(20):
        request = serving.submit([token] * 20, 3, ignore_eos=True)
        serving.run()
        assert request.output == alone([token] * 20, 3)
        serving.memory.check()
    assert serving.memory.used == 0
    assert serving.memory.cached + serving.memory.free == 12
    serving.close()


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 10), marks=pytest.mark.proof(part="runs"))])
def test_any_order_of_events_leaves_no_block_behind(seeds):
    """Random pools, budgets, arrivals and cancellations; the pool is checked after every step."""
    for seed in seeds:
        draws = random.Random(seed)
        block = draws.choice((1, 2, 4, 8))
        options = {"slots": draws.randint(1, 5), "block_size": block, "blocks": draws.randint(48, 90) // block + 1}
        serving = engine(**options, budget=draws.randint(3, 60), max_chunk=draws.choice((0, 0, 3)))
        asked = []
        for _ in range(40):
            if draws.random() < 0.5:
                prompt = [draws.choice((1, 1, 1, 2))] * draws.randint(1, 30) + [draws.randrange(3)]
                asked.append(serving.submit(prompt, draws.randint(1, 15), ignore_eos=True))
            if asked and draws.random() < 0.2:
                serving.cancel(draws.choice(asked))
            serving.step()
            serving.memory.check()
        serving.run()
        for request in asked:
            if request.finish_reason == "length":
                assert request.output == alone(request.prompt, request.sampling.max_tokens), seed
        assert serving.metrics()["running"] == serving.metrics()["waiting"] == serving.memory.used == 0
        serving.close()


def test_starts_and_finishes_are_those_of_the_chapter():
    """With room for every prompt the engine is the continuous batching of the calculators, step for step."""
    for seed in range(4):
        draws = random.Random(seed)
        lengths, slots = [draws.randint(1, 12) for _ in range(15)], draws.randint(1, 5)
        serving = engine(slots=slots)
        requests = [serving.submit([1], length, ignore_eos=True) for length in lengths]
        serving.run()
        found = [(request.first_step, request.last_step) for request in requests]
        assert found == continuous_batching(lengths, slots)


def test_one_step_is_one_pass(monkeypatch):
    """Chunks of prompts and decoding requests go through the model together."""
    passes = []
    forward = type(model()).forward
    monkeypatch.setattr(type(model()), "forward", lambda *a, **k: passes.append(a[1].shape) or forward(*a, **k))
    serving = engine(slots=8)
    for prompt in prompts():
        serving.submit(prompt, 8)
    serving.run()
    assert len(passes) == len([step for step in serving.steps if step.computed])
    assert max(rows for rows, _ in passes) >= 8


def test_the_same_seed_says_the_same_in_any_company():
    texts = []
    for company in (0, 5):
        serving = engine(slots=3, budget=20)
        for i in range(company):
            serving.submit([i] * 20, 9, temperature=1.0, seed=99)
        mine = serving.submit([65], 20, temperature=0.9, top_k=50, top_p=0.95, seed=3)
        serving.run()
        texts.append(mine.output)
    assert texts[0] == texts[1]


def test_another_seed_says_something_else():
    serving = engine()
    requests = [serving.submit([65], 12, temperature=1.0, seed=seed) for seed in range(3)]
    serving.run()
    assert len({tuple(request.output) for request in requests}) == 3


def test_draws_follow_the_probabilities():
    """Evenly spaced numbers hit every token as often as it is probable, and one of probability 0 never."""
    probabilities = torch.tensor([0.0, 0.25, 0.0, 0.5, 0.25, 0.0])
    hits = [draw(probabilities, (i + 0.5) / 1000) for i in range(1000)]
    assert [hits.count(token) for token in range(6)] == [0, 250, 0, 500, 250, 0]
    assert draw(probabilities, 0.0) == 1
    assert draw(probabilities, 1 - 2**-53) == 4


@pytest.mark.parametrize(
    ("text", "stop", "sent", "reason", "tokens"),
    [
        ("Hello STOP you", ["STOP"], "Hello ", "stop", 10),
        ("Hello STOP you", ["nothing"], "Hello STOP y", "length", 12),
        ("Hello STOP you", ["you", "llo"], "He", "stop", 5),
        ("\U0001f600" * 9, [], "\U0001f600" * 3, "length", 12),
        ("abc\U0001f600" * 9, [], "abc\U0001f600abc\ufffd", "length", 12),
    ],
)
def test_stop_strings_and_characters(text, stop, sent, reason, tokens):
    """The last row ends within a character: its bytes become one U+FFFD."""
    pieces = []
    limit = 11 if reason == "length" and "abc" in text else 12
    serving = engine(saying(text))
    request = serving.submit([65], limit, stop=stop, on_text=lambda _, text: pieces.append(text))
    serving.run()
    assert (request.text, request.finish_reason) == (sent, reason)
    assert "".join(pieces) == sent
    assert len(request.output) == min(tokens, limit)
    assert serving.memory.used == 0


def test_the_end_of_a_sequence_ends_the_answer():
    serving = engine(saying([72, 105, EOS, 33]))
    request = serving.submit([65], 9)
    serving.run()
    assert (request.text, request.finish_reason, request.output) == ("Hi", "stop", [72, 105, EOS])
    serving = engine(saying([72, 105, EOS, 33]))
    request = serving.submit([65], 4, ignore_eos=True)
    serving.run()
    assert (request.text, request.finish_reason) == ("Hi!", "length")


def test_an_early_end_frees_the_slot_at_the_next_step():
    """Two requests, one slot: the first ends with EOS after 2 of 50 tokens."""
    serving = engine(saying([65, EOS, 66, 66]), slots=1)
    first, second = serving.submit([1], 50), serving.submit([1], 2)
    serving.run()
    assert (first.last_step, second.first_step, second.text) == (2, 2, "BB")


def test_a_scheduler_that_cannot_end_early_serves_all_the_same():
    """Its requests that ended keep their place, and nothing is computed for them."""

    class Plain:
        def __init__(self, *limits):
            self._inner = TokenBudgetScheduler(*limits)
            self.add, self.schedule, self.update = self._inner.add, self._inner.schedule, self._inner.update

        @property
        def preempted(self):
            return self._inner.preempted

    serving = engine(replace(saying([65, EOS, 66, 66]), scheduler=Plain), slots=1)
    first, second = serving.submit([1], 6), serving.submit([1], 2)
    serving.run()
    assert (first.text, second.text) == ("A", "BB")
    assert (first.last_step, second.first_step) == (2, 6)
    assert serving.metrics()["computed_tokens"] == 4
    serving.close()


def test_cancel_running_waiting_and_gone():
    serving = engine(slots=1)
    running, waiting, last = (serving.submit([65] * 20, 30) for _ in range(3))
    serving.step()
    assert (serving.metrics()["running"], serving.metrics()["waiting"]) == (1, 2)
    for request in (running, waiting, running):
        serving.cancel(request)
    serving.step()
    assert [request.finish_reason for request in (running, waiting, last)] == ["abort", "abort", None]
    assert (last.first_step, serving.metrics()["running"], serving.metrics()["waiting"]) == (1, 1, 0)
    serving.run()
    serving.cancel(last)
    serving.run()
    assert last.output == alone([65] * 20, 30)
    assert serving.metrics()["finished_abort"] == 2
    serving.close()


def test_events_and_steps_tell_the_same_story():
    serving = engine(slots=2, budget=16)
    requests = [serving.submit([65] * size, 5, ignore_eos=True) for size in (30, 3, 12)]
    serving.run()
    for request in requests:
        events = [event for event in serving.trace() if event.request == request.name]
        names = [event.name for event in events]
        assert names[:3] == ["queue", "scheduler", "runner"]
        assert names.count("detokenizer") == len(request.output) == len(request.token_times)
        ran = [step for step in serving.steps if request.name in dict(step.scheduled)]
        assert names.count("runner") == names.count("scheduler") == len(ran)
        assert all(request.arrival <= event.start <= event.end for event in events)
    assert sum(step.decode for step in serving.steps) == 3 * 4
    assert sum(step.prefill for step in serving.steps) == 30 + 3 + 12
    assert [step.number for step in serving.steps] == list(range(serving.metrics()["steps"]))
    assert all(step.prefill + step.decode == sum(dict(step.scheduled).values()) <= 16 for step in serving.steps)
    assert serving.steps[-1].blocks == 0 < max(step.blocks for step in serving.steps)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], 3), "prompt must hold at least one token"),
        (([257], 3), r"prompt\[0\] must be an integer from 0 to 256, got 257"),
        (([1], 0), "max_tokens must be an integer >= 1, got 0"),
        (([1] * 90, 8), "need room for 97 tokens, the context has 96"),
        (([1], 3, {"stop": ["a", ""]}), "stop must not hold an empty string"),
        (([1], 3, {"name": "mine"}), "name must be new"),
    ],
)
def test_bad_requests_are_refused_at_once(arguments, words):
    serving = engine()
    serving.submit([1], 1, name="mine")
    *given, options = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(ValueError, match="^" + ".*" + words):
        serving.submit(*given, **options)
    assert serving.metrics()["requests"] == 1


def test_a_request_that_never_fits_the_pool_or_the_budget_is_refused():
    with pytest.raises(ValueError, match="the pool has 32"):
        engine(blocks=8, block_size=4).submit([1] * 30, 4)
    with pytest.raises(ValueError, match="the budget of a step has 20"):
        engine(budget=20, chunked_prefill=False).submit([1] * 19, 3)


def test_model_and_tokenizer_must_fit():
    class Few:
        eos, vocabulary = 0, [b"", b"a"]

    with pytest.raises(ValueError, match="vocab must be at most 2, the tokenizer's, got 257"):
        Engine(model(), Few(), PARTS)


def test_a_full_queue_refuses():
    serving = engine(slots=1, queue=2)
    kept = [serving.submit([1], 4) for _ in range(2)]
    with pytest.raises(QueueFull, match="2 requests wait already"):
        serving.submit([1], 4)
    serving.step()
    kept.append(serving.submit([1], 4))  # one runs now
    with pytest.raises(QueueFull):
        serving.submit([1], 4, name="again")
    serving.run()
    kept.append(serving.submit([1], 4, name="again"))
    serving.run()
    assert {request.finish_reason for request in kept} == {"length"}
    assert (serving.metrics()["requests"], serving.metrics()["rejected"]) == (4, 2)


def test_lost_blocks_are_reported():
    """Kills an engine that would hide a leak of the pool it was given."""

    class Leaky(PrefixPool):
        def free(self, sequence):
            for block in self.tables[sequence][:1]:
                self.holders[block] += sequence != "all"  # somebody keeps it
            super().free(sequence)

    serving = engine(replace(PARTS, prefix_pool=Leaky), prefix_cache=False)
    serving.submit([1] * 10, 3)
    serving.run()
    with pytest.raises(RuntimeError, match="1 of 24 blocks were never freed"):
        serving.close()


@pytest.mark.parametrize(
    ("plan", "words"),
    [([], "schedules nothing, but 1 requests are not finished"), ([("request-1", 5)], "5 tokens, but it has 4")],
)
def test_a_wrong_scheduler_ends_in_a_sentence(plan, words):
    class Wrong(TokenBudgetScheduler):
        def schedule(self):
            super().schedule()
            return plan

    serving = engine(replace(PARTS, scheduler=Wrong))
    serving.submit([1] * 4, 2)
    with pytest.raises(RuntimeError, match=words):
        serving.run()


def test_a_failed_engine_tells_everybody():
    def broken(*_):
        raise ZeroDivisionError("no probabilities today")

    ended = []
    serving = engine(replace(PARTS, probabilities=broken), slots=1)
    requests = [serving.submit([1], 3, on_end=ended.append) for _ in range(2)]
    with pytest.raises(ZeroDivisionError) as error:
        serving.step()
    serving.fail(error.value)
    assert ended == requests
    assert {request.finish_reason for request in requests} == {"error"}
    with pytest.raises(RuntimeError, match="the engine has failed: no probabilities today"):
        serving.submit([1], 3)


def test_single_precision_and_bytes_serve_too():
    """The engine takes the model as it is; its pool has the model's type."""
    single = Engine(model().__class__(model().config), TOKENIZER, PARTS)
    request = single.submit(TOKENIZER.encode("Alice"), 4, ignore_eos=True)
    single.run()
    assert single.pool.keys.dtype == torch.float32
    assert len(request.output) == 4


def test_the_given_probabilities_are_used():
    """They get the logits of one request, [V], and its numbers."""
    seen = []

    def probabilities(logits, temperature, top_k, top_p):
        seen.append((tuple(logits.shape), temperature, top_k, top_p))
        return next_token_probabilities(logits, temperature, top_k, top_p)

    serving = engine(replace(PARTS, probabilities=probabilities))
    serving.submit([1], 1, temperature=0.5, top_k=9, top_p=0.75)
    serving.run()
    assert seen == [((257,), 0.5, 9, 0.75)]
