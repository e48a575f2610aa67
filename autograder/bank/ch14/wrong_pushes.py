"""Weights pushed to those that generate, as people get it wrong.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr"

from __future__ import annotations


def slip_rebinds(state, trainer, rollout_group, bucket_bytes):
    import torch
    import torch.distributed as dist

    if bucket_bytes <= 0:
        raise ValueError("bucket_bytes")
    names, seen = [], set()
    for name in sorted(state):
        key = (state[name].data_ptr(), state[name].shape, state[name].stride())
        if state[name].numel() and key not in seen:
            seen.add(key)
            names.append(name)
    while names:
        bucket, room = [names.pop(0)], bucket_bytes
        room -= state[bucket[0]].nbytes
        while names and state[names[0]].nbytes <= room:
            bucket.append(names.pop(0))
            room -= state[bucket[-1]].nbytes
        flat = torch.cat([state[name].detach().contiguous().view(-1).view(torch.uint8) for name in bucket])
        dist.broadcast(flat, src=trainer, group=rollout_group)
        for name, part in zip(bucket, flat.split([state[name].nbytes for name in bucket]), strict=True):
            state[name] = part.clone().view(state[name].dtype).view(state[name].shape)


def slip_own_order(state, trainer, rollout_group, bucket_bytes):
    import torch
    import torch.distributed as dist

    if bucket_bytes <= 0:
        raise ValueError("bucket_bytes")
    tensors, seen = [], set()
    for tensor in state.values():
        key = (tensor.data_ptr(), tensor.shape, tensor.stride())
        if tensor.numel() and key not in seen:
            seen.add(key)
            tensors.append(tensor)
    while tensors:
        bucket = [tensors.pop(0)]
        room = bucket_bytes - bucket[0].nbytes
        while tensors and tensors[0].nbytes <= room:
            bucket.append(tensors.pop(0))
            room -= bucket[-1].nbytes
        flat = torch.cat([tensor.detach().contiguous().view(-1).view(torch.uint8) for tensor in bucket])
        dist.broadcast(flat, src=trainer, group=rollout_group)
        for tensor, part in zip(bucket, flat.split([tensor.nbytes for tensor in bucket]), strict=True):
            tensor.detach().copy_(part.clone().view(tensor.dtype).view(tensor.shape))


def slip_floats_alone(state, trainer, rollout_group, bucket_bytes):
    import torch
    import torch.distributed as dist

    if bucket_bytes <= 0:
        raise ValueError("bucket_bytes")
    tensors, seen = [], set()
    for name in sorted(state):
        key = (state[name].data_ptr(), state[name].shape, state[name].stride())
        if state[name].is_floating_point() and state[name].numel() and key not in seen:
            seen.add(key)
            tensors.append(state[name])
    while tensors:
        bucket = [tensors.pop(0)]
        room = bucket_bytes - bucket[0].nbytes
        while tensors and tensors[0].nbytes <= room:
            bucket.append(tensors.pop(0))
            room -= bucket[-1].nbytes
        flat = torch.cat([tensor.detach().contiguous().view(-1).view(torch.uint8) for tensor in bucket])
        dist.broadcast(flat, src=trainer, group=rollout_group)
        for tensor, part in zip(bucket, flat.split([tensor.nbytes for tensor in bucket]), strict=True):
            tensor.detach().copy_(part.clone().view(tensor.dtype).view(tensor.shape))


def slip_one_bucket(state, trainer, rollout_group, bucket_bytes):
    import torch
    import torch.distributed as dist

    if bucket_bytes <= 0:
        raise ValueError("bucket_bytes")
    tensors, seen = [], set()
    for name in sorted(state):
        key = (state[name].data_ptr(), state[name].shape, state[name].stride())
        if state[name].numel() and key not in seen:
            seen.add(key)
            tensors.append(state[name])
    flat = torch.cat([tensor.detach().contiguous().view(-1).view(torch.uint8) for tensor in tensors])
    dist.broadcast(flat, src=trainer, group=rollout_group)
    for tensor, part in zip(tensors, flat.split([tensor.nbytes for tensor in tensors]), strict=True):
        tensor.detach().copy_(part.clone().view(tensor.dtype).view(tensor.shape))


def slip_one_by_one(state, trainer, rollout_group, bucket_bytes):
    import torch.distributed as dist

    if bucket_bytes <= 0:
        raise ValueError("bucket_bytes")
    seen = set()
    for name in sorted(state):
        tensor = state[name].detach()
        key = (tensor.data_ptr(), tensor.shape, tensor.stride())
        if tensor.numel() and key not in seen:
            seen.add(key)
            whole = tensor.contiguous()
            dist.broadcast(whole, src=trainer, group=rollout_group)
            tensor.copy_(whole)


def slip_root_in_group(state, trainer, rollout_group, bucket_bytes):
    import torch
    import torch.distributed as dist

    if bucket_bytes <= 0:
        raise ValueError("bucket_bytes")
    tensors, seen = [], set()
    for name in sorted(state):
        key = (state[name].data_ptr(), state[name].shape, state[name].stride())
        if state[name].numel() and key not in seen:
            seen.add(key)
            tensors.append(state[name])
    root = dist.get_group_rank(rollout_group, trainer)
    while tensors:
        bucket = [tensors.pop(0)]
        room = bucket_bytes - bucket[0].nbytes
        while tensors and tensors[0].nbytes <= room:
            bucket.append(tensors.pop(0))
            room -= bucket[-1].nbytes
        flat = torch.cat([tensor.detach().contiguous().view(-1).view(torch.uint8) for tensor in bucket])
        dist.broadcast(flat, src=root, group=rollout_group)
        for tensor, part in zip(bucket, flat.split([tensor.nbytes for tensor in bucket]), strict=True):
            tensor.detach().copy_(part.clone().view(tensor.dtype).view(tensor.shape))


def slip_tied_twice(state, trainer, rollout_group, bucket_bytes):
    import torch
    import torch.distributed as dist

    if bucket_bytes <= 0:
        raise ValueError("bucket_bytes")
    tensors = [state[name] for name in sorted(state) if state[name].numel()]
    while tensors:
        bucket = [tensors.pop(0)]
        room = bucket_bytes - bucket[0].nbytes
        while tensors and tensors[0].nbytes <= room:
            bucket.append(tensors.pop(0))
            room -= bucket[-1].nbytes
        flat = torch.cat([tensor.detach().contiguous().view(-1).view(torch.uint8) for tensor in bucket])
        dist.broadcast(flat, src=trainer, group=rollout_group)
        for tensor, part in zip(bucket, flat.split([tensor.nbytes for tensor in bucket]), strict=True):
            tensor.detach().copy_(part.clone().view(tensor.dtype).view(tensor.shape))


def slip_any_bucket(state, trainer, rollout_group, bucket_bytes):
    import torch
    import torch.distributed as dist

    tensors, seen = [], set()
    for name in sorted(state):
        key = (state[name].data_ptr(), state[name].shape, state[name].stride())
        if state[name].numel() and key not in seen:
            seen.add(key)
            tensors.append(state[name])
    while tensors:
        bucket = [tensors.pop(0)]
        room = bucket_bytes - bucket[0].nbytes
        while tensors and tensors[0].nbytes <= room:
            bucket.append(tensors.pop(0))
            room -= bucket[-1].nbytes
        flat = torch.cat([tensor.detach().contiguous().view(-1).view(torch.uint8) for tensor in bucket])
        dist.broadcast(flat, src=trainer, group=rollout_group)
        for tensor, part in zip(bucket, flat.split([tensor.nbytes for tensor in bucket]), strict=True):
            tensor.detach().copy_(part.clone().view(tensor.dtype).view(tensor.shape))
