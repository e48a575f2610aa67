"""The live runs of speculation: caches that forget, rules that go back, and laws. What they count is checked."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest
import torch

from experiments.ch11 import speculative_runs
from experiments.ch11.combined_runs import form_pair, masked_law, pairs_drawn, started, structured
from experiments.ch11.constrained_runs import SCHEMA, constraint_for
from experiments.ch11.speculation_law import law_of, plain_law
from experiments.ch11.speculative_runs import (
    Pair,
    Reader,
    acceptance,
    chi_square,
    continuations,
    generate,
    overlaps,
    probabilities,
    text_pieces,
    tiny_pair,
    traced_round,
    two_token_law,
    under,
)
from experiments.ch11.wrong_samplers import WRONG
from rankzero.grammar.json_validity import json_fault
from rankzero.tiny import GPT, ByteTokenizer, GPTConfig, one_thread
from solutions.ch11.speculative import speculative_step

PROMPT = ByteTokenizer().encode("Alice was ")

#: A form with few tokens in every state, so that a law over two of them has few outcomes.
MOODS = {"type": "object", "properties": {"mood": {"enum": ["calm", "cross", "glad", "happy", "kind", "sad", "tall"]}}}


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


@pytest.fixture(scope="module")
def random_pair() -> Pair:
    """Untrained models of 9 tokens, sharp enough to agree and to differ."""
    shapes = (GPTConfig(vocab=9, layers=2, heads=2, head_dim=8), GPTConfig(vocab=9, layers=1, heads=2, head_dim=8))
    target, draft = (GPT(shape, seed).eval().requires_grad_(False) for seed, shape in enumerate(shapes))
    return Pair(target, draft, 0.7)


@pytest.fixture(scope="module")
def forms():
    return constraint_for(SCHEMA)


def fresh(model: GPT, tokens, temperature: float) -> torch.Tensor:
    return probabilities(model(torch.tensor([list(tokens)]))[0], temperature)


# Caches.


def test_a_reader_that_forgets_reads_on_as_if_it_had_never_read(random_pair):
    reader = Reader(random_pair.target, 1.0)
    reader.rows([1, 2, 3, 4, 5, 6])
    reader.forget(3)
    found = reader.rows([1, 2, 3, 7, 8])
    torch.testing.assert_close(found, fresh(random_pair.target, [1, 2, 3, 7, 8], 1.0)[3:], rtol=1e-5, atol=1e-7)
    reader.forget(99)
    assert (reader.passes, reader.cache.length) == (2, 5)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("k", [1, 2, 4])
def test_every_row_of_a_run_is_that_of_its_context(random_pair, k):
    """Kills a cache that keeps rejected tokens, in either model: each round is computed again without one."""
    written = [1, 2, 3]

    def step(tokens, draft, target, uniforms):
        contexts = fresh(random_pair.target, [*written, *tokens], random_pair.temperature)[len(written) - 1 :]
        torch.testing.assert_close(torch.tensor(target, dtype=torch.float64), contexts, rtol=1e-4, atol=1e-6)
        drafted = fresh(random_pair.draft, [*written, *tokens], random_pair.temperature)[len(written) - 1 : -1]
        torch.testing.assert_close(torch.tensor(draft, dtype=torch.float64), drafted, rtol=1e-4, atol=1e-6)
        found = speculative_step(tokens, draft, target, uniforms)
        written.extend(found)
        return found

    run = generate(random_pair, [1, 2, 3], 40, k, step=step)
    assert len(set(run.emitted)) > 1
    assert run.tokens == tuple(written[3:])
    assert run.draft_passes == k * len(run.emitted)
    assert run.target_passes == len(run.emitted)
    assert sum(run.emitted) == len(run.tokens)


def test_without_a_draft_it_is_plain_sampling(random_pair):
    run = generate(random_pair, [1], 20, 0)
    assert (run.draft_passes, run.target_passes, run.tokens_per_round) == (0, 20, 1)


def test_at_temperature_0_it_is_greedy(random_pair):
    """Kills a tie between speed and text: the arg-max text comes out, whatever was drafted."""
    pair = Pair(random_pair.target, random_pair.draft, 0)
    text = [1]
    for _ in range(12):
        text.append(int(pair.target(torch.tensor([text]))[0, -1].argmax()))
    assert [*generate(pair, [1], 12, 3).tokens[:12]] == text[1:]


def test_a_perfect_draft_is_never_rejected(random_pair):
    pair = Pair(random_pair.target, random_pair.target, 0)
    assert set(generate(pair, [1], 30, 4).emitted) == {5}


def test_a_round_as_a_table(random_pair):
    rows = traced_round(random_pair, [1, 2], 4, seed=3)
    assert 1 <= len(rows) <= 5
    for row in rows[:-1]:
        assert row["verdict"] == "accepted"
        assert row["u"] * row["q"] < row["p"]
    assert rows[-1]["verdict"] in ("replaced", "one more")
    assert (rows[-1]["verdict"] == "one more") == (len(rows) == 5)


# Acceptance.


@pytest.mark.proof(part="runs")
def test_acceptance_is_measured_at_every_place():
    pair = tiny_pair()
    pieces = text_pieces(2, 8)
    p, q = (fresh(model, pieces[1, :4].tolist(), 1.0)[-1] for model in (pair.target, pair.draft))
    assert overlaps(pair, pieces)[1, 3].item() == pytest.approx(torch.minimum(p, q).sum().item(), abs=1e-6)
    assert acceptance(Pair(pair.target, pair.target)) == pytest.approx(1)
    assert 0.4 < acceptance(pair) < 0.9


# The stored pair.


def test_a_pair_there_and_back(tmp_path):
    """Kills weights that lose a digit, or land in another parameter."""
    fresh = Pair(GPT(speculative_runs.TARGET, 5), GPT(speculative_runs.DRAFT, 6))
    speculative_runs.store(
        Pair(*(one.requires_grad_(False) for one in (fresh.target, fresh.draft))), tmp_path / "pair.gz"
    )
    again = speculative_runs.stored_pair(tmp_path / "pair.gz")
    for kept, one in ((again.target, fresh.target), (again.draft, fresh.draft)):
        assert all(torch.equal(kept.state_dict()[name], value) for name, value in one.state_dict().items())
    assert not any(weight.requires_grad for weight in again.target.parameters())


def test_the_usual_pair_is_stored_and_another_is_trained():
    pair, untaught = tiny_pair(), tiny_pair(draft_steps=0)
    assert pair.target is speculative_runs.stored_pair().target is untaught.target
    assert acceptance(untaught) < 0.2 < 0.55 < acceptance(pair) < 0.75


@pytest.mark.proof(part="runs")
def test_the_stored_pair_is_what_its_training_gives():
    """Rounding differs from processor to processor, so it is compared by what the pair does."""
    new = Pair(
        speculative_runs.trained(speculative_runs.TARGET, speculative_runs.STEPS, 0),
        speculative_runs.trained(speculative_runs.DRAFT, speculative_runs.DRAFT_STEPS, 1),
    )
    assert acceptance(new) == pytest.approx(acceptance(tiny_pair()), abs=0.02)


# Laws on trained models.


def test_a_law_of_two_tokens_sums_to_one(random_pair):
    law = two_token_law(random_pair.target, [1, 2])
    assert sum(law.values()) == pytest.approx(1)
    row = fresh(random_pair.target, [1, 2], 1.0)[-1]
    assert sum(p for (first, _), p in law.items() if first == 4) == pytest.approx(row[4].item(), abs=1e-6)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("k", "count"), [(1, 4000), (3, 2000)])
def test_the_tiny_pair_passes_the_chi_square(k, count):
    """Thousands of continuations of two tokens, a fixed seed, threshold 0.001."""
    pair = tiny_pair()
    counts = continuations(pair, PROMPT, count, 2, k)
    assert sum(counts.values()) == count
    assert chi_square(counts, two_token_law(pair.target, PROMPT)).p_value > 0.001


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.proof(part="runs")
def test_a_wrong_sampler_fails_the_chi_square(name):
    pair = tiny_pair()
    counts = continuations(pair, PROMPT, 4000, 2, 1, step=WRONG[name])
    assert chi_square(counts, two_token_law(pair.target, PROMPT)).p_value < 0.001


def test_chi_square_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    law = {(0,): 0.5, (1,): 0.3, (2,): 0.19, (3,): 0.006, (4,): 0.004}
    found = chi_square({(0,): 240, (1,): 170, (2,): 83, (3,): 5, (4,): 2}, law)
    wanted = stats.chisquare([240, 170, 83, 7], [250, 150, 95, 5])
    assert (found.statistic, found.p_value, found.degrees) == (pytest.approx(wanted[0]), pytest.approx(wanted[1]), 3)


def test_chi_square_needs_something_to_compare():
    with pytest.raises(ValueError, match="probability 0"):
        chi_square({(7,): 1}, {(0,): 1.0})
    with pytest.raises(ValueError, match="two bins"):
        chi_square({(0,): 4}, {(0,): 1.0})


# Under a mask.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("k", "jump"), [(0, False), (4, False), (0, True), (4, True)])
def test_every_form_is_valid_at_every_limit(forms, k, jump):
    least = forms.state().distance()
    for more in range(0, 15, 3):
        run = structured(form_pair(), forms, least + more, k, jump, seed=more)
        assert run.tokens[-1] == forms.eos
        assert len(run.tokens) - 1 <= least + more
        assert json_fault(forms.text(run.tokens[:-1]), SCHEMA) is None
        assert sum(run.emitted) + run.forced == len(run.tokens)
    with pytest.raises(ValueError, match="at least"):
        structured(form_pair(), forms, least - 1, k, jump)


@pytest.mark.proof(part="runs")
def test_passes_fall_with_each_feature(forms):
    passes = {
        way: sum(structured(form_pair(), forms, 30, *way, seed).target_passes for seed in range(4))
        for way in ((0, False), (4, False), (0, True), (4, True))
    }
    assert passes[0, False] > passes[0, True] > passes[4, True]
    assert passes[0, False] > passes[4, False] >= passes[4, True]


@pytest.mark.parametrize("jump", [False, True])
def test_cache_and_automaton_go_back_together(forms, jump):
    """Each round's target rows are those of a model without cache, under a mask walked from the start."""
    pair, rounds = form_pair(), Counter[bool]()

    def step(tokens, draft, target, uniforms):
        known = [forms.eos, *rules.tokens[: len(rules.tokens) - len(tokens)]]
        rows = fresh(pair.target, [*known, *tokens], 1.0)[len(known) - 1 :]
        for place, row in enumerate(rows):
            there = started(forms, [*known[1:], *tokens[:place]], 30)
            if not there.finished:
                wanted = under(there.allowed(), row)
                torch.testing.assert_close(torch.tensor(target[place]).double(), wanted, rtol=1e-4, atol=1e-6)
        found = speculative_step(tokens, draft, target, uniforms)
        rounds[len(found) <= len(tokens)] += 1
        return found

    class Noted:
        """The rules, with the tokens behind which they stand."""

        def __init__(self):
            self.rules, self.tokens = started(forms, [], 30, jump), []

        finished = property(lambda self: self.rules.finished)

        def allowed(self):
            return self.rules.allowed()

        def forced(self):
            return self.rules.forced()

        def advance(self, token):
            self.rules.advance(token)
            self.tokens.append(token)

        def rollback(self, count):
            self.rules.rollback(count)
            del self.tokens[len(self.tokens) - count :]

    for seed in range(2):
        rules = Noted()
        run = generate(pair, [forms.eos], 31, 3, seed, step, rules)
        assert list(run.tokens) == rules.tokens
    assert rounds[True]
    assert rounds[False]


