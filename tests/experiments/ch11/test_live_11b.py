"""The live runs under a constraint: thousands of texts, judged by readers of JSON; the law of what is drawn; passes."""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random
from typing import Any

import pytest
import torch

from experiments.ch11.constrained_runs import SCHEMA, Constraint, bpe_model, constraint_for, generate, text_laws, write
from rankzero.grammar.json_automaton import JsonConstraint
from rankzero.grammar.json_validity import json_fault
from rankzero.tiny.text import BpeTokenizer
from solutions.ch11.masking import mask_logits

TOKENIZER = BpeTokenizer()
#: Texts of a test, a twentieth of them in ``make test``.
few_or_many = pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.proof(part="runs"))])
LIST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"enum": ["tea", "hat", 'a "b"', "größe"]}, "maxItems": 3},
        "next": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
    },
    "required": ["tags", "next"],
    "additionalProperties": False,
}
FREE: dict[str, Any] = {"type": "array", "items": {"type": "string", "maxLength": 12}, "maxItems": 4}


@pytest.fixture(scope="module")
def untrained():
    return bpe_model(steps=0)


@pytest.fixture(scope="module")
def forms() -> dict[str, Constraint]:
    return {name: constraint_for(schema) for name, schema in {"form": SCHEMA, "list": LIST, "free": FREE}.items()}


def limits_of(form: Constraint, count: int) -> list[int]:
    """Every limit from the fewest tokens that the form needs to 20 more, again and again."""
    least = form.state().distance()
    return list(itertools.islice(itertools.cycle(range(least, least + 21)), count))


# Thousands of texts.


@few_or_many
@pytest.mark.parametrize(("name", "schema"), [("form", SCHEMA), ("list", LIST), ("free", FREE)])
def test_random_choices_within_every_limit(forms, name, schema, count):
    """Texts of random tokens: each fits its limit, ``json.loads`` reads it, ``jsonschema`` has no complaint."""
    form, seen = forms[name], set()
    state = form.state()
    for seed, limit in enumerate(limits_of(form, count)):
        rng, tokens = Random(seed), []
        while not state.finished:
            tokens.append(rng.choice(state.allowed(limit - len(tokens))))
            state.advance(tokens[-1])
        state.rollback(len(tokens))
        assert len(tokens) - 1 <= limit
        assert json_fault(form.text(tokens[:-1]), schema) is None
        seen.add(len(tokens) - 1)
    assert len(seen) > 5  # the budget leaves room


