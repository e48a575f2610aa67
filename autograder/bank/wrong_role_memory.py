"""Wrong programs about the memory of a job with several models, each complete in itself."""

from __future__ import annotations

# --- role_bytes


def whole_optimizer(parameters, trained, trainable=None, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    from math import inf

    for amount in (parameters, trainable or 0, weight_bytes, grad_bytes, optimizer_bytes):
        if not 0 <= amount < inf:
            raise ValueError("an amount is out of range")
    if trainable is not None and (not trained or trainable > parameters):
        raise ValueError("trainable does not fit")
    learning = 0 if not trained else parameters if trainable is None else trainable
    adapter = learning if learning < parameters else 0
    weights, gradients = weight_bytes * (parameters + adapter), grad_bytes * learning
    optimizer = optimizer_bytes * parameters if trained else 0
    return {
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer,
        "total": weights + gradients + optimizer,
    }


def forgotten_adapter(parameters, trained, trainable=None, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    from math import inf

    for amount in (parameters, trainable or 0, weight_bytes, grad_bytes, optimizer_bytes):
        if not 0 <= amount < inf:
            raise ValueError("an amount is out of range")
    if trainable is not None and (not trained or trainable > parameters):
        raise ValueError("trainable does not fit")
    learning = 0 if not trained else parameters if trainable is None else trainable
    weights, gradients = weight_bytes * parameters, grad_bytes * learning
    optimizer = optimizer_bytes * learning
    return {
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer,
        "total": weights + gradients + optimizer,
    }


def masters_as_weights(parameters, trained, trainable=None, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    from math import inf

    for amount in (parameters, trainable or 0, weight_bytes, grad_bytes, optimizer_bytes):
        if not 0 <= amount < inf:
            raise ValueError("an amount is out of range")
    if trainable is not None and (not trained or trainable > parameters):
        raise ValueError("trainable does not fit")
    learning = 0 if not trained else parameters if trainable is None else trainable
    adapter = learning if learning < parameters else 0
    weights, gradients = weight_bytes * (parameters + adapter) + 4 * learning, grad_bytes * learning
    optimizer = (optimizer_bytes - 4) * learning
    return {
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer,
        "total": weights + gradients + optimizer,
    }


def frozen_gradients(parameters, trained, trainable=None, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    from math import inf

    for amount in (parameters, trainable or 0, weight_bytes, grad_bytes, optimizer_bytes):
        if not 0 <= amount < inf:
            raise ValueError("an amount is out of range")
    if trainable is not None and (not trained or trainable > parameters):
        raise ValueError("trainable does not fit")
    learning = 0 if not trained else parameters if trainable is None else trainable
    adapter = learning if learning < parameters else 0
    weights, gradients = weight_bytes * (parameters + adapter), grad_bytes * (learning if trained else parameters)
    optimizer = optimizer_bytes * learning
    return {
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer,
        "total": weights + gradients + optimizer,
    }


def adapter_alone(parameters, trained, trainable=None, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    from math import inf

    for amount in (parameters, trainable or 0, weight_bytes, grad_bytes, optimizer_bytes):
        if not 0 <= amount < inf:
            raise ValueError("an amount is out of range")
    if trainable is not None and (not trained or trainable > parameters):
        raise ValueError("trainable does not fit")
    learning = 0 if not trained else parameters if trainable is None else trainable
    adapter = learning if learning < parameters else 0
    weights, gradients = weight_bytes * (adapter or parameters), grad_bytes * learning
    optimizer = optimizer_bytes * learning
    return {
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer,
        "total": weights + gradients + optimizer,
    }


def fixed_recipe(parameters, trained, trainable=None, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    from math import inf

    for amount in (parameters, trainable or 0, weight_bytes, grad_bytes, optimizer_bytes):
        if not 0 <= amount < inf:
            raise ValueError("an amount is out of range")
    if trainable is not None and (not trained or trainable > parameters):
        raise ValueError("trainable does not fit")
    learning = 0 if not trained else parameters if trainable is None else trainable
    adapter = learning if learning < parameters else 0
    weights, gradients, optimizer = 2 * (parameters + adapter), 2 * learning, 12 * learning
    return {
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer,
        "total": weights + gradients + optimizer,
    }


def counted_twice(parameters, trained, trainable=None, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    from math import inf

    for amount in (parameters, trainable or 0, weight_bytes, grad_bytes, optimizer_bytes):
        if not 0 <= amount < inf:
            raise ValueError("an amount is out of range")
    if trainable is not None and (not trained or trainable > parameters):
        raise ValueError("trainable does not fit")
    learning = 0 if not trained else parameters if trainable is None else trainable
    copies = parameters + (learning if trainable is not None else 0)
    weights, gradients, optimizer = weight_bytes * copies, grad_bytes * learning, optimizer_bytes * learning
    return {
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer,
        "total": weights + gradients + optimizer,
    }


def any_role(parameters, trained, trainable=None, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    learning = 0 if not trained else parameters if trainable is None else trainable
    adapter = learning if learning < parameters else 0
    weights, gradients = weight_bytes * (parameters + adapter), grad_bytes * learning
    optimizer = optimizer_bytes * learning
    total = weights + gradients + optimizer
    return {"weights": weights, "gradients": gradients, "optimizer": optimizer, "total": total}


# --- rlhf_bytes


def one_optimizer(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
    from math import inf

    if algorithm not in ("ppo", "grpo", "dpo"):
        raise ValueError("unknown algorithm")
    if (critic is not None and algorithm != "ppo") or (reward is not None and algorithm == "dpo"):
        raise ValueError("no such role")
    if not all(0 <= size < inf for size in (policy, critic or 0, reward or 0)):
        raise ValueError("an amount is out of range")
    if algorithm == "ppo":
        critic, reward = policy if critic is None else critic, policy if reward is None else reward
    critic, reward, states = critic or 0, reward or 0, 12 if masters else 8
    kept = policy if reference else 0
    sizes = {"policy": (4 + states) * policy, "critic": 4 * critic, "reward": 2 * reward, "reference": 2 * kept}
    return sizes | {"total": sum(sizes.values())}


def gradients_everywhere(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
    from math import inf

    if algorithm not in ("ppo", "grpo", "dpo"):
        raise ValueError("unknown algorithm")
    if (critic is not None and algorithm != "ppo") or (reward is not None and algorithm == "dpo"):
        raise ValueError("no such role")
    if not all(0 <= size < inf for size in (policy, critic or 0, reward or 0)):
        raise ValueError("an amount is out of range")
    if algorithm == "ppo":
        critic, reward = policy if critic is None else critic, policy if reward is None else reward
    critic, reward, states = critic or 0, reward or 0, 12 if masters else 8
    kept = policy if reference else 0
    sizes = {
        "policy": (4 + states) * policy,
        "critic": (4 + states) * critic,
        "reward": 4 * reward,
        "reference": 4 * kept,
    }
    return sizes | {"total": sum(sizes.values())}


def without_masters(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
    from math import inf

    if algorithm not in ("ppo", "grpo", "dpo"):
        raise ValueError("unknown algorithm")
    if (critic is not None and algorithm != "ppo") or (reward is not None and algorithm == "dpo"):
        raise ValueError("no such role")
    if not all(0 <= size < inf for size in (policy, critic or 0, reward or 0)):
        raise ValueError("an amount is out of range")
    if algorithm == "ppo":
        critic, reward = policy if critic is None else critic, policy if reward is None else reward
    critic, reward, states = critic or 0, reward or 0, 8
    kept = policy if reference else 0
    sizes = {
        "policy": (4 + states) * policy,
        "critic": (4 + states) * critic,
        "reward": 2 * reward,
        "reference": 2 * kept,
    }
    return sizes | {"total": sum(sizes.values())}


def weights_alone(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
    from math import inf

    if algorithm not in ("ppo", "grpo", "dpo"):
        raise ValueError("unknown algorithm")
    if (critic is not None and algorithm != "ppo") or (reward is not None and algorithm == "dpo"):
        raise ValueError("no such role")
    if not all(0 <= size < inf for size in (policy, critic or 0, reward or 0)):
        raise ValueError("an amount is out of range")
    if algorithm == "ppo":
        critic, reward = policy if critic is None else critic, policy if reward is None else reward
    critic, reward = critic or 0, reward or 0
    kept = policy if reference else 0
    sizes = {"policy": 2 * policy, "critic": 2 * critic, "reward": 2 * reward, "reference": 2 * kept}
    return sizes | {"total": sum(sizes.values())}


def reference_always(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
    from math import inf

    if algorithm not in ("ppo", "grpo", "dpo"):
        raise ValueError("unknown algorithm")
    if (critic is not None and algorithm != "ppo") or (reward is not None and algorithm == "dpo"):
        raise ValueError("no such role")
    if not all(0 <= size < inf for size in (policy, critic or 0, reward or 0)):
        raise ValueError("an amount is out of range")
    if algorithm == "ppo":
        critic, reward = policy if critic is None else critic, policy if reward is None else reward
    critic, reward, states = critic or 0, reward or 0, 12 if masters else 8
    sizes = {
        "policy": (4 + states) * policy,
        "critic": (4 + states) * critic,
        "reward": 2 * reward,
        "reference": 2 * policy,
    }
    return sizes | {"total": sum(sizes.values())}


def model_for_every_rule(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
    from math import inf

    if algorithm not in ("ppo", "grpo", "dpo"):
        raise ValueError("unknown algorithm")
    if (critic is not None and algorithm != "ppo") or (reward is not None and algorithm == "dpo"):
        raise ValueError("no such role")
    if not all(0 <= size < inf for size in (policy, critic or 0, reward or 0)):
        raise ValueError("an amount is out of range")
    if algorithm == "ppo":
        critic = policy if critic is None else critic
    if algorithm != "dpo":
        reward = policy if reward is None else reward
    critic, reward, states = critic or 0, reward or 0, 12 if masters else 8
    kept = policy if reference else 0
    sizes = {
        "policy": (4 + states) * policy,
        "critic": (4 + states) * critic,
        "reward": 2 * reward,
        "reference": 2 * kept,
    }
    return sizes | {"total": sum(sizes.values())}


def critic_is_frozen(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
    from math import inf

    if algorithm not in ("ppo", "grpo", "dpo"):
        raise ValueError("unknown algorithm")
    if (critic is not None and algorithm != "ppo") or (reward is not None and algorithm == "dpo"):
        raise ValueError("no such role")
    if not all(0 <= size < inf for size in (policy, critic or 0, reward or 0)):
        raise ValueError("an amount is out of range")
    if algorithm == "ppo":
        critic, reward = policy if critic is None else critic, policy if reward is None else reward
    critic, reward, states = critic or 0, reward or 0, 12 if masters else 8
    kept = policy if reference else 0
    sizes = {"policy": (4 + states) * policy, "critic": 2 * critic, "reward": 2 * reward, "reference": 2 * kept}
    return sizes | {"total": sum(sizes.values())}


def everyone_is_the_policy(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
    from math import inf

    if algorithm not in ("ppo", "grpo", "dpo"):
        raise ValueError("unknown algorithm")
    if (critic is not None and algorithm != "ppo") or (reward is not None and algorithm == "dpo"):
        raise ValueError("no such role")
    if not all(0 <= size < inf for size in (policy, critic or 0, reward or 0)):
        raise ValueError("an amount is out of range")
    critic = policy if algorithm == "ppo" else 0
    reward = policy if algorithm == "ppo" or reward else 0
    critic, reward, states = critic or 0, reward or 0, 12 if masters else 8
    kept = policy if reference else 0
    sizes = {
        "policy": (4 + states) * policy,
        "critic": (4 + states) * critic,
        "reward": 2 * reward,
        "reference": 2 * kept,
    }
    return sizes | {"total": sum(sizes.values())}


def any_job(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
    if algorithm == "ppo":
        critic, reward = policy if critic is None else critic, policy if reward is None else reward
    critic, reward, states = critic or 0, reward or 0, 12 if masters else 8
    kept = policy if reference else 0
    sizes = {
        "policy": (4 + states) * policy,
        "critic": (4 + states) * critic,
        "reward": 2 * reward,
        "reference": 2 * kept,
    }
    return sizes | {"total": sum(sizes.values())}
