"""Chapter 13: ``rlhf_bytes``, memory by role."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.shared import INSTRUCT, INSTRUCT_SMALL, parameters_of
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _ppo(rng: Random) -> Case:
    return Case(("ppo", parameters_of(rng), parameters_of(rng), parameters_of(rng)))


def _others(rng: Random) -> list[Case]:
    return [
        Case(("ppo", parameters_of(rng))),
        Case(("grpo", parameters_of(rng))),
        Case(("grpo", parameters_of(rng)), {"reward": parameters_of(rng)}),
        Case(("dpo", parameters_of(rng))),
        Case(("ppo", parameters_of(rng)), {"critic": parameters_of(rng)}),
        Case(("ppo", parameters_of(rng)), {"reward": 0}),
        Case(("ppo", parameters_of(rng)), {"critic": 0}),
        Case(("ppo", parameters_of(rng), 0, parameters_of(rng))),
    ]


def _lighter(rng: Random) -> Case:
    algorithm = rng.choice(("ppo", "grpo", "dpo"))
    return Case((algorithm, parameters_of(rng)), {"masters": rng.random() < 0.5, "reference": rng.random() < 0.5})


def _lighter_corners(rng: Random) -> list[Case]:
    return [
        Case(("ppo", parameters_of(rng)), {"masters": False}),
        Case(("grpo", parameters_of(rng)), {"reference": False}),
        Case((rng.choice(("ppo", "dpo")), parameters_of(rng)), {"reference": False}),
    ]


EXERCISE = Build(
    "13 rlhf_memory.rlhf_bytes",
    section="13.21",
    topic="memory by role",
    bonus=True,
    cases=(
        Case(("ppo", 7e9)),
        Case(("ppo", 7e9), {"masters": False}),
        Case(("ppo", INSTRUCT, INSTRUCT_SMALL, INSTRUCT_SMALL)),  # the sizes of Ouyang et al. (2022)
        Case(("grpo", 7e9)),
        Case(("grpo", 7e9, None, 7e9)),
        Case(("grpo", 7e9), {"reference": False}),
        Case(("dpo", 7e9)),
    ),
    groups=(
        Group("sizes of their own", _ppo, 4, "Policy and critic learn, reward model and reference do not."),
        listed(
            "roles left out",
            _others,
            "Unless given, PPO's critic and reward model are as large as the policy, and GRPO's reward is a rule.",
        ),
        Group("lighter", _lighter, 6, "Masters are 4 of the 12 bytes; a reference may be left out.", _lighter_corners),
    ),
    slips=(
        Slip(
            "Each model that learns has an optimizer of its own: the critic, too.",
            edit=(
                'role_bytes(given["critic"] or 0, True, None, *recipe)',
                'role_bytes(given["critic"] or 0, True, None, *recipe[:2], 0)',
            ),
        ),
        Slip(
            "A critic or a reward model of 0 parameters takes no bytes: only None stands for the policy's size.",
            edit=("policy if value is None else value", "value or policy"),
        ),
        Slip(
            "Frozen models have no gradients.",
            edits=(
                (
                    'role_bytes(given["reward"] or 0, False, None, *recipe)',
                    'role_bytes(given["reward"] or 0, True, None, *recipe[:2], 0)',
                ),
                (
                    "role_bytes(policy if reference else 0, False, None, *recipe)",
                    "role_bytes(policy if reference else 0, True, None, *recipe[:2], 0)",
                ),
            ),
        ),
        Slip(
            "The fp32 masters are missing: 4 bytes for each parameter that learns.",
            edit=("state_bytes(master=bool(masters))", "state_bytes(master=False)"),
        ),
        Slip(
            "Those are the weights: gradients and optimizer states are missing.",
            edits=(
                ("role_bytes(policy, True, None, *recipe)", "role_bytes(policy, False, None, *recipe)"),
                ('role_bytes(given["critic"] or 0, True,', 'role_bytes(given["critic"] or 0, False,'),
            ),
        ),
        Slip("Without a reference it takes no bytes.", edit=("policy if reference else 0", "policy")),
        Slip(
            "GRPO without a reward model pays by a rule, which takes no bytes.",
            edit=(
                "    recipe = state_bytes",
                '    if algorithm == "grpo" and reward is None:\n'
                '        given["reward"] = policy\n'
                "    recipe = state_bytes",
            ),
        ),
        Slip(
            "The critic learns: it has gradients and optimizer states.",
            edit=('role_bytes(given["critic"] or 0, True,', 'role_bytes(given["critic"] or 0, False,'),
        ),
        Slip(
            "Critic and reward model may have sizes of their own.",
            edit=(
                "given = {name: policy if value is None else value for name, value in given.items()}",
                'given = dict.fromkeys(given, policy)\n    elif reward:\n        given["reward"] = policy',
            ),
        ),
    ),
    rights=(
        Right(
            "16 or 12 bytes of a parameter that learns, 2 of another",
            edits=(
                ("role_bytes(policy, True, None, *recipe),", '{"total": policy * (16.0 if masters else 12.0)},'),
                (
                    'role_bytes(given["critic"] or 0, True, None, *recipe),',
                    '{"total": (given["critic"] or 0) * (16.0 if masters else 12.0)},',
                ),
            ),
        ),
        Right("a sum from the last role on", edit=("sum(totals.values())}", "sum(list(totals.values())[::-1])}")),
    ),
    promises=(
        Promise("whether the optimizer keeps fp32 copies of the weights", edit=("master=bool(masters)", "master=True")),
        Promise("0 is a rule too.", edit=("policy if value is None else value for", "value or policy for")),
        Promise(
            "The reference has as many parameters as the policy.",
            edit=(
                "role_bytes(policy if reference else 0",
                "role_bytes((given['reward'] or policy) if reference else 0",
            ),
        ),
    ),
)
