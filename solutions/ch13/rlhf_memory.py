"""Bytes of the model states of a job with several models, by role: policy, critic, reward model, reference.

Standard library only. Sizes are in bytes; activations, caches and buffers are not counted.

>>> round(rlhf_bytes("ppo", 7e9)["total"] / 1e9)
252
"""

from __future__ import annotations

from rankzero import checks

from ..ch05.zero import state_bytes

#: Roles of each algorithm besides the policy and the reference.
OTHER_ROLES = {"ppo": ("critic", "reward"), "grpo": ("reward",), "dpo": ()}


def role_bytes(
    parameters: float,
    trained: bool,
    trainable: float | None = None,
    weight_bytes: float = 2,
    grad_bytes: float = 2,
    optimizer_bytes: float = 12,
) -> dict[str, float]:
    """Bytes of weights, gradients and optimizer states of one model.

    A frozen model has weights alone. A trained one has a gradient and optimizer states for each trainable parameter.
    With adapters, ``trainable`` is less than ``parameters``: the adapter has weights of its own beside the body's.

    Args:
        parameters: of the body; not negative.
        trained: whether the model learns.
        trainable: how many parameters learn; not negative, at most ``parameters``. None: all of a trained model, none
            of a frozen one.
        weight_bytes: of one weight; not negative.
        grad_bytes: of the gradient of one trainable parameter; not negative.
        optimizer_bytes: of all optimizer states of one trainable parameter, master copy included; not negative.

    Returns:
        ``weights``, ``gradients``, ``optimizer`` and ``total``, in bytes.

    Source: Rajbhandari et al. (2020), arXiv:1910.02054, section 3.1; Hu et al. (2021), arXiv:2106.09685, for adapters.
    """
    checks.amount(parameters=parameters, weight_bytes=weight_bytes, grad_bytes=grad_bytes)
    checks.amount(optimizer_bytes=optimizer_bytes)
    if trainable is not None:
        checks.require(trained, "be None for a frozen model", trainable=trainable)
        checks.amount(trainable=trainable)
        checks.require(trainable <= parameters, "be <= parameters", trainable=trainable)
    learning = (parameters if trainable is None else trainable) if trained else 0
    adapter = learning if trained and learning < parameters else 0
    parts = {
        "weights": float(weight_bytes * (parameters + adapter)),
        "gradients": float(grad_bytes * learning),
        "optimizer": float(optimizer_bytes * learning),
    }
    return parts | {"total": sum(parts.values())}


def rlhf_bytes(
    algorithm: str,
    policy: float,
    critic: float | None = None,
    reward: float | None = None,
    masters: bool = True,
    reference: bool = True,
) -> dict[str, float]:
    """Bytes of the model states of a whole job, by role, in bf16 with Adam.

    Policy and critic learn: 2 bytes of weights, 2 of gradients and 12 of optimizer states for each parameter, 8 without
    fp32 masters. Reward model and reference are frozen: 2 bytes. The reference has as many parameters as the policy.

    Args:
        algorithm: ``"ppo"`` (all four models), ``"grpo"`` (no critic) or ``"dpo"`` (neither critic nor reward model).
        policy: its parameters; not negative.
        critic: its parameters, not negative; None: as many as the policy, 0: no bytes. For GRPO and DPO it is None.
        reward: parameters of the reward model, not negative; None: as many as the policy for PPO, and for GRPO a rule,
            which takes no bytes. 0 is a rule too. For DPO it is None.
        masters: whether the optimizer keeps fp32 copies of the weights.
        reference: whether the frozen starting point is kept.

    Returns:
        ``policy``, ``critic``, ``reward``, ``reference`` (0.0 for a role that is not there) and ``total``, in bytes.

    Source: Ouyang et al. (2022), arXiv:2203.02155; Shao et al. (2024), arXiv:2402.03300, figure 4.
    """
    checks.one_of(OTHER_ROLES, algorithm=algorithm)
    checks.amount(policy=policy)
    known = OTHER_ROLES[algorithm]
    for role, size in (("critic", critic), ("reward", reward)):
        if size is not None:
            checks.require(role in known, f"be None with {algorithm}", **{role: size})
            checks.amount(**{role: size})
    given = {"critic": critic, "reward": reward}
    if algorithm == "ppo":
        given = {name: policy if value is None else value for name, value in given.items()}
    recipe = state_bytes(master=bool(masters))
    sizes = {
        "policy": role_bytes(policy, True, None, *recipe),
        "critic": role_bytes(given["critic"] or 0, True, None, *recipe),
        "reward": role_bytes(given["reward"] or 0, False, None, *recipe),
        "reference": role_bytes(policy if reference else 0, False, None, *recipe),
    }
    totals = {role: parts["total"] for role, parts in sizes.items()}
    return totals | {"total": sum(totals.values())}
