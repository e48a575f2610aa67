"""What several questions of chapter 6 compute with."""

from __future__ import annotations

from autograder.items import lazily
from rankzero.facts.models import GPT3_175B, LLAMA3_70B

activations, layer_memory = lazily("solutions.ch06.activations"), lazily("solutions.ch06.layer_memory")

GPT3_LAYERS, GPT3_HIDDEN, GPT3_HEADS = GPT3_175B.layers, GPT3_175B.hidden, GPT3_175B.heads
GPT3_SEQUENCE = 2048


def gpt3_layer(**options: object) -> float:
    """Bytes of one GPT-3 layer at one sequence of 2,048 tokens."""
    return layer_memory.stored_by_layer(GPT3_SEQUENCE, 1, GPT3_HIDDEN, GPT3_HEADS, **options)


LAYERS, HIDDEN = LLAMA3_70B.layers, LLAMA3_70B.hidden
SEQUENCE, RANKS = 4096, 8


def layer_bytes(**options: bool) -> float:
    """What a rank sends for one layer of the 70B shape."""
    return activations.tensor_parallel_traffic(SEQUENCE, 1, HIDDEN, RANKS, **options)


def step_bytes(**options: bool) -> float:
    return LAYERS * layer_bytes(**options)
