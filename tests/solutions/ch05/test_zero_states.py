"""Bytes per parameter of a recipe, against the bytes of real weights, gradients and optimizer states."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from solutions.ch05.zero import MOMENTS, NUMBER_BYTES, state_bytes, zero_memory

TORCH = {
    "fp32": torch.float32,
    "tf32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp8": torch.float8_e4m3fn,
    "int8": torch.int8,
}
ELEMENTS = 96


def bytes_kept(compute: str, gradient: str, optimizer: str) -> tuple[float, float, float]:
    """Bytes per element of tensors in these types, with the fp32 states of a real optimizer after a step."""
    weights = torch.zeros(ELEMENTS).to(TORCH[compute])
    gradients = torch.zeros(ELEMENTS).to(TORCH[gradient])
    stepped = torch.ones(ELEMENTS, requires_grad=True)  # the weights themselves, or their master copy
    stepped.grad = torch.ones(ELEMENTS)
    made = {
        "adam": lambda: torch.optim.AdamW([stepped]),
        "momentum": lambda: torch.optim.SGD([stepped], lr=0.1, momentum=0.9),
        "sgd": lambda: torch.optim.SGD([stepped], lr=0.1),
    }[optimizer]()
    made.step()
    moments = sum(t.nbytes for t in made.state[stepped].values() if torch.is_tensor(t) and t.numel() == ELEMENTS)
    copy = stepped.nbytes if weights.dtype != torch.float32 else 0
    return weights.nbytes / ELEMENTS, gradients.nbytes / ELEMENTS, (moments + copy) / ELEMENTS


@pytest.mark.parametrize(("compute", "optimizer"), list(product(TORCH, MOMENTS)))
def test_counts_the_bytes_of_a_real_optimizer(compute, optimizer):
    for gradient in TORCH:
        assert state_bytes(compute, gradient, optimizer) == bytes_kept(compute, gradient, optimizer)
    assert state_bytes(compute, optimizer=optimizer) == bytes_kept(compute, compute, optimizer)


@pytest.mark.parametrize(("kind", "dtype"), TORCH.items())
def test_number_bytes_are_those_of_torch(kind, dtype):
    assert NUMBER_BYTES[kind] == dtype.itemsize


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (2, 2, 12)),
        ({"master": False}, (2, 2, 8)),
        ({"gradient": "fp32"}, (2, 4, 12)),
        ({"compute": "fp32"}, (4, 4, 8)),
        ({"moment": "bf16", "master": False}, (2, 2, 4)),
        ({"moment": "int8"}, (2, 2, 6)),
        ({"compute": "fp8", "gradient": "bf16"}, (1, 2, 12)),
        ({"compute": "fp32", "optimizer": "sgd"}, (4, 4, 0)),
        ({"compute": "fp32", "master": True}, (4, 4, 12)),
    ],
)
def test_page_values(settings, expected):
    assert state_bytes(**settings) == expected


def test_published_sums():
    """16 in the ZeRO paper's section 3.1, 18 in Megatron's estimator, and mixed precision saves no state."""
    assert sum(state_bytes()) == sum(state_bytes("fp32")) == 16
    assert sum(state_bytes(gradient="fp32")) == 18


def test_a_recipe_goes_straight_into_the_memory():
    assert zero_memory(7e9, 1, 64, *state_bytes(gradient="fp32")) == pytest.approx(7e9 * (6 + 12 / 64), rel=1e-12)


@pytest.mark.parametrize("compute", TORCH)
def test_a_forced_master_is_the_only_difference(compute):
    """Kills: a flag that is not used."""
    without, forced = (state_bytes(compute, master=master) for master in (False, True))
    assert (forced[0], forced[1], forced[2] - without[2]) == (without[0], without[1], 4)
    assert state_bytes(compute) == (without if TORCH[compute] == torch.float32 else forced)
