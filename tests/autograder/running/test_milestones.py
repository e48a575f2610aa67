"""Milestones: what has learnt in the steps that it played passes, and nothing else does, whatever it returns."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from random import Random

import pytest
import torch

from autograder import bank
from autograder.__main__ import main
from autograder.bank.ch12 import milestones as ch12_milestones
from autograder.items import NoQuestion
from autograder.maintenance import verifying
from autograder.running import milestones
from autograder.sandbox import Level, Sandbox
from autograder.submission import Submission, Unit
from tests.autograder import a_class

(CARTPOLE,) = bank.milestones()
KEY = b"sesame"
SYSTEMS = pytest.mark.proof(part="systems")
#: Steps after which a learner is far from an untrained policy.
FEW = 6_000

#: Weights that were written by hand: they balance the pole of the plain environment for as long as anybody likes.
TABLE = """
def install(policy):
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.zero_()
        policy[0].weight[0] = 0.01 * torch.tensor([10.0, 20.0, 200.0, 40.0])
        policy[2].weight[0, 0] = 1.0
        policy[4].weight[1, 0] = 5000.0
"""
#: Plays with the policy, as many steps as there are.
PLAYS = """
def play(policy, steps, **options):
    envs = gymnasium.make_vec("CartPole-v1", num_envs=8, vectorization_mode="sync", **options)
    seen, _ = envs.reset(seed=1)
    returns, running = [], torch.zeros(8)
    for _ in range(steps // 8):
        with torch.no_grad():
            actions = torch.distributions.Categorical(logits=policy(torch.from_numpy(seen))).sample()
        seen, rewards, terminated, truncated, _ = envs.step(actions.numpy())
        running += torch.from_numpy(rewards).float()
        for place in (terminated | truncated).nonzero()[0]:
            returns.append(running[place].item())
            running[place] = 0.0
    return returns
"""


def tries(submission: Submission, tries: int = 1, sandbox: Level = "best", **changed) -> list[milestones.Try]:
    """The first tries."""
    asked = replace(CARTPOLE, **{"needed": 1, "tries": tries, **changed})
    return list(milestones.tries(asked, submission, Sandbox.measure(sandbox), KEY))


def handed_in(body: str, before: str = "") -> Submission:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    source = f"import gymnasium\nimport torch\n{before}\n\ndef train_cartpole(policy, value, steps, seed):\n{lines}\n"
    return Submission("wrong.py", (Unit("wrong.py", source),))


@SYSTEMS
@pytest.mark.timeout(3600)
def test_the_reference_solves_it():
    """The course's own loop, in the sandbox, with every step that a learner has."""
    (one,) = tries(verifying.submission("solutions", [CARTPOLE.item]))
    assert one.passed, one.sentence


@SYSTEMS
@pytest.mark.xdist_group("systems")
def test_in_few_steps_the_reference_learns(forked):
    """The course's own loop: far better than an untrained policy, which falls after about 20."""
    (one,) = tries(verifying.submission("solutions", [CARTPOLE.item]), sandbox="none", steps=FEW, goal=60.0)
    assert one.passed, one.sentence


# What does not pass.

CHEATS = {
    "a table": ("install(policy)\nplay(policy, steps)", "steps on average"),
    "a table after playing like a learner": ("play(policy, steps)\ninstall(policy)", "is not the policy that played"),
    "a table and no play": ("install(policy)", "no step was played"),
    "a table and play in an environment of its own": (
        "from gymnasium.envs.classic_control import CartPoleEnv\ninstall(policy)\nenv = CartPoleEnv()\nenv.reset()\n"
        "for _ in range(50): env.step(1)",
        "no step was played",
    ),
    "weights from a file": (
        "import os\nfor name in ('/work', os.getcwd(), '/tmp'):\n    pass\n"
        "torch.save([p for p in policy.parameters()], 'weights.pt')\ninstall(policy)\n"
        "torch.save([p for p in policy.parameters()], 'weights.pt')\nplay(policy, steps)\n"
        "for own, kept in zip(policy.parameters(), torch.load('weights.pt')):\n    own.data.copy_(kept)",
        "steps on average",
    ),
    "returns that are told": ("play(policy, steps)\nreturn [500.0] * 100", "steps on average"),
}
CHEAPEST = "a table and no play"


@pytest.mark.parametrize("cheat", [CHEAPEST, *(pytest.param(one, marks=SYSTEMS) for one in CHEATS if one != CHEAPEST)])
@pytest.mark.xdist_group("systems")
def test_weights_that_were_written_before_do_not_pass(cheat, forked):
    """Kills: a milestone that takes whatever balances the plain pole, however it came about."""
    body, sentence = CHEATS[cheat]
    found = tries(handed_in(body, TABLE + PLAYS), tries=2, sandbox="none", needed=2, steps=4_000)
    assert [one.passed for one in found] == [False]  # the second try is not needed to know the end
    assert sentence in found[0].sentence


def plain_arena(steps: int = 4_000) -> ch12_milestones.CartPole:
    """An arena whose frame is the plain one: in it, the table does balance the pole."""
    arena = ch12_milestones.CartPole(Random(1), steps)
    arena.mix, arena.swapped = torch.eye(4).tolist(), False
    return arena


def table() -> list[torch.Tensor]:
    names = {"torch": torch}
    exec(TABLE, names)
    policy = torch.nn.Sequential(
        torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2)
    )
    names["install"](policy)
    return [parameter.detach() for parameter in policy.parameters()]


