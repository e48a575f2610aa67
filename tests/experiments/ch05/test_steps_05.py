"""The steppers of chapter 5, and the small network of its ZeRO programs."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from experiments.ch05 import overlap_steps, published, replica_steps, small_network, zero_steps
from rankzero import world
from rankzero.explore.steppers import frames
from solutions.ch05.buckets import exposed_communication
from solutions.ch05.zero import zero_memory

SCENES = {
    "replicas": (replica_steps.replica_scene, 3),
    "buckets": (overlap_steps.bucket_scene, 3),
    "streams": (overlap_steps.stream_scene, 3),
    "zero": (zero_steps.zero_scene, 3),
    "fsdp": (zero_steps.fsdp_scene, 6),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_step_says_something_else(name):
    """Kills a picture that does not fit a phone (it raises), and a step without news."""
    scenes = frames(*SCENES[name])
    assert len({scene.svg() for scene in scenes}) == len(scenes)
    assert all(scene.says and scene.alt for scene in scenes)


def test_the_step_is_that_of_a_real_optimizer():
    weight = torch.nn.Parameter(torch.tensor([replica_steps.WEIGHT]))
    weight.grad = torch.tensor([sum(replica_steps.GRADIENTS) / 4])
    torch.optim.SGD([weight], lr=replica_steps.RATE).step()
    assert weight.item() == replica_steps.training_step().weight


def test_a_gradient_times_its_share_of_the_rows():
    """The opening of 5.3 multiplies each gradient by the rank's rows over the mean number of rows."""
    assert replica_steps.joined_gradient((1.5 * 2, 0.5 * 4), (1, 1)) == replica_steps.joined_gradient((2, 4), (6, 2))


@pytest.mark.parametrize("send", [overlap_steps.SEND, (1, 1, 1, 1), (7, 2, 9, 0)])
def test_the_two_streams_end_where_the_exercise_says(send):
    last = overlap_steps.transfers(send=send)[-1]
    assert max(0.0, last.end - last.ready) == exposed_communication(overlap_steps.COMPUTE, send)


@pytest.mark.parametrize("stage", range(4))
def test_the_boxes_of_a_stage_add_up_to_its_bytes(stage):
    """What is drawn as held on a rank, in bytes, is what the formula says."""
    for rank in range(zero_steps.RANKS):
        sizes = [
            size
            for _, size, first, _ in zero_steps.BANDS
            for weight in range(zero_steps.WEIGHTS)
            if zero_steps.holds(rank, weight, first, stage)
        ]
        assert sum(sizes) == zero_steps.held_bytes(stage)


def test_the_published_table_is_the_formula_up_to_its_decimals():
    """Each of the 54 cells, printed with two to four digits."""
    for ranks, models in published.ROWS.items():
        for params, cells in zip(published.MODELS.values(), models, strict=True):
            for stage, printed in enumerate(cells, 1):
                assert zero_memory(params, stage, ranks) / 1e9 == pytest.approx(
                    printed, rel=0.003, abs=0.8 * (printed > 100) + 0.005
                )


@pytest.mark.proof(part="runs")
def test_plain_data_parallelism_of_the_small_network_is_counted_to_the_byte():
    """Four ranks against one: bytes held, bytes sent, and the same weights up to rounding."""
    twin = world.run(small_network.stage_0, ranks=1)
    held, sent, off = small_network.compare(world.run(small_network.stage_0, ranks=4), twin)
    assert held == zero_memory(small_network.PARAMETERS, 0, 4, 4, 4, 8)
    assert sent == 2 * 3 / 4 * 4 * small_network.PARAMETERS
    assert off < 1e-6


def _forgets_to_average() -> tuple[list[torch.Tensor], int]:
    weights, x, y = small_network.start()
    adam = torch.optim.AdamW([weight.requires_grad_() for weight in weights], **small_network.OPTIONS)
    small_network.error(weights, x, y).backward()
    adam.step()
    dist.barrier()
    return [small_network.mine(weight) for weight in weights], 0


def test_a_program_that_forgets_to_reduce_is_seen():
    """Kills a comparison that nothing could fail."""
    twin = world.run(small_network.stage_0, ranks=1)
    assert small_network.compare(world.run(_forgets_to_average, ranks=2), twin)[2] > 1e-4
