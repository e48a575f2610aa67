"""Chapter 12: two training loops to correct."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip, Tensor

# --- debug_zero_grad


def wrong_zero_grad(policy, optimizer, episodes):
    losses = []
    for observations, actions, weights in episodes:
        log_probs = policy(observations).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(log_probs * weights).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def slip_zero_before_step(policy, optimizer, episodes):
    losses = []
    for observations, actions, weights in episodes:
        log_probs = policy(observations).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(log_probs * weights).sum()
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        losses.append(loss.item())
    return losses


def slip_zero_afterwards(policy, optimizer, episodes):
    losses = []
    for observations, actions, weights in episodes:
        log_probs = policy(observations).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(log_probs * weights).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def slip_one_step_for_all(policy, optimizer, episodes):
    losses = []
    optimizer.zero_grad()
    for observations, actions, weights in episodes:
        log_probs = policy(observations).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(log_probs * weights).sum()
        loss.backward()
        losses.append(loss.item())
    optimizer.step()
    return losses


def _lengths(rng: Random, stale: bool = False) -> Case:
    options = {"stale": True} if stale else {}
    return Case(([rng.randint(2, 8) for _ in range(rng.randint(3, 5))], rng.randrange(10**6)), options)


ZERO_GRAD = Debug(
    id="12-debug-zero-grad",
    module="policy_repairs",
    function="debug_zero_grad",
    grade="tensor",
    probe="ch12.reinforced_policy",
    tolerance=1e-6,
    section="12.6",
    topic="training loops",
    cases=(Case(([3], 1)), Case(([3, 5, 2], 2)), Case(([2, 2], 3), {"stale": True})),
    groups=(
        Group("episodes", _lengths, 5, "Each step uses the gradient of its own episode alone."),
        Group(
            "gradients from before",
            lambda rng: _lengths(rng, True),
            3,
            "Gradients that are there before the call do not count.",
        ),
    ),
    slips=(
        Slip(
            "`backward` adds to the gradients that are there: every step repeats the episodes before.", wrong_zero_grad
        ),
        Slip("Zeroed between backward and step, the gradients are gone: nothing is learned.", slip_zero_before_step),
        Slip("Zeroed after the step, gradients from before the call still reach the first one.", slip_zero_afterwards),
        Slip("One step for each episode is wanted, not one for all.", slip_one_step_for_all),
    ),
    wrong=wrong_zero_grad,
)

# --- debug_detach


def wrong_detach(log_probs, values, next_values, rewards, terminated, discount):
    targets = rewards + discount * next_values.detach() * ~terminated
    errors = targets - values
    actor = -(log_probs * errors).mean()
    critic = errors.square().mean()
    return actor + 0.5 * critic


def slip_critic_detached(log_probs, values, next_values, rewards, terminated, discount):
    targets = rewards + discount * next_values.detach() * ~terminated
    errors = (targets - values).detach()
    actor = -(log_probs * errors).mean()
    critic = errors.square().mean()
    return actor + 0.5 * critic


def slip_actor_detached(log_probs, values, next_values, rewards, terminated, discount):
    targets = rewards + discount * next_values.detach() * ~terminated
    errors = targets - values
    actor = -(log_probs.detach() * errors).mean()
    critic = errors.square().mean()
    return actor + 0.5 * critic


def slip_target_attached(log_probs, values, next_values, rewards, terminated, discount):
    targets = rewards + discount * next_values * ~terminated
    errors = targets - values
    actor = -(log_probs * errors.detach()).mean()
    critic = errors.square().mean()
    return actor + 0.5 * critic


def slip_critic_left_out(log_probs, values, next_values, rewards, terminated, discount):
    targets = rewards + discount * next_values.detach() * ~terminated
    errors = (targets - values).detach()
    return -(log_probs * errors).mean()


def _joint(rng: Random, size: int, ends: float = 0.3) -> Case:
    log_probs = Tensor.of([rng.uniform(-3, -0.1) for _ in range(size)], "float64")
    parts = [Tensor.of([rng.uniform(-3, 3) for _ in range(size)], "float64") for _ in range(3)]
    terminated = Tensor.of([rng.random() < ends for _ in range(size)], "bool")
    return Case((log_probs, *parts, terminated, rng.choice((0.9, 0.98, 1.0))))


DETACH = Debug(
    id="12-debug-detach",
    module="policy_repairs",
    function="debug_detach",
    grade="tensor",
    probe="ch12.joined",
    tolerance=1e-6,
    section="12.7",
    topic="actor and critic",
    cases=(_joint(Random("two"), 2, 0), _joint(Random("four"), 4), _joint(Random("end"), 1, 1)),
    groups=(
        Group("steps", lambda rng: _joint(rng, rng.randint(2, 12)), 5, "Which tensors may each of the two terms move?"),
        Group("no end", lambda rng: _joint(rng, rng.randint(1, 6), 0), 2, "Every step bootstraps."),
    ),
    slips=(
        Slip(
            "The gradient of the actor's term reaches the critic's values: detach the error in that term.",
            wrong_detach,
        ),
        Slip("The critic's own prediction is detached too: it learns nothing.", slip_critic_detached),
        Slip("The log-probabilities were detached: the actor learns nothing.", slip_actor_detached),
        Slip("A gradient flows into the value of the next state: it is a target.", slip_target_attached),
        Slip("The critic's term is gone.", slip_critic_left_out),
    ),
    wrong=wrong_detach,
)

TRAINING: tuple[Build, ...] = (ZERO_GRAD, DETACH)