@pytest.fixture(scope="module")
def moods():
    made = constraint_for(MOODS)
    return made, list(b'{"mood":"')  # the first tokens are the bytes


def test_the_masked_law_is_a_law(moods):
    law = masked_law(form_pair(), *moods)
    assert sum(law.values()) == pytest.approx(1)


@pytest.mark.proof(part="runs")
def test_masked_speculation_follows_the_masked_target(moods):
    law = masked_law(form_pair(), *moods)
    counts = pairs_drawn(form_pair(), *moods, count=100, draft_length=2)
    assert chi_square(counts, law).p_value > 0.001


@pytest.mark.proof(part="runs")
def test_a_wrong_sampler_fails_under_a_mask_as_well(moods):
    law = masked_law(form_pair(), *moods)
    counts = pairs_drawn(form_pair(), *moods, count=300, draft_length=2, step=WRONG["residual"])
    assert chi_square(counts, law).p_value < 0.001


def test_a_bonus_from_the_wrong_row_breaks_the_grammar(forms):
    """Kills the guarantee itself: a row of another place allows tokens that are forbidden here."""

    def write_many():
        for seed in range(50):
            structured(form_pair(), forms, 30, 2, seed=seed, step=WRONG["bonus"])

    with pytest.raises(ValueError, match="allowed"):
        write_many()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_masked_law_exactly(k):
    """Enumerated: a small automaton over three tokens, masked rows that depend on the whole context."""
    edges = {0: {0: 1, 1: 2}, 1: {0: 1, 2: 2}, 2: {1: 0, 2: 1, 0: 2}}

    def masked(name):
        def row(context):
            rng, state = Random(f"{name} {context}"), 0
            for token in context:
                state = edges[state][token]
            weights = [rng.random() * (token in edges[state]) for token in range(3)]
            return [weight / sum(weights) for weight in weights]

        return row

    target = masked("p")
    found, wanted = law_of(speculative_step, masked("q"), target, k, 3), plain_law(target, 3)
    assert set(found) == set(wanted)
    assert max(abs(found[key] - wanted[key]) for key in wanted) < 1e-12


def test_outputs_are_read_by_json(forms):
    run = structured(form_pair(), forms, 30, 4, True, 1)
    assert set(json.loads(forms.text(run.tokens[:-1]))) == {"name", "age", "active"}
