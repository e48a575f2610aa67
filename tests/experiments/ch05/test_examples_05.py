"""The worked examples of chapter 5: each number that a text computes by hand is computed here."""

from __future__ import annotations

import pytest
import torch

from experiments.ch05 import overlap_steps, replica_steps, zero_steps
from experiments.ch05.replica_steps import RATE, WEIGHT, joined_gradient
from rankzero.facts.units import GB, TFLOP
from solutions.ch05.batching import accumulated_step_time, scaled_learning_rate
from solutions.ch05.buckets import assign_buckets, exposed_communication
from solutions.ch05.precision import dynamic_loss_scale, round_to_format
from solutions.ch05.zero import state_bytes, zero_memory, zero_traffic
from tests.worked_examples import examples, missing, texts

STEP = replica_steps.training_step()
SIZES = overlap_steps.SIZES
HELD = [[SIZES[place] for place in bucket] for bucket in assign_buckets(SIZES, overlap_steps.CAPS)]
SENT = overlap_steps.transfers()
EXPOSED = exposed_communication(overlap_steps.COMPUTE, overlap_steps.SEND)
BYTES = [zero_memory(zero_steps.WEIGHTS, stage, zero_steps.RANKS) for stage in range(4)]
ADAM, MOMENTUM = state_bytes("fp32"), state_bytes("fp32", optimizer="momentum")
SMALL = state_bytes(moment="int8")
LAYERS, EACH = zero_steps.LAYERS, zero_steps.LAYER
SLICES = zero_traffic(LAYERS * EACH, 3, 2, 1, 1), zero_traffic(LAYERS * EACH, 0, 2, 1, 1)
ROWS = ((2, 0, 6), (4, 0, 4)), (5.0, 0.0, 1.0)
HIDDEN = [exposed_communication([4] * 10, [send] * 10) for send in (3, 6)]

COMPUTED = {
    "rows-example": [
        "gradients for the ranks' own rows are {:g}, {:g}, {:g} and {:g}".format(*STEP.gradients),
        f"add up to {sum(STEP.gradients):g}, so their mean is {STEP.mean:g}",
        f"a learning rate of {RATE:g} every rank moves its weight from {WEIGHT:g} to {STEP.weight:g}",
        f"(6 · 2 + 2 · 4) / 8 = {joined_gradient((2, 4), (6, 2)):g}",
        f"The plain mean of the two gradients is {(2 + 4) / 2:g}",
    ],
    "buckets-example": [
        f"full at {overlap_steps.CAPS[0]} MB, and the first gradient alone, {SIZES[0]} MB, fills it",
        f"The other buckets are full at {overlap_steps.CAPS[1]} MB",
        f"takes {HELD[1][0]} MB, which is not enough, and then {HELD[1][1]} more, {sum(HELD[1])} MB in all",
        f"{' + '.join(map(str, HELD[2]))} = {sum(HELD[2])} MB",
    ],
    "streams-example": [
        f"takes {overlap_steps.COMPUTE[0]} ms to compute",
        f"ready at {SENT[0].ready:g} ms and sent by {SENT[0].end:g} ms",
        f"sent from {SENT[2].start:g} to {SENT[2].end:g} ms",
        f"Bucket 3 is ready at {SENT[3].ready:g} ms, has to wait until {SENT[3].start:g} ms",
        f"and takes {overlap_steps.SEND[3]:g} ms, so its last byte",
        f"arrives at {SENT[3].end:g} ms. The backward pass ends at {SENT[3].ready:g} ms",
        f"so of {sum(overlap_steps.SEND)} ms of communication, {EXPOSED:g} ms is",
        f"the other {sum(overlap_steps.SEND) - EXPOSED:g} ms costs nothing",
    ],
    "accumulation-example": [
        f"their mean, {(2 + 10 + 6 + 14) / 4:g}",
        f"{2 / 2:g} + {10 / 2:g} = {(2 + 10) / 2:g} on rank 0 and {6 / 2:g} + {14 / 2:g} = {(6 + 14) / 2:g} on rank 1",
        f"averages the two sums: {((2 + 10) / 2 + (6 + 14) / 2) / 2:g}",
        f"one reduction take {accumulated_step_time(4, 120, 50):g} ms",
    ],
    "bytes-example": [
        f"Weights and gradients take {ADAM[0]:g} MB each",
        f"another {MOMENTUM[2]:g} MB",
        f"their squares, {ADAM[2]:g} MB together",
        f"With Adam, that makes {sum(ADAM):g} MB, four times",
    ],
    "zero-example": [
        f"weights {zero_steps.owned(1)[0]} and {zero_steps.owned(1)[1]} only",
        f"4 + 1 + 7 = {sum((4, 1, 7))} and 2 + 0 + 3 = {sum((2, 0, 3))}",
        f"6 · 16 = {BYTES[0]:g} bytes",
        f"24 + 24 = {BYTES[1]:g}",
        f"12 + 2 · 14 = {BYTES[2]:g}",
        f"96 / 3 = {BYTES[3]:g}",
    ],
    "fsdp-example": [
        f"3 · 50 = {LAYERS * EACH // 2}. In a step",
        f"6 · 50 = {2 * LAYERS * EACH // 2} weights",
        f"3 · 50 = {LAYERS * EACH // 2} gradients for rank 1: {SLICES[0]:g} numbers",
        f"Plain data parallelism sends {SLICES[1]:g}",
    ],
    "formats-example": [],
}
DEEPER = {
    "gradients-example": [
        f"(2 · 5 + 6 · 1) / 8 = {joined_gradient(ROWS[1], ROWS[0][0]):g}",
        f"(5 + 0 + 1) / 3 = {sum(ROWS[1]) / 3:g}",
        f"With 4, 0 and 4 rows the batch has the gradient {joined_gradient(ROWS[1], ROWS[0][1]):g}",
    ],
    "numbers-example": [
        f"{HIDDEN[0]:g} of 30 ms, so {1 - HIDDEN[0] / 30:.0%} of the communication".replace("%", " percent"),
        f"4 + 10 · 6 = {40 + HIDDEN[1]:g} ms",
        f"{HIDDEN[1]:g} ms is exposed, and {1 - HIDDEN[1] / 60:.0%} of the 60 ms".replace("%", " percent"),
    ],
    "batch-example": [
        f"The linear rule says {scaled_learning_rate(0.001, 64, 256, 'linear'):g}",
        f"the square-root rule {scaled_learning_rate(0.001, 64, 256, 'sqrt'):g}",
        f"(1 + 64/256) = {scaled_learning_rate(0.001, 64, 256, 'noise', 64):g}",
    ],
    "zero-bytes-example": [
        f"moment: {sum(SMALL):g} bytes",
        f"holds {13 * sum(SMALL):g} GB",
        f"13 · (2 + 2 + 6/8) = {zero_memory(13, 1, 8, *SMALL):g} GB",
        f"130 / 8 = {zero_memory(13, 3, 8, *SMALL):g} GB",
    ],
    "stages-example": ["Their means are {:g}, {:g}, {:g}, {:g}, {:g}".format(*((2 * n + 2) / 2 for n in range(1, 6)))],
    "scaling-example": [
        f"the scale falls to {dynamic_loss_scale([0, 0, 1], 4096.0, 3):,.0f}",
        f"the scale is {dynamic_loss_scale([0, 0, 1, 0, 0, 0], 4096.0, 3):,.0f} again",
        f"leave {dynamic_loss_scale([0, 0, 1, 0, 0, 0, 1, 1], 4096.0, 3):,.0f}",
    ],
    "stale-example": [],
}
FOUND = examples("05-data-parallel") | {
    name if name != "formats-example" else "deeper-formats": text
    for name, text in examples("deeper/05-data-parallel-deeper").items()
}


