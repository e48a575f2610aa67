"""What a layer stores and sends: published figures, what autograd really keeps, brute force, and laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional
from torch.utils.checkpoint import checkpoint_sequential

from rankzero.facts.models import GPT3_175B, LLAMA3_8B, LLAMA3_70B, Model
from rankzero.facts.units import GB, MB
from solutions.ch03.collective_cost import traffic
from solutions.ch06.activation_memory import activation_bytes
from solutions.ch06.activations import (
    best_segment,
    debug_traffic,
    padded_vocabulary,
    tensor_parallel_traffic,
)
from solutions.ch06.layer_memory import stored_by_layer

GPT3 = (2048, 1, 12_288, 96)
MODERN: dict[str, Any] = {"attention": "flash", "gated": True, "dropout": False}

# Published figures.


def test_a_gpt3_layer_is_34_and_5_as_over_h():
    """Korthikanti et al. (2022), table 2."""
    s, b, h, a = GPT3
    assert stored_by_layer(*GPT3) == s * b * h * (34 + 5 * a * s / h)
    assert 96 * stored_by_layer(*GPT3) / GB == pytest.approx(275.415, rel=1e-5)
    assert stored_by_layer(*GPT3, ranks=8) == s * b * h * (10 + 24 / 8 + 5 * a * s / (8 * h))
    assert stored_by_layer(*GPT3, ranks=8, sequence_parallel=True) == stored_by_layer(*GPT3) / 8
    assert stored_by_layer(*GPT3, recompute="full") == 2 * s * b * h


def test_both_techniques_together_save_five_times():
    """The same paper's abstract: sequence parallelism and selective recomputation reduce activations by 5x."""
    alone = stored_by_layer(*GPT3, ranks=8)
    both = stored_by_layer(*GPT3, ranks=8, sequence_parallel=True, recompute="selective")
    assert both == pytest.approx(106.954752 * MB)
    assert 5 <= alone / both <= 5.5


def test_a_llama_layer_is_41_units():
    assert stored_by_layer(8192, 1, 4096, 32, 14_336, 8, **MODERN) == 41 * 8192 * 4096
    split = stored_by_layer(8192, 1, 8192, 64, 28_672, 8, ranks=8, sequence_parallel=True, **MODERN)
    assert split == pytest.approx(3.39739e8, rel=1e-5)


@pytest.mark.parametrize("model", [GPT3_175B, LLAMA3_8B, LLAMA3_70B])
@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("split", [False, True])
def test_the_function_for_two_kinds_of_layer_agrees_with_that_for_all(model, recompute, split):
    shape = (8192, 1, model.hidden, model.heads, model.ffn, model.kv_heads, 8, split, recompute)
    whole = stored_by_layer(*shape, **(MODERN if model.gated else {}))
    assert activation_bytes(model, 8192, 8, split, recompute) == pytest.approx(whole, rel=1e-12)


def test_a_small_layer_counted_by_hand():
    """6.7: 256 + 64 + 256 + 512 bytes, and 160 for the attention matrix."""
    assert activation_bytes(Model("small", 1, 8, 2, 2, 4, 32, 100, gated=False), 4) == 1248


# What autograd keeps.


def kept_bytes(layer: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, weights: list[torch.Tensor]) -> int:
    """Bytes of the storages that the forward pass of ``layer`` saves, without the weights; each counts once."""
    known = {weight.untyped_storage().data_ptr() for weight in weights}
    found: dict[int, torch.Tensor] = {}

    def save(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in known:
            found[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with saved_tensors_hooks(save, lambda tensor: tensor):
        y = layer(x)
    assert y.requires_grad
    return sum(tensor.untyped_storage().nbytes() for tensor in found.values())


def drawn(*shape: int) -> torch.Tensor:
    return (0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))).bfloat16().requires_grad_()


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, flash: bool, dropout: float) -> torch.Tensor:
    if flash:
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    share = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(-1)
    return (functional.dropout(share, dropout) if dropout else share) @ v


