"""Chapter 5: ``ShardedAdamW``, ZeRO stage 1."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from autograder.bank.ch05.rules import Events, Values, exactly
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def one_exchange(case: Case, _values: Values, events: Events) -> str | None:
    """In each step one reduce-scatter of the gradients and one all-gather of the weights, in fp32 at most."""
    ranks = len(case.args)
    if ranks == 1:
        return None
    shapes, steps = case.args[0][:2]
    frozen = case.kwargs.get("frozen", ())
    slice_bytes = 4 * -(-sum(math.prod(s) for index, s in enumerate(shapes) if index not in frozen) // ranks)
    allowed = {"reduce_scatter": ranks * slice_bytes, "all_gather": slice_bytes}
    return exactly(ranks, steps, allowed, events, "a step scatters gradients and gathers weights, once each")


MLP = ((7, 5), (7,), (3, 7), (3,))  # widths 5, 7, 3: 66 parameters


def _steps(ranks: int, seed: int, steps: int = 3, shapes: tuple[tuple[int, ...], ...] = MLP, **options: Any) -> Case:
    """The same weights on every rank; each draws gradients from a seed of its own."""
    return Case(tuple((shapes, steps, seed + rank) for rank in range(ranks)), options)


def _padded(rng: Random) -> Case:
    """66 is not a multiple of 4."""
    return _steps(4, rng.randrange(10**6))


def _trained_of_each(rng: Random) -> list[Case]:
    return [_steps(ranks, rng.randrange(10**6), lr=0.01, eps=eps) for ranks, eps in ((2, 0.1), (3, 1e-8))]


def _options(rng: Random) -> Case:
    """An eps that shows whether gradients were added or averaged, and a decay that shows where it was applied."""
    return _steps(2, rng.randrange(10**6), lr=0.05, betas=(0.8, 0.9), eps=rng.choice((0.05, 0.1)), weight_decay=0.5)


def _half(rng: Random) -> Case:
    """Updates below half of a bf16 step: without a master copy a weight does not move."""
    return _steps(2, rng.randrange(10**6), 12, dtype="bfloat16", lr=5e-4)


def _partly(rng: Random) -> Case:
    return _steps(2, rng.randrange(10**6), missing=(1,), frozen=(2,), lr=0.01)


def _single(rng: Random) -> Case:
    return _steps(1, rng.randrange(10**6), lr=0.01)


EXERCISE = Build(
    "05 data_parallel.ShardedAdamW",
    section="5.6",
    topic="ZeRO stage 1",
    grade="world",
    probe="ch05.stepped",
    tolerance=1e-5,
    rule=one_exchange,
    cases=(
        *(_steps(ranks, 1, 10) for ranks in (1, 2, 4)),
        _steps(2, 2, shapes=((2, 2),), lr=0.1, eps=0.1),
        _steps(2, 3, 20, ((3, 3),), dtype="bfloat16", lr=1e-3),
    ),
    groups=(
        listed("two or three ranks", _trained_of_each, "Each rank moves its slice by the mean gradient."),
        Group("padding", _padded, 1, "The number of ranks need not divide that of the parameters: pad with zeros."),
        Group("options", _options, 1, "Mean, not sum; the decay acts on the weights, not on the gradient."),
        Group("bf16 weights", _half, 1, "The states are fp32, the weights may be bf16: keep a master copy."),
        Group("missing and frozen", _partly, 1, "A grad that is None counts as zeros; what needs no gradient is left."),
        Group("one rank", _single, 1, "One rank holds everything."),
    ),
    slips=(
        Slip(
            "The optimizer states were gathered too: they never travel.",
            edit=(
                "        mine = self.master",
                "        for state in (self.first, self.second):\n"
                "            parts = [torch.empty_like(state) for _ in range(self.ranks)]\n"
                "            dist.all_gather(parts, state, group=self.group)\n"
                "        mine = self.master",
            ),
        ),
        Slip(
            "The slices were not padded: the ranks need not divide the number of parameters.",
            edits=(
                ("return torch.nn.functional.pad(flat, (0, -flat.numel() % ranks))", "return flat"),
                ("weights.chunk(self.ranks)[self.rank]", "weights.view(self.ranks, -1)[self.rank]"),
            ),
        ),
        Slip("Gradients were added up and not divided by N.", edit=("gradient / self.ranks", "gradient")),
        Slip(
            "The bias correction started again in every step: it counts steps.",
            edit=("self.steps += 1", "self.steps = 1"),
        ),
        Slip(
            "The decay was added to the gradient: that is Adam with L2, not AdamW.",
            edits=(
                ("gradient / self.ranks", "gradient / self.ranks + self.weight_decay * self.master"),
                ("        self.master.mul_(1 - self.lr * self.weight_decay)\n", ""),
            ),
        ),
        Slip(
            "The slice was kept in the weights' type: small updates are lost without an fp32 master.",
            edit=(
                "mine = self.master.to(self.parameters[0].dtype)",
                "mine = self.master.to(self.parameters[0].dtype)\n        self.master = mine.float()",
            ),
        ),
    ),
    rights=(
        Right(
            "gradients divided before they are summed",
            edits=(
                (
                    "list(_flat(zeros, self.ranks).chunk(self.ranks))",
                    "list((_flat(zeros, self.ranks) / self.ranks).chunk(self.ranks))",
                ),
                ("self._update(gradient / self.ranks)", "self._update(gradient)"),
            ),
        ),
        Right(
            "double precision inside",
            edit=(
                "(self.first, self.second), self.betas, strict=True))",
                "(self.first.double(), self.second.double()), self.betas, strict=True))",
            ),
        ),
        Right(
            "bias correction in the step size",
            edit=(
                "self.master.sub_(self.lr * mean / (square.sqrt() + self.eps))",
                "rate = self.lr / (1 - self.betas[0] ** self.steps)\n"
                "        root = self.second.sqrt() / (1 - self.betas[1] ** self.steps) ** 0.5\n"
                "        self.master.addcdiv_(self.first, root.add_(self.eps), value=-rate)",
            ),
        ),
    ),
    promises=(
        Promise(
            "Each rank keeps an fp32 master copy",
            edit=(
                "        mine = self.master.to(self.parameters[0].dtype)\n",
                "        mine = self.master.to(self.parameters[0].dtype)\n        self.master.copy_(mine)\n",
            ),
        ),
        Promise(
            "The states never travel.",
            edit=(
                "        _fill(self.parameters, weights)\n",
                "        _fill(self.parameters, weights)\n"
                "        dist.all_reduce(self.first.clone(), group=self.group)\n",
            ),
        ),
        Promise(
            "Bytes of master copy and moments on this rank",
            edit=("self.first.nbytes + self.second.nbytes", "self.first.nbytes"),
        ),
        Promise(
            "also where it is None on every rank: that weight decays too",
            edit=(
                "        _fill(self.parameters, weights)\n",
                "        old = [p.detach().clone() for p in self.parameters]\n"
                "        _fill(self.parameters, weights)\n"
                "        for p, weight in zip(self.parameters, old):\n"
                "            p.data = weight if p.grad is None else p.data\n",
            ),
        ),
        Promise(
            "apart from the gradient",
            edits=(
                ("        self.master.mul_(1 - self.lr * self.weight_decay)\n", ""),
                (
                    "        self.steps += 1\n",
                    "        self.steps += 1\n        gradient = gradient + self.weight_decay * self.master\n",
                ),
            ),
        ),
    ),
)
