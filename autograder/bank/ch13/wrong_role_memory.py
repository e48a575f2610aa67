"""Wrong programs about the memory of a job with several models, each complete in itself."""

from __future__ import annotations

# --- role_bytes


# --- rlhf_bytes


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
