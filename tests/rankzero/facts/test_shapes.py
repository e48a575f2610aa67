"""Shapes from a few numbers: published models come back exactly, and what is guessed stays close to the count."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B, MODELS
from rankzero.facts.shapes import shaped

#: Gated, with a head of their own: what the function makes.
RECORDS = [model for model in MODELS if model.gated and not model.tied_embeddings]
COMMON = ("layers", "hidden", "heads", "kv_heads", "head_dim", "vocab")


def sizes_of(model):
    """What describes a published model, without the width of its feed-forward."""
    mixture = {"experts": model.experts, "top_k": model.top_k} if model.experts else {}
    return {size: getattr(model, size) for size in COMMON} | mixture


def same(found, model):
    """Equal but for name and source."""
    return replace(found, name=model.name, source=model.source, ffn=model.ffn) == model and (
        bool(model.experts) or found.ffn == model.ffn
    )


@pytest.mark.parametrize("model", RECORDS, ids=lambda model: model.name)
def test_a_published_model_comes_back_from_its_sizes(model):
    width = {"expert_ffn": model.expert_ffn} if model.experts else {"ffn": model.ffn}
    assert same(shaped(**sizes_of(model), **width), model)
    assert same(shaped(model.parameters, **sizes_of(model), **width), model)


@pytest.mark.parametrize("model", RECORDS, ids=lambda model: model.name)
def test_its_width_follows_from_its_count(model):
    assert same(shaped(model.parameters, **sizes_of(model)), model)


def test_the_rule_s_proportions_are_those_of_llama_3_8b():
    """It is what the rule makes of its count, and of its layers and hidden size; the 70B has the same width."""
    assert same(shaped(LLAMA3_8B.parameters), LLAMA3_8B)
    assert same(shaped(layers=32, hidden=4096), LLAMA3_8B)
    assert same(shaped(layers=80, hidden=8192), LLAMA3_70B)


def test_heads_that_eight_does_not_divide_share_fewer_keys():
    assert shaped(layers=8, hidden=1536).kv_heads == 4
    assert shaped(layers=8, hidden=1152).kv_heads == 1
    assert shaped(layers=8, hidden=2048, heads=32).head_dim == 64
    assert shaped(layers=8, hidden=2048, head_dim=64).heads == 32


def test_the_experts_of_a_token_are_as_wide_as_a_dense_block():
    dense, mixture = shaped(layers=32, hidden=4096), shaped(layers=32, hidden=4096, experts=64, top_k=8)
    assert mixture.expert_ffn * 8 == dense.ffn
    assert mixture.active_parameters - dense.parameters == 32 * mixture.router_parameters
    assert shaped(layers=2, hidden=256, experts=4).top_k == 2
    assert shaped(layers=2, hidden=256, experts=1).top_k == 1


@given(st.floats(9, 14))
def test_a_bare_count_is_met(exponent):
    """To a thousandth, with whole heads on eight GPUs, and a width that is no caricature of the rule's."""
    asked = 10**exponent
    model = shaped(asked)
    assert model.parameters == pytest.approx(asked, rel=1e-3)
    assert model.hidden == 128 * model.layers == 128 * model.heads
    assert (model.heads % 8, model.kv_heads, model.ffn % 8) == (0, 8, 0)
    assert 1 / 3 < model.ffn / (3.5 * model.hidden) < 3


@given(st.floats(10, 13), st.sampled_from([(8, 2), (16, 2), (64, 8), (128, 8), (256, 8)]))
def test_a_bare_count_of_a_mixture_is_met(exponent, of):
    experts, top_k = of
    model = shaped(10**exponent, experts=experts, top_k=top_k)
    assert model.parameters == pytest.approx(10**exponent, rel=1e-2)
    assert (model.experts, model.top_k, model.moe_layers) == (experts, top_k, model.layers)
    assert 1 / 4 < top_k * model.expert_ffn / (3.5 * model.hidden) < 4


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({}, "parameters must be given, or layers and hidden, got None"),
        ({"parameters": 0}, "parameters must be a finite number > 0"),
        ({"parameters": 5e8}, "parameters must be at least 1,000,000,000, or come with layers and hidden"),
        ({"parameters": 2e9, "vocab": 10**6}, "parameters must be at least 2,081,768,448, or come with layers"),
        ({"parameters": 7e9, "layers": 32}, "layers must come with hidden, got 32"),
        ({"hidden": 4096}, "hidden must come with layers, got 4096"),
        ({"parameters": 7e9, "ffn": 11_008}, "ffn must come with layers and hidden, got 11008"),
        ({"layers": 0, "hidden": 128}, "layers must be an integer >= 1, got 0"),
        ({"layers": 80, "hidden": 8000}, "hidden must be a multiple of head_dim = 128 without heads, got 8000"),
        ({"layers": 80, "hidden": 8192, "heads": 60}, "heads must divide hidden = 8192 without head_dim, got 60"),
        ({"layers": 80, "hidden": 8192, "kv_heads": 7}, "kv_heads must divide heads = 64, got 7"),
        ({"parameters": 1e10, "layers": 80, "hidden": 8192}, "parameters must be at least 14,197,989,376 with these"),
        ({"parameters": 7e9, "layers": 80, "hidden": 8192, "ffn": 28_672}, "which make 70,553,706,496, got 7000000000"),
        ({"parameters": 7e9, "top_k": 2}, "top_k must come with experts, got 2"),
        ({"parameters": 7e9, "expert_ffn": 2048}, "expert_ffn must come with experts, got 2048"),
        ({"parameters": 7e9, "experts": 8, "top_k": 9}, "top_k must be at most experts = 8, got 9"),
        (
            {"parameters": 7e9, "experts": 8, "ffn": 4096},
            "ffn must be left out with experts, whose width is expert_ffn",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(sizes, sentence):
    with pytest.raises(ValueError) as caught:
        shaped(**sizes)
    assert sentence in str(caught.value)
