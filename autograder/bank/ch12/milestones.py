"""The milestones of the course: chapter 12's PPO that solves CartPole."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.items import Build, Milestone, NoQuestion, Tensor, lazily

cartpole = lazily("solutions.ch12.cartpole_runs")

#: Environment steps of a try, and most environments and resets that they are played in.
STEPS, ENVIRONMENTS, RESETS = 60_000, 256, 60_000
#: Questions that a try may ask: each answer waits in memory until it is read.
MOST_ASKED = 4 * STEPS
#: Steps at the end whose actions the weights must explain.
LAST = 2_000


class CartPole:
    """CartPole-v1 in a frame that nobody has seen before, played for one program.

    What is seen is the state rotated: four mixtures of position, velocity, angle and angular velocity. The two actions
    may be exchanged. For a program that learns, one frame is as good as another; a controller or a table of weights
    that was made for the usual one fails at once. The only way to learn the frame is to play in it.
    """

    def __init__(self, rng: Random, steps: int) -> None:
        """``rng`` draws the frame, the seed of the program, and every start; no more than ``steps`` are played."""
        import torch

        drawn = torch.tensor([[rng.gauss(0, 1) for _ in range(4)] for _ in range(4)], dtype=torch.float64)
        q, r = torch.linalg.qr(drawn)
        self.mix = (q * r.diagonal().sign()).tolist()  # every rotation and reflection is equally likely
        self.swapped = rng.random() < 0.5
        self.seed, self.starts, self.evaluation = rng.randrange(2**31), Random(rng.random()), rng.randrange(2**31)
        self.steps, self.played, self.resets, self.asked = steps, 0, 0, 0
        self.environments: list[Any] = []
        self.seen: dict[int, list[float]] = {}
        self.last: deque[tuple[list[float], int]] = deque(maxlen=LAST)

    # What the driver asks.

    def answer(self, question: Any) -> Any:
        """``["make"]`` gives a number, ``["reset", number]`` four numbers, and ``["step", number, action]`` these and
        whether the episode is over, or the sentence of an error.

        Raises:
            NoQuestion: no driver asks that, or so often.
        """
        self.asked += 1
        if self.asked > MOST_ASKED:
            raise NoQuestion("too many questions")
        if type(question) is not list or any(type(part) is not int for part in question[1:]):
            raise NoQuestion("no question")
        if question == ["make"]:
            return self._make()
        if question[:1] == ["reset"] and len(question) == 2:
            return self._reset(question[1])
        if question[:1] == ["step"] and len(question) == 3:
            return self._step(question[1], question[2])
        raise NoQuestion("no question")

    def _make(self) -> int | str:
        import gymnasium

        if len(self.environments) >= ENVIRONMENTS:
            return f"the {ENVIRONMENTS} environments of this try are used up"
        self.environments.append(gymnasium.make("CartPole-v1").unwrapped)
        return len(self.environments) - 1

    def _reset(self, number: int) -> list[float] | str:
        if not 0 <= number < len(self.environments):
            raise NoQuestion("no environment")
        if self.resets >= RESETS:
            return f"the {RESETS:,} resets of this try are used up"
        self.resets += 1
        state, _ = self.environments[number].reset(seed=self.starts.randrange(2**31))
        self.seen[number] = self._shown(state)
        return self.seen[number]

    def _step(self, number: int, action: int) -> list[float | bool] | str:
        if not 0 <= number < len(self.environments) or action not in (0, 1):
            raise NoQuestion("no environment, or no action")
        if number not in self.seen:
            return "the episode is over, or none has begun: reset the environment first"
        if self.played == self.steps:
            return f"the {self.steps:,} steps of this try are used up"
        self.played += 1
        self.last.append((self.seen.pop(number), action))
        state, _, over, _, _ = self.environments[number].step(1 - action if self.swapped else action)
        shown = self._shown(state)
        if not over:
            self.seen[number] = shown
        return [*shown, bool(over)]

    def _shown(self, state: Any) -> list[float]:
        """A state as it is seen in this frame."""
        plain = state.tolist()
        return [sum(m * x for m, x in zip(row, plain, strict=True)) for row in self.mix]

    # The verdict.

    def refusal(self, weights: Sequence[Tensor]) -> str:
        """Why these weights cannot come from what was played here; empty when they can."""
        import torch

        if not self.last:
            return "no step was played in an environment that gymnasium.make or gymnasium.make_vec gives"
        seen = torch.tensor([seen for seen, _ in self.last], dtype=torch.float32)
        actions = torch.tensor([[action] for _, action in self.last])
        with torch.no_grad():
            logits = _policy(weights)(seen)
        if logits.log_softmax(-1).gather(1, actions).mean() > torch.tensor(0.5).log():
            return ""
        return f"this is not the policy that played the last {len(self.last):,} steps: a coin explains them better"

    def measure(self, weights: Sequence[Tensor]) -> float:
        """The mean return of 100 fresh episodes that the policy with these weights plays in this frame."""
        import torch

        policy, mix = _policy(weights), torch.tensor(self.mix).T

        def framed(states: Any) -> Any:
            logits = policy(states @ mix)
            return logits.flip(-1) if self.swapped else logits

        return cartpole.mean_return(framed, seed=self.evaluation)


def _policy(weights: Sequence[Tensor]) -> Any:
    """The network with these weights."""
    import torch

    policy, _ = cartpole.networks(0)
    with torch.no_grad():
        for parameter, weight in zip(policy.parameters(), weights, strict=True):
            parameter.copy_(torch.tensor(weight.tolist()).view(weight.shape))
    return policy


TRAIN_CARTPOLE = Milestone(
    item=Build(
        "12 ppo_runs.train_cartpole",
        grade="tensor",
        section="12.9",
        topic="PPO",
        cases=(),
        groups=(),
        slips=(),
        probe="milestones.cartpole",
    ),
    arena=CartPole,
    steps=STEPS,
    shapes=((64, 4), (64,), (64, 64), (64,), (2, 64), (2,)),
    unit="steps on average",
    goal=475.0,
    tries=3,
    needed=2,
    seconds=300.0,
)

MILESTONES = (TRAIN_CARTPOLE,)
