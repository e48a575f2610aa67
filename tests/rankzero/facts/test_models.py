"""Parameter counts: published totals, and torch modules of the same shape that hold no memory."""

import pytest
import torch
from torch import nn

from rankzero.facts import models
from rankzero.facts.models import MODELS, Model
from solutions.ch07.experts import moe_parameters

#: Exact totals as counted on the released weights (or the released configuration on the meta device).
PUBLISHED = {
    models.GPT2_SMALL: 124_439_808,
    models.GPT2_XL: 1_557_611_200,
    models.LLAMA2_7B: 6_738_415_616,
    models.LLAMA2_13B: 13_015_864_320,
    models.LLAMA2_70B: 68_976_648_192,
    models.LLAMA3_8B: 8_030_261_248,
    models.LLAMA3_70B: 70_553_706_496,
    models.LLAMA3_405B: 405_853_388_800,
    models.LLAMA32_1B: 1_235_814_400,
    models.MISTRAL_7B: 7_241_732_096,
    models.MIXTRAL_8X7B: 46_702_792_704,
}


class Gated(nn.Module):
    """A SwiGLU block."""

    def __init__(self, hidden, ffn):
        super().__init__()
        self.gate, self.up = nn.Linear(hidden, ffn, bias=False), nn.Linear(hidden, ffn, bias=False)
        self.down = nn.Linear(ffn, hidden, bias=False)


class LlamaLayer(nn.Module):
    """Grouped-query attention, gated feed-forward blocks (behind a router if there are several), two RMSNorms."""

    def __init__(self, m):
        super().__init__()
        self.q = nn.Linear(m.hidden, m.heads * m.head_dim, bias=False)
        self.k = nn.Linear(m.hidden, m.kv_heads * m.head_dim, bias=False)
        self.v = nn.Linear(m.hidden, m.kv_heads * m.head_dim, bias=False)
        self.o = nn.Linear(m.heads * m.head_dim, m.hidden, bias=False)
        self.norms = nn.ModuleList(nn.RMSNorm(m.hidden) for _ in range(2))
        if m.experts:
            self.router = nn.Linear(m.hidden, m.experts, bias=False)
            self.experts = nn.ModuleList(Gated(m.hidden, m.expert_ffn) for _ in range(m.experts))
        else:
            self.ffn = Gated(m.hidden, m.ffn)


def llama(m):
    body = [nn.Embedding(m.vocab, m.hidden), *(LlamaLayer(m) for _ in range(m.layers)), nn.RMSNorm(m.hidden)]
    head = nn.Linear(m.hidden, m.vocab, bias=False)
    if m.tied_embeddings:
        head.weight = body[0].weight
    return nn.ModuleList([*body, head])


def gpt(m):
    """torch's own encoder layer has exactly the parameters of a GPT-2 block."""
    layers = (nn.TransformerEncoderLayer(m.hidden, m.heads, m.ffn) for _ in range(m.layers))
    tables = nn.Embedding(m.vocab, m.hidden), nn.Embedding(m.positions, m.hidden)
    return nn.ModuleList([*tables, *layers, nn.LayerNorm(m.hidden)])


def counted(m):
    with torch.device("meta"):
        module = gpt(m) if m.biases else llama(m)
    return sum(parameter.numel() for parameter in module.parameters())


def named(m):
    return m.name


@pytest.mark.parametrize("model", PUBLISHED, ids=named)
def test_counts_are_the_published_ones(model):
    assert model.parameters == PUBLISHED[model]


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_counts_are_those_of_torch_modules(model):
    assert model.parameters == counted(model)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_attention_is_counted_as_torch_counts_it(model):
    with torch.device("meta"):
        if model.biases:
            attention = nn.MultiheadAttention(model.hidden, model.heads)
        else:
            layer = LlamaLayer(model)
            attention = nn.ModuleList([layer.q, layer.k, layer.v, layer.o])
    assert model.attention_parameters == sum(parameter.numel() for parameter in attention.parameters())


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_shapes_are_consistent_and_have_a_source(model):
    assert model.heads % model.kv_heads == 0
    assert bool(model.experts) == bool(model.top_k) == bool(model.expert_ffn) == bool(model.moe_layers)
    assert model.moe_layers <= model.layers
    assert model.source


def test_records_are_all_listed_smallest_first():
    records = [value for value in vars(models).values() if isinstance(value, Model)]
    assert set(records) == set(MODELS)
    assert list(MODELS) == sorted(MODELS, key=lambda model: model.parameters)
    assert len({model.name for model in MODELS}) == len(MODELS)


def test_dense_layers_before_mixture_layers_and_shared_experts_count():
    """A shape by hand: 3 layers, 2 of them mixtures of 4 routed and 1 shared experts."""
    model = Model("toy", 3, 8, 2, 1, 4, 16, 10, experts=4, top_k=2, shared_experts=1, expert_ffn=6, moe_layers=2)
    attention = 8 * 8 + 2 * 8 * 4 + 8 * 8
    blocks = 3 * (attention + 2 * 8) + 3 * 8 * 16 + 2 * (5 * 3 * 8 * 6 + 8 * 4)
    assert model.parameters == 2 * 10 * 8 + blocks + 8


def test_what_a_token_uses_of_a_mixture():
    """The authors give 12.9 of 46.7 billion, and the chapter's own count agrees; a dense model uses all it has."""
    mixtral = models.MIXTRAL_8X7B
    assert mixtral.active_parameters / 1e9 == pytest.approx(12.9, abs=0.05)
    shared = mixtral.parameters - 32 * 8 * 3 * 4096 * 14_336
    assert moe_parameters(4096, 14_336, 8, 2, 32, shared) == (mixtral.parameters, mixtral.active_parameters)
    assert all(model.active_parameters == model.parameters for model in MODELS if not model.experts)