def played(arena: ch12_milestones.CartPole, steps: int, choose) -> None:
    """Play with ``choose``, which gives an action for what is seen."""
    number = arena.answer(["make"])
    seen = arena.answer(["reset", number])
    for _ in range(steps):
        *seen, over = arena.answer(["step", number, choose(seen)])
        seen = arena.answer(["reset", number]) if over else seen


def test_the_table_is_one_in_the_plain_frame():
    """The cheats above fail because of the frame, not because their weights are bad."""
    assert plain_arena().measure(table()) == 500.0
    assert all(ch12_milestones.CartPole(Random(seed), 10).measure(table()) < 250 for seed in range(12))


def test_weights_that_did_not_play_are_refused():
    """Kills: whoever finds the frame out in the first steps, tosses coins in the others, and installs a controller."""
    coin, arena = Random(7), plain_arena()
    played(arena, 3_000, lambda seen: coin.randrange(2))
    assert "is not the policy that played the last 2,000 steps" in arena.refusal(table())
    arena = plain_arena()
    played(arena, 3_000, lambda seen: int(10 * seen[0] + 20 * seen[1] + 200 * seen[2] + 40 * seen[3] > 0))
    assert arena.refusal(table()) == ""


# The arena.


def test_the_arena_is_cartpole_in_another_frame():
    """Kills dynamics of its own: what is seen is the plain environment's observation, rotated."""
    import gymnasium

    arena, plain = ch12_milestones.CartPole(Random(3), 100), gymnasium.make("CartPole-v1").unwrapped
    number = arena.answer(["make"])
    mix = torch.tensor(arena.mix, dtype=torch.float64)
    first = mix.T @ torch.tensor(arena.answer(["reset", number]), dtype=torch.float64)
    plain.reset(seed=0)
    plain.state = tuple(first.tolist())
    assert first.abs().max() <= 0.05
    for action in (0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1):
        *seen, over = arena.answer(["step", number, action])
        expected, _, ended, _, _ = plain.step(1 - action if arena.swapped else action)
        state = mix.T @ torch.tensor(seen, dtype=torch.float64)
        torch.testing.assert_close(state, torch.from_numpy(expected).double(), atol=1e-5, rtol=0)
        assert over == ended
        if over:
            break
    torch.testing.assert_close(mix @ mix.T, torch.eye(4, dtype=torch.float64))


def test_every_key_and_every_try_has_a_frame_of_its_own():
    """Kills: seeds that stand in the bank; and a grade that the same key does not give again."""
    drawn = [milestones.arena(CARTPOLE, key, number) for key in (KEY, b"other") for number in range(2)]
    again = milestones.arena(CARTPOLE, KEY, 0)
    assert len({arena.seed for arena in drawn}) == 4
    assert len({str(arena.mix) for arena in drawn}) == 4
    assert {milestones.arena(CARTPOLE, KEY, number).swapped for number in range(20)} == {False, True}
    assert (again.seed, again.swapped, again.mix) == (drawn[0].seed, drawn[0].swapped, drawn[0].mix)
    assert [again.answer(["reset", again.answer(["make"])])] == [drawn[0].answer(["reset", drawn[0].answer(["make"])])]


def test_no_more_steps_are_played_than_there_are():
    arena = plain_arena(steps=10)
    number = arena.answer(["make"])
    arena.answer(["reset", number])
    said = [arena.answer(["step", number, n % 2]) for n in range(12)]
    assert [type(answer) for answer in said] == [list] * 10 + [str] * 2
    assert said[-1] == "the 10 steps of this try are used up"


@pytest.mark.parametrize(
    "question",
    [
        *(None, 3, "make", [], ["make", 1], ["reset"], ["reset", 1], ["reset", -1], ["reset", True], ["reset", "0"]),
        *(["step", 0], ["step", 0, 2], ["step", 0, -1], ["step", 0, True], ["step", 0, 0.0], ["step", 9, 0], ["mix"]),
        *(["step", 0, 0, 0], {"make": 1}, [["make"]], ["step", 1, 0]),
    ],
)
def test_what_no_driver_asks_is_malformed(question):
    arena = plain_arena()
    arena.answer(["make"])
    with pytest.raises(NoQuestion):
        arena.answer(question)


def test_no_step_is_played_outside_an_episode():
    """Kills: a pole that goes on after it has fallen, and the library's warning on the grader's screen."""
    arena = plain_arena()
    number = arena.answer(["make"])
    assert "reset the environment first" in arena.answer(["step", number, 0])
    arena.answer(["reset", number])
    while not arena.answer(["step", number, 0])[-1]:
        pass
    before = arena.played
    assert "reset the environment first" in arena.answer(["step", number, 0])
    assert arena.played == before < 20


