"""Chapter 13's tensor items, in this process: no key lets a slip pass, and right programs of another kind pass."""

from __future__ import annotations

from random import Random

import pytest
import torch

from autograder import compare, trusted_worlds
from autograder.bank.ch13_tensors import ITEMS
from autograder.items import Build, Case
from autograder.outcome import Outcome

BUILDS = {item.function: item for item in ITEMS if isinstance(item, Build)}
SLIPS = [(item, slip) for item in BUILDS.values() for slip in item.slips]
KEYS = range(6)


def run(item: Build, program, cases: list[Case]) -> list[Outcome]:
    """As in a world of one rank, without the processes."""
    outcomes = []
    for case in cases:
        (kind, value, arguments, _, _), _ = trusted_worlds._answer(program, case, case.args, item.probe)
        plain = kind == "value"
        outcomes.append(Outcome("value", value, arguments=arguments) if plain else Outcome(kind, error=value or ""))
    return outcomes


def drawn(item: Build, key: int) -> list[Case]:
    return [*item.cases, *(case for _, cases in item.hidden(Random(f"key {key}")) for case in cases)]


def faults(item: Build, program, key: int) -> list[str | None]:
    cases = drawn(item, key)
    rows = zip(cases, run(item, item.solution(), cases), run(item, program, cases), strict=True)
    return [compare.fault(item, *row) for row in rows]


@pytest.mark.parametrize("item", BUILDS.values(), ids=lambda item: item.id)
def test_the_reference_answers_as_the_cases_say(item):
    for key in KEYS:
        cases = drawn(item, key)
        for case, outcome in zip(cases, run(item, item.solution(), cases), strict=True):
            assert (outcome.kind, outcome.error) == (("raised", case.raises) if case.raises else ("value", ""))


@pytest.mark.filterwarnings("ignore:var:UserWarning")
@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=lambda one: getattr(one, "id", "") or one.program.__name__)
def test_no_key_lets_a_slip_pass(item, slip):
    """Two wrong answers among the hidden cases at least, so that it can be named."""
    public = len(item.cases)
    for key in KEYS:
        assert sum(fault is not None for fault in faults(item, slip.program, key)[public:]) >= 2, key


# Right programs that are written otherwise: what the docstring leaves open, the cases must not decide.


def checked(mask, *others):
    if any(other.shape != mask.shape for other in others) or (mask.sum(1) == 0).any():
        raise ValueError("shapes")


def mask_by_loop(tokens, eos):
    made = torch.zeros(tokens.shape)
    for row, line in enumerate(tokens.tolist()):
        for place, token in enumerate(line):
            made[row, place] = 1
            if token == eos:
                break
    return made


def log_probs_by_loss(logits, tokens, prompt_length):
    if prompt_length < 1 or prompt_length >= tokens.shape[1]:
        raise ValueError("prompt_length")
    flat = logits[:, :-1].transpose(1, 2)
    return -torch.nn.functional.cross_entropy(flat, tokens[:, 1:], reduction="none")[:, prompt_length - 1 :]


def rewards_by_loop(scores, log_probs, ref_log_probs, mask, beta):
    checked(mask, log_probs, ref_log_probs)
    if beta < 0 or scores.shape != (len(mask),):
        raise ValueError("out of range")
    made = torch.zeros_like(log_probs)
    for row in range(len(mask)):
        real = mask[row].nonzero().flatten()
        made[row, real] = -beta * (log_probs[row, real] - ref_log_probs[row, real])
        made[row, real[-1]] += scores[row]
    return made


def gae_by_rows(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    checked(mask, rewards, values)
    if not 0 <= discount <= 1 or not 0 <= gae_lambda <= 1:
        raise ValueError("out of range")
    advantages, returns = torch.zeros_like(rewards), torch.zeros_like(rewards)
    for row in range(len(mask)):
        real = mask[row].nonzero().flatten().tolist()
        following, after = 0.0, 0.0
        for place in reversed(real):
            following = rewards[row, place] + discount * after - values[row, place] + discount * gae_lambda * following
            after = values[row, place]
            advantages[row, place], returns[row, place] = following, following + after
    return advantages, returns


def whiten_by_index(values, mask, eps=1e-8):
    checked(mask, values)
    real, made = values[mask.bool()], torch.zeros_like(values)
    made[mask.bool()] = (real - real.mean()) / (real.var(correction=0) + eps).sqrt()
    return made


def policy_by_index(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    checked(mask, log_probs, old_log_probs, advantages)
    if clip <= 0:
        raise ValueError("out of range")
    real = mask.bool()
    step, gain = log_probs[real] - old_log_probs[real], advantages[real]
    ratio = step.exp()
    high = (gain > 0) & (ratio > 1 + clip)
    low = (gain < 0) & (ratio < 1 - clip)
    kept = torch.where(high, 1 + clip, torch.where(low, 1 - clip, ratio))
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    with torch.no_grad():
        parts = ((ratio - 1).abs() > clip).float(), (high | low).float(), ratio - 1 - step
        stats = kind(*(part.mean().item() for part in parts))
    return -(kept * gain).mean(), stats


def value_by_index(values, old_values, returns, mask, clip=0.2):
    checked(mask, values, old_values, returns)
    if clip <= 0:
        raise ValueError("out of range")
    real = mask.bool()
    new, old, meant = values[real], old_values[real], returns[real]
    held = new.clamp(old - clip, old + clip)
    return torch.stack([(new - meant) ** 2, (held - meant) ** 2]).amax(0).mean() / 2


def preference_by_softplus(chosen, rejected):
    if chosen.shape != rejected.shape or chosen.numel() == 0:
        raise ValueError("pairs")
    return torch.nn.functional.softplus(rejected - chosen).mean()


def groups_by_loop(rewards, group_size, normalize=True, eps=1e-4):
    if group_size < 2 or len(rewards) % group_size:
        raise ValueError("groups")
    made = []
    for group in rewards.split(group_size):
        made.append((group - group.mean()) / (group.std() + eps if normalize else 1))
    return torch.cat(made)


def nan_by_index(log_probs, old_log_probs, advantages, mask):
    real = mask.bool()
    return ((log_probs[real] - old_log_probs[real]).exp() * advantages[real]).sum()


OTHERS = {
    "response_mask": mask_by_loop,
    "response_log_probs": log_probs_by_loss,
    "debug_shift": log_probs_by_loss,
    "token_rewards": rewards_by_loop,
    "masked_gae": gae_by_rows,
    "masked_whiten": whiten_by_index,
    "policy_loss": policy_by_index,
    "value_loss": value_by_index,
    "preference_loss": preference_by_softplus,
    "group_advantages": groups_by_loop,
    "debug_nan": nan_by_index,
}


@pytest.mark.parametrize("function", OTHERS)
def test_a_right_program_of_another_kind_passes(function):
    for key in KEYS:
        assert [fault for fault in faults(BUILDS[function], OTHERS[function], key) if fault] == [], key
