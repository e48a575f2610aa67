"""A trainer for many ranks, from an empty loop: the milestone of Part II, graded level by level.

    python -m autograder milestone labs --only 07-trainer

Begin with one rank, then data parallelism: each level counts without the others. One loop can serve every plan, because
a pipeline of one stage is plain accumulation, and a group of one rank has nothing to send.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


def train(job: Any) -> tuple[dict[str, Tensor], Any]:
    """Train ``job.model`` on the rows of all ranks, as one process with all of these rows would.

    In each step the loss is the mean over all rows of all replicas and micro-batches, and the optimizer is SGD with
    momentum, as ``torch.optim.SGD(parameters, lr=job.learning_rate, momentum=job.momentum)`` does it. Every rank of the
    plan calls this function with its own job.

    Args:
        job: a :class:`rankzero.tiny.jobs.Job`. ``job.model`` is the whole model, ``job.steps[s][m]`` the inputs and
            targets of this replica's micro-batch m in step s, ``job.loss(logits, targets)`` the mean loss of a
            micro-batch (nan without rows). ``job.plan`` has ``dp``, ``tp``, ``pp``, ``zero`` (0, 1 or 2),
            ``micro_batches`` and ``bucket_bytes`` (a bucket's size, 0: none); the rank of replica d, stage p and
            tensor-parallel place t is ``(p * dp + d) * tp + t``. Levels you leave out may raise NotImplementedError.

    Returns:
        ``(weights, state)``. ``weights``: the parameters that this rank holds, under their names in the whole model. A
        stage has ``layers / pp`` consecutive blocks, the first one the embedding, the last one norm and head. Of
        ``tp`` ranks each has its block of rows of query, key, value, gate and up, its block of columns of output and
        down, and everything else whole. Under ZeRO 1 and 2 every replica ends with whole weights. ``state``: what the
        optimizer has to remember, in tensors, numbers, lists and dictionaries; it comes back with the weights in
        ``job.saved`` when the job is resumed.
    """
    pp, dp, tp = _mesh(job.plan)
    stage = _cut(job, pp, tp)
    if job.saved:
        stage.load_state_dict(job.saved[0])
    updater = _updater(job, list(stage.parameters()), dp)
    if job.saved:
        updater.optimizer.load_state_dict(job.saved[1])
    totals = dp.sum(torch.tensor([sum(len(inputs) for inputs, _ in step) for step in job.steps]))
    for step, total in zip(job.steps, totals.tolist(), strict=True):
        _passes(job, stage, step, total, pp, updater)
        updater.step()
    return {name: weight.detach() for name, weight in stage.named_parameters()}, updater.optimizer.state_dict()


# Who is who.


class _Axis:
    """This rank's group along one axis of the mesh, and its place in it. Every rank creates all groups in one order."""

    def __init__(self, lines: Tensor) -> None:
        for ranks in lines.tolist():
            group = dist.new_group(ranks)
            if dist.get_rank() in ranks:
                self.ranks, self.group, self.size = ranks, group, len(ranks)
                self.place = ranks.index(dist.get_rank())

    def sum(self, x: Tensor) -> Tensor:
        """``x`` added up over the group, in place."""
        if self.size > 1:
            dist.all_reduce(x, group=self.group)
        return x


def _mesh(plan: Any) -> list[_Axis]:
    """The axes of a plan: stages, replicas, tensor-parallel ranks."""
    grid = torch.arange(plan.pp * plan.dp * plan.tp).view(plan.pp, plan.dp, plan.tp)
    return [_Axis(grid.movedim(axis, -1).reshape(-1, grid.shape[axis])) for axis in range(3)]


# The passes of one step: accumulation and 1F1B are the same loop.


def _passes(job: Any, stage: nn.Module, step: Sequence[Any], total: int, pp: _Axis, updater: _Updater) -> None:
    """Forward and backward passes of all micro-batches; ``total`` is the number of rows of all replicas."""
    first, last = pp.place == 0, pp.place == pp.size - 1
    held: dict[int, tuple[Tensor, Tensor]] = {}  # input and output of each micro-batch in flight
    sending: list[Any] = []

    def forward(m: int) -> None:
        inputs, targets = step[m]
        x = inputs if first else _received(inputs, job, pp.ranks[pp.place - 1]).requires_grad_()
        y = stage(x)
        if not last:
            sending.append(dist.isend(y.detach().contiguous(), pp.ranks[pp.place + 1]))
        else:  # the mean over these rows becomes its share of the mean over all rows
            y = job.loss(y, targets) * (len(inputs) / total)
        held[m] = x, y

    def backward(m: int) -> None:
        x, y = held.pop(m)
        upstream = None if last else _received(step[m][0], job, pp.ranks[pp.place + 1])
        updater.begin_backward(final=m == len(step) - 1)
        y.backward(upstream)
        updater.end_backward()
        if not first:
            assert x.grad is not None
            sending.append(dist.isend(x.grad.contiguous(), pp.ranks[pp.place - 1]))

    ahead = min(len(step), pp.size - 1 - pp.place)  # forward passes before the first backward pass
    for m in range(ahead):
        forward(m)
    for m in range(len(step)):
        if m + ahead < len(step):
            forward(m + ahead)
        backward(m)
    for message in sending:
        message.wait()


def _received(inputs: Tensor, job: Any, source: int) -> Tensor:
    """The activation of a micro-batch, or its gradient, from a neighboring stage: [rows, tokens, hidden]."""
    x = torch.empty(*inputs.shape, job.model.config.hidden, dtype=torch.float64)
    dist.recv(x, source)
    return x


# This rank's part of the model.


def _cut(job: Any, pp: _Axis, tp: _Axis) -> nn.Module:
    """The stage of this rank, with its share of every matrix."""
    blocks = job.model.config.layers // pp.size
    mine = range(blocks * pp.place, blocks * (pp.place + 1))
    stage: nn.Module = job.model.part(mine, first=pp.place == 0, last=pp.place == pp.size - 1)
    if tp.size > 1:
        for block in stage.blocks.children():  # type: ignore[operator, union-attr]
            _split(block, tp)
    return stage


def _split(block: Any, tp: _Axis) -> None:
    """Columns into each half of a block, rows out of it: f before, g after."""
    attention, ffn = block.attention, block.ffn
    for layer in (attention.query, attention.key, attention.value, ffn.gate, ffn.up):
        layer.weight = nn.Parameter(layer.weight.detach().chunk(tp.size, 0)[tp.place].clone())
    for layer in (attention.output, ffn.down):
        layer.weight = nn.Parameter(layer.weight.detach().chunk(tp.size, 1)[tp.place].clone())
    attention.heads //= tp.size
    attention.kv_heads //= tp.size
    for half in (attention, ffn):
        half.register_forward_pre_hook(lambda _, given: (_Copy.apply(given[0], tp), *given[1:]))
        half.register_forward_hook(lambda _, given, partial: _Reduce.apply(partial, tp))


class _Copy(torch.autograd.Function):
    """f: the same input on every rank; its gradient is the sum of what each rank contributes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, tp: _Axis) -> Tensor:  # type: ignore[override]
        ctx.tp = tp
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return ctx.tp.sum(gradient.clone(memory_format=torch.contiguous_format)), None


class _Reduce(torch.autograd.Function):
    """g: the sum of the partial results; the gradient is the same on every rank already."""

    @staticmethod
    def forward(ctx: Any, partial: Tensor, tp: _Axis) -> Tensor:  # type: ignore[override]
        return tp.sum(partial.clone(memory_format=torch.contiguous_format))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return gradient, None


# From gradients to weights. Each gradient is its replica's share of the mean over all rows: they are only added up.


class _Updater:
    """Sums whole gradients after the last backward pass, then takes the same step on every replica."""

    def __init__(self, job: Any, parameters: list[nn.Parameter], dp: _Axis) -> None:
        self.parameters, self.dp, self.bucket_bytes = parameters, dp, job.plan.bucket_bytes
        self.optimizer = torch.optim.SGD(self.weights(), lr=job.learning_rate, momentum=job.momentum)

    def weights(self) -> list[nn.Parameter]:
        """What the optimizer of this rank updates."""
        return self.parameters

    def begin_backward(self, final: bool) -> None: ...

    def end_backward(self) -> None: ...

    def step(self) -> None:
        flat = _flat(_gradients(self.parameters))
        self.dp.sum(flat)
        _fill(_gradients(self.parameters), flat)
        self.optimizer.step()
        self.optimizer.zero_grad()


class _Buckets(_Updater):
    """Sums gradients bucket by bucket, each as soon as the last backward pass has filled it."""

    def __init__(self, job: Any, parameters: list[nn.Parameter], dp: _Axis) -> None:
        super().__init__(job, parameters, dp)
        self.final, self.filling, self.traveling = False, list[Any](), list[Any]()
        for parameter in parameters:
            parameter.register_post_accumulate_grad_hook(self._ready)

    def begin_backward(self, final: bool) -> None:
        self.final = final

    def _ready(self, parameter: nn.Parameter) -> None:
        """Called by the backward pass when the gradient of ``parameter`` is complete."""
        if self.final:
            self.filling.append(parameter)
            if sum(p.nbytes for p in self.filling) >= self.bucket_bytes:
                self._send()

    def _send(self) -> None:
        """Begin to sum the bucket that is being filled; the backward pass goes on."""
        flat = _flat(_gradients(self.filling))
        work = dist.all_reduce(flat, group=self.dp.group, async_op=True)
        self.traveling.append((self.filling, flat, work))
        self.filling = []

    def step(self) -> None:
        if self.filling:
            self._send()
        for parameters, flat, work in self.traveling:
            work.wait()
            _fill(_gradients(parameters), flat)
        self.traveling = []
        self.optimizer.step()
        self.optimizer.zero_grad()


class _Sharded(_Updater):
    """ZeRO: each replica updates one slice of all weights laid end to end, and only that slice has momentum."""

    def weights(self) -> list[nn.Parameter]:
        self.slice = nn.Parameter(self._cut(_flat(self.parameters))[self.dp.place].clone())
        return [self.slice]

    def _cut(self, flat: Tensor) -> tuple[Tensor, ...]:
        """Equal slices, one for each replica; the last one is padded with zeros."""
        return nn.functional.pad(flat, (0, -len(flat) % self.dp.size)).chunk(self.dp.size)

    def _scatter(self) -> None:
        """Add this rank's slice of the summed gradients to what it has, and drop the whole ones."""
        mine = torch.empty_like(self.slice)
        dist.reduce_scatter(mine, list(self._cut(_flat(_gradients(self.parameters)))), group=self.dp.group)
        self.slice.grad = mine if self.slice.grad is None else self.slice.grad + mine
        for parameter in self.parameters:
            parameter.grad = None

    def step(self) -> None:
        if self.parameters[0].grad is not None:  # stage 1: once, after the last backward pass
            self._scatter()
        self.optimizer.step()
        self.optimizer.zero_grad()
        whole = self.slice.new_empty(self.dp.size * len(self.slice))
        dist.all_gather(list(whole.chunk(self.dp.size)), self.slice.detach(), group=self.dp.group)
        _fill(self.parameters, whole)


class _ShardedGradients(_Sharded):
    """ZeRO 2: gradients are scattered after every backward pass; between two of them a rank holds slices."""

    def end_backward(self) -> None:
        self._scatter()


def _updater(job: Any, parameters: list[nn.Parameter], dp: _Axis) -> _Updater:
    """What the plan asks for."""
    whole = _Buckets if job.plan.bucket_bytes else _Updater
    return (whole, _Sharded, _ShardedGradients)[job.plan.zero](job, parameters, dp)


def _gradients(parameters: Iterable[nn.Parameter]) -> list[Tensor]:
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


def _flat(tensors: Iterable[Tensor]) -> Tensor:
    """All elements end to end."""
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def _fill(tensors: Iterable[Tensor], flat: Tensor) -> None:
    """Copy the elements of ``flat`` into ``tensors``, in order; the rest is padding."""
    start = 0
    for tensor in tensors:
        tensor.detach().copy_(flat[start : start + tensor.numel()].view_as(tensor))
        start += tensor.numel()
