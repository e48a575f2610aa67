"""Chapter 14's bank, weights on their way: answers as the page prints them, other right programs, and the rules."""

from __future__ import annotations

from random import Random

import pytest
import torch
import torch.distributed as dist

from autograder import bank
from autograder.items import Build, Case
from solutions.ch14.weight_sync import reshard_plan
from tests.autograder import handed_in


def test_the_plans_that_ranks_are_given_are_the_reference_s():
    """Kills a bank whose own planner differs from the one that learners write."""
    for key in range(10):
        for _, cases in bank.find("14-execute-reshard").hidden(Random(f"plans {key}")):
            for case in cases:
                _, source, target, plan = case.args[0]
                due = reshard_plan(source, target)
                assert [(m.source, m.destination, m.box) for m in plan] == [
                    (m.source, m.destination, m.box) for m in due
                ]


def passes(item: Build, program) -> bool:
    """Whether another program gives the reference's answers and keeps the rule."""
    drawn = [case for _, found in item.hidden(Random("other programs")) for case in found]
    chosen: list[Case] = [case for case in (*item.cases, *drawn) if case.raises is None]
    return not any(handed_in.faults(item, program, chosen))


# Other right programs.


def one_batch(local, source, target, plan):
    """All messages in one call of the library, in rows instead of boxes' views."""
    rank = dist.get_rank()
    wanted, held = target[rank], source[rank]
    result = torch.zeros(wanted[1] - wanted[0], wanted[3] - wanted[2], dtype=local.dtype)
    calls, pieces = [], []
    for tag, move in enumerate(plan):
        row, end, col, last = move.box
        if move.source == rank:
            piece = local[row - held[0] : end - held[0], col - held[2] : last - held[2]].clone()
            if move.destination == rank:
                pieces.append((move.box, piece))
            else:
                calls.append(dist.P2POp(dist.isend, piece, move.destination, tag=tag))
        elif move.destination == rank:
            pieces.append((move.box, torch.zeros(end - row, last - col, dtype=local.dtype)))
            calls.append(dist.P2POp(dist.irecv, pieces[-1][1], move.source, tag=tag))
    for request in dist.batch_isend_irecv(calls) if calls else ():
        request.wait()
    for (row, end, col, last), piece in pieces:
        result[row - wanted[0] : end - wanted[0], col - wanted[2] : last - wanted[2]] = piece
    return result


def in_place_buckets(state, trainer, rollout_group, bucket_bytes):
    """A buffer that is filled byte by byte, and the root by its number in the group."""
    root = dist.get_group_rank(rollout_group, trainer)
    buckets, room, seen = [], 0, set()
    for name, tensor in sorted(state.items()):
        if tensor.numel() == 0 or tensor.data_ptr() in seen:
            continue
        seen.add(tensor.data_ptr())
        if tensor.nbytes > room:
            buckets.append([])
            room = bucket_bytes
        room -= tensor.nbytes
        buckets[-1].append(name)
    for names in buckets:
        buffer = torch.empty(sum(state[name].nbytes for name in names), dtype=torch.uint8)
        place = 0
        for name in names:
            size = state[name].nbytes
            buffer[place : place + size] = state[name].detach().reshape(-1).view(torch.uint8)
            place += size
        dist.broadcast(buffer, group=rollout_group, group_src=root)
        place = 0
        for name in names:
            tensor = state[name].detach()
            part = buffer[place : place + tensor.nbytes].clone().view(tensor.dtype)
            tensor.copy_(part.reshape(tensor.shape))
            place += tensor.nbytes


def by_group_source(x):
    ranks = dist.get_world_size()
    serving = list(range(ranks // 2, ranks))
    group = dist.new_group(serving)
    found = x.clone()
    if dist.get_rank() in serving:
        dist.broadcast(found, group=group, group_src=0)
    return found


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize(
    ("identifier", "program"),
    [
        ("14-execute-reshard", one_batch),
        ("14-push-weights", in_place_buckets),
        ("14-debug-src", by_group_source),
    ],
)
def test_other_right_programs_pass(identifier, program):
    assert passes(bank.find(identifier), program)


def full_gather(local, source, target, plan):
    """Right values: every rank gathers the parts of all."""
    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, local)
    whole = torch.zeros(max(box[1] for box in source), max(box[3] for box in source), dtype=local.dtype)
    for box, part in zip(source, parts, strict=True):
        whole[box[0] : box[1], box[2] : box[3]] = part
    wanted = target[dist.get_rank()]
    return whole[wanted[0] : wanted[1], wanted[2] : wanted[3]].contiguous()


@pytest.mark.proof(part="bank")
def test_right_values_by_a_full_gather_are_refused():
    """Kills a rule that looks at values alone."""
    assert not passes(bank.find("14-execute-reshard"), full_gather)
