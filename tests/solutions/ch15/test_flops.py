"""Parameters, FLOP and utilization: a torch module, torch's own counter, chapter 1's function and published figures."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from rankzero.facts import models
from solutions.ch01.scale import training_flops_per_token
from solutions.ch15.flops import parameter_count, training_flops, utilization

PUBLISHED = [
    (models.LLAMA3_405B, 405_853_388_800),
    (models.LLAMA3_70B, 70_553_706_496),
    (models.LLAMA3_8B, 8_030_261_248),
    (models.LLAMA2_7B, 6_738_415_616),
    (models.LLAMA32_1B, 1_235_814_400),
]


def shape_of(model: models.Model) -> tuple:
    sizes = (model.layers, model.hidden, model.heads, model.kv_heads, model.head_dim, model.ffn, model.vocab)
    return (*sizes, model.gated, model.tied_embeddings)


@pytest.mark.parametrize(("model", "count"), PUBLISHED, ids=lambda value: getattr(value, "name", None))
def test_five_released_models(model, count):
    assert parameter_count(*shape_of(model)) == model.parameters == count


class Layer(nn.Module):
    """A Llama layer as a module, for counting alone."""

    def __init__(self, hidden, heads, kv_heads, head_dim, ffn, gated):
        super().__init__()
        self.queries, self.output = (
            nn.Linear(hidden, heads * head_dim, False),
            nn.Linear(heads * head_dim, hidden, False),
        )
        self.keys, self.values = (nn.Linear(hidden, kv_heads * head_dim, False) for _ in range(2))
        self.up, self.down = nn.Linear(hidden, ffn, False), nn.Linear(ffn, hidden, False)
        self.gate = nn.Linear(hidden, ffn, False) if gated else None
        self.before, self.after = nn.RMSNorm(hidden), nn.RMSNorm(hidden)

    def forward(self, x, heads, head_dim):
        batch, length, _ = x.shape
        y = self.before(x)
        q, k, v = (
            m(y).view(batch, length, -1, head_dim).transpose(1, 2) for m in (self.queries, self.keys, self.values)
        )
        groups = heads // k.shape[1]
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        attended = torch.softmax(q @ k.transpose(-1, -2) * head_dim**-0.5, -1) @ v
        x = x + self.output(attended.transpose(1, 2).reshape(batch, length, -1))
        y = self.after(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("tied", [True, False])
def test_counts_the_parameters_of_a_module(gated, tied):
    layers, hidden, heads, kv_heads, head_dim, ffn, vocab = shape = (3, 48, 6, 2, 16, 100, 77)
    with torch.device("meta"):
        stack = [Layer(hidden, heads, kv_heads, head_dim, ffn, gated) for _ in range(layers)]
        ends = [nn.Embedding(vocab, hidden), nn.RMSNorm(hidden)]
        module = nn.ModuleList([*stack, *ends, *([] if tied else [nn.Linear(hidden, vocab, False)])])
    assert parameter_count(*shape, gated, tied) == sum(p.numel() for p in module.parameters())


def test_torch_counts_the_same_flops():
    """Forward and backward of a real small model, to the last FLOP: the counter takes the whole square of scores."""
    hidden, layers, heads, kv_heads, head_dim, ffn, vocab, batch, length = 256, 2, 8, 2, 32, 688, 1000, 2, 128
    torch.manual_seed(0)
    stack = nn.ModuleList([Layer(hidden, heads, kv_heads, head_dim, ffn, True) for _ in range(layers)])
    head, embedding = nn.Linear(hidden, vocab, False), nn.Embedding(vocab, hidden)
    tokens = torch.randint(vocab, (batch, length))
    with FlopCounterMode(display=False) as forward:
        x = embedding(tokens)
        for layer in stack:
            x = layer(x, heads, head_dim)
        y = head(x)
    with FlopCounterMode(display=False) as backward:
        y.sum().backward()
    counted = parameter_count(layers, hidden, heads, kv_heads, head_dim, ffn, vocab)
    matrices = counted - vocab * hidden - (2 * layers + 1) * hidden
    flops = training_flops(matrices, [(batch * length, length)], layers, heads * head_dim)
    assert forward.get_total_flops() == flops / 3 == 907_018_240
    assert forward.get_total_flops() + backward.get_total_flops() == flops == 2_721_054_720


tokens_and_lengths = st.tuples(st.floats(0, 1e13), st.integers(1, 10**6))


@given(
    st.floats(1e6, 1e13),
    st.lists(tokens_and_lengths, max_size=4),
    st.integers(0, 200),
    st.integers(0, 20_000),
    st.booleans(),
)
def test_phases_add_up_by_the_token(parameters, phases, layers, width, causal):
    """Chapter 1's function gives a token, this one a run. Kills a mean sequence length."""
    total = sum(t * training_flops_per_token(parameters, layers, width, s, causal) for t, s in phases)
    assert training_flops(parameters, phases, layers, width, causal) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "flops"),
    [
        ((174.6e9, [(300e9, 2048)]), 3.14280e23),  # the GPT-3 paper prints 3.14e23
        ((403_752_042_496, [(15.6e12, 8192)]), 3.77912e25),  # the Llama 3 paper's budget is 3.8e25
        ((403_752_042_496, [(15.6e12, 8192)], 126, 16_384), 4.09570e25),
        ((403_752_042_496, [(15.6e12, 8192)], 126, 16_384, True), 3.93741e25),
        ((403_752_042_496, [(14.8e12, 8192), (0.8e12, 131_072)], 126, 16_384), 4.33923e25),
        ((403_752_042_496, [(14.8e12, 8192), (0.8e12, 131_072)], 126, 16_384, True), 4.05917e25),
        ((1e9, []), 0.0),
    ],
)
def test_runs_of_the_page(arguments, flops):
    assert training_flops(*arguments) == pytest.approx(flops, rel=2e-6)


def test_published_utilizations():
    """PaLM prints 46.2 %; Llama 3.1 405B 43, 41 and 38 %, with rates rounded to tens of TFLOP/s."""
    assert utilization(238_300, 3.27563e12, 6144, 275e12)[0] == pytest.approx(0.462, abs=5e-4)
    assert utilization(238_300, 3.27563e12, 6144, 275e12, 1.0)[1] == pytest.approx(0.615991, rel=1e-5)
    for rate, printed in ((430e12, 0.43), (400e12, 0.41), (380e12, 0.38)):
        low, high = (utilization((rate + e) / 1e9, 1e9, 1, 989.4e12)[0] for e in (-5e12, 5e12))
        assert low < printed + 0.005
        assert high > printed - 0.005


@given(st.floats(1, 1e9), st.floats(1e6, 1e13), st.integers(1, 10**5), st.floats(1e12, 1e16), st.floats(0, 1))
def test_hfu_is_mfu_and_what_is_done_again(rate, per_token, gpus, peak, again):
    mfu, hfu = utilization(rate, per_token, gpus, peak, again)
    assert hfu == pytest.approx(mfu * (1 + again / 3), rel=1e-12)
    assert utilization(rate, per_token, gpus, peak)[1] == mfu
