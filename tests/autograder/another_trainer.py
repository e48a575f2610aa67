"""A right trainer that shares nothing with the reference, and has not got further than replicas and ZeRO.

Gradients travel one by one. Under ZeRO a parameter belongs to one rank as a whole, as in ``ZeroRedundancyOptimizer``.
"""

import torch
import torch.distributed as dist


def train(job):
    plan = job.plan
    if plan.tp > 1 or plan.pp > 1 or plan.bucket_bytes:
        raise NotImplementedError("later")
    return sharded(job) if plan.zero else replicated(job)


def replicated(job):
    model = job.model
    optimizer = torch.optim.SGD(model.parameters(), lr=job.learning_rate, momentum=job.momentum)
    if job.saved:
        model.load_state_dict(job.saved[0])
        optimizer.load_state_dict(job.saved[1])
    for step in job.steps:
        optimizer.zero_grad()
        total = rows_of_all(step)
        for inputs, targets in step:
            backward(job, inputs, targets, total)
        for parameter in model.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            dist.all_reduce(parameter.grad)
        optimizer.step()
    return dict(model.named_parameters()), optimizer.state_dict()


def rows_of_all(step):
    rows = torch.tensor([float(sum(len(inputs) for inputs, _ in step))])
    dist.all_reduce(rows)
    return rows.item()


def backward(job, inputs, targets, total):
    if len(inputs):
        (job.loss(job.model(inputs), targets) * len(inputs) / total).backward()


def sharded(job):
    named, owner = dict(job.model.named_parameters()), owners(job)
    momentum = {name: torch.zeros_like(p) for name, p in named.items() if owner[name] == dist.get_rank()}
    for step in job.steps:
        kept, total = {}, rows_of_all(step)
        for inputs, targets in step:
            backward(job, inputs, targets, total)
            if job.plan.zero == 2:
                collect(named, owner, kept)
        if job.plan.zero == 1:
            collect(named, owner, kept)
        for name, parameter in named.items():
            if name in momentum:
                momentum[name].mul_(job.momentum).add_(kept[name])
                parameter.data.sub_(momentum[name], alpha=job.learning_rate)
            dist.broadcast(parameter.data, owner[name])
    return named, momentum


def owners(job):
    """The largest parameters first, each to the rank that has least."""
    load, owner = [0] * job.plan.dp, {}
    for name, parameter in sorted(job.model.named_parameters(), key=lambda pair: -pair[1].numel()):
        owner[name] = load.index(min(load))
        load[owner[name]] += parameter.numel()
    return owner


def collect(named, owner, kept):
    """Every gradient goes to its owner, who adds it to what it has."""
    for name, parameter in named.items():
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        dist.reduce(gradient, owner[name])
        parameter.grad = None
        if owner[name] == dist.get_rank():
            kept[name] = kept[name] + gradient if name in kept else gradient
