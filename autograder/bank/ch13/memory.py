"""Chapter 13: bytes of the model states of a job, by role."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip

#: Parameters of Llama-2 7B, of InstructGPT's policy, and of its critic and reward model.
LLAMA2_7B, INSTRUCT, INSTRUCT_SMALL = 6_738_415_616, 175e9, 6e9


def _parameters(rng: Random) -> int:
    return round(10 ** rng.uniform(8, 11.6))


def _adapter(rng: Random, parameters: int) -> int:
    return round(parameters * rng.uniform(0.001, 0.05))


# --- role_bytes


def _role(rng: Random) -> Case:
    return Case((_parameters(rng), rng.random() < 0.6))


def _adapted(rng: Random) -> Case:
    parameters = _parameters(rng)
    return Case((parameters, True, _adapter(rng, parameters)))


def _recipe(rng: Random) -> Case:
    parameters = _parameters(rng)
    trainable = _adapter(rng, parameters) if rng.random() < 0.5 else None
    return Case((parameters, True, trainable, rng.choice((1, 4)), rng.choice((1, 4)), rng.choice((6, 8, 16))))


def _ends(rng: Random) -> list[Case]:
    sizes = [_parameters(rng) for _ in range(3)]
    return [*(Case((size, True, size)) for size in sizes[:2]), Case((sizes[2], True, 0)), Case((0, True))]


ROLE_BYTES = Build(
    id="13-role-bytes",
    module="rlhf_memory",
    function="role_bytes",
    grade="call",
    section="13.13",
    topic="memory by role",
    cases=(
        Case((7e9, True)),
        Case((7e9, False)),
        Case((7e9, True, 40e6)),
        Case((LLAMA2_7B, True)),  # 16 bytes for each parameter: Rajbhandari et al., section 3.1
        Case((7e9, True, 7e9)),
        Case((7e9, True, None, 2, 2, 8)),
    ),
    groups=(
        Group(
            "roles",
            _role,
            6,
            "A frozen model has weights alone; a trained one a gradient and states for each parameter.",
            lambda rng: [Case((_parameters(rng), learns)) for learns in (True, False, False)],
        ),
        Group(
            "adapters", _adapted, 4, "What learns is the adapter; it has weights of its own beside those of the body."
        ),
        Group("recipes", _recipe, 5, "Bytes of a weight, a gradient and the states are arguments."),
        listed("ends", _ends, "All parameters trainable means no adapter."),
    ),
    slips=(
        Slip(
            "The optimizer has states for what learns: the adapter, not the body.",
            edit=("optimizer_bytes * learning", "optimizer_bytes * (parameters if trained else 0)"),
        ),
        Slip(
            "The adapter has weights of its own, beside those of the body.",
            edit=("weight_bytes * (parameters + adapter)", "weight_bytes * parameters"),
        ),
        Slip(
            "The masters are part of the optimizer states: the sum is right, the split is not.",
            edits=(
                ("weight_bytes * (parameters + adapter)", "weight_bytes * (parameters + adapter) + 4 * learning"),
                ("optimizer_bytes * learning", "(optimizer_bytes - 4) * learning"),
            ),
        ),
        Slip(
            "A frozen model has no gradients.",
            edit=("grad_bytes * learning", "grad_bytes * (learning if trained else parameters)"),
        ),
        Slip(
            "The body stays in memory beside the adapter.", edit=("(parameters + adapter)", "(adapter or parameters)")
        ),
        Slip(
            "Bytes of weights, gradients and states are arguments: they need not be 2, 2 and 12.",
            edits=(
                ("weight_bytes * (parameters + adapter)", "2 * (parameters + adapter)"),
                ("grad_bytes * learning", "2 * learning"),
                ("optimizer_bytes * learning", "12 * learning"),
            ),
        ),
        Slip(
            "With all parameters trainable there is no second copy of the weights.",
            edit=(
                "adapter = learning if trained and learning < parameters else 0",
                "adapter = learning if trainable is not None else 0",
            ),
        ),
    ),
)

# --- rlhf_bytes


def _ppo(rng: Random) -> Case:
    return Case(("ppo", _parameters(rng), _parameters(rng), _parameters(rng)))


def _others(rng: Random) -> list[Case]:
    return [
        Case(("ppo", _parameters(rng))),
        Case(("grpo", _parameters(rng))),
        Case(("grpo", _parameters(rng)), {"reward": _parameters(rng)}),
        Case(("dpo", _parameters(rng))),
        Case(("ppo", _parameters(rng)), {"critic": _parameters(rng)}),
        Case(("ppo", _parameters(rng)), {"reward": 0}),
        Case(("ppo", _parameters(rng)), {"critic": 0}),
        Case(("ppo", _parameters(rng), 0, _parameters(rng))),
    ]


def _lighter(rng: Random) -> Case:
    algorithm = rng.choice(("ppo", "grpo", "dpo"))
    return Case((algorithm, _parameters(rng)), {"masters": rng.random() < 0.5, "reference": rng.random() < 0.5})


def _lighter_corners(rng: Random) -> list[Case]:
    return [
        Case(("ppo", _parameters(rng)), {"masters": False}),
        Case(("grpo", _parameters(rng)), {"reference": False}),
        Case((rng.choice(("ppo", "dpo")), _parameters(rng)), {"reference": False}),
    ]


RLHF_BYTES = Build(
    id="13-rlhf-bytes",
    module="rlhf_memory",
    function="rlhf_bytes",
    grade="call",
    section="13.13",
    topic="memory by role",
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
)

#: In the order of the page.
ITEMS = (ROLE_BYTES, RLHF_BYTES)
