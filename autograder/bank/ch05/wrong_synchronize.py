"""Wrong ways to make gradients agree, as people write them; each function is complete in itself."""

from __future__ import annotations


def slip_world_size(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    parameters = list(parameters)
    totals = torch.tensor([count, *(p.grad is not None for p in parameters)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals
    if rows == 0 or not bucket_bytes > 0:
        raise ValueError("impossible")
    gradients = []
    for parameter in reversed(list(dict.fromkeys(parameters))):
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad)
    calls, bucket = 0, []
    for place, gradient in enumerate(gradients):
        bucket.append(gradient)
        if sum(g.nbytes for g in bucket) >= bucket_bytes or place == len(gradients) - 1:
            flat = torch.cat([g.flatten() for g in bucket])
            dist.all_reduce(flat, group=group)
            flat /= dist.get_world_size(group)
            for g, part in zip(bucket, flat.split([g.numel() for g in bucket]), strict=True):
                g.copy_(part.view_as(g))
            calls, bucket = calls + 1, []
    for p, ranks in zip(parameters, holders, strict=True):
        p.grad = p.grad if ranks else None
    return calls


def slip_skips_none(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    rows = torch.tensor(count)
    dist.all_reduce(rows, group=group)
    if rows == 0 or not bucket_bytes > 0:
        raise ValueError("impossible")
    gradients = []
    for parameter in reversed(list(dict.fromkeys(parameters))):
        if parameter.requires_grad and parameter.grad is not None:
            gradients.append(parameter.grad.mul_(count / int(rows)) if count else parameter.grad.zero_())
    calls, bucket = 0, []
    for place, gradient in enumerate(gradients):
        bucket.append(gradient)
        if sum(g.nbytes for g in bucket) >= bucket_bytes or place == len(gradients) - 1:
            flat = torch.cat([g.flatten() for g in bucket])
            dist.all_reduce(flat, group=group)
            for g, part in zip(bucket, flat.split([g.numel() for g in bucket]), strict=True):
                g.copy_(part.view_as(g))
            calls, bucket = calls + 1, []
    return calls


def slip_tied_twice(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    parameters = list(parameters)
    totals = torch.tensor([count, *(p.grad is not None for p in parameters)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals
    if rows == 0 or not bucket_bytes > 0:
        raise ValueError("impossible")
    gradients = []
    for parameter in reversed(list(parameters)):
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad.mul_(count / int(rows)) if count else parameter.grad.zero_())
    calls, bucket = 0, []
    for place, gradient in enumerate(gradients):
        bucket.append(gradient)
        if sum(g.nbytes for g in bucket) >= bucket_bytes or place == len(gradients) - 1:
            flat = torch.cat([g.flatten() for g in bucket])
            dist.all_reduce(flat, group=group)
            for g, part in zip(bucket, flat.split([g.numel() for g in bucket]), strict=True):
                g.copy_(part.view_as(g))
            calls, bucket = calls + 1, []
    for p, ranks in zip(parameters, holders, strict=True):
        p.grad = p.grad if ranks else None
    return calls


def slip_forward_order(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    parameters = list(parameters)
    totals = torch.tensor([count, *(p.grad is not None for p in parameters)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals
    if rows == 0 or not bucket_bytes > 0:
        raise ValueError("impossible")
    gradients = []
    for parameter in dict.fromkeys(parameters):
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad.mul_(count / int(rows)) if count else parameter.grad.zero_())
    calls, bucket = 0, []
    for place, gradient in enumerate(gradients):
        bucket.append(gradient)
        if sum(g.nbytes for g in bucket) >= bucket_bytes or place == len(gradients) - 1:
            flat = torch.cat([g.flatten() for g in bucket])
            dist.all_reduce(flat, group=group)
            for g, part in zip(bucket, flat.split([g.numel() for g in bucket]), strict=True):
                g.copy_(part.view_as(g))
            calls, bucket = calls + 1, []
    for p, ranks in zip(parameters, holders, strict=True):
        p.grad = p.grad if ranks else None
    return calls


def slip_below_the_cap(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    parameters = list(parameters)
    totals = torch.tensor([count, *(p.grad is not None for p in parameters)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals
    if rows == 0 or not bucket_bytes > 0:
        raise ValueError("impossible")
    buckets: list = []
    for parameter in reversed(list(dict.fromkeys(parameters))):
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradient = parameter.grad.mul_(count / int(rows)) if count else parameter.grad.zero_()
            if not buckets or sum(g.nbytes for g in buckets[-1]) + gradient.nbytes > bucket_bytes:
                buckets.append([])
            buckets[-1].append(gradient)
    for bucket in buckets:
        flat = torch.cat([g.flatten() for g in bucket])
        dist.all_reduce(flat, group=group)
        for g, part in zip(bucket, flat.split([g.numel() for g in bucket]), strict=True):
            g.copy_(part.view_as(g))
    for p, ranks in zip(parameters, holders, strict=True):
        p.grad = p.grad if ranks else None
    return len(buckets)


def slip_one_by_one(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    parameters = list(parameters)
    totals = torch.tensor([count, *(p.grad is not None for p in parameters)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals
    if rows == 0 or not bucket_bytes > 0:
        raise ValueError("impossible")
    calls = 0
    for parameter in reversed(list(dict.fromkeys(parameters))):
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradient = parameter.grad.mul_(count / int(rows)) if count else parameter.grad.zero_()
            dist.all_reduce(gradient, group=group)
            calls += 1
    for p, ranks in zip(parameters, holders, strict=True):
        p.grad = p.grad if ranks else None
    return calls


def slip_leaves_early(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    if count == 0:
        return 0
    parameters = list(parameters)
    totals = torch.tensor([count, *(p.grad is not None for p in parameters)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals
    if not bucket_bytes > 0:
        raise ValueError("impossible")
    gradients = []
    for parameter in reversed(list(dict.fromkeys(parameters))):
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad.mul_(count / int(rows)))
    calls, bucket = 0, []
    for place, gradient in enumerate(gradients):
        bucket.append(gradient)
        if sum(g.nbytes for g in bucket) >= bucket_bytes or place == len(gradients) - 1:
            flat = torch.cat([g.flatten() for g in bucket])
            dist.all_reduce(flat, group=group)
            for g, part in zip(bucket, flat.split([g.numel() for g in bucket]), strict=True):
                g.copy_(part.view_as(g))
            calls, bucket = calls + 1, []
    for p, ranks in zip(parameters, holders, strict=True):
        p.grad = p.grad if ranks else None
    return calls


def slip_nothing_times_nan(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    parameters = list(parameters)
    totals = torch.tensor([count, *(p.grad is not None for p in parameters)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals
    if rows == 0 or not bucket_bytes > 0:
        raise ValueError("impossible")
    gradients = []
    for parameter in reversed(list(dict.fromkeys(parameters))):
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad.mul_(count / int(rows)))
    calls, bucket = 0, []
    for place, gradient in enumerate(gradients):
        bucket.append(gradient)
        if sum(g.nbytes for g in bucket) >= bucket_bytes or place == len(gradients) - 1:
            flat = torch.cat([g.flatten() for g in bucket])
            dist.all_reduce(flat, group=group)
            for g, part in zip(bucket, flat.split([g.numel() for g in bucket]), strict=True):
                g.copy_(part.view_as(g))
            calls, bucket = calls + 1, []
    for p, ranks in zip(parameters, holders, strict=True):
        p.grad = p.grad if ranks else None
    return calls


def slip_replaces(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    parameters = list(parameters)
    totals = torch.tensor([count, *(p.grad is not None for p in parameters)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals
    if rows <= 0 or count < 0 or not 0 < bucket_bytes < 1e300:
        raise ValueError("impossible")
    share = count / int(rows)
    waiting = [parameter for parameter in reversed(list(dict.fromkeys(parameters))) if parameter.requires_grad]
    calls, bucket = 0, []
    for place, parameter in enumerate(waiting):
        bucket.append(parameter)
        if sum(p.nbytes for p in bucket) >= bucket_bytes or place == len(waiting) - 1:
            mine = [torch.zeros_like(p) if p.grad is None or not count else p.grad * share for p in bucket]
            flat = torch.cat([gradient.flatten() for gradient in mine])
            dist.all_reduce(flat, group=group)
            for p, part in zip(bucket, flat.split([p.numel() for p in bucket]), strict=True):
                p.grad = part.view_as(p).clone()
            calls, bucket = calls + 1, []
    for p, ranks in zip(parameters, holders, strict=True):
        p.grad = p.grad if ranks else None
    return calls


def slip_accepts_anything(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    parameters = list(parameters)
    totals = torch.tensor([count, *(p.grad is not None for p in parameters)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals
    share = count / max(1, int(rows))
    gradients = []
    for parameter in reversed(list(dict.fromkeys(parameters))):
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad.mul_(share) if share else parameter.grad.zero_())
    calls, bucket = 0, []
    for place, gradient in enumerate(gradients):
        bucket.append(gradient)
        if sum(g.nbytes for g in bucket) >= bucket_bytes or place == len(gradients) - 1:
            flat = torch.cat([g.flatten() for g in bucket])
            dist.all_reduce(flat, group=group)
            for g, part in zip(bucket, flat.split([g.numel() for g in bucket]), strict=True):
                g.copy_(part.view_as(g))
            calls, bucket = calls + 1, []
    for p, ranks in zip(parameters, holders, strict=True):
        p.grad = p.grad if ranks else None
    return calls


def slip_zeros_for_all(parameters, count, bucket_bytes=25 * 2**20, group=None):
    import torch
    import torch.distributed as dist

    rows = torch.tensor(count)
    dist.all_reduce(rows, group=group)
    if rows <= 0 or count < 0 or not 0 < bucket_bytes < 1e300:
        raise ValueError("impossible")
    gradients = []
    for parameter in reversed(list(dict.fromkeys(parameters))):
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad.mul_(count / int(rows)) if count else parameter.grad.zero_())
    calls, bucket = 0, []
    for place, gradient in enumerate(gradients):
        bucket.append(gradient)
        if sum(g.nbytes for g in bucket) >= bucket_bytes or place == len(gradients) - 1:
            flat = torch.cat([g.flatten() for g in bucket])
            dist.all_reduce(flat, group=group)
            for g, part in zip(bucket, flat.split([g.numel() for g in bucket]), strict=True):
                g.copy_(part.view_as(g))
            calls, bucket = calls + 1, []
    return calls
