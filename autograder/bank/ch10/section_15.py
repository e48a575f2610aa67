"""Section 10.15, What a graph can hold: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="10-allowed",
        kind="trace",
        title="What no graph can hold",
        section="10.15",
        bonus=True,
        options=(
            "`.item()`, and a shape that depends on data",
            "dropout, and `.item()`",
            "a new intermediate tensor, and a shape that depends on data",
            "all four",
        ),
        correct=0,
        derivation="Both need a number on the host, which a graph does not wait for. The generator's offset advances "
        "at each replay, and new tensors come from the graph's own pool.",
        slips={
            1: "Dropout works: the offset of the generator advances at each replay.",
            2: "New tensors are allowed: they come from the graph's own pool of memory.",
            3: "Random numbers and new tensors are allowed.",
        },
    ),
    Choice(
        id="10-lr",
        kind="trace",
        title="A learning rate that changes",
        section="10.15",
        bonus=True,
        options=(
            "keep it in a tensor and fill that, with `capturable=True`",
            "set `group['lr'] = 1e-4` before each replay",
            "capture anew whenever it changes",
            "a training step cannot be captured",
        ),
        correct=0,
        derivation="A Python number is an argument of the recorded kernel and stays what it was. A tensor is read at "
        "each replay. `capturable=True` makes an optimizer of PyTorch keep its own numbers, such as the count of "
        "steps, on the device too.",
        slips={
            1: "A Python number was recorded with the kernel: the replay does not see the new one.",
            2: "The rate changes at every step: every step would be a capture, and none a replay.",
            3: "It can: Megatron and Transformer Engine capture layers, and `torch.cuda.graph` takes whole steps.",
        },
    ),
)
