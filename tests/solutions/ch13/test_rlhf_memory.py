"""Memory by role: the page's numbers, chapter 5's formula, and bytes of real tensors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.ch13.rlhf_memory_runs import job_bytes
from rankzero.facts.models import LLAMA2_7B, LLAMA3_70B
from rankzero.tiny import GPT, GPTConfig
from solutions.ch05.zero import zero_memory
from solutions.ch13.rlhf_memory import rlhf_bytes, role_bytes

GB = 1e9
PARTS = ("weights", "gradients", "optimizer", "total")

sizes = st.floats(0, 1e13)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((7e9, True), (14, 14, 84, 112)),
        ((7e9, False), (14, 0, 0, 14)),
        ((7e9, True, 40e6), (14.08, 0.08, 0.48, 14.64)),
        ((7e9, True, 7e9), (14, 14, 84, 112)),
        ((0, True), (0, 0, 0, 0)),
    ],
)
def test_one_role(arguments, wanted):
    found = role_bytes(*arguments)
    assert [found[part] / GB for part in PARTS] == pytest.approx(wanted)


def test_a_published_model():
    assert LLAMA2_7B.parameters == 6_738_415_616
    assert role_bytes(LLAMA2_7B.parameters, True)["total"] / GB == pytest.approx(107.815, rel=1e-5)
    assert rlhf_bytes("ppo", LLAMA3_70B.parameters)["total"] == 36 * 70_553_706_496


@given(sizes, st.floats(0, 4), st.floats(0, 4), st.floats(0, 16))
def test_a_trained_role_is_an_unsliced_rank_of_chapter_5(parameters, weight, gradient, optimizer):
    found = role_bytes(parameters, True, None, weight, gradient, optimizer)["total"]
    assert found == pytest.approx(zero_memory(parameters, 0, 1, weight, gradient, optimizer))


@pytest.mark.parametrize(
    ("arguments", "settings", "total"),
    [
        (("ppo", 7e9), {}, 252),
        (("ppo", 7e9), {"masters": False}, 196),
        (("grpo", 7e9), {}, 126),
        (("grpo", 7e9), {"reward": 7e9}, 140),
        (("grpo", 7e9), {"reference": False}, 112),
        (("dpo", 7e9), {}, 126),
        (("ppo", 70e9), {}, 2520),
        (("ppo", 175e9, 6e9, 6e9), {}, 3258),  # the sizes of InstructGPT
        (("ppo", 7e9), {"reward": 0}, 238),
    ],
)
def test_whole_jobs(arguments, settings, total):
    found = rlhf_bytes(*arguments, **settings)
    assert found["total"] / GB == pytest.approx(total)
    assert found["total"] == sum(size for role, size in found.items() if role != "total")
    assert list(found) == ["policy", "critic", "reward", "reference", "total"]


def test_a_model_of_no_parameters_is_not_none():
    with pytest.raises(ValueError, match="critic must be None with dpo"):
        rlhf_bytes("dpo", 7e9, critic=0)


def test_real_tensors_of_four_models():
    """Weights, gradients, masters and moments of real models after a real step, byte for byte."""
    config = GPTConfig(vocab=20, layers=1, heads=2, head_dim=8, context=8)
    one = GPTConfig(vocab=20, layers=1, heads=2, head_dim=8, context=8, outputs=1)
    models = {"policy": GPT(config, 0), "critic": GPT(one, 1), "reward": GPT(one, 2), "reference": GPT(config, 3)}
    counts = {role: sum(weight.numel() for weight in model.parameters()) for role, model in models.items()}
    wanted = rlhf_bytes("ppo", counts["policy"], counts["critic"], counts["reward"])
    found = job_bytes(models, {"policy", "critic"})
    for role, parts in found.items():
        assert sum(size for part, size in parts.items() if part != "counters") == wanted[role]
        each = role_bytes(counts[role], role in ("policy", "critic"))
        assert [parts[part] for part in PARTS[:3]] == [each[part] for part in PARTS[:3]]