def layer_bytes(
    s: int, b: int, h: int, a: int, ffn: int, kv: int, flash: bool, gated: bool, dropout: bool
) -> tuple[int, int]:
    """What autograd keeps for one layer in bf16, and which of it are small change: norm statistics, log-sum-exp."""
    d, rate = h // a, 0.1 if dropout else 0.0
    wq, wk, wv, wo = drawn(h, h), drawn(kv * d, h), drawn(kv * d, h), drawn(h, h)
    up, gate, down, gains = drawn(ffn, h), drawn(ffn, h), drawn(h, ffn), [drawn(h) for _ in range(4)]

    def dropped(x: torch.Tensor) -> torch.Tensor:
        return functional.dropout(x, rate) if dropout else x

    def layer(x: torch.Tensor) -> torch.Tensor:
        n = functional.layer_norm(x, (h,), gains[0], gains[1])
        q, k, v = (functional.linear(n, w).unflatten(-1, (-1, d)).transpose(1, 2) for w in (wq, wk, wv))
        y = attention(q, k, v, flash, rate).transpose(1, 2).flatten(2)
        x = x + dropped(functional.linear(y, wo))
        n = functional.layer_norm(x, (h,), gains[2], gains[3])
        inner = functional.linear(n, up)
        inner = functional.silu(functional.linear(n, gate)) * inner if gated else functional.gelu(inner)
        return x + dropped(functional.linear(inner, down))

    statistics = 2 * 2 * s * b * 2  # mean and deviation of two norms, bf16
    return kept_bytes(layer, drawn(b, s, h), [wq, wk, wv, wo, up, gate, down, *gains]), statistics


@pytest.mark.parametrize("shape", [(32, 2, 64, 4), (48, 1, 96, 6), (16, 3, 32, 2)])
def test_autograd_keeps_what_the_formula_says_of_a_classic_layer(shape):
    """To the byte, with the CPU's masks of two bytes."""
    _, _, h, a = shape
    found, statistics = layer_bytes(*shape, 4 * h, a, flash=False, gated=False, dropout=True)
    assert found - statistics == stored_by_layer(*shape, mask_bytes=2)


@pytest.mark.parametrize("shape", [(32, 2, 64, 4), (16, 3, 32, 2)])
def test_autograd_keeps_what_the_formula_says_without_dropout(shape):
    _, _, h, a = shape
    found, statistics = layer_bytes(*shape, 4 * h, a, flash=False, gated=False, dropout=False)
    assert found - statistics == stored_by_layer(*shape, dropout=False)


@pytest.mark.parametrize(("shape", "ffn", "kv"), [((32, 2, 64, 4), 176, 2), ((64, 1, 96, 6), 256, 3)])
def test_autograd_keeps_what_the_formula_says_of_a_modern_layer(shape, ffn, kv):
    """Grouped queries, a gate, flash attention with its log-sum-exp of four bytes."""
    s, b, _, a = shape
    found, statistics = layer_bytes(*shape, ffn, kv, flash=True, gated=True, dropout=False)
    assert found - statistics - 4 * a * s * b == stored_by_layer(*shape, ffn, kv, **MODERN)


# Laws of the memory.


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("attention", ["materialised", "flash"])
def test_splitting_never_stores_more(recompute, attention):
    shape: dict[str, Any] = {"recompute": recompute, "attention": attention}
    one = stored_by_layer(*GPT3, **shape)
    for ranks in (2, 3, 8):
        plain, parallel = (stored_by_layer(*GPT3, ranks=ranks, sequence_parallel=sp, **shape) for sp in (False, True))
        assert parallel == pytest.approx(one / ranks)
        assert parallel <= plain <= one


def test_batch_and_sequence_scale_memory():
    """Twice the batch stores twice as much, twice the sequence more than that: no multiple of the weights."""
    assert stored_by_layer(2048, 2, 12_288, 96) == 2 * stored_by_layer(*GPT3)
    assert stored_by_layer(4096, 1, 12_288, 96) > 2 * stored_by_layer(*GPT3)
    assert stored_by_layer(4096, 1, 12_288, 96, **MODERN) == 2 * stored_by_layer(2048, 1, 12_288, 96, **MODERN)
    assert stored_by_layer(0, 1, 8, 2) == stored_by_layer(1, 0, 8, 2) == 0


