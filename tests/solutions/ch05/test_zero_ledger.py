"""What ZeRO sends, against the event logs of real runs: DDP, sliced optimizer states and FSDP2 on real ranks."""

from __future__ import annotations

import pytest
import torch

from rankzero import world
from rankzero.events import Event
from solutions.ch05.data_parallel import ShardedAdamW
from solutions.ch05.zero import zero_traffic

LAYERS, WIDTH = 3, 6
PARAMETERS = LAYERS * WIDTH * WIDTH


def replicas(micro_steps: int) -> None:
    """DDP that reduces in its last micro-step alone."""
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))
    wrapped = torch.nn.parallel.DistributedDataParallel(model)
    for step in range(micro_steps):
        wrapped.require_backward_grad_sync = step == micro_steps - 1
        wrapped(torch.ones(2, WIDTH)).sum().backward()


def sliced_states(steps: int) -> None:
    """The course's own stage 1."""
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))
    optimizer = ShardedAdamW(model.parameters())
    for _ in range(steps):
        model(torch.ones(2, WIDTH)).sum().backward()
        optimizer.step()


def slices(micro_steps: int, reshard: bool) -> None:
    """FSDP2 with a unit for each layer; gradients are reduced in every micro-step."""
    from torch.distributed.fsdp import fully_shard

    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))
    for layer in model:
        fully_shard(layer, reshard_after_forward=reshard)
    fully_shard(model)
    for _ in range(micro_steps):
        model(torch.ones(2, WIDTH)).sum().backward()


def on_a_ring(event: Event) -> float:
    """Bytes that one rank sends for a collective on a ring: (N-1)/N of the whole tensor, twice for an all-reduce."""
    share = (len(event.peers) - 1) / len(event.peers)
    whole = {"all_reduce": 2 * event.sent, "all_gather": event.received, "reduce_scatter": event.sent}
    return share * whole[event.operation]


def sent(run: world.World, *operations: str) -> float:
    """Bytes that rank 0 sends in these operations."""
    return sum(on_a_ring(event) for event in run.events if event.rank == 0 and event.operation in operations)


@pytest.mark.parametrize("micro_steps", [1, 3])
def test_replicas_reduce_once(micro_steps):
    run = world.run(replicas, micro_steps, ranks=2, timeout=60)
    assert sent(run, "all_reduce") == zero_traffic(PARAMETERS, 0, 2, 4, 4, micro_steps)


def test_sliced_states_reduce_to_slices_and_gather_the_weights():
    run = world.run(sliced_states, 2, ranks=3, timeout=60)
    assert sent(run, "all_reduce", "all_gather", "reduce_scatter") == pytest.approx(
        2 * zero_traffic(PARAMETERS, 1, 3, 4, 4), rel=1e-12
    )


@pytest.mark.parametrize(("micro_steps", "reshard"), [(1, True), (2, True), (1, False)])
def test_slices_gather_and_reduce_in_every_micro_step(micro_steps, reshard):
    run = world.run(slices, micro_steps, reshard, ranks=3, timeout=60)
    expected = zero_traffic(PARAMETERS, 3, 3, 4, 4, micro_steps, reshard)
    assert sent(run, "all_gather", "reduce_scatter") == pytest.approx(expected, rel=1e-12)
