"""Further right programs for the items of chapter 7."""

from __future__ import annotations

import math
from fractions import Fraction

import torch
import torch.distributed as dist

from solutions.ch07.pipeline import pipeline_schedule, simulate_schedule
from tools.luck import Right


def simulated_from_the_front(orders, durations, transfer_time=0.0):
    """Every start is the longest path from the first start: a search from the end backwards, with a memory."""
    simulate_schedule(orders, durations, transfer_time)  # which refuses what must be refused
    home = {op: (rank, place) for rank, order in enumerate(orders) for place, op in enumerate(order)}
    times: dict[str, tuple[float, float]] = {}

    def parts(op):
        kind = next(letter for letter in "FBIW" if letter in op)
        stage, number = op.split(kind)
        return int(stage), kind, number

    def end(op):
        if op in times:
            return times[op][1]
        (stage, kind, number), (rank, place) = parts(op), home[op]
        waits = [f"{stage - 1}F{number}"] if kind == "F" else [f"{stage}{'I' if kind == 'W' else 'F'}{number}"]
        if kind in "BI":
            waits += [f"{stage + 1}B{number}", f"{stage + 1}I{number}"]
        arrivals = [end(one) + (transfer_time if home[one][0] != rank else 0) for one in waits if one in home]
        start = max([0.0, *arrivals, *([end(orders[rank][place - 1])] if place else [])])
        times[op] = (start, start + durations.get(f"{stage}{kind}", durations.get(kind)))
        return times[op][1]

    for op in home:
        end(op)
    return times


def orders_by_playing(name, ranks, microbatches, virtual_stages=1):
    """For 1F1B: play the pipeline, and let every rank go backward whenever it can; the others are the course's."""
    orders = pipeline_schedule(name, ranks, microbatches, virtual_stages)
    if name != "1f1b":
        return orders
    for rank, order in enumerate(orders):
        order.clear()
        forwards = backwards = 0
        while backwards < microbatches:
            if forwards - backwards < min(ranks - rank, microbatches - backwards):
                order.append(f"{rank}F{forwards}")
                forwards += 1
            else:
                order.append(f"{rank}B{backwards}")
                backwards += 1
    return orders


def gpipe_last_in_first_out(name, ranks, microbatches, virtual_stages=1):
    """The backwards of GPipe from the last micro-batch to the first."""
    orders = pipeline_schedule(name, ranks, microbatches, virtual_stages)
    if name == "gpipe":
        return [order[:microbatches] + order[microbatches:][::-1] for order in orders]
    return orders


