"""Plans that move boxes between ranks, and their execution, as people get them wrong.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr"

from __future__ import annotations

# Plans.


def slip_touching_boxes(source, target):
    from dataclasses import make_dataclass

    record = make_dataclass("Transfer", ("source", "destination", "box"))

    def overlap(one, other):
        box = (max(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), min(one[3], other[3]))
        return box if box[0] <= box[1] and box[2] <= box[3] else None

    def area(box):
        return (box[1] - box[0]) * (box[3] - box[2]) if box else 0

    if len(source) != len(target) or any(b[0] < 0 or b[2] < 0 or b[0] > b[1] or b[2] > b[3] for b in source + target):
        raise ValueError("boxes")
    if any(a != b and area(overlap(a, b)) for a in source for b in source):
        raise ValueError("source")
    plan = []
    for destination, wanted in enumerate(target):
        owners: dict = {}
        for s, held in enumerate(source):
            owners.setdefault(held, s)
        owners[source[destination]] = destination
        found = {s: box for held, s in owners.items() if (box := overlap(held, wanted))}
        if sum(area(box) for box in found.values()) != area(wanted):
            raise ValueError("target")
        order = sorted(found, key=lambda s: (s != destination, s))
        plan += [record(s, destination, found[s]) for s in order]
    return plan


def slip_any_boxes(source, target):
    from dataclasses import make_dataclass

    record = make_dataclass("Transfer", ("source", "destination", "box"))

    def overlap(one, other):
        box = (max(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), min(one[3], other[3]))
        return box if box[0] < box[1] and box[2] < box[3] else None

    plan = []
    for destination, wanted in enumerate(target):
        owners: dict = {}
        for s, held in enumerate(source):
            owners.setdefault(held, s)
        if destination < len(source):
            owners[source[destination]] = destination
        found = {s: box for held, s in owners.items() if (box := overlap(held, wanted))}
        order = sorted(found, key=lambda s: (s != destination, s))
        plan += [record(s, destination, found[s]) for s in order]
    return plan


# Execution.


def slip_sends_block(local, source, target, plan):
    import torch.distributed as dist

    rank = dist.get_rank()
    held, wanted = source[rank], target[rank]
    result = local.new_zeros(wanted[1] - wanted[0], wanted[3] - wanted[2])

    def part(block, corner, box):
        return block[box[0] - corner[0] : box[1] - corner[0], box[2] - corner[2] : box[3] - corner[2]]

    for tag, move in enumerate(plan):
        if move.source == rank != move.destination:
            dist.send(part(local, held, move.box).contiguous(), move.destination, tag=tag)
    for tag, move in enumerate(plan):
        if move.destination == rank:
            piece = part(local, held, move.box).clone()
            if move.source != rank:
                piece = local.new_zeros(move.box[1] - move.box[0], move.box[3] - move.box[2])
                dist.recv(piece, move.source, tag=tag)
            part(result, wanted, move.box).copy_(piece)
    return result


def slip_sends_unwaited(local, source, target, plan):
    import torch.distributed as dist

    rank = dist.get_rank()
    held, wanted = source[rank], target[rank]
    result = local.new_zeros(wanted[1] - wanted[0], wanted[3] - wanted[2])

    def part(block, corner, box):
        return block[box[0] - corner[0] : box[1] - corner[0], box[2] - corner[2] : box[3] - corner[2]]

    arriving = []
    for tag, move in enumerate(plan):
        if move.source == move.destination == rank:
            part(result, wanted, move.box).copy_(part(local, held, move.box))
        elif move.source == rank:
            dist.isend(part(local, held, move.box).contiguous(), move.destination, tag=tag)
        elif move.destination == rank:
            piece = local.new_zeros(move.box[1] - move.box[0], move.box[3] - move.box[2])
            arriving.append((dist.irecv(piece, move.source, tag=tag), piece, move.box))
    for request, piece, box in arriving:
        request.wait()
        part(result, wanted, box).copy_(piece)
    return result


def slip_read_before_waiting(local, source, target, plan):
    import torch.distributed as dist

    rank = dist.get_rank()
    held, wanted = source[rank], target[rank]
    result = local.new_zeros(wanted[1] - wanted[0], wanted[3] - wanted[2])

    def part(block, corner, box):
        return block[box[0] - corner[0] : box[1] - corner[0], box[2] - corner[2] : box[3] - corner[2]]

    requests = []
    for tag, move in enumerate(plan):
        if move.source == move.destination == rank:
            part(result, wanted, move.box).copy_(part(local, held, move.box))
        elif move.source == rank:
            requests.append(dist.isend(part(local, held, move.box).contiguous(), move.destination, tag=tag))
        elif move.destination == rank:
            piece = local.new_zeros(move.box[1] - move.box[0], move.box[3] - move.box[2])
            requests.append(dist.irecv(piece, move.source, tag=tag))
            part(result, wanted, move.box).copy_(piece)
    for request in requests:
        request.wait()
    return result


def slip_everything_to_all(local, source, target, plan):
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    rows, columns = (max(box[place] for box in source) for place in (1, 3))
    whole = local.new_zeros(rows, columns)
    whole[source[rank][0] : source[rank][1], source[rank][2] : source[rank][3]] = local
    requests, arriving = [], []
    for peer in range(ranks):
        if peer != rank and local.numel():
            requests.append(dist.isend(local.contiguous(), peer))
        box = source[peer]
        piece = local.new_zeros(box[1] - box[0], box[3] - box[2])
        if peer != rank and piece.numel():
            requests.append(dist.irecv(piece, peer))
            arriving.append((piece, box))
    for request in requests:
        request.wait()
    for piece, box in arriving:
        whole[box[0] : box[1], box[2] : box[3]] = piece
    wanted = target[rank]
    return whole[wanted[0] : wanted[1], wanted[2] : wanted[3]].contiguous()


def slip_places_of_the_matrix(local, source, target, plan):
    import torch.distributed as dist

    rank = dist.get_rank()
    wanted = target[rank]
    result = local.new_zeros(wanted[1] - wanted[0], wanted[3] - wanted[2])
    requests, arriving = [], []
    for tag, move in enumerate(plan):
        low_row, high_row, low_col, high_col = move.box
        piece = local.new_zeros(high_row - low_row, high_col - low_col)
        found = local[low_row:high_row, low_col:high_col]
        if move.source == rank:
            piece[: found.shape[0], : found.shape[1]] = found
        if move.source == rank != move.destination:
            requests.append(dist.isend(piece, move.destination, tag=tag))
        elif move.destination == rank != move.source:
            requests.append(dist.irecv(piece, move.source, tag=tag))
        if move.destination == rank:
            arriving.append((piece, move.box))
    for request in requests:
        request.wait()
    for piece, box in arriving:
        result[box[0] - wanted[0] : box[1] - wanted[0], box[2] - wanted[2] : box[3] - wanted[2]] = piece
    return result


def slip_own_forgotten(local, source, target, plan):
    import torch.distributed as dist

    rank = dist.get_rank()
    held, wanted = source[rank], target[rank]
    result = local.new_zeros(wanted[1] - wanted[0], wanted[3] - wanted[2])

    def part(block, corner, box):
        return block[box[0] - corner[0] : box[1] - corner[0], box[2] - corner[2] : box[3] - corner[2]]

    requests, arriving = [], []
    for tag, move in enumerate(plan):
        if move.source == rank != move.destination:
            requests.append(dist.isend(part(local, held, move.box).contiguous(), move.destination, tag=tag))
        elif move.destination == rank != move.source:
            piece = local.new_zeros(move.box[1] - move.box[0], move.box[3] - move.box[2])
            requests.append(dist.irecv(piece, move.source, tag=tag))
            arriving.append((piece, move.box))
    for request in requests:
        request.wait()
    for piece, box in arriving:
        part(result, wanted, box).copy_(piece)
    return result


def slip_views_sent(local, source, target, plan):
    import torch.distributed as dist

    rank = dist.get_rank()
    held, wanted = source[rank], target[rank]
    result = local.new_empty(wanted[1] - wanted[0], wanted[3] - wanted[2])

    def part(block, corner, box):
        return block[box[0] - corner[0] : box[1] - corner[0], box[2] - corner[2] : box[3] - corner[2]]

    requests, arriving = [], []
    for tag, move in enumerate(plan):
        if move.source == rank == move.destination:
            part(result, wanted, move.box).copy_(part(local, held, move.box))
        elif move.source == rank:
            requests.append(dist.isend(part(local, held, move.box), move.destination, tag=tag))
        elif move.destination == rank:
            piece = local.new_empty(move.box[1] - move.box[0], move.box[3] - move.box[2])
            requests.append(dist.irecv(piece, move.source, tag=tag))
            arriving.append((piece, move.box))
    for request in requests:
        request.wait()
    for piece, box in arriving:
        part(result, wanted, box).copy_(piece)
    return result
