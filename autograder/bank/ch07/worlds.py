"""Chapter 07: a pipeline step on real ranks, and the list of all items that run on ranks or on tensors.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr,arg-type"

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch07 import expert_ranks, loops, mixtures, rules
from autograder.bank.ch07.draws import linear, numbers
from autograder.items import Build, Case, Group, Slip, Stage

# --- pipeline_step


def slip_blocking(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    import re

    import torch
    import torch.distributed as dist

    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    if not all(re.fullmatch(f"{rank}[FB][0-9]+", op) for op in order):
        raise ValueError("order")
    microbatches = sum("F" in op for op in order)
    held, total = {}, torch.zeros((), dtype=dtype)
    for op in order:
        m = int(op.replace("B", "F").split("F")[1])
        if "F" in op:
            x = inputs[m] if rank == 0 else torch.empty(hidden_shape, dtype=dtype)
            if rank > 0:
                dist.recv(x, rank - 1)
                x.requires_grad_()
            y = module(x)
            if rank < ranks - 1:
                dist.send(y.detach(), rank + 1)
            else:
                y = loss_fn(y, targets[m]) / microbatches
                total += y.detach()
            held[m] = x, y
        else:
            (x, y), gradient = held.pop(m), None
            if rank < ranks - 1:
                gradient = torch.empty(hidden_shape, dtype=dtype)
                dist.recv(gradient, rank + 1)
            if y.requires_grad:
                y.backward(gradient)
            if rank > 0:
                dist.send(x.grad, rank - 1)
    return total


def slip_chain_cut(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    import re

    import torch
    import torch.distributed as dist

    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    if not all(re.fullmatch(f"{rank}[FB][0-9]+", op) for op in order):
        raise ValueError("order")
    microbatches = sum("F" in op for op in order)
    held, sending, total = {}, [], torch.zeros((), dtype=dtype)
    for op in order:
        m = int(op.replace("B", "F").split("F")[1])
        if "F" in op:
            x = inputs[m] if rank == 0 else torch.empty(hidden_shape, dtype=dtype)
            if rank > 0:
                dist.recv(x, rank - 1)
            y = module(x)
            if rank < ranks - 1:
                sending.append(dist.isend(y.detach(), rank + 1))
            else:
                y = loss_fn(y, targets[m]) / microbatches
                total += y.detach()
            held[m] = x, y
        else:
            (x, y), gradient = held.pop(m), None
            if rank < ranks - 1:
                gradient = torch.empty(hidden_shape, dtype=dtype)
                dist.recv(gradient, rank + 1)
            if y.requires_grad:
                y.backward(gradient)
            if rank > 0:
                sending.append(dist.isend(x.grad, rank - 1))
    for message in sending:
        message.wait()
    return total


def slip_summed(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    import re

    import torch
    import torch.distributed as dist

    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    if not all(re.fullmatch(f"{rank}[FB][0-9]+", op) for op in order):
        raise ValueError("order")
    microbatches = sum("F" in op for op in order)
    held, sending, total = {}, [], torch.zeros((), dtype=dtype)
    for op in order:
        m = int(op.replace("B", "F").split("F")[1])
        if "F" in op:
            x = inputs[m] if rank == 0 else torch.empty(hidden_shape, dtype=dtype)
            if rank > 0:
                dist.recv(x, rank - 1)
                x.requires_grad_()
            y = module(x)
            if rank < ranks - 1:
                sending.append(dist.isend(y.detach(), rank + 1))
            else:
                y = loss_fn(y, targets[m])
                total += y.detach()
            held[m] = x, y
        else:
            (x, y), gradient = held.pop(m), None
            if rank < ranks - 1:
                gradient = torch.empty(hidden_shape, dtype=dtype)
                dist.recv(gradient, rank + 1)
            if y.requires_grad:
                y.backward(gradient)
            if rank > 0:
                sending.append(dist.isend(x.grad, rank - 1))
    for message in sending:
        message.wait()
    return total / microbatches


def slip_no_graph(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    import re

    import torch
    import torch.distributed as dist

    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    if not all(re.fullmatch(f"{rank}[FB][0-9]+", op) for op in order):
        raise ValueError("order")
    microbatches = sum("F" in op for op in order)
    held, sending, total = {}, [], torch.zeros((), dtype=dtype)
    for op in order:
        m = int(op.replace("B", "F").split("F")[1])
        if "F" in op:
            x = inputs[m] if rank == 0 else torch.empty(hidden_shape, dtype=dtype)
            if rank > 0:
                dist.recv(x, rank - 1)
                x.requires_grad_()
            with torch.no_grad():
                y = module(x)
            if rank < ranks - 1:
                sending.append(dist.isend(y, rank + 1))
            else:
                y = loss_fn(y, targets[m]) / microbatches
                total += y
            held[m] = x, y
        else:
            (x, y), gradient = held.pop(m), None
            if rank < ranks - 1:
                gradient = torch.empty(hidden_shape, dtype=dtype)
                dist.recv(gradient, rank + 1)
            y.backward(gradient)
            if rank > 0:
                sending.append(dist.isend(x.grad, rank - 1))
    for message in sending:
        message.wait()
    return total


def slip_zeroed(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    import re

    import torch
    import torch.distributed as dist

    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    if not all(re.fullmatch(f"{rank}[FB][0-9]+", op) for op in order):
        raise ValueError("order")
    microbatches = sum("F" in op for op in order)
    held, sending, total = {}, [], torch.zeros((), dtype=dtype)
    for op in order:
        m = int(op.replace("B", "F").split("F")[1])
        if "F" in op:
            x = inputs[m] if rank == 0 else torch.empty(hidden_shape, dtype=dtype)
            if rank > 0:
                dist.recv(x, rank - 1)
                x.requires_grad_()
            y = module(x)
            if rank < ranks - 1:
                sending.append(dist.isend(y.detach(), rank + 1))
            else:
                y = loss_fn(y, targets[m]) / microbatches
                total += y.detach()
            held[m] = x, y
        else:
            (x, y), gradient = held.pop(m), None
            module.zero_grad()
            if rank < ranks - 1:
                gradient = torch.empty(hidden_shape, dtype=dtype)
                dist.recv(gradient, rank + 1)
            if y.requires_grad:
                y.backward(gradient)
            if rank > 0:
                sending.append(dist.isend(x.grad, rank - 1))
    for message in sending:
        message.wait()
    return total


def slip_last_in_first_out(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    import re

    import torch
    import torch.distributed as dist

    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    if not all(re.fullmatch(f"{rank}[FB][0-9]+", op) for op in order):
        raise ValueError("order")
    microbatches = sum("F" in op for op in order)
    held, sending, total = [], [], torch.zeros((), dtype=dtype)
    for op in order:
        m = int(op.replace("B", "F").split("F")[1])
        if "F" in op:
            x = inputs[m] if rank == 0 else torch.empty(hidden_shape, dtype=dtype)
            if rank > 0:
                dist.recv(x, rank - 1)
                x.requires_grad_()
            y = module(x)
            if rank < ranks - 1:
                sending.append(dist.isend(y.detach(), rank + 1))
            else:
                y = loss_fn(y, targets[m]) / microbatches
                total += y.detach()
            held.append((x, y))
        else:
            (x, y), gradient = held.pop(), None
            if rank < ranks - 1:
                gradient = torch.empty(hidden_shape, dtype=dtype)
                dist.recv(gradient, rank + 1)
            if y.requires_grad:
                y.backward(gradient)
            if rank > 0:
                sending.append(dist.isend(x.grad, rank - 1))
    for message in sending:
        message.wait()
    return total


def slip_all_forward_first(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    import re

    import torch
    import torch.distributed as dist

    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    if not all(re.fullmatch(f"{rank}[FB][0-9]+", op) for op in order):
        raise ValueError("order")
    microbatches = sum("F" in op for op in order)
    held, sending, total = {}, [], torch.zeros((), dtype=dtype)
    for m in range(microbatches):
        x = inputs[m] if rank == 0 else torch.empty(hidden_shape, dtype=dtype)
        if rank > 0:
            dist.recv(x, rank - 1)
            x.requires_grad_()
        y = module(x)
        if rank < ranks - 1:
            sending.append(dist.isend(y.detach(), rank + 1))
        else:
            y = loss_fn(y, targets[m]) / microbatches
            total += y.detach()
        held[m] = x, y
    for m in range(microbatches):
        (x, y), gradient = held.pop(m), None
        if rank < ranks - 1:
            gradient = torch.empty(hidden_shape, dtype=dtype)
            dist.recv(gradient, rank + 1)
        if y.requires_grad:
            y.backward(gradient)
        if rank > 0:
            sending.append(dist.isend(x.grad, rank - 1))
    for message in sending:
        message.wait()
    return total


def slip_any_list(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    import torch
    import torch.distributed as dist

    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    microbatches = sum("F" in op for op in order)
    held, sending, total = {}, [], torch.zeros((), dtype=dtype)
    for op in order:
        m = int("".join(sign if sign.isdigit() else " " for sign in op).split()[1])
        if "F" in op:
            x = inputs[m] if rank == 0 else torch.empty(hidden_shape, dtype=dtype)
            if rank > 0:
                dist.recv(x, rank - 1)
                x.requires_grad_()
            y = module(x)
            if rank < ranks - 1:
                sending.append(dist.isend(y.detach(), rank + 1))
            else:
                y = loss_fn(y, targets[m]) / microbatches
                total += y.detach()
            held[m] = x, y
        elif m in held:
            (x, y), gradient = held.pop(m), None
            if rank < ranks - 1:
                gradient = torch.empty(hidden_shape, dtype=dtype)
                dist.recv(gradient, rank + 1)
            if y.requires_grad:
                y.backward(gradient)
            if rank > 0:
                sending.append(dist.isend(x.grad, rank - 1))
    for message in sending:
        message.wait()
    return total


def orders(name: str, ranks: int, microbatches: int) -> list[list[str]]:
    """What every rank of a pipeline does: ``gpipe`` or ``1f1b``."""
    rows = []
    for rank in range(ranks):
        ahead = microbatches if name == "gpipe" else min(microbatches, ranks - 1 - rank)
        row = [f"{rank}F{m}" for m in range(ahead)]
        for m in range(microbatches):
            if m + ahead < microbatches:
                row.append(f"{rank}F{m + ahead}")
            row.append(f"{rank}B{m}")
        rows.append(row)
    return rows


def _pipeline(
    rng: Random,
    name: str,
    ranks: int,
    microbatches: int,
    frozen: int = -1,
    bare: int = -1,
    start: float = 0.0,
    dtype: str = "",
) -> Case:
    """A case of ``pipeline_step``; the stage ``frozen`` asks for no gradients, ``bare`` has no parameters.

    ``start`` is in the gradients of the others. Without ``dtype`` the call leaves it out, and the tensors are float64.
    """
    width, batch, kind = rng.randint(4, 12), rng.randint(1, 4), dtype or "float64"
    inputs, targets = ([numbers(rng, batch, width, dtype=kind) for _ in range(microbatches)] for _ in range(2))
    kwargs = ({"start": start} if start else {}) | ({"dtype": dtype} if dtype else {})
    args: list[tuple[Any, ...]] = [
        (
            Stage((("Tanh",),)) if rank == bare else linear(rng, width, rank != frozen, kind),
            order,
            inputs if rank == 0 else None,
            targets if rank == ranks - 1 else None,
            "mse_loss",
            (batch, width),
        )
        for rank, order in enumerate(orders(name, ranks, microbatches))
    ]
    return Case(tuple(args), kwargs)


def _renumbered(rng: Random, ranks: int, microbatches: int) -> Case:
    """All forwards, then all backwards, each in an order of its own, the same on all ranks; in float32."""
    forwards, backwards = (rng.sample(range(microbatches), microbatches) for _ in range(2))
    while forwards in (sorted(forwards), backwards):
        rng.shuffle(forwards)
    case = _pipeline(rng, "gpipe", ranks, microbatches, dtype="float32")
    lists = [[f"{rank}F{m}" for m in forwards] + [f"{rank}B{m}" for m in backwards] for rank in range(ranks)]
    return Case(tuple((args[0], order, *args[2:]) for args, order in zip(case.args, lists, strict=True)), case.kwargs)


def _piped(rng: Random) -> Case:
    return rng.choice(_piped_of_each(rng))


def _piped_of_each(rng: Random) -> list[Case]:
    """Both schedules, more micro-batches than ranks; gradients that are there already, float32, another numbering."""
    return [
        _pipeline(rng, "1f1b", 4, rng.randint(5, 6)),
        _pipeline(rng, "1f1b", 3, rng.randint(4, 6), start=1.0),
        _renumbered(rng, 3, rng.randint(4, 5)),
    ]


def _few(rng: Random) -> Case:
    return rng.choice(_few_of_each(rng))


def _few_of_each(rng: Random) -> list[Case]:
    return [_pipeline(rng, "1f1b", 4, 2), _pipeline(rng, "1f1b", 1, 3, start=0.5), _pipeline(rng, "gpipe", 3, 1)]


def _frozen(rng: Random) -> Case:
    return rng.choice(_frozen_of_each(rng))


def _frozen_of_each(rng: Random) -> list[Case]:
    return [
        _pipeline(rng, "1f1b", 2, 3, frozen=0),
        _pipeline(rng, "1f1b", 4, 4, frozen=1, bare=2),
    ]


def _foreign(rng: Random) -> Case:
    return rng.choice(_foreign_of_each(rng))


def _foreign_of_each(rng: Random) -> list[Case]:
    """One rank alone, whose list has passes of another stage, or halves of a backward pass."""
    (args,) = _pipeline(rng, "1f1b", 1, 2).args
    lists = (["1F0", "1B0", "1F1", "1B1"], ["0F0", "0I0", "0F1", "0I1"])
    return [Case(((args[0], order, *args[2:]),), raises="ValueError") for order in lists]


_FIXED = Random("07-pipeline-step")

PIPELINE_STEP = Build(
    id="07-pipeline-step",
    module="pipeline_run",
    function="pipeline_step",
    grade="world",
    probe="ch07.pipelined",
    section="7.7",
    topic="pipelines on real ranks",
    tolerance=1e-5,
    cases=(
        _pipeline(_FIXED, "1f1b", 2, 4),
        _pipeline(_FIXED, "1f1b", 3, 6),
        _pipeline(_FIXED, "gpipe", 2, 3),
        _pipeline(_FIXED, "1f1b", 1, 2),
    ),
    groups=(
        Group(
            "both schedules",
            _piped,
            3,
            "Follow the order and the numbers of the list: one graph for each micro-batch in flight, the gradients of "
            "all added up, a loss without its graph.",
            _piped_of_each,
        ),
        Group(
            "few micro-batches or one rank",
            _few,
            3,
            "There may be fewer micro-batches than ranks, one micro-batch, or one rank alone.",
            _few_of_each,
        ),
        Group(
            "a frozen stage",
            _frozen,
            2,
            "A stage may be frozen, even the first, or have no parameters: gradients pass all the same.",
            _frozen_of_each,
        ),
        Group(
            "operations of another stage",
            _foreign,
            2,
            "An operation that is not a forward or backward pass of this rank's stage must raise ValueError.",
            _foreign_of_each,
        ),
    ),
    slips=(
        Slip(
            "`send` waits until the message is taken: two ranks that send to each other never go on. Use `isend`.",
            slip_blocking,
        ),
        Slip(
            "The received activation asks for no gradient: x.grad is None and the chain is cut. `requires_grad_()`.",
            slip_chain_cut,
        ),
        Slip("The loss was not divided by the number of micro-batches: gradients are m times too large.", slip_summed),
        Slip("The stage was run without autograd: there is no graph, so nothing to go back through.", slip_no_graph),
        Slip("Gradients were set to zero for every micro-batch: only the last one survives.", slip_zeroed),
        Slip(
            "Gradients met the wrong micro-batch: take the one that the operation names, not the latest.",
            slip_last_in_first_out,
        ),
        Slip(
            "All forward passes came first, whatever the list says: every micro-batch is then in memory at once.",
            slip_all_forward_first,
        ),
        Slip("The list was not looked at: passes of another stage, and halves of one, were accepted.", slip_any_list),
    ),
    rule=rules.one_message_each_way,
)

ITEMS = (PIPELINE_STEP, *loops.ITEMS, *mixtures.ITEMS, *expert_ranks.ITEMS)
