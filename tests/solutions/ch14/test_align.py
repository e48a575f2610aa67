"""The loop on real ranks of the library's own backend, and its plain twin against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch
import torch.distributed as dist

from rankzero import world
from rankzero.tiny.align_jobs import made, model_of
from rankzero.tiny.model import GPT
from solutions.ch14.loop import align
from solutions.ch14.plain_loop import Rules, Task, log_probs_of, ran_on, written

SHAPE = {"vocab": 7, "layers": 1, "heads": 1, "head_dim": 4, "context": 6}
PLAN = {"iterations": 3, "group_size": 2, "beta": 0.1, "eos": 0, "lag": 1, "cap": 1.2}


def task(plan=PLAN) -> Task:
    draws = torch.Generator().manual_seed(3)
    count = plan["iterations"]
    prompts = [[[1 + i, 2], [1 + i, 2], [3, 4], [3, 4]] for i in range(count)]
    uniforms = torch.rand(count, 4, 4, generator=draws, dtype=torch.float64).tolist()
    return Task(SHAPE, 5, 0.5, plan, prompts, uniforms, [[[0, 3], [1, 2]]] * count, [0.5, 1, -1, 2, 0, 1, -2], 6)


def aligned() -> dict[str, list[float]]:
    """On one rank: the job with rewards computed in place."""
    torch.set_num_threads(1)
    job = task()

    def score(batch, rows, tokens, log_probs):
        return torch.tensor([job.score(row) for row in tokens.tolist()], dtype=torch.float64)

    rows = [torch.tensor(one) for one in job.prompts]
    numbers = [torch.tensor(one, dtype=torch.float64) for one in job.uniforms]
    orders = [[torch.tensor(which) for which in order] for order in job.orders]
    weights = align(made(dist.get_rank(), SHAPE, 5, 6, 0.5, False, PLAN, rows, numbers, orders, score))
    return {name: weight.flatten().tolist() for name, weight in weights.items()}


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_loop_ends_where_its_twin_does(ranks):
    """With ends, a price and a lag at once, which no level has. A rank that is alone writes with its newest weights."""
    first, *others = world.run(aligned, ranks=ranks, timeout=120).values
    assert others == [{}] * (ranks - 1)
    twin = ran_on(task(), Rules(lag=0 if ranks == 1 else None)).weights
    assert first.keys() == twin.keys()
    for name, values in twin.items():
        assert first[name] == pytest.approx(values, abs=1e-10)


def test_tokens_are_drawn_by_the_numbers_given():
    """Kills: a draw that depends on anything else, and log-probabilities of another distribution."""
    job, weights = task(), GPT_WEIGHTS
    batch = written(job, Rules(), weights, 0)
    model = model_of(SHAPE, weights)
    for row, numbers, chances in zip(batch.tokens, job.uniforms[0], batch.log_probs, strict=True):
        for place, number in enumerate(numbers):
            with torch.no_grad():
                law = model(torch.tensor([row[: 2 + place]]))[0, -1].softmax(-1).tolist()
            below = sum(law[: row[2 + place]])
            assert below <= number < below + law[row[2 + place]] + 1e-12
            assert chances[place] == pytest.approx(math.log(law[row[2 + place]]))
    found = log_probs_of(job, weights, batch.tokens)
    assert found == [pytest.approx(one) for one in batch.log_probs]


GPT_WEIGHTS = {name: weight.double() for name, weight in GPT(model_of(SHAPE, 0).config, 9).state_dict().items()}


def test_a_first_step_of_the_twin_is_the_policy_gradient():
    """Fresh words, one minibatch: the ratio is 1, the step that of the mean of log-probabilities times advantages."""
    job = task({"iterations": 1, "group_size": 2, "eos": 0})
    job = Task(SHAPE, 5, 0.5, job.plan, job.prompts, job.uniforms, [[[0, 1, 2, 3]]], job.marks)
    ran = ran_on(job)
    model, tokens = model_of(SHAPE, 5), torch.tensor(ran.batches[0].tokens)
    scores = torch.tensor([job.score(row) for row in tokens.tolist()], dtype=torch.float64).view(-1, 2)
    half = (
        scores[:, :1] - scores[:, 1:]
    ) / 2  # of two numbers: the deviation is half the distance times the root of two
    gain = torch.cat([half, -half], 1) / (half.abs() * math.sqrt(2) + 1e-4)
    total, count = torch.zeros((), dtype=torch.float64), 0
    for row, advantage in zip(tokens, gain.flatten(), strict=True):
        for place in range(2, 2 + job.real(row.tolist())):
            total = total + advantage * model(row[None, :place])[0, -1].log_softmax(-1)[row[place]]
            count += 1
    (-total / count).backward()
    for name, weight in model.named_parameters():
        moved = weight - 0.5 * weight.grad
        assert ran.weights[name] == pytest.approx(moved.flatten().tolist(), abs=1e-10)
