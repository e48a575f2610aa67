"""What several questions of chapter 6 compute with."""

from __future__ import annotations

from autograder.items import lazily
from rankzero.facts.models import GPT3_175B, LLAMA3_70B

activations = lazily("solutions.ch06.activations")

GPT3_LAYERS, GPT3_HIDDEN, GPT3_HEADS = GPT3_175B.layers, GPT3_175B.hidden, GPT3_175B.heads
GPT3_SEQUENCE = 2048


def gpt3_layer(**options: object) -> float:
    """Bytes of one GPT-3 layer at one sequence of 2,048 tokens."""
    return activations.activation_bytes(GPT3_SEQUENCE, 1, GPT3_HIDDEN, GPT3_HEADS, **options)


LAYERS, HIDDEN = LLAMA3_70B.layers, LLAMA3_70B.hidden
SEQUENCE, RANKS = 4096, 8


def layer_bytes(**options: bool) -> float:
    """What a rank sends for one layer of the 70B shape."""
    return activations.tensor_parallel_traffic(SEQUENCE, 1, HIDDEN, RANKS, **options)


def step_bytes(**options: bool) -> float:
    return LAYERS * layer_bytes(**options)
