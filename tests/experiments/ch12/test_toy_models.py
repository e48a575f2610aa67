"""The tiny models: what the rollout hands on, and what the reward model learnt."""

from __future__ import annotations

from random import Random

import pytest
import torch

from experiments.ch12 import toy_models
from experiments.ch12.toy_models import CONFIG, GPT, LENGTH, generate, judged, prompt_rows, raw_scores, word_logits
from rankzero.grammar.toy_language import BOS, EOS, LONGEST, PAD, PROMPT, judge, read


@pytest.fixture(scope="module")
def model() -> GPT:
    return GPT(CONFIG, seed=5)


@pytest.fixture(scope="module")
def rollout(model):
    return generate(model, prompt_rows(40), LENGTH, torch.Generator().manual_seed(1))


def test_responses_end_once(rollout):
    """Padding behind the first <eos> and nowhere else; the mask counts the <eos>."""
    for tokens, mask in zip(rollout.tokens.tolist(), rollout.mask.tolist(), strict=True):
        response, real = tokens[PROMPT:], int(sum(mask))
        assert mask == [1.0] * real + [0.0] * (LENGTH - real)
        assert set(response[real:]) <= {PAD}
        assert not {PAD, BOS} & set(response[:real])
        assert (EOS in response) == (response[real - 1] == EOS)
        assert EOS not in response[: real - 1]
    assert 0 < rollout.mask.mean() < 1
    assert rollout.prompt_length == PROMPT


def test_what_sampling_noted_is_what_one_pass_finds(model, rollout):
    """The cache's log-probabilities against a loop over one sequence at a time, without a cache."""
    for row in range(5):
        for place in range(int(rollout.mask[row].sum())):
            before = rollout.tokens[row : row + 1, : PROMPT + place]
            law = word_logits(model, before)[0, -1].log_softmax(-1)
            token = rollout.tokens[row, PROMPT + place]
            assert rollout.log_probs[row, place].item() == pytest.approx(law[token].item(), abs=1e-5)
    assert (rollout.log_probs[rollout.mask == 0] == 0).all()


def test_the_same_seed_writes_the_same(model, rollout):
    again = generate(model, prompt_rows(40), LENGTH, torch.Generator().manual_seed(1))
    assert torch.equal(again.tokens, rollout.tokens)
    other = generate(model, prompt_rows(40), LENGTH, torch.Generator().manual_seed(2))
    assert not torch.equal(other.tokens, rollout.tokens)


def test_a_colder_sampler_has_another_law(model):
    cold = generate(model, prompt_rows(40), LENGTH, torch.Generator().manual_seed(1), temperature=0.5)
    law = word_logits(model, cold.tokens[:, :PROMPT])[:, -1]
    chosen = cold.tokens[:, PROMPT : PROMPT + 1]
    assert torch.allclose((law / 0.5).log_softmax(-1).gather(1, chosen)[:, 0], cold.log_probs[:, 0], atol=1e-5)
    assert not torch.allclose(law.log_softmax(-1).gather(1, chosen)[:, 0], cold.log_probs[:, 0], atol=1e-2)


def test_models_share_a_body_and_no_memory(model):
    for fresh in (toy_models.copied(model), toy_models.with_one_output(model, zero=True)):
        for name, value in fresh.named_parameters():
            if not name.startswith("head."):
                assert torch.equal(value, model.get_parameter(name))
                assert value.data_ptr() != model.get_parameter(name).data_ptr()
                assert value.requires_grad
    assert (fresh(prompt_rows(3)) == 0).all()


def test_a_score_is_read_at_the_end(model):
    """Kills the output at the last place, which is padding."""
    rewards = toy_models.with_one_output(model, seed=1)
    long = torch.tensor([read("the film was good .") + [PAD] * 9])
    assert torch.allclose(raw_scores(rewards, long), rewards(long[:, :7])[:, -1, 0], atol=1e-5)
    open_end = torch.tensor([read("the film was good", finished=False)])
    assert torch.allclose(raw_scores(rewards, open_end), rewards(open_end)[:, -1, 0])


def test_pairs_follow_the_judge_loosely(model):
    tokens = toy_models.sentences(4000, Random(3))
    chosen, rejected = toy_models.compared(tokens, seed=0)
    gap = judged(chosen) - judged(rejected)
    for size in (1, 2, 4):
        share = (gap == size).sum() / (gap.abs() == size).sum()
        assert share.item() == pytest.approx(torch.sigmoid(torch.tensor(float(size))).item(), abs=0.06)


