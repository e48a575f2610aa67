"""Published trainings: numbers as the papers print them, and ratios as the literature quotes them."""

from __future__ import annotations

import pytest

from rankzero.facts import models
from rankzero.facts.scaling_laws import BESIROGLU, CHINCHILLA, FITS, GOPHER, GPT3, HOFFMANN, LLAMA3_405B, TRAININGS

#: Billions of parameters and of tokens, and tokens per parameter, worked out by hand.
PRINTED = {
    "GPT-3": (175, 300, 1.714),
    "Gopher": (280, 300, 1.071),
    "Chinchilla": (70, 1400, 20),
    "Llama 2 7B": (6.738, 2000, 296.8),
    "Llama 2 70B": (68.977, 2000, 29.0),
    "Llama 3 8B": (8.030, 15_000, 1868),
    "Llama 3.1 405B": (405.853, 15_600, 38.4),
}


@pytest.mark.parametrize("training", TRAININGS, ids=lambda one: one.name)
def test_numbers_are_the_printed_ones(training):
    parameters, tokens, ratio = PRINTED[training.name]
    assert training.parameters / 1e9 == pytest.approx(parameters, abs=5e-4)
    assert training.tokens / 1e9 == tokens
    assert training.tokens_per_parameter == pytest.approx(ratio, rel=2e-3)
    assert "arXiv" in training.source or "model card" in training.source


def test_every_model_is_there_once():
    assert [one.name for one in TRAININGS] == list(PRINTED)


def test_exact_counts_are_those_of_the_shapes():
    known = {model.name: model.parameters for model in models.MODELS}
    assert all(one.parameters == known[one.name] for one in TRAININGS if one.exact)
    assert {one.name for one in TRAININGS if not one.exact} == {"GPT-3", "Gopher", "Chinchilla"}


def test_budgets_are_those_that_the_papers_name():
    """GPT-3's 3.14e23 FLOP, Gopher's and Chinchilla's 5.76e23 (to a few percent), Llama 3's 3.8e25."""
    for training, flops in ((GPT3, 3.14e23), (GOPHER, 5.76e23), (CHINCHILLA, 5.76e23), (LLAMA3_405B, 3.8e25)):
        assert training.flops == pytest.approx(flops, rel=0.15)


def test_fits_are_named_and_shaped_alike():
    assert FITS == (HOFFMANN, BESIROGLU)
    for fit in FITS:
        assert 1.5 < fit.floor < 2
        assert 0 < fit.beta < 1 > fit.alpha > 0
        assert fit.name.split(" (")[0] in fit.source
