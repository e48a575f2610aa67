"""The trainer on real ranks of the library's own backend, and its plain twin beside a loop of five lines."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch
import torch.distributed as dist
from torch.nn import functional

from rankzero import world
from rankzero.tiny import GPT, GPTConfig
from rankzero.tiny.jobs import Job, Plan, made
from solutions.ch07.plain_trainer import fair, plain_shapes, plain_weights, shard
from solutions.ch07.trainer import train

SHAPE = {"vocab": 11, "layers": 2, "heads": 4, "kv_heads": 2, "head_dim": 2, "ffn": 8, "context": 4}
RATES = (0.25, 0.9)


def rows(plan: Plan, steps: int = 4, seed: int = 0) -> list:
    """Rows of five tokens for every step, replica and micro-batch, none of them now and then."""
    rng = random.Random(seed)
    return [
        [
            [[[rng.randrange(11) for _ in range(5)] for _ in range((s + r + m) % 3)] for m in range(plan.micro_batches)]
            for r in range(plan.dp)
        ]
        for s in range(steps)
    ]


def trained(plan: dict[str, int], steps: list, stop: int | None = None) -> dict[str, list[float]]:
    """On one rank: the weights after all steps, in one run or in two."""
    torch.set_num_threads(1)
    mesh = Plan(**plan)
    mine = dist.get_rank() // mesh.tp % mesh.dp
    tokens = [[torch.tensor(m, dtype=torch.int64).view(len(m), 5) for m in step[mine]] for step in steps]
    saved = train(made(SHAPE, 7, plan, tokens[:stop], RATES)) if stop else None
    weights, _ = train(made(SHAPE, 7, plan, tokens[stop or 0 :], RATES, saved))
    return {name: weight.flatten().tolist() for name, weight in weights.items()}


def assert_trained(plan: dict[str, int], stop: int | None = None) -> None:
    mesh = Plan(**plan)
    steps = rows(mesh)
    whole, sizes = plain_weights(SHAPE, 7, steps, RATES), plain_shapes(SHAPE)
    values = world.run(trained, plan, steps, stop, ranks=mesh.ranks, timeout=120).values
    for rank, weights in enumerate(values):
        for name, size in sizes.items():
            cut = shard(name, size, mesh, SHAPE["layers"], rank)
            assert (cut is None) == (name not in weights)
            if cut is not None:
                expected = torch.tensor(whole[name], dtype=torch.float64).view(size)[tuple(cut)].flatten()
                torch.testing.assert_close(torch.tensor(weights[name], dtype=torch.float64), expected)


@pytest.mark.parametrize(
    "plan",
    [
        {"dp": 2, "tp": 2, "micro_batches": 2, "bucket_bytes": 2_000},
        {"dp": 2, "pp": 2, "micro_batches": 3, "zero": 2},
        {"tp": 2, "pp": 2, "micro_batches": 3},
    ],
    ids=str,
)
def test_ways_to_split_go_together(plan):
    """Kills: groups of the wrong ranks, which a plan with one axis does not show."""
    assert_trained(plan)


def test_a_sharded_checkpoint_is_resumed():
    """Kills: a slice of momentum that comes back on another replica, or not at all."""
    assert_trained({"dp": 2, "zero": 1, "micro_batches": 2}, stop=2)


def test_the_twin_is_plain_training():
    """All rows of a step in one batch, and SGD with momentum written out."""
    plan = Plan(dp=2, micro_batches=2)
    model, velocity = GPT(GPTConfig(**SHAPE), 7).double(), {}
    for step in rows(plan):
        tokens = torch.tensor([row for replica in step for micro in replica for row in micro])
        functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
        for name, weight in model.named_parameters():
            velocity[name] = 0.9 * velocity.get(name, 0) + weight.grad
            weight.data -= 0.25 * velocity[name]
            weight.grad = None
    found = plain_weights(SHAPE, 7, rows(plan), RATES)
    for name, weight in model.named_parameters():
        torch.testing.assert_close(torch.tensor(found[name], dtype=torch.float64), weight.detach().flatten())


def test_a_twin_that_forgets_is_another_one():
    steps = rows(Plan(micro_batches=2))
    assert plain_weights(SHAPE, 7, steps, RATES, restart=2) != plain_weights(SHAPE, 7, steps, RATES)
    assert plain_weights(SHAPE, 7, steps, RATES, restart=0) == plain_weights(SHAPE, 7, steps, RATES)


def test_fair_weights_add_up_to_one():
    counts = [[3, 0], [1, 2]]
    assert sum(fair(counts, r, m) for r in range(2) for m in range(2)) == 1


@pytest.mark.parametrize(
    "plan", [{}, {"tp": 2}, {"pp": 2}, {"dp": 2, "tp": 2}, {"dp": 2, "pp": 2}, {"tp": 2, "pp": 2}], ids=str
)
def test_shares_cover_every_weight_as_often_as_there_are_replicas(plan):
    mesh = Plan(**plan)
    for name, size in plain_shapes(SHAPE).items():
        held = torch.zeros(size)
        for rank in range(mesh.ranks):
            if (cut := shard(name, size, mesh, SHAPE["layers"], rank)) is not None:
                held[tuple(cut)] += 1
        whole = name.split(".")[-2] in ("embedding", "head", "norm", "attention_norm", "ffn_norm")
        assert (held == mesh.dp * (mesh.tp if whole else 1)).all()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"dp": 0}, "dp must be an integer >= 1, got 0"),
        ({"tp": True}, "tp must be an integer >= 1, got True"),
        ({"micro_batches": 1.0}, "micro_batches must be an integer >= 1, got 1.0"),
        ({"zero": 3}, "zero must be 0, 1 or 2, got 3"),
        ({"bucket_bytes": -1}, "bucket_bytes must be an integer >= 0, got -1"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(plan, words):
    with pytest.raises(ValueError, match=words):
        Plan(**plan)


def test_a_job_holds_what_it_was_made_from():
    tokens: Sequence[Sequence[torch.Tensor]] = [[torch.arange(10).view(2, 5)]]
    job = made(SHAPE, 7, {"dp": 2}, tokens, RATES)
    ((inputs, targets),) = job.steps[0]
    assert (inputs[:, 1:] == targets[:, :-1]).all()
    assert (job.plan.ranks, job.learning_rate, job.momentum, job.saved) == (2, 0.25, 0.9, None)
    assert {weight.dtype for weight in job.model.parameters()} == {torch.float64}
    assert Job.loss(torch.zeros(0, 4, 11), torch.zeros(0, 4, dtype=torch.int64)).isnan()