def test_there_are_only_so_many_environments():
    arena = plain_arena()
    made = [arena.answer(["make"]) for _ in range(300)]
    assert made == [*range(256), *["the 256 environments of this try are used up"] * 44]
    assert len(arena.environments) == 256


def test_there_are_only_so_many_answers(monkeypatch):
    """Kills: a program that asks without end and reads nothing, so that the answers fill the grader's memory."""
    monkeypatch.setattr(ch12_milestones, "MOST_ASKED", 20)
    arena = plain_arena(steps=1)
    number = arena.answer(["make"])
    with pytest.raises(NoQuestion):
        [arena.answer(["step", number, 0]) for _ in range(10_000)]


# What a program meets.

MEETS = """
from gymnasium.vector import AutoresetMode

env = gymnasium.make("CartPole-v1")
seen, info = env.reset(seed=3)
assert seen.shape == (4,) and str(seen.dtype) == "float32" and env.observation_space.contains(seen)
steps, terminated = 0, False
while not terminated:
    seen, reward, terminated, truncated, info = env.step(env.action_space.sample())
    steps += 1
    assert reward == 1.0 and not truncated
assert 5 < steps < 200

returns = play(policy, 2000, vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP})
assert len(returns) > 20 and 10 < sum(returns) / len(returns) < 60
assert len(play(policy, 2000)) > 20

envs, ended = gymnasium.make_vec("CartPole-v1", num_envs=3, vectorization_mode="vector_entry_point"), 0
seen, _ = envs.reset(seed=0)
for _ in range(200):
    seen, rewards, terminated, truncated, _ = envs.step(envs.action_space.sample())
    ended += int(terminated.sum())
assert seen.shape == (3, 4) and ended > 5

env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("CartPole-v1", max_episode_steps=4))
env.reset()
assert [env.step(0)[3] for _ in range(4)] == [False] * 3 + [True]
play(policy, 2000)
"""


@SYSTEMS
def test_programs_play_as_they_do_elsewhere():
    """Kills: an environment that only the reference can play."""
    (one,) = tries(handed_in(MEETS, PLAYS), steps=10_000)
    measured = ("steps on average", "a coin explains them better")  # an untrained policy is not far from a coin
    assert one.sentence.endswith(measured), one.sentence


BODIES = {
    "raise NotImplementedError": "not implemented yet",
    "torch.nn.init.constant_(policy[0].weight, float('nan'))": "finite weights",
    "policy[4] = torch.nn.Linear(64, 3)": "shapes (64, 4), (64,)",
    "while True: pass": "does not return",
    "env = gymnasium.make('CartPole-v1')\nwhile True: env.reset()": "the 40 resets of this try are used up",
    "play(policy, 80)": "the 50 steps of this try are used up",
    "gymnasium.make('CartPole-v1').unwrapped.step(0)": "reset the environment first",
    "import os; os._exit(3)": "",
    "raise ValueError('no')": "ValueError",
}


@SYSTEMS
@pytest.mark.parametrize("body", BODIES)
def test_what_hands_back_no_network_is_told_so(body, monkeypatch):
    monkeypatch.setattr(ch12_milestones, "RESETS", 40)
    began = time.monotonic()
    found = tries(handed_in(body, PLAYS), tries=3, seconds=6.0, needed=2, steps=50)
    assert not any(one.passed for one in found)
    assert BODIES[body] in found[-1].sentence
    assert time.monotonic() - began < 100


# The command.


@pytest.mark.proof(part="systems")
def test_the_stub_is_not_written_and_a_key_that_was_drawn_is_said(capsys, monkeypatch):
    monkeypatch.delenv("AUTOGRADER_KEY", raising=False)
    assert main(["milestone", str(verifying.room("labs"))]) == 0
    said = capsys.readouterr().out
    assert "not implemented yet" in said
    assert "(drawn at random; give it to --key to play the same again)" in said


@SYSTEMS
def test_the_same_key_gives_the_same_score(tmp_path, key, capsys, monkeypatch):
    """Kills: a score that depends on the moment."""
    monkeypatch.setattr(bank, "milestones", lambda: (replace(CARTPOLE, tries=1, needed=1, steps=2_000),))
    body = "play(policy, steps)"
    (tmp_path / "a.py").write_text(handed_in(body, PLAYS.replace(".sample()", ".probs.argmax(-1)")).units[0].source)
    said = []
    for _ in range(2):
        assert main(["milestone", str(tmp_path / "a.py"), "--key", key]) == 0
        said.append(capsys.readouterr().out.partition(" s)")[0].rpartition(" (")[0])
    assert said[0] == said[1] != ""
    assert "key:" not in said[0]
    other = a_class.written_key(tmp_path / "other", "other")
    assert main(["milestone", str(tmp_path / "a.py"), "--key", other]) == 0
    assert json.dumps(said[0]) != json.dumps(capsys.readouterr().out.partition(" s)")[0].rpartition(" (")[0])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--only", "12-nothing", "x"], "there is no milestone '12-nothing'"), (["nowhere.py"], "no file or folder")],
)
def test_a_wrong_command_is_one_sentence(arguments, sentence, capsys):
    assert main(["milestone", *arguments]) == 2
    assert sentence in capsys.readouterr().err