def test_sentences_are_padded():
    rows = toy_models.sentences(20, Random(0))
    assert rows.shape == (20, LONGEST)
    assert [judge(row) for row in rows.tolist()] == judged(rows).tolist()


# Learning, with the models of the page: one process trains them, once.

trained = pytest.mark.xdist_group("rlhf runs")


@trained
def test_the_reference_speaks_the_language():
    """The stored weights."""
    tokens = toy_models.samples(toy_models.reference(), 500, seed=11)
    assert (tokens == EOS).any(1).float().mean() > 0.9
    assert -0.8 < judged(tokens).mean() < 0.4
    assert judged(toy_models.samples(GPT(CONFIG), 100, seed=11)).mean() < -5


@pytest.mark.proof(part="runs")
@trained
def test_the_stored_reference_is_what_training_gives():
    """Up to rounding, which machines do differently and 200 steps multiply."""
    tokens = toy_models.samples(toy_models.reference(), 200, seed=11)
    laws = [word_logits(one, tokens).softmax(-1) for one in (toy_models.trained(0, 200), toy_models.reference())]
    assert torch.allclose(*laws, atol=0.05)
    fresh = toy_models.trained_scorer(toy_models.trained(0, 200), 0, 100)
    assert torch.allclose(fresh(tokens), toy_models.scorer(toy_models.reference())(tokens), atol=0.3)


def test_weights_are_read_as_they_were_written(tmp_path, monkeypatch):
    model = toy_models.trained(3, 1)
    score = toy_models.scorer(model, 0, 1)
    monkeypatch.setattr(toy_models, "STORED", tmp_path / "weights.json")
    toy_models.store(model, score, toy_models.STORED)
    again, found = toy_models._read.__wrapped__()
    assert all(torch.equal(*pair) for pair in zip(again.parameters(), model.parameters(), strict=True))
    assert torch.equal(found(prompt_rows(3)), score(prompt_rows(3)))


@trained
def test_what_is_stored_is_that_of_the_defaults():
    """Kills the stored scorer for another loss, other steps or another model."""
    model = toy_models.reference()
    assert toy_models.scorer(model).model is toy_models.reward_model(model)
    assert toy_models.scorer(model, 0, 1) is not toy_models.scorer(model)
    assert toy_models.scorer(toy_models.trained(3, 1), 0, 1) is not toy_models.scorer(model, 0, 1)


@trained
def test_the_reward_model_ranks_as_the_judge_does():
    model = toy_models.reference()
    score = toy_models.scorer(model)
    assert toy_models.pair_accuracy(model, score, 400) > 0.85
    fresh = score(toy_models.samples(model, 1000, seed=21))
    assert fresh.mean().item() == pytest.approx(0, abs=0.15)
    assert fresh.std().item() == pytest.approx(1, abs=0.15)
    assert not any(value.requires_grad for value in score.model.parameters())


@trained
def test_it_is_wrong_where_it_was_not_trained():
    """A sentence that the judge condemns scores above a flawless one."""
    score = toy_models.scorer(toy_models.reference())
    flawless = torch.tensor([read("the song was fine and the film was very good .")])
    odd = torch.tensor([read("the game was fine fine fine great was fine fine fine great .")])
    assert (judged(odd).item(), judged(flawless).item()) == (-5, 2)
    assert score(odd) > score(flawless)


@pytest.mark.proof(part="runs")
@trained
def test_training_happens_once():
    """Kills a cache that takes a default for another argument."""
    model = toy_models.reference(0, 1)
    assert model is toy_models.reference(steps=1)
    assert toy_models.scorer(model, 0, 1) is toy_models.scorer(model, steps=1)
    assert toy_models.scorer(model, steps=1).model is toy_models.reward_model(model, 0, 1)


@pytest.mark.proof(part="runs")
@trained
def test_kept_on_disk(tmp_path, monkeypatch):
    """The second call trains nothing and gives the same models."""
    model, score = toy_models.kept(tmp_path)
    monkeypatch.setattr(toy_models, "reference", None)
    again, found = toy_models.kept(tmp_path)
    tokens = prompt_rows(3)
    assert torch.equal(again(tokens), model(tokens))
    assert torch.equal(found(tokens), score(tokens))
    assert [file.name for file in tmp_path.iterdir()] == ["opinion-0-200-100.pt"]
