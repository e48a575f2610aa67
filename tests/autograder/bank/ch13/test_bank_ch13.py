"""Chapter 13's bank, estimates and memory: answers as the page prints them, and draws that tell slips apart."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from autograder import bank
from autograder.bank.ch13 import kl_estimates, tilted_policy
from autograder.items import Choice
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB
from solutions.ch13.kl import estimator_moments
from solutions.ch13.rlhf_memory import rlhf_bytes, role_bytes
from tests.wrong_programs import wrong

ITEMS: Mapping[str, object] = {item.id: item for item in bank.of_chapter("ch13")}


CHOSEN = {
    "13-who-learns": "the actor and the critic",
    "13-quietest": "k1",
    "13-loss-k1": "zero",
    "13-loss-k3": "the gradient of KL(reference||policy)",
    "13-8gpu-70b": "scoring alone, and GRPO with a rule and adapters",
}


@pytest.mark.parametrize("identifier", CHOSEN)
def test_the_options_of_the_table(identifier):
    item = ITEMS[identifier]
    assert isinstance(item, Choice)
    assert item.options[item.correct] == CHOSEN[identifier]


def test_what_eight_gpus_hold():
    """The option that is called right names what fits, and the sentences about the others hold."""
    count = LLAMA3_70B.parameters
    demands = {
        "PPO": rlhf_bytes("ppo", count)["total"],
        "GRPO with a rule": rlhf_bytes("grpo", count)["total"],
        "scoring alone": role_bytes(count, False)["total"],
        "GRPO with a rule and adapters": role_bytes(count, True, 0.001 * count)["total"],
    }
    assert [name for name, size in demands.items() if size <= 8 * 80 * GB] == [
        "scoring alone",
        "GRPO with a rule and adapters",
    ]
    assert demands["GRPO with a rule"] == pytest.approx(2 * 640 * GB, rel=0.02)
    assert demands["PPO"] == pytest.approx(4 * 640 * GB, rel=0.02)


def test_the_quieter_one_is_k1():
    far = (0.9, 0.05, 0.05), (1 / 3,) * 3
    assert estimator_moments(*far, "k1")[1] < estimator_moments(*far, "k3")[1]


@pytest.mark.parametrize("key", range(5))
def test_the_best_reward_is_out_of_reach(key):
    """Kills a group in which shifting by the largest of all rewards would do."""
    reference, rewards, beta = tilted_policy._unreachable(Random(key)).args
    assert reference[rewards.index(max(rewards))] == 0
    with pytest.raises(ZeroDivisionError):
        wrong("13-tilted-policy", "The largest reward has")(reference, rewards, beta)


@pytest.mark.parametrize("key", range(5))
def test_tiny_differences_need_expm1(key):
    log_p, log_q = kl_estimates._tiny(Random(key)).args
    d = log_p - log_q
    assert abs(wrong("13-kl-estimates", "use expm1")(log_p, log_q).k3 / (d * d / 2) - 1) > 1e-3


def test_a_rule_takes_no_bytes_and_a_model_for_it_does():
    assert (
        wrong("13-rlhf-bytes", "GRPO without a reward model")("grpo", 7e9)["total"] > rlhf_bytes("grpo", 7e9)["total"]
    )