def test_flash_and_selective_recomputation_store_the_same():
    assert stored_by_layer(*GPT3, attention="flash") == stored_by_layer(*GPT3, recompute="selective")


# Traffic.


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 64])
def test_traffic_is_made_of_collectives(ranks):
    """Four all-reduces; with sequence parallelism 2 + 4 all-gathers and 2 + 2 reduce-scatters, each half of one."""
    tensor = 2 * 96 * 3 * 64
    wire = {name: traffic(name, tensor, ranks, 0)[0] for name in ("all_reduce", "all_gather", "reduce_scatter")}
    assert tensor_parallel_traffic(96, 3, 64, ranks) == pytest.approx(4 * wire["all_reduce"])
    assert tensor_parallel_traffic(96, 3, 64, ranks, backward=False) == pytest.approx(2 * wire["all_reduce"])
    split = 6 * wire["all_gather"] + 4 * wire["reduce_scatter"]
    assert tensor_parallel_traffic(96, 3, 64, ranks, sequence_parallel=True) == pytest.approx(split)
    forward = 2 * (wire["all_gather"] + wire["reduce_scatter"])
    options: dict[str, Any] = {"backward": False, "sequence_parallel": True}
    assert tensor_parallel_traffic(96, 3, 64, ranks, **options) == pytest.approx(forward)


def test_traffic_of_70b():
    assert tensor_parallel_traffic(4096, 1, 8192, 8) / MB == pytest.approx(469.762048)
    assert debug_traffic(4096, 1, 8192, 8) == tensor_parallel_traffic(4096, 1, 8192, 8)
    assert tensor_parallel_traffic(128, 3, 64, 3, 4) == 524_288


# Segments.


@pytest.mark.parametrize("layers", [1, 2, 7, 12, 60, 97])
@pytest.mark.parametrize(("layer", "checkpoint"), [(1, 1), (3, 2), (17, 1), (1, 40), (0, 5), (5, 0)])
def test_the_best_segment_is_that_of_brute_force(layers, layer, checkpoint):
    """Counts checkpoints one by one rather than by a formula."""
    peaks = {k: sum(checkpoint for first in range(0, layers, k)) + k * layer for k in range(1, layers + 1)}
    segment, peak = best_segment(layers, layer, checkpoint)
    assert peak == min(peaks.values())
    assert segment == min(k for k in peaks if peaks[k] == peak)


def test_segments_of_the_page():
    assert best_segment(100, 1, 1) == (10, 20.0)
    assert best_segment(96, stored_by_layer(*GPT3), stored_by_layer(*GPT3, recompute="full"))[0] == 1
    assert best_segment(80, 34 * 4096 * 8192, 2 * 4096 * 8192)[0] == 2


class Doubled(torch.nn.Module):
    """A layer that keeps two tensors as large as its input: the input of each sine."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(torch.sin(x))


@pytest.mark.parametrize("segment", [1, 2, 3, 4, 6, 12])
def test_checkpoints_keep_one_input_for_each_segment(segment):
    """``checkpoint_sequential`` keeps the inputs of its segments; it does not checkpoint the last one, which lives."""
    x = torch.randn(64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    size, model = x.numel() * 4, [Doubled() for _ in range(12)]
    segments = 12 // segment
    saved = kept_bytes(lambda x: checkpoint_sequential(model, segments, x, use_reentrant=False), x, [])
    inputs, live = (segments - 1) * size, segment * 2 * size
    assert saved == inputs + live
    peak = segments * size + segment * 2 * size  # the formula counts the last segment's input twice
    assert saved == peak - size
    assert best_segment(12, 2 * size, size)[1] <= peak


# The vocabulary.


def test_padded_vocabularies():
    """51,200 is Megatron-LM's GPT-2 on eight ranks."""
    assert padded_vocabulary(50_257, 8) == 51_200
    assert padded_vocabulary(50_257, 1) == 50_304
    assert padded_vocabulary(1, 1, 1) == 1
    for vocab, ranks, multiple in ((32_000, 8, 128), (128_256, 3, 64), (7, 2, 5), (1024, 8, 128)):
        padded, block = padded_vocabulary(vocab, ranks, multiple), ranks * multiple
        assert padded % block == 0
        assert padded - block < vocab <= padded
