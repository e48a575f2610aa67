"""What 12.18 and 12.19 draw: the loop of an agent and its environment, turn by turn, and a family of methods.

Standard library only.

>>> [turn.reward for turn in TURNS["sentence"]]
[0, 0, 1]
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Scene
from rankzero.explore.scene import Mark


@dataclass(frozen=True)
class Turn:
    """One turn of the loop: the state, the action that is drawn, its probability, and the reward.

    Attributes:
        state: what the agent sees.
        action: what it does.
        chance: pi(action | state).
        reward: what the environment answers.
        over: whether the episode ends with it.
    """

    state: str
    action: str
    chance: float
    reward: int
    over: bool = False


TURNS = {
    "pole": (Turn("leans right by 2°", "push right", 0.8, 1), Turn("leans left by 1°", "push left", 0.7, 1)),
    "sentence": (
        Turn("the film was", "very", 0.2, 0),
        Turn("the film was very", "good", 0.4, 0),
        Turn("the film was very good", "<eos>", 0.9, 1, over=True),
    ),
}
_ALL = [(name, turn) for name, turns in TURNS.items() for turn in turns]
STEPS = 2 * len(_ALL) - 1


def agent_scene(step: int) -> Scene:
    """Two steps for a turn: the agent draws an action; the environment answers with a reward and the next state."""
    name, turn = _ALL[step // 2]
    answers = step % 2 == 1
    told = "the pole" if name == "pole" else "the text"
    marks: list[Mark] = [
        Label(170, 16, "CartPole" if name == "pole" else "a language model", size=12),
        Box(20, 30, 110, 56, "agent", "its policy π", tone="accent", fill=0.4, strong=not answers),
        Box(210, 30, 110, 56, "environment", told, tone="right", fill=0.4, strong=answers),
        Box(20, 110, 300, 30, f"state: {turn.state}", tone="quiet", fill=0.2, size=12),
        Box(20, 148, 300, 30, f"action: {turn.action}, drawn with {turn.chance:g}", fill=0.3, size=12),
    ]
    marks.append(Arrow(210, 74, 130, 74) if answers else Arrow(130, 44, 210, 44))
    if answers:
        end = ", the episode is over" if turn.over else ""
        marks.append(Box(20, 186, 300, 30, f"reward: {turn.reward}{end}", tone="right", fill=0.4, size=12, strong=True))
    says = (
        f"It does “{turn.action}” and gets {turn.reward}. {_after(name, turn)}"
        if answers
        else f"The agent sees “{turn.state}” and draws “{turn.action}”."
    )
    return Scene(340, 224, tuple(marks), says, says)


def _after(name: str, turn: Turn) -> str:
    """What the next state is."""
    if turn.over:
        return "There is no next state."
    if name == "pole":
        return "Physics makes the next state, with or without our knowing how."
    return f"The next state is the text with that word: “{turn.state} {turn.action}”."


@dataclass(frozen=True)
class Method:
    """One way to learn from rewards.

    Attributes:
        name: as people call it.
        learns: what is learned.
        data: whose episodes it may use: its own latest ones, or any.
        here: the section in which it is met, or why it is not.
    """

    name: str
    learns: str
    data: str
    here: str


METHODS = (
    Method("Q-learning, DQN", "Q(s, a)", "anybody's", "not here: too many actions"),
    Method("REINFORCE", "policy", "its own, once", "12.1, 12.18; RLOO in 13.20"),
    Method("actor-critic, A2C", "policy and V", "its own, once", "12.4, 12.8"),
    Method("PPO", "policy and V", "its own, some steps", "12.7; with text in 13.18"),
    Method("GRPO and after", "policy", "its own, some steps", "13.7; all of them in 13.23"),
    Method("DPO", "policy", "fixed pairs", "13.22"),
    Method("model-based, MCTS", "model, policy, V", "its own and imagined", "not in this course"),
)
