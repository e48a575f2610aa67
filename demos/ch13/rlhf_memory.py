"""Bytes of the model states of an RLHF job, by role and by kind, and per GPU when they are sharded evenly (ZeRO-3).

python -m demos rlhf_memory --model LLAMA3_70B --algorithm ppo --gpus 64
python -m demos rlhf_memory --parameters 34e9 --reward 7e9 --gpus 32
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, amount, demo, parser, part, show, verdict, whole
from demos.typed_model import PUBLISHED, ModelChoice
from experiments.ch13.rlhf_budget import ALGORITHMS, KINDS, budget
from rankzero.facts.hardware import GPUS
from rankzero.facts.units import GB

MODEL = ModelChoice(PUBLISHED, "LLAMA3_70B")
DEVICES = {gpu.name.partition(" ")[0]: gpu for gpu in GPUS}


def picture(roles: dict[str, dict[str, float]]):
    """Stacked bars, a bar for each role."""
    from rankzero.figures import plots

    groups = {role: {kind: parts[kind] / GB for kind in KINDS} for role, parts in roles.items()}
    whole_job = sum(parts["total"] for parts in roles.values()) / GB
    told = ", ".join(f"{role} {parts['total'] / GB:,.0f}" for role, parts in roles.items())
    return plots.bars(groups, y="GB", stacked=True, alt=f"Model states of a job, {whole_job:,.0f} GB in all: {told}.")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    MODEL.add_to(options)
    options.add_argument("--algorithm", choices=ALGORITHMS, default="ppo")
    options.add_argument("--critic", type=amount, help="parameters of PPO's critic; by default as many as the policy")
    options.add_argument(
        "--reward", type=amount, help="parameters of the reward model; without it GRPO is rewarded by a rule"
    )
    options.add_argument("--no-masters", action="store_true", help="the optimizer keeps no fp32 weights")
    options.add_argument("--gpus", type=whole(1, 10**6), default=64)
    options.add_argument("--gpu", choices=DEVICES, default="H100")
    asked = options.parse_args(argv)
    if asked.critic is not None and asked.algorithm != "ppo":
        options.error(f"--critic: {asked.algorithm} has no critic")
    if asked.reward is not None and asked.algorithm == "dpo":
        options.error("--reward: dpo has no reward model")
    (name, policy), masters = MODEL.count(options, asked), not asked.no_masters
    of_role, of_job = (part(asked.code, "ch13.rlhf_memory", one) for one in ("role_bytes", "rlhf_bytes"))
    roles = budget(asked.algorithm, policy, asked.critic, asked.reward, masters)
    states = 12 if masters else 8
    own = {"critic": asked.critic, "reward": asked.reward}
    sizes = dict.fromkeys(roles, policy) | {role: size for role, size in own.items() if size is not None}
    mine = {role: of_role(sizes[role], role in ("policy", "critic"), optimizer_bytes=states) for role in roles}
    rows = [(role, *(parts[kind] / GB for kind in (*KINDS, "total"))) for role, parts in mine.items()]
    total = of_job(asked.algorithm, policy, asked.critic, asked.reward, masters)["total"]
    print(f"{name}, {asked.algorithm}: GB of model states")
    show(asked, Table(("role", *KINDS, "total"), rows), lambda: picture(roles))
    each, memory = total / asked.gpus, DEVICES[asked.gpu].memory
    print(f"{total / GB:,.1f} GB in all, {each / GB:,.2f} GB on each of {asked.gpus:,} GPUs of {memory / GB:g} GB")
    print("fits, before activations and caches" if each <= memory else f"needs --gpus {-int(-total // memory)} or more")
    same = abs(sum(parts["total"] for parts in mine.values()) - total) <= 1e-9 * total
    return verdict(same, "the roles add up to the job")


if __name__ == "__main__":
    sys.exit(main())
