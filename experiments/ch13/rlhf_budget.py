"""The memory of a job with several models, by role and by kind, with or without adapters. Standard library only.

>>> parts = budget("grpo", 70e9, share=0.001)
>>> round(sum(part["total"] for part in parts.values()) / 1e9)
141
"""

from __future__ import annotations

from rankzero import checks
from solutions.ch05.zero import state_bytes
from solutions.ch13.rlhf_memory import OTHER_ROLES, role_bytes

ALGORITHMS = tuple(OTHER_ROLES)
KINDS = ("weights", "gradients", "optimizer")


def budget(
    algorithm: str,
    policy: float,
    critic: float | None = None,
    reward: float | None = None,
    masters: bool = True,
    share: float = 1.0,
) -> dict[str, dict[str, float]]:
    """Bytes of each role that the algorithm has: weights, gradients, optimizer and total.

    Args:
        algorithm: ``"ppo"``, ``"grpo"`` or ``"dpo"``.
        policy: its parameters.
        critic: parameters of PPO's critic; None means as many as the policy.
        reward: parameters of the reward model; None means as many as the policy for PPO, and a rule for GRPO.
        masters: keep fp32 copies of what learns.
        share: share of the parameters that learn. Below 1 they are adapters, and the body without them serves as the
            reference at no extra cost.
    """
    checks.one_of(OTHER_ROLES, algorithm=algorithm)
    checks.require(0 < share <= 1, "be above 0 and at most 1", share=share)
    recipe = state_bytes(master=masters)

    def learning(parameters: float) -> dict[str, float]:
        return role_bytes(parameters, True, None if share == 1 else share * parameters, *recipe)

    def frozen(parameters: float) -> dict[str, float]:
        return role_bytes(parameters, False, None, *recipe)

    roles = {"policy": learning(policy)}
    if algorithm == "ppo":
        roles["critic"] = learning(policy if critic is None else critic)
        roles["reward"] = frozen(policy if reward is None else reward)
    elif algorithm == "grpo" and reward:
        roles["reward"] = frozen(reward)
    return roles | {"reference": frozen(policy if share == 1 else 0)}