def step_with_hooks(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    """Receives ahead; losses are summed and divided at the end, gradients by autograd.grad."""
    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    count = sum("F" in op for op in order)
    parameters = [one for one in module.parameters() if one.requires_grad]
    kept, sent, losses = {}, [], []
    for op in order:
        m = int(op[len(str(rank)) + 1 :])
        if "F" in op:
            x = inputs[m] if rank == 0 else torch.zeros(hidden_shape, dtype=dtype)
            if rank:
                dist.recv(x, rank - 1)
                x = x.requires_grad_()
            y = module(x)
            if rank == ranks - 1:
                y = loss_fn(y, targets[m])
                losses.append(y.detach())
            else:
                sent.append(dist.isend(y.detach().clone(), rank + 1))
            kept[m] = x, y
        else:
            x, y = kept.pop(m)
            upstream = torch.full_like(y, 1 / count)
            if rank < ranks - 1:
                dist.recv(upstream, rank + 1)
            wanted = ([x] if rank else []) + parameters
            found = list(torch.autograd.grad(y, wanted, upstream)) if wanted else []
            if rank:
                sent.append(dist.isend(found.pop(0), rank - 1))
            for parameter, gradient in zip(parameters, found, strict=True):
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
    for message in sent:
        message.wait()
    return torch.stack(losses).sum() / count if rank == ranks - 1 else torch.zeros((), dtype=dtype)


def blocking_with_irecv(stage, inputs, targets, microbatches, shape):
    """Sends that are not waited for, the gradients scaled by hand and in the end."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    ahead = min(microbatches, ranks - 1 - rank)
    losses, kept, sent = [], {}, []
    turns = [("F", m) for m in range(ahead)]
    for m in range(microbatches):
        turns += [("F", m + ahead)] if m + ahead < microbatches else []
        turns.append(("B", m))
    for kind, m in turns:
        if kind == "F":
            x = inputs[m] if rank == 0 else torch.empty(shape)
            if rank:
                dist.irecv(x, rank - 1).wait()
                x.requires_grad_()
            y = stage(x)
            if rank < ranks - 1:
                sent.append(dist.isend(y.detach(), rank + 1))
            else:
                y = ((y - targets[m]) ** 2).mean()
                losses.append(y.item())
            kept[m] = x, y
        else:
            x, y = kept.pop(m)
            upstream = torch.tensor(1 / microbatches)
            if rank < ranks - 1:
                upstream = torch.empty(shape)
                dist.irecv(upstream, rank + 1).wait()
            y.backward(upstream)
            if rank:
                sent.append(dist.isend(x.grad, rank - 1))
    for message in sent:
        message.wait()
    return math.fsum(losses) / microbatches if rank == ranks - 1 else None


def bytes_by_counting(rank, ranks, microbatches, activation_bytes, virtual_stages=1):
    """A sum over micro-batches and stages."""
    if ranks == 1:
        return 0.0
    stages = range(rank, ranks * virtual_stages, ranks)
    ways = [(stage < ranks * virtual_stages - 1) + (stage > 0) for stage in stages]
    return sum(activation_bytes * way for way in ways for _ in range(microbatches))


def routed_by_sorting(logits, top_k, renormalize=True):
    """The log-softmax, sorted; the weights of the best are a softmax of their own logits."""
    wide = torch.promote_types(logits.dtype, torch.float32)
    scores, experts = logits.to(wide).log_softmax(1).sort(dim=1, descending=True)
    scores, experts = scores[:, :top_k], experts[:, :top_k]
    return scores.softmax(1) if renormalize else scores.exp(), experts


def balanced_by_one_hot(probabilities, experts_chosen, experts):
    """A mean over assignments of the mean probability of the expert that was chosen."""
    return experts * probabilities.mean(0)[experts_chosen.flatten()].mean()


def balanced_in_double(probabilities, experts_chosen, experts):
    shares = torch.nn.functional.one_hot(experts_chosen, experts).double().mean((0, 1))
    return (experts * (shares * probabilities.double().mean(0)).sum()).to(probabilities.dtype)


def sent_as_a_fraction(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    """Exactly, as a fraction; the share of ranks that is missed as a product."""
    copies = Fraction(top_k)
    if once_per_rank:
        missed = Fraction(1)
        for place in range(top_k):
            missed *= Fraction(max(0, experts - experts // ranks - place), experts - place)
        copies = ranks * (1 - missed)
    return float(copies * tokens * hidden * Fraction(bytes_per_element) * (ranks - 1) / ranks)


def sent_in_floats(tokens, hidden, top_k, ranks, bytes_per_element=2, once_per_rank=False, experts=None):
    """The share that is missed as a product of floats."""
    exact = sent_as_a_fraction(tokens, hidden, top_k, ranks, bytes_per_element, once_per_rank, experts)
    if not once_per_rank or ranks == 1:
        return exact
    free = experts - experts // ranks
    missed = math.prod((free - place) / (experts - place) for place in range(top_k)) if free >= top_k else 0.0
    return (1 - missed) * ranks * tokens * hidden * bytes_per_element * (1 - 1 / ranks)


def _swap(rows, sent, received):
    arrived = rows.new_empty(sum(received), rows.shape[1])
    dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
    return arrived


def experts_skipping_the_idle(x, weights, chosen, local_experts, experts):
    """Weights are applied by a matrix product, an expert without rows is not called."""

    class Exchange(torch.autograd.Function):
        """Rows to and from every rank, one list of tensors each."""

        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.splits = sent, received
            return _swap(rows, sent, received)

        @staticmethod
        def backward(ctx, gradient):
            sent, received = ctx.splits
            return _swap(gradient, received, sent), None, None

    ranks, rank = dist.get_world_size(), dist.get_rank()
    share, top_k = experts // ranks, chosen.shape[1]
    order = torch.tensor(
        sorted(range(chosen.numel()), key=lambda place: int(chosen.view(-1)[place])), dtype=torch.int64
    )
    numbers = chosen.view(-1)[order]
    sent = [int(((numbers // share) == other).sum()) for other in range(ranks)]
    table = torch.zeros(ranks, dtype=torch.int64)
    dist.all_to_all_single(table, torch.tensor(sent))
    received = table.tolist()
    which = numbers.new_empty(sum(received))
    dist.all_to_all_single(which, numbers, received, sent)
    rows = Exchange.apply(x[order // top_k], sent, received)
    results = torch.zeros_like(rows)
    for number, expert in enumerate(local_experts):
        places = (which == rank * share + number).nonzero().view(-1)
        if len(places):
            results = results.index_copy(0, places, expert(rows[places]))
    back = Exchange.apply(results, received, sent)
    flat = torch.zeros_like(back).index_copy(0, order, back)
    return torch.einsum("tk,tkh->th", weights, flat.view(*chosen.shape, x.shape[1]))


def synced_in_one_message(stage, inputs, targets, shape):
    """All gradients in one flat tensor; the loss is divided after the backward passes."""
    rank = dist.get_rank()
    groups = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    total = 0.0
    for x, target in zip(inputs, targets, strict=True):
        passed = torch.empty(shape)
        if rank % 2 == 0:
            y = stage(x)
            dist.send(y.detach(), rank + 1)
            dist.recv(passed, rank + 1)
            y.backward(passed)
        else:
            dist.recv(passed, rank - 1)
            loss = ((stage(passed.requires_grad_()) - target) ** 2).mean()
            (loss / len(inputs)).backward()
            dist.send(passed.grad, rank - 1)
            total += loss.item()
    flat = torch.cat([parameter.grad.view(-1) for parameter in stage.parameters()])
    dist.all_reduce(flat, group=groups[rank % 2])
    for parameter in stage.parameters():
        part, flat = flat[: parameter.numel()], flat[parameter.numel() :]
        parameter.grad.copy_(part.view_as(parameter) * 0.5)
    return None if rank % 2 == 0 else total / len(inputs)


RIGHT = {
    "07-simulate-schedule": (
        Right("the longest path", program=simulated_from_the_front),
        Right(
            "arrivals compared before the clock",
            edits=(
                ("max([clock[rank], *(", "max([0.0, *("),
                (
                    "= clock[rank] = start + seconds[stage, kind]",
                    "= clock[rank] = max(start, clock[rank]) + seconds[stage, kind]",
                ),
                ("= (start, row[i])", "= (row[i] - seconds[stage, kind], row[i])"),
            ),
        ),
    ),
    "07-bubble-fraction": (
        Right(
            "1 over 1 plus the useful share",
            edits=(
                (
                    "return (stages - 1) / (virtual_stages * microbatches + stages - 1)",
                    "return 1 / (1 + virtual_stages * microbatches / (stages - 1)) if stages > 1 else 0.0",
                ),
            ),
        ),
        Right(
            "what the busy share leaves",
            edits=(
                (
                    "return (stages - 1) / (virtual_stages * microbatches + stages - 1)",
                    "return 1 - virtual_stages * microbatches / (virtual_stages * microbatches + stages - 1)",
                ),
            ),
        ),
    ),
    "07-bubble-overhead": (
        Right(
            "divided twice",
            edits=(("(stages - 1) / (virtual_stages * microbatches)", "(stages - 1) / microbatches / virtual_stages"),),
        ),
        Right(
            "a difference",
            edits=(
                (
                    "(stages - 1) / (virtual_stages * microbatches)",
                    "(stages / (virtual_stages * microbatches) - 1 / (virtual_stages * microbatches))",
                ),
            ),
        ),
    ),
    "07-debug-fraction": (
        Right("useful over idle", edits=(("idle / (idle + useful)", "1 / (1 + useful / idle) if idle else 0.0"),)),
        Right("what is not useful", edits=(("idle / (idle + useful)", "1 - useful / (idle + useful)"),)),
    ),
    "07-pipeline-schedule": (
        Right("backward whenever as many are held as may be", program=orders_by_playing),
        Right("GPipe's backwards from the last to the first", program=gpipe_last_in_first_out),
    ),
    "07-pipeline-step": (
        Right("gradients by autograd.grad, the mean of the losses last", program=step_with_hooks),
        Right(
            "the upstream gradient is a share",
            edits=(
                ("y = loss_fn(y, targets[number]) / microbatches", "y = loss_fn(y, targets[number])"),
                ("total += y.detach()", "total += y.detach() / microbatches"),
                (
                    "if rank < ranks - 1 else None",
                    "if rank < ranks - 1 else torch.full_like(y, 1 / microbatches)",
                ),
            ),
        ),
    ),
    "07-debug-blocking": (
        Right("messages asked for, losses averaged last", program=blocking_with_irecv),
        Right(
            "the sum of squares",
            edits=(
                (
                    "torch.nn.functional.mse_loss(y, targets[m]) / microbatches",
                    "(y - targets[m]).square().sum() / (y.numel() * microbatches)",
                ),
            ),
        ),
    ),
    "07-pipeline-bytes-sent": (
        Right("counted one by one", program=bytes_by_counting),
        Right(
            "activations and gradients each by itself",
            edits=(
                (
                    "float(messages * microbatches * activation_bytes)",
                    "float((virtual_stages - (rank == ranks - 1)) * (microbatches * activation_bytes)"
                    " + (messages - virtual_stages + (rank == ranks - 1)) * (microbatches * activation_bytes))",
                ),
            ),
        ),
    ),
    "07-route": (
        Right("log-softmax, sorted", program=routed_by_sorting),
        Right(
            "double precision inside",
            edits=(
                ("logits.softmax(dim=1, dtype=wide)", "logits.softmax(dim=1, dtype=torch.float64)"),
                (
                    "return weights / weights.sum(dim=1, keepdim=True) if renormalize else weights, experts",
                    "return (weights / weights.sum(dim=1, keepdim=True) if renormalize else weights).to(wide), experts",
                ),
            ),
        ),
    ),
    "07-load-balancing-loss": (
        Right("a mean over assignments", program=balanced_by_one_hot),
        Right("double precision inside", program=balanced_in_double),
    ),
    "07-all-to-all-bytes": (
        Right("a fraction to the end", program=sent_as_a_fraction),
        Right("floats all along", program=sent_in_floats),
    ),
    "07-expert-parallel-forward": (
        Right("idle experts are not called, the weights by a matrix product", program=experts_skipping_the_idle),
        Right(
            "rows brought back to the order of the tokens and summed",
            edits=(
                (
                    "return torch.zeros_like(x).index_add(0, tokens, results * ",
                    "return _summed(x, chosen, by_expert, results * ",
                ),
                (
                    "class _AllToAllRows",
                    "def _summed(x, chosen, by_expert, rows):\n"
                    "    rows = rows[by_expert.argsort()]\n"
                    "    return rows.view(*chosen.shape, -1).sum(dim=1) if len(x) else rows.view(0, x.shape[1])\n\n\n"
                    "class _AllToAllRows",
                ),
            ),
        ),
    ),
    "07-debug-sync": (
        Right("one flat message", program=synced_in_one_message),
        Right(
            "halved before the sum",
            edits=(
                (
                    "        dist.all_reduce(_gradient_of(parameter), group=groups[rank % 2])\n",
                    "        _gradient_of(parameter).mul_(0.5)\n"
                    "        dist.all_reduce(_gradient_of(parameter), group=groups[rank % 2])\n",
                ),
                (
                    "        _gradient_of(parameter).div_(2)\n",
                    "",
                ),
            ),
        ),
    ),
    "07-layout-memory": (
        Right(
            "bytes per parameter over one denominator",
            edits=(
                (
                    "return 2 / (ranks if zero >= 3 else 1) + 2 / (ranks if zero >= 2 else 1) + 12 / ranks",
                    "return (2 * (1 if zero >= 3 else ranks) + 2 * (1 if zero >= 2 else ranks) + 12) / ranks",
                ),
            ),
        ),
        Right(
            "activations by layer, 17 times an input",
            edits=(
                (
                    "whole = 34 * job.sequence * job.micro_batch * job.model.hidden / (layout.tp * layout.cp)",
                    "whole = 17 * (2 * job.sequence / layout.cp * job.model.hidden / layout.tp) * job.micro_batch",
                ),
                ("held * whole * 2 / 34 + whole if", "whole * (held / 17 + 1) if"),
            ),
        ),
    ),
}