@few_or_many
@pytest.mark.parametrize(("name", "schema"), [("form", SCHEMA), ("list", LIST)])
def test_an_untrained_model_within_every_limit(untrained, forms, name, schema, count):
    """Texts drawn from a model that has learnt nothing."""
    form = forms[name]
    limits = limits_of(form, count // 2)
    for limit, one in zip(limits, generate(untrained, form, limits, seed=5), strict=True):
        assert one.finished
        assert len(one.tokens) <= limit
        assert json_fault(form.text(one.tokens), schema) is None


@few_or_many
def test_any_json_within_every_limit(count):
    """Texts of random tokens with a stack in place of an automaton, at limits from a single token."""
    state = JsonConstraint(TOKENIZER.vocabulary, TOKENIZER.eos)
    for seed in range(count):
        rng, limit, tokens = Random(seed), 1 + seed % 40, []
        while not state.finished:
            tokens.append(rng.choice(state.allowed(limit - len(tokens))))
            state.advance(tokens[-1])
        state.rollback(len(tokens))
        assert len(tokens) - 1 <= limit
        assert json_fault(b"".join(TOKENIZER.vocabulary[token] for token in tokens).decode()) is None


def test_the_plain_mask_breaks_at_the_limit(untrained, forms):
    """Kills a budget that does nothing: without it many texts are cut, and all of them are beginnings of valid ones."""
    form = forms["form"]
    limits = limits_of(form, 63)
    cut = [one for one in generate(untrained, form, limits, seed=5, budget=False) if not one.finished]
    assert len(cut) > 10
    assert all(json_fault(form.text(one.tokens), SCHEMA) for one in cut)
    assert all(form.dfa.run(form.text(one.tokens).encode()) is not None for one in cut)


# How they are drawn.


@pytest.mark.proof(part="runs")
def test_what_is_drawn_follows_the_masked_model(untrained):
    """Two tokens, their exact law by enumeration, and 4,000 draws: chi-square at 0.001."""
    form = constraint_for("[ab][cd]")
    laws = text_laws(untrained, form, [TOKENIZER.eos])
    drawn = Counter(form.text(one.tokens) for one in generate(untrained, form, [2] * 4000, seed=1))
    assert set(drawn) <= set(laws)
    bins = [(4000 * law.masked, drawn[text]) for text, law in laws.items()]
    assert all(expected >= 5 for expected, _ in bins)
    assert sum((seen - expected) ** 2 / expected for expected, seen in bins) < 16.27  # three degrees of freedom


def test_one_by_one_and_in_a_batch_see_the_same_masks(untrained, forms):
    form = forms["form"]
    written, steps = write(untrained, form, 30, seed=4)
    state, place = form.state(), form.dfa.start
    for number, step in enumerate(steps):
        assert step.state == place
        assert step.allowed == len(state.allowed(30 - number))
        state.advance(step.token)
        place = form.index[place].get(step.token, place)
    assert written.passes == len(steps) == len(written.tokens) + 1
    assert json_fault(form.text(written.tokens), SCHEMA) is None


def test_jump_forward_changes_nothing_but_the_passes(untrained, forms):
    form = forms["form"]
    for seed in range(3):
        slow, _ = write(untrained, form, 32, seed)
        fast, steps = write(untrained, form, 32, seed, jump=True)
        assert fast.tokens == slow.tokens
        assert fast.passes == sum(not step.forced for step in steps) < slow.passes


# Laws.


def test_laws_are_those_of_all_ways_to_spell(untrained):
    """Beside an enumeration that masks nothing: every sequence of tokens that spells a text, by the model alone."""
    form, prompt = constraint_for("ab|c"), TOKENIZER.encode("Alice")
    laws = text_laws(untrained, form, prompt)
    free = dict.fromkeys(("ab", "c"), 0.0)
    with torch.no_grad():
        for text in free:
            for way in spellings(text.encode()):
                chance, tokens = 1.0, list(prompt)
                for token in (*way, TOKENIZER.eos):
                    chance *= untrained(torch.tensor([tokens]))[0, -1].double().softmax(-1)[token].item()
                    tokens.append(token)
                free[text] += chance
    for text, law in laws.items():
        assert law.conditioned == pytest.approx(free[text] / sum(free.values()), rel=1e-5)
    assert sum(law.masked for law in laws.values()) == pytest.approx(1)


def spellings(text: bytes) -> list[tuple[int, ...]]:
    """Every way to cut ``text`` into tokens."""
    if not text:
        return [()]
    return [
        (token, *rest)
        for token, one in enumerate(TOKENIZER.vocabulary)
        if one and text.startswith(one)
        for rest in spellings(text[len(one) :])
    ]


@pytest.mark.proof(part="runs")
def test_a_mask_is_no_condition():
    """The chapter's example in the model itself: a first step that is likely, and an end that is not."""
    taught = bpe_model(steps=60)
    laws = text_laws(taught, constraint_for(" the ox| Bill"), TOKENIZER.encode("Alice saw"))
    assert laws[" the ox"].masked > 0.5 > 0.01 > laws[" the ox"].conditioned


def test_shares_count_the_end(forms):
    form = forms["form"]
    shares = form.shares()
    (end,) = form.dfa.accepting
    assert shares[end] == 1 / len(TOKENIZER.vocabulary)
    assert min(shares.values()) > 0


def test_a_mask_of_logits_is_the_mask_of_the_run(untrained, forms):
    """The page hands its own ``mask_logits`` in; another function is used just the same."""
    seen = []

    def mask(logits, allowed):
        seen.append(len(allowed))
        return mask_logits(logits, allowed)

    _, steps = write(untrained, forms["form"], 30, seed=1, mask=mask)
    assert seen == [step.allowed for step in steps]