@pytest.mark.parametrize("name", COMPUTED | DEEPER)
def test_the_numbers_of_an_example(name):
    """Kills a number that is typed and wrong."""
    assert missing(FOUND[name], (COMPUTED | DEEPER)[name]) == []


def test_every_example_with_a_number_is_computed():
    own = {name for name in FOUND if name.startswith("profile")}  # computed in test_examples_profile
    assert FOUND.keys() - own == COMPUTED.keys() | DEEPER.keys() | {"deeper-formats"}


def test_the_numbers_of_other_texts():
    """What a ring sends, the opening of 5.3, micro-batches under ZeRO, and how many tokens hide a gather."""
    cells = texts("05-data-parallel")
    assert f"here {zero_traffic(1, 0, 4, 1, 1):g} times" in cells["loop-close"]
    assert joined_gradient((1.5 * 2, 0.5 * 4), (1, 1)) == joined_gradient((2, 4), (6, 2))
    whole = 40 * 5 + exposed_communication([5] * 40, [1.5] * 40)
    assert f"40 equal buckets, computing and sending take {whole:g} ms together" in cells["hiding-regimes"]
    plain, two, three = (zero_traffic(6, stage, 3, micro_steps=4) for stage in (0, 2, 3))
    assert f"stage 2 sends {two / plain:g} times as much" in cells["zero-run-close"]
    assert f"gathers weights twice per micro-batch, sends {three / plain:g} times" in cells["zero-run-close"]
    gather, compute = 2 / (50 * GB), 2 / (400 * TFLOP)  # seconds for a weight, and for a weight and a token
    assert f"at least {gather / compute:,.0f} tokens" in cells["fsdp-close"]


def test_what_fp16_rounds():
    """The example of 5.8, by the course's own rounding."""
    fp16 = [round_to_format(value, 5, 10) for value in (1.0004, 1.0006, 1e-8, 1024e-8)]
    assert fp16[:3] == [1.0, 1 + 2**-10, 0.0]
    assert fp16[3] == pytest.approx(1e-5, rel=0.05)
    assert torch.finfo(torch.float16).max == 65_504
    assert "2^{-24}" in FOUND["formats-example"]


def test_the_tiny_format():
    """The example of 5.15: three exponent bits and one of mantissa."""
    numbers = sorted({round_to_format(place / 64, 3, 1) for place in range(1, 13 * 64)})
    assert numbers[:8] == [0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5]
    assert numbers[-2:] == [8.0, 12.0]
    assert (round_to_format(0.6, 3, 1), round_to_format(0.3125, 3, 1)) == (0.5, 0.25)
    assert "0.25 and 0.375, then 0.5 and 0.75" in FOUND["deeper-formats"]


def test_two_workers_in_turn():
    """The example of 5.17, played: a push answers with the newest version."""
    pulled, late = {1: 0, 2: 0}, []
    for version, worker in enumerate((1, 2, 1, 2)):
        late.append(version - pulled[worker])
        pulled[worker] = version + 1
    assert late[1:] == [1, 1, 1]
    assert "again 1 late" in FOUND["stale-example"]
