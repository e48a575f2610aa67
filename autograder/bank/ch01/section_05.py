"""Section 1.5, Rank arithmetic: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="01-device-of-rank",
        kind="debug",
        title="The device of rank 9",
        section="1.5",
        options=(
            "it fails on ranks 8 to 15: no node has a device with that number",
            "it works: device 9 is the second device of the second node",
            "it fails on every rank, because a device needs a name and not a number",
            "it works, but ranks 8 to 15 share the devices of the first node",
        ),
        correct=0,
        derivation="Devices are numbered on each node, from 0 to 7. Rank 9 is on node 1, where its local rank is "
        "$9 \\bmod 8 = 1$. The program works on the first node, where the two numbers agree, and fails on the second.",
        slips={
            1: "A process sees the devices of its own node, numbered from 0: there is no device 9.",
            2: "A number is a valid name for a CUDA device, and ranks 0 to 7 get the right one.",
            3: "A process cannot reach devices of another machine.",
        },
    ),
)
